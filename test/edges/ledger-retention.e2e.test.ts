/** Which snapshots are kept, wherever the ledger and the archive are. */
import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { Dependencies } from '../../src/app/dependencies.ts';
import { keptDigests } from '../../src/app/push/retention.ts';
import type { Settings } from '../../src/core/settings.ts';
import { noChanges } from '../../src/core/series/diff.ts';
import { openBuffer } from '../../src/edges/state/buffer.ts';
import { runsOf } from '../support/campaign.ts';
import { type Stores, openPostgres, openSqlite } from '../support/ledger-stores.ts';
import { driver } from '../support/packed.ts';
import { type TestServer, cannotPostgres, postgresName, postgresServer } from '../support/servers.ts';

const dayMs = 86_400_000;
const address = 'https://drivers.example.com';
const format = { shouldDeleteMissing: true, stamp: 'middle' } as const;

/** Pushes a snapshot of its own. Gives the bytes that it takes. */
async function pushedAt({ archive, ledger }: Stores, atDays: number, index: number): Promise<number> {
  const drivers = Array.from({ length: index + 1 }, (_, at) => ({
    ...driver(`d${index}/${at}`, { '2026-01': String(index + 1) }),
    source: 'sales',
  }));
  const { digest, points, bytes } = await archive.write(drivers, format, []);
  const counts = { drivers: drivers.length, points, bytes, changes: noChanges, shouldDeleteMissing: true };
  const atMs = atDays * dayMs;
  const id = await ledger.pushes.begin({ atMs, address, digest, ...counts });
  await ledger.pushes.acknowledge(id, { outcome: 'acknowledged', maybeTaken: false }, { atMs, carried: [], state: {} });
  return archive.storedBytes(digest);
}

/** What a pass on that day does at its end. Gives the pushes whose snapshots are kept, newest first. */
async function keptAfter(
  { archive, ledger }: Stores,
  onDay: number,
  limits: Pick<Settings, 'keepMs' | 'keepMaxBytes'>,
): Promise<readonly number[]> {
  const buffer = openBuffer(':memory:', 'write');
  const settings = { ...limits, sources: [] };
  const deps = { archive, ledger, buffer, address, settings } as unknown as Dependencies;
  await archive.keepOnly(await keptDigests(deps, onDay * dayMs));
  buffer.close();
  const kept: number[] = [];
  for (const { id, digest } of await ledger.pushes.all()) {
    const snapshot = await archive.open(digest);
    expect(await ledger.snapshots.isKept(digest)).toBe(snapshot !== undefined);
    if (snapshot !== undefined) kept.push(id);
  }
  return kept;
}

describe.skipIf(cannotPostgres)(`on SQLite and on ${postgresName}`, () => {
  let server: TestServer;
  beforeAll(async () => {
    server = await postgresServer();
  });
  afterAll(async () => server?.[Symbol.asyncDispose]());

  test.each([
    ['SQLite', async () => openSqlite()],
    ['PostgreSQL', () => openPostgres(server)],
  ])('keep and keepMax say which snapshots stay, and the others go: %s', async (_name, open: () => Promise<Stores>) => {
    await using one = await open();
    const bytes: number[] = [];
    for (const [index, atDays] of [0, 0.1, 5, 30, 31].entries()) bytes.push(await pushedAt(one, atDays, index));
    const [third, fourth, fifth] = bytes.slice(2) as [number, number, number];
    const kept = (keepDays: number, keepMaxBytes = Infinity): Promise<readonly number[]> =>
      keptAfter(one, 31, { keepMs: keepDays * dayMs, keepMaxBytes });
    expect(await kept(40)).toEqual([5, 4, 3, 2]);
    const head = await one.ledger.head();
    expect(await kept(40)).toEqual([5, 4, 3, 2]);
    expect(await one.ledger.head()).toBe(head);
    expect(await kept(40, third + fourth + fifth)).toEqual([5, 4, 3]);
    expect(await kept(20)).toEqual([5, 4]);
    expect(await kept(20, fourth + fifth - 1)).toEqual([5]);
    expect(await kept(20, 1)).toEqual([5]);
    // What is gone comes back with a push of it.
    await pushedAt(one, 31.5, 0);
    expect(await kept(20)).toEqual([6, 5, 1]);
  });

  test('the same snapshots stay, whatever was pushed when and whatever is to be kept', async () => {
    const days = fc.array(fc.nat({ max: 60 }), { minLength: 1, maxLength: 6 });
    const keepMs = fc.nat({ max: 60 }).map((count) => count * dayMs);
    const limits = fc.record({ keepMs, keepMaxBytes: fc.nat({ max: 3000 }) });
    const play = async (one: Stores, atDays: readonly number[], limit: { keepMs: number; keepMaxBytes: number }) => {
      const bytes: number[] = [];
      const inOrder = atDays.toSorted((a, b) => a - b);
      for (const [index, day] of inOrder.entries()) bytes.push(await pushedAt(one, day, index % 4));
      return { bytes, kept: await keptAfter(one, 60, limit), head: await one.ledger.head() };
    };
    await fc.assert(
      fc.asyncProperty(days, limits, async (atDays, limit) => {
        await using sqlite = openSqlite();
        await using postgres = await openPostgres(server);
        expect(await play(postgres, atDays, limit)).toEqual(await play(sqlite, atDays, limit));
        // Nothing of those that are gone takes room.
        const files = await postgres.database.all('SELECT DISTINCT file_sha256 FROM ~piece ORDER BY 1');
        const kept = 'SELECT DISTINCT file_sha256 FROM ~snapshot WHERE is_kept = 1 ORDER BY 1';
        expect(files).toEqual(await postgres.database.all(kept));
      }),
      runsOf(5, 30),
    );
  });
});
