/** Commands of a user whom the state directory is closed to, as everybody's but the agent's own is. */
import { spawnSync } from 'node:child_process';
import { chmod } from 'node:fs/promises';
import path from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { anybody } from '../support/anybody.ts';
import { twoPushes } from '../support/commands-world.ts';

const commands = [
  ['status'],
  ['status', '--live'],
  ['status', '--exit-code'],
  ['history'],
  ['diff', '1', '2'],
  ['explain', 'North'],
  ['rejects'],
  ['verify'],
  ['approve', '12345678'],
  ['forget', 'revenue', '--yes'],
];

/**
 * What commands print with --json as a user who is not root. A process of its own, since access(2) asks for the real user, who
 * cannot be changed back. Other commands run before that, so that their modules are loaded: that user may not be let into this
 * checkout.
 */
function asAnybody(
  state: string,
  lines: readonly (readonly string[])[],
  before: readonly (readonly string[])[],
): unknown[] {
  const program = new URL('../../src/cli/program.ts', import.meta.url).href;
  const script = `import { chmodSync } from 'node:fs';
    import { runCommand } from ${JSON.stringify(program)};
    let printed = '';
    const write = process.stdout.write.bind(process.stdout);
    process.stdout.write = (chunk) => { printed += chunk; return true; };
    for (const line of ${JSON.stringify(before)}) await runCommand(line);
    chmodSync(${JSON.stringify(state)}, 0);
    if (process.getuid() === 0) { process.setgroups([]); process.setgid(${anybody}); process.setuid(${anybody}); }
    const all = [];
    for (const line of ${JSON.stringify(lines)}) {
      printed = '';
      await runCommand(line);
      all.push(JSON.parse(printed));
    }
    write(JSON.stringify(all));`;
  const { stdout, stderr } = spawnSync(process.execPath, ['--input-type=module', '-e', script], { encoding: 'utf8' });
  if (stdout === '') throw new Error(stderr);
  return JSON.parse(stdout) as unknown[];
}

test('a user who may not look into the state is told so, and not that nothing is there', async () => {
  const { at } = await twoPushes();
  await chmod(at.dir, 0o777);
  onTestFinished(() => chmod(at.state, 0o700));
  const lines = (report: string): string[][] =>
    [...commands, ['support', '--output', path.join(at.dir, report)]].map((line) => [
      ...line,
      '--json',
      '--config',
      path.join(at.dir, 'driver-sync.yaml'),
    ]);
  const all = asAnybody(at.state, lines('after.tar.gz'), lines('before.tar.gz'));
  const message = `the state directory ${at.state} cannot be used (EACCES)`;
  const hint = expect.stringContaining("as the agent's user") as unknown;
  const refused = { exit: 78, error: { code: 'state.unwritable', message, hint } };
  expect(all.slice(0, -1)).toEqual(commands.map(() => refused));
  expect(all.at(-1)).toMatchObject({ unverified: message });
});
