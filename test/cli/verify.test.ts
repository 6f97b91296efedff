/** `verify`: a history that can be checked. */
import { copyFileSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { describe, expect, test } from 'vitest';
import { verifyIn } from '../../src/compose/state.ts';
import { type ChainWorld, chainWorld, livingChainWorld, withState, withoutChain } from '../support/chain-world.ts';
import { commandLine } from '../support/command-line.ts';
import { twoPushes } from '../support/commands-world.ts';
import { csv } from '../support/process.ts';
import { longFile, world } from '../support/world.ts';

const snapshotFile = ({ archive }: ChainWorld, digest: string): string => path.join(archive, `${digest}.snapshot`);

describe('a state that nobody touched', () => {
  test('is whole, and the head is the one that sync and status print', async () => {
    const one = await livingChainWorld();
    const found = await one.verify();
    expect(found).toMatchObject({ ok: true, exit: 0, earlier: 0, snapshots: one.snapshots().length });
    expect(found.head).toMatch(new RegExp(`^${found.records}:[0-9a-f]{64}$`));
    expect(await one.json('status')).toMatchObject({ head: found.head });

    await one.at.write('a.csv', longFile({ R1: { '2026-01': 5 } }));
    const { push } = await one.json<{ push: { head: string } }>('sync', '--force');
    expect(await one.verify('--head', push.head)).toMatchObject({ ok: true });
  });

  test('says in words what it found, and needs no config where the state directory is named', async () => {
    const one = await chainWorld();
    const { head, records, snapshots } = await one.verify();
    const said = `${records} records and ${snapshots} snapshots are as they were written\n${head}\n`;
    expect(await one.run('verify')).toMatchObject({ code: 0, stdout: said });
    expect(await commandLine('verify', '--state', one.at.state)).toMatchObject({ code: 0, stdout: said });
    await one.at.write('driver-sync.yaml', 'state: .driver-sync\nsources: nothing\n');
    expect(await one.run('verify')).toMatchObject({ code: 0, stdout: said });
  });

  test('stays whole where a crash came between the record of a snapshot and its file', async () => {
    await using w = await world({ config: { sources: {} } });
    await w.open(({ ledger }) => ledger.snapshots.written('0'.repeat(64), '1'.repeat(64)));
    const found = await verifyIn(w);
    expect(found).toMatchObject({ records: 2, snapshots: 0 });
    expect(found.damaged).toBeUndefined();
  });
});

describe('finds and names', () => {
  const changes: readonly (readonly [what: string, sql: string, kind: string, why: RegExp])[] = [
    ['another count of a push', 'UPDATE push SET points = points + 1 WHERE id = 2', 'push', /push 2 has points 11/],
    ['a push that is gone', 'DELETE FROM push WHERE id = (SELECT max(id) FROM push)', 'push', /is not in the ledger/],
    ['another reason', `UPDATE approval SET reason = 'because'`, 'approval', /reason "because".*"regions closed"/],
    ['deletes that nobody approved', `UPDATE approval SET deletes = x'00'`, 'approval', /deletes/],
    ['another person', `UPDATE request SET by_user = 'eve'`, 'request', /by_user "eve"/],
    ['another time', 'UPDATE request SET at_ms = at_ms + 1', 'request', /at_ms/],
    ['other months that a push carried first', `UPDATE change SET months = x'01'`, 'push', /carried first/],
    ['another content', `UPDATE chain SET content = replace(content, 'regions', 'Regions')`, 'approval', /content/],
    [
      'another sha256',
      `UPDATE chain SET sha256 = iif(sha256 LIKE '0%', '1', '0') || substr(sha256, 2) WHERE n = 5`,
      'request',
      /content and its sha256/,
    ],
    ['a record that is gone', 'DELETE FROM chain WHERE n = 4', 'request', /is missing/],
  ];
  test.each(changes)('%s', async (_what, sql, kind, why) => {
    const one = await chainWorld();
    one.alter(sql);
    const { code, json } = await one.run('verify', '--json');
    const { ok, damaged } = json<{ ok: boolean; damaged: { id: number; kind: string; why: string } }>();
    expect([code, ok, damaged.kind]).toEqual([65, false, 'record']);
    expect(damaged.why).toMatch(why);
    expect(damaged.id).toBeLessThanOrEqual(one.newest(kind));
    expect((await one.run('verify')).stdout).toMatch(new RegExp(`^record ${damaged.id} of the ledger was damaged`));
  });

  test('a chain that is gone', async () => {
    const one = await chainWorld();
    one.alter('DELETE FROM chain');
    const { damaged } = await one.verify();
    expect(damaged).toEqual({ kind: 'record', id: 1, why: 'it is missing' });
  });

  test('a table that is gone', async () => {
    const one = await chainWorld();
    one.alter('DROP TABLE approval');
    const { exit, damaged } = await one.verify();
    expect([exit, damaged?.why]).toEqual([65, 'it cannot be read: no such table: approval']);
  });

  test('a row that no record says anything of', async () => {
    const one = await chainWorld();
    const { records } = await one.verify();
    one.alter(`INSERT INTO request (at_ms, request, result) VALUES (1, '{}', 'done')`);
    expect(await one.verify()).toMatchObject({
      ok: false,
      damaged: { kind: 'record', id: records + 1, why: 'request 3 is in the ledger, and no record says so' },
    });
  });

  test('the lowest record where several rows were altered', async () => {
    const one = await chainWorld();
    one.alter(`UPDATE request SET reason = 'x'; UPDATE push SET bytes = 1 WHERE id = 1`);
    expect((await one.verify()).damaged?.why).toMatch(/push 1 has bytes 1 /);
  });

  test('a snapshot that was altered, with the push that it is of', async () => {
    const one = await chainWorld();
    const [{ digest }] = (await one.json<{ pushes: { digest: string }[] }>('history')).pushes.slice(-1) as [
      { digest: string },
    ];
    const bytes = readFileSync(snapshotFile(one, digest));
    bytes[bytes.length - 1]! ^= 1;
    writeFileSync(snapshotFile(one, digest), bytes);
    const { ok, damaged, exit } = await one.verify();
    expect([ok, exit]).toEqual([false, 65]);
    expect(damaged).toMatchObject({
      kind: 'snapshot',
      id: digest,
      why: expect.stringMatching(/sha256 .* \(of push 3\)$/),
    });
    expect((await one.run('verify')).stdout).toContain(`the snapshot ${digest} was damaged or altered`);
  });

  test('a snapshot that is gone, and one that nobody wrote', async () => {
    const one = await chainWorld();
    const [digest] = one.snapshots() as [string];
    const other = 'f'.repeat(64);
    copyFileSync(snapshotFile(one, digest), snapshotFile(one, other));
    expect((await one.verify()).damaged).toEqual({
      kind: 'snapshot',
      id: other,
      why: 'no record says that it was written',
    });
    rmSync(snapshotFile(one, other));
    rmSync(snapshotFile(one, digest));
    expect((await one.verify()).damaged).toMatchObject({
      kind: 'snapshot',
      id: digest,
      why: expect.stringMatching(/^its file is missing \(of push \d\)$/),
    });
  });

  test('no fault with snapshots that were dropped because they are old', async () => {
    const one = withState(await twoPushes());
    expect(one.snapshots()).toHaveLength(2);
    await one.configure({ revenue: csv('a.csv') }, { keepMax: '1B' });
    await one.run('sync', '--force');
    expect(one.snapshots()).toHaveLength(1);
    expect(await one.verify()).toMatchObject({ ok: true, snapshots: 1 });
  });
});

describe('--head', () => {
  test('proves that the ledger continues the one that the head was noted of', async () => {
    const one = withState(await twoPushes());
    const { head } = await one.verify();
    await one.run('rollback', '1');
    const { code, stdout } = await one.run('verify', '--head', head);
    expect(code).toBe(0);
    expect(stdout).toContain(`the ledger continues the head that was noted, of record ${head.split(':')[0]}\n`);
  });

  test('finds a ledger that was rewritten, each record in itself whole', async () => {
    const one = withState(await twoPushes());
    const older = readFileSync(one.ledger);
    await one.run('rollback', '1');
    const { head } = await one.verify();
    const n = Number(head.split(':')[0]);
    // An older copy is put back, and goes on from there in another way.
    writeFileSync(one.ledger, older);
    expect(await one.verify('--head', head)).toMatchObject({ ok: false, exit: 65, damaged: { kind: 'record' } });
    for (let round = 0; round < 4; round++) await one.run('sync', '--force');
    expect((await one.verify()).records).toBeGreaterThan(n);
    expect(await one.verify()).toMatchObject({ ok: true });
    const { damaged } = await one.verify('--head', head);
    expect(damaged).toEqual({ kind: 'record', id: n, why: expect.stringMatching(/and that of the noted head/) });
  });

  test('of record 0 there is one alone: what is printed before the first record', async () => {
    const one = withState(await twoPushes());
    expect(await one.verify('--head', `0:${'0'.repeat(64)}`)).toMatchObject({ ok: true, exit: 0 });
    const damaged = { kind: 'record', id: 0, why: expect.stringMatching(/and that of the noted head 1{64}$/) };
    expect(await one.verify('--head', `0:${'1'.repeat(64)}`)).toMatchObject({ ok: false, exit: 65, damaged });
  });

  test.each(['12', '1:abc', 'x'.repeat(64), `-1:${'0'.repeat(64)}`])('refuses %s', async (head) => {
    const one = withState(await twoPushes());
    expect(await one.run('verify', `--head=${head}`)).toMatchObject({
      code: 64,
      stderr: expect.stringContaining('is no head of a chain'),
    });
  });
});

describe('a ledger from before it had a chain', () => {
  test('begins one with what it has, and nothing of that can change from then on', async () => {
    const one = await livingChainWorld();
    one.alter(withoutChain);
    expect((await one.run('verify')).code).toBe(78);
    await one.run('sync');
    const found = await one.verify();
    // 3 pushes, an approval, 2 requests, and the snapshots.
    expect(found).toMatchObject({ ok: true, earlier: 6 + one.snapshots().length });
    expect((await one.run('verify')).stdout).toContain(`${found.earlier} of the rows are from before the chain began`);
    one.alter('UPDATE push SET drivers = 1 WHERE id = 1');
    expect((await one.verify()).damaged).toMatchObject({ kind: 'record', why: expect.stringContaining('push 1') });
  });

  test('without any state there is nothing to verify', async () => {
    const { code, stderr } = await commandLine('verify', '--state', '/nonexistent/driver-sync');
    expect([code, stderr]).toEqual([78, expect.stringContaining('there is no state in /nonexistent/driver-sync')]);
  });
});

test('a snapshot whose file was removed by hand is damage, and not one that keep let go of', async () => {
  const { at, json } = await twoPushes();
  const { pushes } = await json<{ pushes: { id: number; digest: string }[] }>('history');
  rmSync(path.join(at.state, 'archive', `${pushes.find(({ id }) => id === 1)!.digest}.snapshot`));
  const lost = { exit: 65, error: { message: expect.stringContaining('the snapshot of push 1 is missing') } };
  expect(await json('verify')).toMatchObject({ exit: 65, damaged: { why: expect.stringContaining('missing') } });
  expect(await json('rollback', '1')).toMatchObject(lost);
  expect(await json('diff', '1', '2')).toMatchObject(lost);
  expect(await json('rollback', '2')).toMatchObject({ outcome: 'acknowledged' });
});
