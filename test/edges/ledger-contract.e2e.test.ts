/** What a ledger and an archive promise, wherever they are kept. */
import { buffer } from 'node:stream/consumers';
import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { Ledger, NewPush, SnapshotDriver } from '../../src/core/ledger.ts';
import type { PushOutcome, PushResult } from '../../src/core/ports.ts';
import { noChanges } from '../../src/core/series/diff.ts';
import { packMonths } from '../../src/core/series/packing.ts';
import { parseMonth } from '../../src/core/time/month.ts';
import { runsOf } from '../support/campaign.ts';
import { type Stores, openPostgres, openSqlite } from '../support/ledger-stores.ts';
import { driver } from '../support/packed.ts';
import { type TestServer, cannotPostgres, postgresName, postgresReleases, postgresServer } from '../support/servers.ts';

const address = 'https://drivers.example.com';
const format = { shouldDeleteMissing: true, stamp: 'middle' } as const;
const everything = { deletes: new Map(), moved: new Map(), carried: [], findings: [], isEnd: false };

function push(of: Partial<NewPush> = {}): NewPush {
  const counts = { drivers: 1, points: 2, bytes: 100, changes: noChanges, shouldDeleteMissing: true };
  return { atMs: 1000, address, digest: 'aa', ...counts, ...of };
}

function ended(outcome: PushOutcome): PushResult {
  return { outcome, maybeTaken: outcome === 'unknown' };
}

function month(text: string): number {
  return parseMonth(text) as number;
}

async function acknowledge(ledger: Ledger, id: number, carried: Readonly<Record<string, readonly string[]>> = {}) {
  const months = Object.entries(carried).map(([name, list]) => ({ driver: name, months: packMonths(list.map(month)) }));
  await ledger.pushes.acknowledge(id, ended('acknowledged'), { atMs: 2000 + id, carried: months, state: {} });
}

function drivers(values: Readonly<Record<string, string>>): SnapshotDriver[] {
  return Object.entries(values).map(([id, value]) => ({ ...driver(id, { '2026-01': value }), source: 'sales' }));
}

const stores = [
  { name: 'SQLite', isMissing: false, programs: undefined, isServer: false },
  ...postgresReleases.map((release) => ({ ...release, isServer: true })),
];

