/** The young generation of V8, in a process of a daemon and of a command. */
import { spawnSync } from 'node:child_process';
import { expect, test } from 'vitest';

test.each([
  ['grows', "v8.setFlagsFromString('--semi-space-growth-factor=1');"],
  ['is cut down', 'for (let kept = []; megabytes() < 16;) kept.push({ kept: kept.length });'],
])('the young generation %s to what a pass needs, and grows no further whatever a pass makes', (_how, begin) => {
  const memory = new URL('../../src/edges/memory.ts', import.meta.url).href;
  const program = `
    import v8 from 'node:v8';
    const { settleYoungGeneration } = await import(${JSON.stringify(memory)});
    const megabytes = () => v8.getHeapSpaceStatistics().find((space) => space.space_name === 'new_space').space_size / 2 ** 20;
    ${begin}
    settleYoungGeneration();
    const settled = megabytes();
    const kept = [];
    for (let at = 0; at < 2_000_000; at++) kept.push({ at });
    console.log(JSON.stringify([settled, megabytes(), kept.length]));`;
  const { stdout, stderr } = spawnSync(process.execPath, ['--input-type=module', '--eval', program], {
    encoding: 'utf8',
  });
  expect(stderr).toBe('');
  const [settled, later] = JSON.parse(stdout) as [number, number, number];
  // Without it: 16 and more. A page is more or less as it happens.
  for (const size of [settled, later]) {
    expect(size).toBeGreaterThanOrEqual(4);
    expect(size).toBeLessThan(6);
  }
});
