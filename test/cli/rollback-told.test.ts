/** What is told of a rollback that the service may not have taken, or that another push may have undone. */
import { expect, test } from 'vitest';
import { twoPushes } from '../support/commands-world.ts';
import { csv } from '../support/process.ts';
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
