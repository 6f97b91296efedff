/** What `status` says where the clock was ahead during the last pass. */
import path from 'node:path';
import Database from 'better-sqlite3';
import { expect, test } from 'vitest';
import { writeHeartbeat } from '../../src/edges/state/state-directory.ts';
import { twoPushes } from '../support/commands-world.ts';

/** As an agent leaves it whose clock said this. */
function passedAt(dir: string, at: string): void {
  const db = new Database(path.join(dir, '.driver-sync/ledger.db'));
  db.prepare(`UPDATE state SET record = json_set(record, '$.lastPass.at', ?)`).run(at);
  db.close();
}

test('--max-age is not met by a pass that lies ahead of the clock: nobody knows how old it is', async () => {
  const { at, run } = await twoPushes();
  passedAt(at.dir, '2099-01-01T00:00:00.000Z');
  expect(await run('status', '--exit-code', '--max-age', '26h')).toMatchObject({
    code: 75,
    stderr: 'the last pass lies ahead of the clock, at 2099-01-01T00:00:00.000Z: how old it is nobody knows\n',
  });
  expect((await run('status', '--exit-code')).code).toBe(0);
});

test('a pass that broke is the last one until another one has ended, whatever the clock said then', async () => {
  const { at, run, json } = await twoPushes();
  passedAt(at.dir, '2099-01-01T00:00:00.000Z');
  const broken = { at: '2026-01-01T00:00:00.000Z', exit: 75, reason: 'the disk is full' };
  writeHeartbeat(path.join(at.dir, '.driver-sync'), { untilMs: 0, broken });
  expect(await json('status')).toMatchObject({ lastPass: { ...broken, outcome: 'broken' } });
  await run('sync');
  expect(await json('status')).toMatchObject({ lastPass: { outcome: 'unchanged', exit: 0 } });
});