describe.each(stores)('on $name', ({ isMissing, isServer, programs }) => {
  let server: TestServer | undefined;
  const open = async (): Promise<Stores> => (server === undefined ? openSqlite() : await openPostgres(server));

  beforeAll(async () => {
    if (isServer && !isMissing) server = await postgresServer({ programs });
  });
  afterAll(async () => server?.[Symbol.asyncDispose]());

  test.skipIf(isMissing)('a push is kept from its beginning to its end', async () => {
    await using one = await open();
    const { pushes } = one.ledger;
    expect(await pushes.last()).toBeUndefined();
    const first = await pushes.begin(push({ rollbackOf: 7 }));
    expect(await pushes.get(first)).toEqual({
      ...push({ rollbackOf: 7 }),
      id: 1,
      endedAtMs: undefined,
      outcome: undefined,
      status: undefined,
      detail: undefined,
      maybeTaken: true,
    });
    await pushes.end(first, { outcome: 'refused', status: 413, detail: 'too large', maybeTaken: false }, 1500);
    await one.ledger.setState({ unpushed: { approvals: [1], forgets: [] }, emptyConsent: { digest: 'd', address } });
    const second = await pushes.begin(push({ digest: 'bb', address: 'elsewhere' }), { unpushed: undefined });
    expect(await one.ledger.state()).toEqual({ emptyConsent: { digest: 'd', address } });
    expect(await pushes.get(first)).toMatchObject({ endedAtMs: 1500, outcome: 'refused', status: 413 });
    expect((await pushes.all()).map(({ id }) => id)).toEqual([second, first]);
    expect((await pushes.newest(1, second)).map(({ id }) => id)).toEqual([first]);
    expect((await pushes.last(address))?.id).toBe(first);
    expect(await pushes.counts()).toEqual(new Map([['refused', 1]]));
  });

  test.skipIf(isMissing)('what never ended may have been taken, until it is ended as unknown', async () => {
    await using one = await open();
    const { pushes } = one.ledger;
    await acknowledge(one.ledger, await pushes.begin(push()));
    await pushes.begin(push({ digest: 'bb' }));
    expect(await pushes.maybeTaken(address, 'aa')).toEqual({ endedAtMs: undefined });
    expect(await pushes.hasOpenSince(address, 1)).toBe(true);
    expect(await pushes.hasOpenSince(address, 1, 'bb')).toBe(false);
    await pushes.endOrphans(5000);
    expect(await pushes.last()).toMatchObject({ outcome: 'unknown', endedAtMs: 5000, maybeTaken: true });
    expect(await pushes.maybeTaken(address, 'aa')).toEqual({ endedAtMs: 5000 });
    expect(await pushes.maybeTaken(address, 'bb')).toBeUndefined();
    await acknowledge(one.ledger, await pushes.begin(push()));
    // The one that was acknowledged has waited for it.
    expect(await pushes.maybeTaken(address, 'cc')).toBeUndefined();
    await pushes.begin(push({ digest: 'dd' }));
    await pushes.endOrphans(6000);
    await acknowledge(one.ledger, await pushes.begin(push({ digest: 'dd' })));
    expect(await pushes.maybeTaken(address, 'cc')).toEqual({ endedAtMs: 6000 });
    await acknowledge(one.ledger, await pushes.begin(push()));
    expect(await pushes.hasOpenSince(address, 3)).toBe(true);
    expect(await pushes.hasOpenSince(address, 6)).toBe(false);
    expect((await pushes.lastAcknowledged(address))?.id).toBe(6);
  });

  test.skipIf(isMissing)('it knows which push first carried a point', async () => {
    await using one = await open();
    const { pushes } = one.ledger;
    for (const carried of [{}, { north: ['2026-01'], 'über/ß 🙂': ['2026-03'] }, { north: ['2026-02'] }]) {
      await acknowledge(one.ledger, await pushes.begin(push()), carried);
    }
    expect(await pushes.changing(address, 'north')).toEqual([3, 2]);
    expect(await pushes.firstOf(address, 'north', month('2026-01'))).toBe(2);
    expect(await pushes.firstOf(address, 'north', month('2026-02'))).toBe(3);
    expect(await pushes.firstOf(address, 'north', month('2026-03'))).toBe(1);
    expect(await pushes.firstOf(address, 'über/ß 🙂', month('2026-03'))).toBe(2);
    expect(await pushes.firstOf('elsewhere', 'north', month('2026-01'))).toBeUndefined();
  });

  test.skipIf(isMissing)('a hold keeps since when it stands, and an approval what it was given for', async () => {
    await using one = await open();
    const { holds } = one.ledger;
    const held = { source: 'sales', digest: 'c1', reason: 'much', hint: undefined, approvable: true };
    const scope = {
      deletes: new Map([
        ['north', [month('2026-01'), month('2026-02')]],
        ['south', [month('2026-01')]],
      ]),
      moved: new Map([['north', [month('2026-02')]]]),
      carried: ['old.csv'],
      findings: [{ kind: 'zeros', group: ['N'], points: 2, of: 3, examples: [], reach: ['a', 'b'] } as const],
      isEnd: true,
    };
    await holds.hold(held, scope, 100);
    await holds.hold({ ...held, reason: 'more' }, scope, 200);
    expect(await holds.held()).toEqual([{ ...held, reason: 'more', sinceMs: 100 }]);
    await holds.approve('c1', 'sales', 300, { by: 'ada', reason: 'closed' });
    await holds.approve('c2', undefined, 400);
    expect(await holds.approvals()).toEqual([
      { id: 2, digest: 'c2', atMs: 400, state: 'pending' },
      { id: 1, source: 'sales', digest: 'c1', atMs: 300, state: 'pending', by: 'ada', reason: 'closed' },
    ]);
    expect(await holds.approvedScope(1)).toEqual(scope);
    expect(await holds.approvedScope(2)).toEqual(everything);
    expect(await holds.approvedScope(9)).toEqual(everything);
    await holds.hold({ ...held, digest: 'c3' }, everything, 500);
    expect((await holds.held())[0]?.sinceMs).toBe(500);
    await holds.closeApproval(1, 'dropped', 'another read');
    expect((await holds.approvals())[1]).toMatchObject({ state: 'dropped', why: 'another read' });
    await holds.reopenApproval(1);
    expect((await holds.approvals())[1]).toMatchObject({ state: 'pending', by: 'ada' });
    expect((await holds.approvals())[1]?.why).toBeUndefined();
    await holds.release('sales');
    expect(await holds.held()).toEqual([]);
  });

  test.skipIf(isMissing)(
    'a second approval of the same adds nothing, but for the reason that the first one lacks',
    async () => {
      await using one = await open();
      const { holds } = one.ledger;
      const held = { source: 'sales', digest: 'c1', reason: 'much', hint: undefined, approvable: true };
      await holds.hold(held, everything, 100);
      expect(await holds.approve('c1', 'sales', 200, { by: 'ada' })).toBeUndefined();
      const first = { id: 1, source: 'sales', digest: 'c1', atMs: 200, state: 'pending', by: 'ada' };
      expect(await holds.approve('c1', 'sales', 300, { by: 'bob' })).toEqual(first);
      expect(await holds.approve('c1', 'sales', 400, { by: 'bob', reason: 'closed' })).toBeUndefined();
      const second = { ...first, id: 2, atMs: 400, by: 'bob', reason: 'closed' };
      expect(await holds.approve('c1', 'sales', 500, { by: 'cy', reason: 'other' })).toEqual(second);
      expect(await holds.approvals()).toEqual([
        second,
        { ...first, state: 'dropped', why: 'it was approved again, with a reason' },
      ]);
      // What reaches further under the same digest is another matter, and so is another source or a first push.
      await holds.hold(held, { ...everything, carried: ['old.csv'] }, 600);
      expect(await holds.approve('c1', 'sales', 700)).toBeUndefined();
      expect(await holds.approve('c1', undefined, 800)).toBeUndefined();
      expect(await holds.approve('c1', undefined, 900)).toMatchObject({ id: 4 });
      await holds.closeApproval(4, 'used');
      expect(await holds.approve('c1', undefined, 900)).toBeUndefined();
    },
  );

  test.skipIf(isMissing)('deletes that passed are counted once for each read', async () => {
    await using one = await open();
    const { holds } = one.ledger;
    const deletes = { atMs: 10, drivers: 1, points: 2, had: { drivers: 9, points: 90 } };
    await holds.recordDeletes('sales', 'r1', deletes);
    await holds.recordDeletes('sales', 'r1', { ...deletes, points: 3 });
    await holds.recordDeletes('sales', 'r2', { ...deletes, atMs: 20, had: { drivers: 8, points: 80 } });
    await holds.inheritDeletes('sales', 'rents', { drivers: 9, points: 90 });
    const sum = { drivers: 2, points: 5, had: { drivers: 9, points: 90 } };
    expect(await holds.deletesSince(['sales', 'rents'], 0, '')).toEqual(sum);
    expect(await holds.deletesSince(['rents'], 10, '')).toMatchObject({ points: 2 });
    expect(await holds.deletesSince(['sales'], 0, 'r1')).toMatchObject({ points: 2 });
    expect(await holds.deletesSince([], 0, '')).toEqual({ drivers: 0, points: 0, had: undefined });
    await holds.inheritDeletes('rents', 'fees', { drivers: 4, points: 85 });
    const part = { drivers: 2, points: 5, had: { drivers: 4, points: 85 } };
    expect(await holds.deletesSince(['fees'], 0, '')).toEqual(part);
    expect(await holds.deletesSince(['rents', 'fees'], 0, '')).toEqual(part);
    expect(await holds.deletesSince(['fees'], 10, '')).toMatchObject({ had: { drivers: 4, points: 80 } });
    expect(await holds.deletesSince(['rents'], 0, '')).toEqual(sum);
    const others = { own: 'r2', untilMs: 5 };
    expect(await holds.deletesSince(['sales'], 0, '', others)).toMatchObject({ drivers: 1, points: 2 });
    expect(await holds.deletesSince(['sales'], 0, '', { ...others, untilMs: 10 })).toMatchObject({ points: 5 });
    await holds.settleDeletes(15);
    expect(await holds.deletesSince(['sales'], 14, '')).toMatchObject({ points: 2 });
    expect(await holds.deletesSince(['sales'], 15, '')).toMatchObject({ points: 0 });
    await holds.forgetDeletes(10);
    expect(await holds.deletesSince(['sales'], 0, '')).toMatchObject({ points: 3 });
  });

  test.skipIf(isMissing)('a request waits until it is finished, and each one and each approval shows', async () => {
    await using one = await open();
    const { requests, holds } = one.ledger;
    const asked = [await requests.asked()];
    const id = await requests.add({ kind: 'forget', source: 'sales', part: undefined }, 5, { by: 'ada', as: 'root' });
    asked.push(await requests.asked());
    await holds.approve('c1', 'sales', 6);
    asked.push(await requests.asked());
    expect(new Set(asked).size).toBe(3);
    expect(await requests.pending()).toMatchObject([{ id, atMs: 5, request: { kind: 'forget', source: 'sales' } }]);
    expect(await requests.result(id)).toBeUndefined();
    await requests.finish(id, 'done');
    expect(await requests.result(id)).toBe('done');
    expect(await requests.pending()).toEqual([]);
    expect(await requests.all()).toMatchObject([{ id, by: 'ada', as: 'root', result: 'done' }]);
    await requests.reopen(id);
    expect(await requests.pending()).toMatchObject([{ id, by: 'ada' }]);
  });

  test.skipIf(isMissing)('what is kept beside the logs changes field by field', async () => {
    await using one = await open();
    await one.ledger.setState({ emptyConsent: { digest: 'aa', address } });
    await one.ledger.setState({ rolledBack: { push: 1, sinceMs: 2, isRestored: false } });
    await one.ledger.setState({ emptyConsent: undefined });
    expect(await one.ledger.state()).toEqual({ rolledBack: { push: 1, sinceMs: 2, isRestored: false } });
  });

  test.skipIf(isMissing)('a snapshot is there whole or not at all, and goes when it is not to be kept', async () => {
    await using one = await open();
    const { archive, ledger } = one;
    const first = await archive.write(drivers({ north: '1.50', south: '2' }), format, []);
    const second = await archive.write(drivers({ north: '1.75' }), format, []);
    const found = await archive.open(first.digest);
    expect(String(await buffer(found!.body().chunks()))).toContain('1.50');
    expect(found?.driver('south')?.id).toBe('south');
    expect(await archive.storedBytes(first.digest)).toBeGreaterThan(128);
    expect(await archive.storedBytes('unknown')).toBe(0);
    expect(await ledger.snapshots.isKept(first.digest)).toBe(true);
    const before = await ledger.head();
    await archive.keepOnly(new Set([second.digest]));
    expect(await ledger.snapshots.isKept(first.digest)).toBe(false);
    expect(await ledger.head()).not.toBe(before);
    expect(await archive.open(first.digest)).toBeUndefined();
    expect(await archive.storedBytes(first.digest)).toBe(0);
    expect((await archive.open(second.digest))?.drivers).toBe(1);
    const after = await ledger.head();
    await archive.keepOnly(new Set([second.digest]));
    expect(await ledger.head()).toBe(after);
    expect((await archive.write(drivers({ north: '1.50', south: '2' }), format, [])).digest).toBe(first.digest);
    expect(await archive.open(first.digest)).toBeDefined();
  });
});

