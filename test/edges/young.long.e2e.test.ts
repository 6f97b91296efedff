/** What the executable tells V8: its young generation, and from when on it optimises. */
import { readFileSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { checkout, executable } from '../support/built.ts';
import { csv, place } from '../support/process.ts';
import { openReceiver } from '../support/receiver.ts';

/** Writes the megabytes at the end of the process, and those after it made much more, to the file that `YOUNG` names. */
const recorder = `data:text/javascript,${encodeURIComponent(`
  import { writeFileSync } from 'node:fs';
  import v8 from 'node:v8';
  const megabytes = () => v8.getHeapSpaceStatistics().find((space) => space.space_name === 'new_space').space_size / 2 ** 20;
  process.on('exit', () => {
    const settled = megabytes();
    const kept = [];
    for (let at = 0; at < 2_000_000; at++) kept.push({ at });
    writeFileSync(process.env.YOUNG, JSON.stringify([settled, megabytes(), kept.length]));
  });
`)}`;

test.each([
  ['checkout', checkout],
  ['package', executable],
])(
  'the young generation of a sync has the size that a pass needs, whatever the pass makes: the %s',
  async (_name, program) => {
    const dir = await mkdtemp(path.join(tmpdir(), 'driver-sync-young-'));
    onTestFinished(() => rm(dir, { recursive: true }));
    const env = { YOUNG: path.join(dir, 'young'), NODE_OPTIONS: `--import=${recorder}` };
    await using receiver = await openReceiver();
    const drivers = { drivers: [{ id: '{id}', path: ['{id}'], time: '{time}', value: '{value}' }] };
    const config = { destination: { url: receiver.url }, sources: { revenue: csv('a.csv', drivers) } };
    await using at = await place(config, { 'a.csv': 'id,time,value\na,2026-03-01,1\n' }, env, program);
    expect((await at.command('sync')).code).toBe(0);
    const [settled, later] = JSON.parse(readFileSync(env.YOUNG, 'utf8')) as [number, number, number];
    // Without it: 16, and then 64. A page is more or less as it happens.
    for (const size of [settled, later]) {
      expect(size).toBeGreaterThanOrEqual(4);
      expect(size).toBeLessThan(6);
    }
  },
);

/** Writes the flags that were set until the end of the process to the file that `FLAGS` names. */
const flagRecorder = `data:text/javascript,${encodeURIComponent(`
  import { writeFileSync } from 'node:fs';
  const v8 = process.getBuiltinModule('node:v8');
  const set = v8.setFlagsFromString;
  const flags = [];
  v8.setFlagsFromString = (flag) => (flags.push(flag), set(flag));
  process.on('exit', () => writeFileSync(process.env.FLAGS, flags.join(' ')));
`)}`;

/** An environment that has the flags written down, and what was written. */
async function recordedFlags(): Promise<{ readonly env: NodeJS.ProcessEnv; readonly flags: () => readonly string[] }> {
  const dir = await mkdtemp(path.join(tmpdir(), 'driver-sync-flags-'));
  onTestFinished(() => rm(dir, { recursive: true }));
  const file = path.join(dir, 'flags');
  const env = { FLAGS: file, NODE_OPTIONS: `--import=${flagRecorder}` };
  return { env, flags: () => readFileSync(file, 'utf8').split(' ') };
}

test('V8 optimises again in whatever takes longer than a start', async () => {
  const recorded = await recordedFlags();
  await using receiver = await openReceiver();
  const drivers = { drivers: [{ id: '{id}', path: ['{id}'], time: '{time}', value: '{value}' }] };
  const revenue = { ...csv('a.csv', drivers), settle: '2s' };
  await using at = await place(
    { destination: { url: receiver.url }, sources: { revenue } },
    { 'a.csv': 'id,time,value\na,2026-03-01,1\n' },
    recorded.env,
    executable,
  );
  expect((await at.command('sync')).code).toBe(0);
  const flags = recorded.flags();
  for (const name of ['opt', 'maglev']) {
    expect(flags).toContain(`--no-${name}`);
    expect(flags.lastIndexOf(`--${name}`)).toBeGreaterThan(flags.indexOf(`--no-${name}`));
  }
});

test('while threads read a file, V8 has the compiler alone that takes the least from them', async () => {
  const recorded = await recordedFlags();
  await using receiver = await openReceiver();
  const drivers = { drivers: [{ id: '{id}', path: ['{id}'], time: '{time}', value: '{value}' }] };
  const rows = 'a,2026-03-01,1\n'.repeat(1_200_000);
  await using at = await place(
    { destination: { url: receiver.url }, workers: 2, sources: { revenue: csv('a.csv', drivers) } },
    { 'a.csv': `id,time,value\n${rows}` },
    recorded.env,
    executable,
  );
  expect((await at.command('sync')).code).toBe(0);
  const flags = recorded.flags();
  const ofTurboFan = flags.filter((flag) => flag.endsWith('-opt') || flag === '--opt');
  // At the start, while both read (the start may be over before or meanwhile), and from then on.
  expect(ofTurboFan.length).toBeGreaterThanOrEqual(3);
  expect(ofTurboFan.slice(0, 1)).toEqual(['--no-opt']);
  expect(ofTurboFan.at(-1)).toBe('--opt');
  expect(ofTurboFan.lastIndexOf('--no-opt')).toBeGreaterThan(0);
});
