/** The stores of the simulated world are those of the agent: what one suite says holds for both. */
import { describe, expect, test } from 'vitest';
import type { PartRead } from '../../src/core/buffer.ts';
import type { SnapshotDriver } from '../../src/core/ledger.ts';
import { type FoldedDriver, unpackDriver } from '../../src/core/series/packing.ts';
import type { Stores } from '../../src/simulate/world/stores.ts';
import { bothStates } from '../support/two-stores.ts';

const january = 24_312;
const noChanges = { create: 0, update: 0, delete: 0 };

function driver(id: string, values: readonly string[], more: Partial<FoldedDriver> = {}): FoldedDriver {
  const place = { seconds: 0, nanos: 0, row: 1, part: 1 };
  const cells = values.map((value, at) => ({
    month: january + at,
    value,
    text: value,
    count: 1,
    ...place,
    row: at + 1,
  }));
  return { id, path: [id], rule: 'last', pathPlace: place, cells, ...more };
}

/** A part as a pass reads it: its cells name it by its own number. */
function readPart(
  { buffer }: Stores,
  {
    source = 'sales',
    name,
    drivers,
    hash = name,
  }: { source?: string; name: string; drivers: readonly FoldedDriver[]; hash?: string },
): PartRead {
  const writer = buffer.parts.begin(source, { name, kind: 'part' }, 'f1');
  const own = drivers.map((one) => ({
    ...one,
    pathPlace: { ...one.pathPlace, part: writer.id },
    cells: one.cells.map((cell) => ({ ...cell, part: writer.id })),
  }));
  writer.add(own);
  return writer.commit(
    { version: `v ${name}`, hash, revisedAtMs: 1000, endsWithLineEnd: true },
    { rows: drivers.length, rejects: 0 },
  );
}

const chosen = ({ id }: PartRead, carried = false) => ({ id, carried, settled: false });

/** `{ a: { '0': '1' } }`: values by month, counted from January. */
function pointsOf({ buffer }: Stores, source = 'sales', kind: 'accepted' | 'candidate' = 'accepted'): unknown {
  const read = buffer.reads.parts(source, kind) ?? [];
  const ids = [...buffer.reads.drivers(source, kind)].map(({ id, path, rule }) => ({ id, path, rule }));
  return { parts: read.map(({ name, carried, settled }) => ({ name, carried, settled })), ids };
}

function push(digest: string, more: object = {}) {
  const changes = { drivers: noChanges, points: noChanges };
  return {
    atMs: 1,
    address: 'a',
    digest,
    drivers: 1,
    points: 1,
    bytes: 1,
    changes,
    shouldDeleteMissing: true,
    ...more,
  };
}

const taken = { outcome: 'acknowledged', status: 200, maybeTaken: false } as const;
const unknown = { outcome: 'unknown', maybeTaken: true } as const;

