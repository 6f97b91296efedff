/** What is told of a rollback that the service may not have taken, or that another push may have undone. */
import { expect, test } from 'vitest';
import { twoPushes } from '../support/commands-world.ts';
import { csv } from '../support/process.ts';
import { openReceiver } from '../support/receiver.ts';
import { longFile } from '../support/world.ts';

test('status names what pushes once more and keeps the rollback, where no agent runs', async () => {
  const { run, json, receiver } = await twoPushes();
  await run('rollback', '1');
  expect((await run('status')).stdout).not.toContain('once more');
  receiver.answer(202);
  expect((await run('rollback', '2')).code).toBe(5);
  const { stdout } = await run('status');
  expect(stdout).toMatch(/^once more +due from .*, with the same bytes: another push may have been taken after the/m);
  expect(stdout).toMatch(/^ +no agent runs: "driver-sync run" does it, or "driver-sync rollback 1" again; /m);
  expect(stdout).toContain('"driver-sync sync" ends the rollback');
  expect(stdout).not.toContain('after that time does it');
  expect(await json('status')).toMatchObject({ rolledBackTo: 1, repeatFrom: expect.any(String) });
});

test('status names a sync for what is to be pushed once more where no rollback holds', async () => {
  const { at, run, receiver, configure } = await twoPushes();
  await configure({ revenue: csv('a.csv') }, { destination: { url: receiver.url, timeout: '1s' } });
  receiver.answer(202);
  await run('rollback', '1');
  await at.write('a.csv', longFile({ North: { '2026-01': '1.50', '2026-02': 4 }, South: { '2026-01': 4 } }));
  await run('sync');
  expect((await run('status')).stdout).toContain('no agent runs: a "driver-sync sync" after that time does it');
});

const again =
  'Nothing tries this one again by itself: "driver-sync rollback 1" does, and "driver-sync sync" pushes the';

test.each([
  ['503', { status: 503, headers: { 'retry-after': '3600' } }, 75],
  ['202', 202, 5],
] as const)(
  'a rollback that got %s says what the service may have, and what to do; status, too',
  async (_, answer, code) => {
    const { run, json, receiver } = await twoPushes();
    receiver.answer(answer);
    const told = await run('rollback', '1');
    const unsure = 'the rollback did not take hold for sure: the service may have its snapshot, or the one from before';
    expect(told.code).toBe(code);
    expect(told.stdout).toContain(`\n  ${unsure}. ${again}`);
    expect(told.stdout).not.toContain('tried again');
    const { stdout } = await run('status');
    expect(stdout).toContain(`\n              ${unsure}. ${again}`);
    expect(stdout).not.toContain('tried again');
    expect(await json('status')).toMatchObject({ lastPush: { hint: expect.stringContaining(unsure) } });
    await run('rollback', '1', '--force');
    expect((await run('status')).stdout).not.toContain('take hold');
  },
);

test('a rollback that the service surely has not taken says so, and which other one holds', async () => {
  const { run, receiver } = await twoPushes();
  receiver.answer({ status: 429, headers: { 'retry-after': '3600' } });
  const { code, stdout } = await run('rollback', '1');
  expect(code).toBe(75);
  expect(stdout).toContain(`  the rollback did not take hold: the service has the snapshot from before. ${again}`);
  // Nothing is sent, or asked for, before that time.
  expect((await run('rollback', '1')).stdout).toContain('try again then; "driver-sync rollback 1 --force" pushes now');
  await run('rollback', '1', '--force');
  receiver.answer(500, { status: 429, headers: { 'retry-after': '3600' } });
  expect((await run('rollback', '2')).stdout).toContain(
    'or the one from before; the rollback to push 1 holds, and "driver-sync run" pushes that again. Nothing tries',
  );
});

test('a rollback that is refused, and surely not taken, says what the service says', async () => {
  const { run, receiver } = await twoPushes();
  receiver.answer(400);
  expect((await run('rollback', '1')).stdout).not.toContain('take hold');
  expect((await run('status')).stdout).not.toContain('take hold');
});

test('a push of another address is none to go back to, and history shows which went where', async () => {
  const { at, run, receiver } = await twoPushes();
  expect((await run('history')).stdout).not.toContain('address');
  await using other = await openReceiver();
  await at.configure({ destination: { url: other.url }, sources: { revenue: csv('a.csv') } });
  const none = await run('rollback', '1');
  expect(none.code).toBe(64);
  expect(none.stderr).toContain(`push 1 went to another address, ${receiver.url}`);
  expect(none.stderr).toContain(`nothing was acknowledged by the address in the config yet, ${other.url}`);
  await run('sync');
  const { stderr } = await run('rollback', '1');
  expect(stderr).toContain(`the address in the config, ${other.url}`);
  expect(stderr).toContain('"driver-sync history" shows the address of each');
  const { stdout } = await run('history');
  expect(stdout).toMatch(/^push .* digest +address$/m);
  expect(stdout).toMatch(new RegExp(`^ *3 .* ${other.url}`, 'm'));
  expect(stdout).toMatch(new RegExp(`^ *1 .* ${receiver.url}`, 'm'));
});