describe.skipIf(cannotPostgres)(`SQLite and ${postgresName}`, () => {
  let server: TestServer;
  beforeAll(async () => {
    server = await postgresServer();
  });
  afterAll(async () => server[Symbol.asyncDispose]());

  /** Texts that a database might store in another way. */
  const text = fc.oneof(
    fc.constantFrom('north', "it's", 'a\\b', '~x', '$1', 'ü🙂', '“”\n\t'),
    fc.string({ unit: 'grapheme' }),
  );
  const call = fc.oneof(
    fc.record({
      kind: fc.constant('push' as const),
      digest: text,
      outcome: fc.constantFrom('acknowledged', 'unknown', 'refused', undefined),
    }),
    fc.record({ kind: fc.constant('approve' as const), digest: text, source: fc.option(text, { nil: undefined }) }),
    fc.record({ kind: fc.constant('hold' as const), source: text, digest: text }),
    fc.record({ kind: fc.constant('ask' as const), source: text }),
    fc.record({ kind: fc.constant('orphans' as const) }),
  );
  type Call = typeof call extends fc.Arbitrary<infer T> ? T : never;

  async function play(ledger: Ledger, calls: readonly Call[]): Promise<string> {
    for (const one of calls) {
      switch (one.kind) {
        case 'push': {
          const id = await ledger.pushes.begin(push({ digest: one.digest }));
          if (one.outcome === 'acknowledged') await acknowledge(ledger, id, { [one.digest]: ['2026-01'] });
          else if (one.outcome !== undefined) await ledger.pushes.end(id, ended(one.outcome), 3000);
          break;
        }
        case 'approve':
          await ledger.holds.approve(one.digest, one.source, 1);
          break;
        case 'hold':
          await ledger.holds.hold({ ...one, reason: 'r', hint: undefined, approvable: true }, everything, 1);
          break;
        case 'ask':
          await ledger.requests.add({ kind: 'forget', source: one.source, part: undefined }, 1);
          break;
        case 'orphans':
          await ledger.pushes.endOrphans(9);
      }
    }
    const { pushes, holds, requests } = ledger;
    return JSON.stringify([await pushes.all(), await holds.approvals(), await requests.all(), await ledger.head()]);
  }

  test('a shared ledger names a row that is not as it was written, also within a transaction', async () => {
    await using one = await openPostgres(server);
    const damage = expect.objectContaining({ code: 'ledger.corrupt', message: expect.stringContaining('is damaged') });
    await one.ledger.pushes.begin(push());
    await one.ledger.requests.add({ kind: 'rollback', push: 1 }, 1);
    await one.database.run("UPDATE ~push SET changes = '{}'");
    await expect(one.ledger.pushes.all()).rejects.toEqual(damage);
    await one.database.run("UPDATE ~request SET request = '{'");
    await expect(one.ledger.requests.all()).rejects.toEqual(damage);
    await one.database.run("UPDATE ~state SET record = '{'");
    await expect(one.ledger.setState({ lastPass: undefined })).rejects.toEqual(damage);
  });

  test('keep the same rows and the same chain of the same calls', async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(call, { maxLength: 12 }), async (calls) => {
        await using sqlite = openSqlite();
        await using postgres = await openPostgres(server);
        const nul = (one: Call): boolean => !JSON.stringify(one).includes('\\u0000');
        const kept = calls.filter(nul);
        expect(await play(postgres.ledger, kept)).toBe(await play(sqlite.ledger, kept));
      }),
      runsOf(8, 50),
    );
  });
});
