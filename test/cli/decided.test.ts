/** Who decided and why: kept with the decision, and shown wherever it is. */
import { userInfo } from 'node:os';
import { expect, test, vi } from 'vitest';
import { type CommandsWorld, commandsWorld, manyDrivers, threeSources, twoPushes } from '../support/commands-world.ts';
import { csv } from '../support/process.ts';
import { longFile } from '../support/world.ts';

interface Decision {
  kind: string;
  at: string;
  by: string;
  as?: string;
  reason?: string;
  state: string;
  why?: string;
}

const { username } = userInfo();
const decisionsOf = async ({ json }: CommandsWorld, command: 'history' | 'status'): Promise<Decision[]> =>
  (await json<{ decisions: Decision[] }>(command)).decisions;

/** Twenty drivers pushed, and a read of five held; with its digest. */
async function holding(): Promise<CommandsWorld & { digest: string }> {
  const commands = await commandsWorld({ revenue: csv('revenue.csv') }, { 'revenue.csv': manyDrivers(20) });
  await commands.run('sync');
  await commands.at.write('revenue.csv', manyDrivers(5));
  const { sources } = await commands.json<{ sources: { digest: string }[] }>('plan');
  return { ...commands, digest: sources[0]!.digest };
}

test('approve keeps who and why, which history and status show before and after it is used', async () => {
  const commands = await holding();
  const approved = await commands.json('approve', commands.digest, '--reason', 'the old regions are closed');
  expect(approved).toMatchObject({ by: username, reason: 'the old regions are closed' });
  const decision = { kind: 'approval', source: 'revenue', by: username, reason: 'the old regions are closed' };
  for (const state of ['pending', 'used']) {
    for (const command of ['history', 'status'] as const) {
      expect(await decisionsOf(commands, command)).toEqual([
        { ...decision, digest: commands.digest, at: expect.any(String), state },
      ]);
      const { stdout } = await commands.run(command);
      expect(stdout).toContain('the old regions are closed');
      expect(stdout).toContain(username);
    }
    await commands.run('sync');
  }
});

test('status asks nobody again to approve what is approved already', async () => {
  const { run, digest } = await holding();
  await run('sync');
  const asked = `driver-sync approve ${digest.slice(0, 12)}`;
  expect((await run('status')).stdout.split(asked)).toHaveLength(3);
  await run('approve', digest);
  const { stdout } = await run('status');
  expect(stdout).not.toContain(asked);
  expect(stdout).toMatch(/^held +revenue since .*\n(?: .*\n)* +approved: the next pass takes it up$/m);
});

test('status names the pass that takes an approval up while a rollback holds', async () => {
  const { run, digest } = await holding();
  await run('sync');
  await run('rollback', '1');
  await run('approve', digest);
  expect((await run('status')).stdout).toMatch(/^ +approved: the pass that goes on from the sources takes it up$/m);
});

test('status asks nobody again to approve a first push that is approved already', async () => {
  const { run, json } = await threeSources({ guard: { firstPush: 'approve' } });
  await run('sync');
  const { held } = await json<{ held: { digest: string }[] }>('status');
  const digest = held[0]?.digest ?? '';
  await run('approve', digest);
  const { stdout } = await run('status');
  expect(stdout).not.toContain(`driver-sync approve ${digest.slice(0, 12)}`);
  expect(stdout).toMatch(/^blocked +the first push to .* \(approved: the next pass takes it up\)$/m);
});

test('a digest of fewer than 8 characters is refused, and the least number is named', async () => {
  const { run, digest } = await holding();
  expect(await run('approve', digest.slice(0, 7))).toMatchObject({
    code: 64,
    stderr: expect.stringContaining(
      `"${digest.slice(0, 7)}" is too short for a digest: its first 8 characters are needed`,
    ),
  });
  expect((await run('approve', digest.slice(0, 8))).code).toBe(0);
});

test('a person who goes through sudo is named, and the user that the command ran as beside them', async () => {
  const { run, digest, ...commands } = await holding();
  vi.stubEnv('SUDO_USER', 'anna');
  expect((await run('approve', digest)).stdout).toMatch(`approved revenue by anna as ${username}; `);
  const [decision] = await decisionsOf({ run, ...commands }, 'history');
  expect(decision).toMatchObject({ by: 'anna', as: username });
  expect(decision).not.toHaveProperty('reason');
});

test('rollback and forget keep who and why too', async () => {
  const commands = await twoPushes();
  await commands.run('rollback', '1', '--reason', 'wrong file');
  const rolledBack = { kind: 'rollback', push: 1, by: username, reason: 'wrong file', state: 'acknowledged' };
  expect(await decisionsOf(commands, 'history')).toMatchObject([rolledBack]);
  expect((await commands.run('status')).stdout).toMatch(/roll back to push 1, acknowledged\n +by .*: wrong file\n/);

  await commands.run('sync');
  await commands.at.remove('a.csv');
  await commands.at.write('b.csv', longFile({ West: { '2026-01': 1 } }));
  await commands.configure({ revenue: { ...csv('*.csv') } });
  await commands.run('sync');
  const said = await commands.run('forget', 'revenue', 'a.csv', '--yes', '--reason', 'replaced by b.csv');
  expect(said.code).toBe(0);
  await commands.run('sync');
  expect(await decisionsOf(commands, 'history')).toMatchObject([
    { kind: 'forget', source: 'revenue', part: 'a.csv', by: username, reason: 'replaced by b.csv', state: 'done' },
    rolledBack,
  ]);
});

test.each(['approve', 'rollback'])('%s refuses a reason that is empty', async (command) => {
  const { run } = await twoPushes();
  const { code, stderr } = await run(command, '1', '--reason', ' ');
  expect([code, stderr]).toEqual([64, 'driver-sync: --reason is empty\n  give it a value, or leave it out\n']);
});