describe.each(bothStates)('%s', (_name, openState) => {
  test('a read that was walked as the candidate is the same as the accepted one, and again after drivers left it', () => {
    const stores = openState().open();
    const { reads } = stores.buffer;
    const one = readPart(stores, { name: 'a.csv', drivers: [driver('a', ['1', '2']), driver('c', ['7'])] });
    const other = readPart(stores, { name: 'b.csv', drivers: [driver('b', ['5']), driver('a', ['1', '2', '3'])] });
    const walk = (kind: 'accepted' | 'candidate'): readonly unknown[] =>
      Array.from(reads.drivers('sales', kind), (packed) => unpackDriver(packed));
    reads.set('sales', 'candidate', [chosen(one), chosen(other)]);
    // A walk that ends early, two whole ones, and one of the same parts in another read.
    for (const { id } of reads.drivers('sales', 'candidate')) if (id === 'b') break;
    const judged = walk('candidate');
    expect(judged).toMatchObject([{ id: 'a' }, { id: 'b' }, { id: 'c' }]);
    expect(walk('candidate')).toEqual(judged);
    reads.accept(new Map([['sales', []]]));
    expect(walk('accepted')).toEqual(judged);
    expect(walk('accepted')).toEqual(judged);

    reads.set('sales', 'candidate', [chosen(one), chosen(other)]);
    expect(walk('candidate')).toEqual(judged);
    reads.removeDrivers('sales', ['b']);
    expect(walk('candidate')).toMatchObject([{ id: 'a' }, { id: 'c' }]);
    reads.accept(new Map([['sales', []]]));
    expect(walk('accepted')).toMatchObject([{ id: 'a' }, { id: 'c' }]);
    reads.set('sales', 'candidate', [chosen(one)]);
    expect(walk('candidate')).toMatchObject([{ id: 'a', cells: [{ value: '1' }, { value: '2' }] }, { id: 'c' }]);
  });

  test('a candidate counts once it is accepted, and its parts with it', () => {
    const stores = openState().open();
    const { reads } = stores.buffer;
    const one = readPart(stores, { name: 'a.csv', drivers: [driver('b', ['1']), driver('a', ['1', '2'])] });
    reads.set('sales', 'candidate', [chosen(one)], 'basis');
    expect(reads.acceptedSources()).toEqual([]);
    reads.set('costs', 'partial', []);
    expect(reads.readSources()).toEqual(['costs', 'sales']);
    reads.drop('costs', 'partial');
    expect(reads.readSources()).toEqual(['sales']);
    expect(reads.basis('sales', 'candidate')).toBe('basis');
    const before = reads.revision();
    reads.accept(new Map([['sales', []]]));
    expect(reads.revision()).toBeGreaterThan(before);
    expect(reads.parts('sales', 'candidate')).toBeUndefined();
    expect(pointsOf(stores)).toEqual({
      parts: [{ name: 'a.csv', carried: false, settled: false }],
      ids: [
        { id: 'a', path: '["a"]', rule: 'last' },
        { id: 'b', path: '["b"]', rule: 'last' },
      ],
    });
  });

  test('what is settled stays settled for carried parts of that name', () => {
    const stores = openState().open();
    const [a, b] = ['a', 'b'].map((name) => readPart(stores, { name, drivers: [driver(name, ['1'])] })) as [
      PartRead,
      PartRead,
    ];
    stores.buffer.reads.set('sales', 'candidate', [chosen(a, true), chosen(b)]);
    stores.buffer.reads.accept(new Map([['sales', ['a', 'b']]]));
    expect(stores.buffer.reads.parts('sales', 'accepted')).toMatchObject([
      { name: 'a', carried: true, settled: true },
      { name: 'b', carried: false, settled: false },
    ]);
  });

  test('drivers that two parts have are merged, in the order of UTF-8', () => {
    const stores = openState().open();
    const first = readPart(stores, {
      name: 'a',
      drivers: [driver('\u{1F600}', ['1']), driver('z', ['1'], { rule: 'sum' })],
    });
    const second = readPart(stores, {
      name: 'b',
      drivers: [driver('\uFFFD', ['1']), driver('z', ['2', '3'], { rule: 'sum' })],
    });
    stores.buffer.reads.set('sales', 'accepted', [chosen(first), chosen(second)]);
    expect([...stores.buffer.reads.drivers('sales', 'accepted')].map(({ id }) => id)).toEqual([
      'z',
      '\uFFFD',
      '\u{1F600}',
    ]);
    const [part] = stores.buffer.parts.sharedPoints('sales', [first.id], [second.id]);
    expect(part).toEqual({ part: first.id, other: second.id, driver: 'z', month: january });
    expect(stores.buffer.parts.earliestMonth([first.id, second.id])).toBe(january);
  });

  test('a part that was not committed leaves nothing behind, and unused ones are pruned', () => {
    const stores = openState().open();
    const { parts, reads } = stores.buffer;
    const kept = readPart(stores, { name: 'a', drivers: [driver('a', ['1'])] });
    const unused = readPart(stores, { name: 'b', drivers: [driver('b', ['1'])] });
    const writer = parts.begin('sales', { name: 'c', kind: 'part' }, 'f');
    writer.add([driver('c', ['1'])]);
    writer.discard();
    reads.set('sales', 'accepted', [chosen(kept)]);
    parts.prune();
    expect(parts.origin(kept.origin)).toMatchObject({ name: 'a', source: 'sales' });
    expect(() => parts.origin(unused.origin)).toThrow(/which is not there/);
    expect([...parts.drivers(unused)]).toEqual([]);
  });

  test('a driver of two rules is found, and drivers of two sources', () => {
    const stores = openState().open();
    const a = readPart(stores, { name: 'a', drivers: [driver('x', ['1'])] });
    const b = readPart(stores, { name: 'b', drivers: [driver('x', ['1'], { rule: 'sum' })] });
    const c = readPart(stores, { source: 'costs', name: 'c', drivers: [driver('x', ['1'])] });
    stores.buffer.reads.set('sales', 'candidate', [chosen(a), chosen(b)]);
    stores.buffer.reads.set('costs', 'accepted', [chosen(c)]);
    expect(stores.buffer.reads.mixedRules('sales', 'candidate')).toMatchObject({ driver: 'x', month: january });
    const shared = stores.buffer.reads.sharedDrivers([
      { source: 'sales', kind: 'candidate' },
      { source: 'costs', kind: 'accepted' },
    ]);
    expect([...shared].map((one) => ({ ...one, sources: one.sources.toSorted() }))).toEqual([
      { driver: 'x', sources: ['costs', 'sales'] },
    ]);
    stores.buffer.reads.removeDrivers('sales', ['x']);
    expect([...stores.buffer.reads.drivers('sales', 'candidate')]).toEqual([]);
  });

  test('rejects, seen files, line ends and names are kept', () => {
    const stores = openState().open();
    const { rejects, parts, reads, names } = stores.buffer;
    rejects.keep(
      'sales',
      'b',
      [
        { row: 2, reason: 'r', text: 't' },
        { row: 1, reason: 'r', text: 't' },
      ],
      2,
    );
    rejects.keep('sales', 'a', [{ row: 3, reason: 'r', text: 't' }], 1200);
    expect(rejects.counts('sales')).toEqual([
      { source: 'sales', part: 'a', total: 1200, kept: 1 },
      { source: 'sales', part: 'b', total: 2, kept: 2 },
    ]);
    expect(rejects.counts('costs')).toEqual([]);
    expect([...rejects.all('sales')].map(({ part, row }) => `${part}${row}`)).toEqual(['a3', 'b1', 'b2']);
    rejects.keepOnly('sales', ['b']);
    expect([...rejects.all()].map(({ part }) => part)).toEqual(['b', 'b']);
    expect(rejects.counts().map(({ part }) => part)).toEqual(['b']);
    rejects.copy('b', 'sales', 'costs');
    rejects.keep('sales', 'b', [], 0);
    expect(rejects.counts()).toEqual([{ source: 'costs', part: 'b', total: 2, kept: 2 }]);
    expect([...rejects.all('costs')].map(({ row }) => row)).toEqual([1, 2]);
    rejects.copy('none', 'sales', 'costs');
    rejects.copy('b', 'sales', 'costs');
    expect(rejects.counts()).toEqual([]);
    parts.setSeen('sales', new Map([['a', { version: 'v', hash: 'h', revisedAtMs: 5 }]]));
    expect(parts.seen('sales').get('a')).toEqual({ version: 'v', hash: 'h', revisedAtMs: 5 });
    parts.noteLineEnd('sales', 'map.csv', false);
    expect([parts.hadLineEnd('sales', 'map.csv'), parts.hadLineEnd('sales', 'other.csv')]).toEqual([false, undefined]);
    const read = readPart(stores, { name: 'a', drivers: [driver('a', ['1']), driver('b', ['1'])] });
    reads.set('sales', 'accepted', [chosen(read)]);
    expect(names.after('sales', 'a', 5)).toEqual([{ source: 'sales', id: 'b', path: ['b'] }]);
  });

  test('a snapshot that is taken back keeps which parts it stood for', () => {
    const stores = openState().open();
    const { parts, reads } = stores.buffer;
    const facts = { id: 9, source: 'sales', name: 'a.csv', revisedAtMs: 5, hash: 'h', endsWithLineEnd: true };
    const origin = parts.addRestoredOrigin(facts);
    expect(parts.addRestoredOrigin(facts)).toBe(origin);
    const writer = parts.begin('sales', { name: '', kind: 'snapshot' }, '');
    writer.addOrigin(origin);
    const read = writer.commit({ version: '', hash: '', revisedAtMs: 0 }, { rows: 0, rejects: 0 });
    reads.set('sales', 'accepted', [chosen(read)]);
    expect(parts.originsOf(read.id)).toEqual([{ ...facts, id: origin, isPart: true }]);
    expect(reads.origins().map(({ id }) => id)).toContain(origin);
  });

  test('pushes: what may still land, what is open, what was acknowledged', async () => {
    const { ledger } = openState().open();
    const { pushes } = ledger;
    const first = await pushes.begin(push('d1'));
    await pushes.end(first, unknown, 10);
    expect(await pushes.maybeTaken('a', 'd2')).toEqual({ endedAtMs: 10 });
    expect(await pushes.maybeTaken('a', 'd1')).toBeUndefined();
    const second = await pushes.begin(push('d2'));
    expect(await pushes.maybeTaken('a', 'd3')).toEqual({ endedAtMs: undefined });
    await pushes.acknowledge(second, taken, {
      atMs: 20,
      carried: [{ driver: 'x', months: new Uint8Array([1, 5]) }],
      state: {},
    });
    expect(await pushes.maybeTaken('a', 'd3')).toBeUndefined();
    expect(await pushes.hasOpenSince('a', 0)).toBe(true);
    expect(await pushes.hasOpenSince('a', second)).toBe(false);
    expect(await pushes.lastAcknowledged('a')).toMatchObject({
      id: second,
      digest: 'd2',
      outcome: 'acknowledged',
      endedAtMs: 20,
    });
    expect(await pushes.firstOf('a', 'x', 5)).toBe(second);
    expect(await pushes.changing('a', 'x')).toEqual([second]);
    const third = await pushes.begin(push('d3'));
    await pushes.endOrphans(30);
    expect(await pushes.get(third)).toMatchObject({ outcome: 'unknown', endedAtMs: 30, maybeTaken: true });
    expect(Object.fromEntries(await pushes.counts())).toEqual({ acknowledged: 1, unknown: 2 });
    expect((await pushes.newest(2, third)).map(({ id }) => id)).toEqual([second, first]);
  });

  test('holds: since when, what an approval covers, and what was let through', async () => {
    const { ledger } = openState().open();
    const { holds } = ledger;
    const held = { source: 's', digest: 'd', reason: 'r', hint: undefined, approvable: true };
    const scope = {
      deletes: new Map([['x', [5, 7]]]),
      moved: new Map([['x', [7]]]),
      carried: ['a'],
      findings: [],
      isEnd: false,
    };
    await holds.hold(held, scope, 1);
    await holds.hold(held, scope, 2);
    expect(await holds.held()).toEqual([{ ...held, sinceMs: 1 }]);
    await holds.approve('d', 's', 3, { by: 'ann', reason: 'why' });
    const [approval] = await holds.approvals();
    expect(approval).toEqual({ id: 1, source: 's', digest: 'd', atMs: 3, state: 'pending', by: 'ann', reason: 'why' });
    expect(await holds.approve('d', 's', 4, { by: 'bob' })).toEqual(approval);
    expect(await holds.approvedScope(1)).toEqual(scope);
    await holds.closeApproval(1, 'dropped', 'why not');
    expect((await holds.approvals())[0]).toMatchObject({ state: 'dropped', why: 'why not' });
    expect(await holds.approve('d', 's', 5, { by: 'bob' })).toBeUndefined();
    expect(await holds.approve('d', 's', 6, { reason: 'why' })).toBeUndefined();
    expect((await holds.approvals()).map(({ id, state }) => [id, state])).toEqual([
      [3, 'pending'],
      [2, 'dropped'],
      [1, 'dropped'],
    ]);
    const had = { drivers: 9, points: 90 };
    await holds.recordDeletes('s', 'one', { atMs: 10, drivers: 1, points: 2, had });
    await holds.recordDeletes('s', 'two', { atMs: 20, drivers: 1, points: 3, had: { drivers: 8, points: 88 } });
    await holds.inheritDeletes('s', 't', had);
    expect(await holds.deletesSince(['s', 't'], 0, 'none')).toEqual({ drivers: 2, points: 5, had });
    expect(await holds.deletesSince(['s'], 0, 'two')).toEqual({ drivers: 1, points: 2, had });
    await holds.inheritDeletes('t', 'u', { drivers: 4, points: 89 });
    const part = { drivers: 2, points: 5, had: { drivers: 4, points: 89 } };
    expect(await holds.deletesSince(['u', 't'], 0, 'none')).toEqual(part);
    expect(await holds.deletesSince(['u'], 10, 'none')).toMatchObject({ had: { drivers: 4, points: 88 } });
    expect(await holds.deletesSince(['t'], 0, 'none')).toMatchObject({ had });
    const others = { own: 'two', untilMs: 5 };
    expect(await holds.deletesSince(['s'], 0, '', others)).toMatchObject({ drivers: 1, points: 3 });
    expect(await holds.deletesSince(['s'], 0, '', { ...others, untilMs: 10 })).toMatchObject({ points: 5 });
    await holds.settleDeletes(15);
    expect(await holds.deletesSince(['s'], 14, '')).toMatchObject({ points: 3 });
    expect(await holds.deletesSince(['s'], 15, '')).toMatchObject({ points: 0 });
    await holds.forgetDeletes(10);
    expect(await holds.deletesSince(['s'], 0, '')).toMatchObject({ points: 2 });
    await holds.release('s');
    expect(await holds.held()).toEqual([]);
  });

  test('requests and the record beside them', async () => {
    const { ledger } = openState().open();
    const asked = await ledger.requests.asked();
    const id = await ledger.requests.add({ kind: 'rollback', push: 3 }, 1, { by: 'ann' });
    expect(await ledger.requests.asked()).not.toBe(asked);
    expect(await ledger.requests.pending()).toMatchObject([{ id, request: { kind: 'rollback', push: 3 } }]);
    await ledger.requests.finish(id, 'done');
    expect(await ledger.requests.pending()).toEqual([]);
    expect(await ledger.requests.result(id)).toBe('done');
    await ledger.setState({ rolledBack: { push: 1, sinceMs: 2, isRestored: false } });
    await ledger.setState({ emptyConsent: { digest: 'd', address: 'a' } });
    await ledger.setState({ rolledBack: undefined });
    expect(await ledger.state()).toEqual({ emptyConsent: { digest: 'd', address: 'a' } });
    expect(await ledger.head()).toMatch(/^\d+:[0-9a-f]{64}$/);
  });

  test('a snapshot of many chunks gives the bytes of each', async () => {
    const stores = openState().open();
    const { archive, buffer } = stores;
    const names = Array.from({ length: 40 }, (_, at) => `${String(at).padStart(2, '0')} ${'x'.repeat(5000)}`);
    const part = readPart(stores, { name: 'a', drivers: names.map((name) => driver(name, ['1'])) });
    buffer.reads.set('sales', 'accepted', [chosen(part)]);
    const drivers = function* (): Generator<SnapshotDriver> {
      for (const one of buffer.reads.drivers('sales', 'accepted')) yield { ...one, source: 'sales' };
    };
    const { digest } = await archive.write(drivers(), { shouldDeleteMissing: true, stamp: 'middle' }, []);
    const chunks: Uint8Array[] = [];
    for await (const chunk of (await archive.open(digest))!.body().chunks()) chunks.push(Uint8Array.from(chunk));
    const { extDrivers } = JSON.parse(Buffer.concat(chunks).toString()) as { extDrivers: { id: string }[] };
    expect(extDrivers.map(({ id }) => id)).toEqual(names);
  });

  test('a snapshot gives its bytes and drivers again, until it is dropped or damaged', async () => {
    const state = openState();
    const stores = state.open();
    const part = readPart(stores, { name: 'a', drivers: [driver('a', ['1.50']), driver('b', ['2'])] });
    stores.buffer.reads.set('sales', 'accepted', [chosen(part)]);
    const drivers = function* (): Generator<SnapshotDriver> {
      for (const one of stores.buffer.reads.drivers('sales', 'accepted')) yield { ...one, source: 'sales' };
    };
    const format = { shouldDeleteMissing: true, stamp: 'middle' } as const;
    const { digest, points } = await stores.archive.write(drivers(), format, stores.buffer.reads.origins());
    expect(digest).toMatch(/^[0-9a-f]{64}$/);
    expect(points).toBe(2);
    const opened = await stores.archive.open(digest);
    let text = '';
    for await (const chunk of opened!.body().chunks()) text += Buffer.from(chunk).toString();
    expect(JSON.parse(text)).toMatchObject({ extDrivers: [{ id: 'a', timeSeries: [{ value: '1.50' }] }, { id: 'b' }] });
    expect(opened!.driver('b')).toMatchObject({ id: 'b', source: 'sales' });
    expect([...opened!.readPoints(opened!.blocks())]).toEqual([]);
    state.damageSnapshot(digest);
    await expect(async () => {
      const damaged = await stores.archive.open(digest);
      for (const _driver of damaged!.read());
    }).rejects.toMatchObject({ code: 'snapshot.damaged' });
    await stores.archive.keepOnly(new Set());
    expect(await stores.archive.open(digest)).toBeUndefined();
  });
});
