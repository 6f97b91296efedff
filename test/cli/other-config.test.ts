/** Commands beside a daemon that runs with another config file on the same state directory. */
import { symlink } from 'node:fs/promises';
import path from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { type Lock, acquireLock } from '../../src/edges/state/lock.ts';
import { commandLine } from '../support/command-line.ts';
import { type CommandsWorld, twoPushes } from '../support/commands-world.ts';

/** No process has it. */
const pid = 2 ** 30;

/** What a daemon leaves of itself, and nothing that could be woken. */
function daemonAt({ at }: CommandsWorld, configFile: string): Lock {
  const lock = acquireLock(at.state, { command: 'run', pid });
  lock.describe({ configFile, configDigest: '0'.repeat(64), configLoadedAt: new Date().toISOString() });
  onTestFinished(() => lock.release());
  return lock;
}

test.each([
  ['sync', '--wake'],
  ['rollback', '1'],
  ['forget', 'revenue', '--yes'],
])('%s is refused with 64 and names both files: the daemon would go by the other one', async (...args) => {
  const world = await twoPushes();
  const other = path.join(world.at.dir, "the other's.yaml");
  daemonAt(world, other);
  const { code, stderr } = await world.run(...args);
  expect(code).toBe(64);
  expect(stderr).toBe(
    [
      `driver-sync: the agent with pid ${pid} runs with another config file, ${other}, and does nothing for ${world.at.dir}/driver-sync.yaml`,
      `  say --config '${world.at.dir}/the other'\\''s.yaml' where that is meant; two configs need a state directory each (state:)`,
      '',
    ].join('\n'),
  );
  expect(world.receiver.posts).toHaveLength(2);
  expect(await world.json('status')).toMatchObject({ decisions: [] });
});

test('status and plan name the other file, and not a signal that would load it again', async () => {
  const world = await twoPushes();
  const other = path.join(world.at.dir, 'other.yaml');
  daemonAt(world, other);
  const { stdout } = await world.run('status');
  expect(stdout).toMatch(new RegExp(`\nconfig +the agent runs with another config file: ${other}\n`));
  expect(stdout).not.toContain('kill -HUP');
  expect(await world.json('status')).toMatchObject({ configDiffers: true, otherConfigFile: other });
  expect((await world.run('plan')).stderr).toBe(
    `note: the agent runs with another config file: ${other}; this plan is of ${world.at.dir}/driver-sync.yaml\n`,
  );
});

test('a link to the file of the daemon is no other file', async () => {
  const world = await twoPushes();
  const link = path.join(world.at.dir, 'link.yaml');
  await symlink(path.join(world.at.dir, 'driver-sync.yaml'), link);
  daemonAt(world, path.join(world.at.dir, 'driver-sync.yaml'));
  const { stdout } = await commandLine('status', '--config', link);
  expect(stdout).toContain(`the file is not what the agent has loaded: kill -HUP ${pid} loads it`);
  expect((await commandLine('status', '--config', link, '--json')).json()).not.toHaveProperty('otherConfigFile');
});

test('a file that the daemon has and this machine does not is another one', async () => {
  const world = await twoPushes();
  daemonAt(world, '/in/the/container.yaml');
  expect(await world.json('status')).toMatchObject({ otherConfigFile: '/in/the/container.yaml' });
});
