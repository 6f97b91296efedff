/** Which deletes that went without approval count for a source, and what it had before them. */
import { describe, expect, test } from 'vitest';
import type { Dependencies } from '../../src/app/dependencies.ts';
import { dayMs, inheritDeletes, letThroughIn, letThroughInMonth, readKey } from '../../src/app/review/let-through.ts';
import { openLedger } from '../../src/edges/state/ledger.ts';
import { keptReads } from '../support/kept-reads.ts';

const nowMs = Date.parse('2026-03-15T12:00:00Z');
const hourMs = dayMs / 24;

interface Deleted {
  readonly source?: string;
  /** The read that went without them. */
  readonly read?: string;
  readonly agoMs?: number;
  readonly drivers?: number;
  readonly had?: number;
}

const ofAll = (drivers: number) => ({ drivers, points: drivers * 12 });

async function worldOf(deleted: readonly Deleted[], state: object = {}): Promise<Dependencies> {
  const points = { A: { '2026-01': '1' } };
  const buffer = keptReads({ 'a accepted': { 'a.csv': { points } }, 'a candidate': { 'b.csv': { points } } });
  buffer.setState({ id: 'mine', ...state });
  const ledger = openLedger(':memory:', 'migrate');
  for (const [at, { source = 'a', read = `mine ${at}`, agoMs = hourMs, drivers = 1, had = 100 }] of deleted.entries())
    await ledger.holds.recordDeletes(source, read, { atMs: nowMs - agoMs, ...ofAll(drivers), had: ofAll(had) });
  return { buffer, ledger, clock: { now: () => new Date(nowMs) } } as unknown as Dependencies;
}

describe('deletes that went without approval', () => {
  test('count for as long as it is asked, of the source and of those that it takes over', async () => {
    const deps = await worldOf([
      { agoMs: 2 * hourMs, drivers: 2 },
      { agoMs: dayMs - 1, drivers: 3, had: 103 },
      { agoMs: dayMs, drivers: 50 },
      { source: 'gone', drivers: 4 },
      { source: 'other', drivers: 60 },
    ]);
    expect(await letThroughIn(deps, dayMs, 'a', [])).toMatchObject({ ...ofAll(5), had: ofAll(103) });
    expect(await letThroughIn(deps, dayMs, 'a', ['gone'])).toMatchObject(ofAll(9));
    expect(await letThroughIn(deps, hourMs, 'a', ['gone'])).toEqual({ drivers: 0, points: 0, had: undefined });
  });

  test('do not count where it is the read that is judged again, of the same parts', async () => {
    const deps = await worldOf([{ drivers: 2 }]);
    const again = { atMs: nowMs - 1, ...ofAll(7), had: ofAll(100) };
    await deps.ledger.holds.recordDeletes('a', readKey(deps, 'a'), again);
    expect(await letThroughIn(deps, dayMs, 'a', [])).toMatchObject(ofAll(2));
    deps.buffer.reads.drop('a', 'candidate');
    expect(await letThroughIn(deps, dayMs, 'a', [])).toMatchObject(ofAll(9));
  });

  test('of another agent count up to the push that the reads here go on from, and all of the own ones do', async () => {
    const deleted = [
      { read: 'mine 3 > 4', agoMs: hourMs, drivers: 1 },
      { read: 'mine 4 > 5', agoMs: hourMs, drivers: 2 },
      { read: 'other 1 > 2', agoMs: 3 * hourMs, drivers: 4 },
      { read: 'other 2 > 3', agoMs: hourMs, drivers: 8 },
      { read: 'mineral 2 > 3', agoMs: hourMs, drivers: 16 },
    ];
    const shared = await worldOf(deleted, { followsFromMs: nowMs - 2 * hourMs });
    expect(await letThroughIn(shared, dayMs, 'a', [])).toMatchObject(ofAll(1 + 2 + 4));
    expect(await letThroughIn(await worldOf(deleted), dayMs, 'a', [])).toMatchObject(ofAll(31));
  });
});

describe('what there was before the deletes of 30 days', () => {
  const deleted = [
    { agoMs: 29 * dayMs, drivers: 10, had: 100 },
    { source: 'gone', agoMs: 20 * dayMs, drivers: 5, had: 400 },
    { source: 'gone', agoMs: 31 * dayMs, drivers: 50, had: 900 },
  ];

  test('is what the source had', async () => {
    expect(await letThroughInMonth(await worldOf(deleted), 'a', [], ofAll(20))).toEqual({
      ...ofAll(10),
      had: ofAll(100),
    });
  });

  test('is no more than what it has with what it takes over, and what went of both', async () => {
    const had = async (drivers: number) =>
      (await letThroughInMonth(await worldOf(deleted.slice(1)), 'a', ['gone'], ofAll(drivers))).had;
    expect(await had(20)).toEqual(ofAll(25));
    expect(await had(500)).toEqual(ofAll(400));
  });

  test('is not known where nothing went', async () => {
    expect(await letThroughInMonth(await worldOf([]), 'a', ['gone'], ofAll(20))).toEqual({
      ...ofAll(0),
      had: undefined,
    });
  });
});

describe('a source that takes drivers over', () => {
  test('has what was let through for those that it takes them from, and no more than it can have had', async () => {
    const deps = await worldOf([
      { source: 'gone', agoMs: 2 * hourMs, drivers: 5, had: 400 },
      { source: 'left', drivers: 3, had: 30 },
      { source: 'other', drivers: 9 },
    ]);
    await inheritDeletes(deps, 'b', ['gone', 'left'], ofAll(32));
    expect(await letThroughIn(deps, dayMs, 'b', [])).toEqual({ ...ofAll(8), had: ofAll(40) });
    expect(await letThroughIn(deps, dayMs, 'other', [])).toMatchObject(ofAll(9));
  });
});

test('a read is named by its buffer, by the parts that are accepted and by those of the candidate', () => {
  const part = { points: { A: { '2026-01': '1' } } };
  const reads = { 'a accepted': { 'a.csv': part, 'b.csv': part }, 'a candidate': { 'c.csv': part } };
  const buffer = keptReads(reads);
  buffer.setState({ id: 'mine' });
  const [accepted, candidate] = (['accepted', 'candidate'] as const).map((kind) => buffer.reads.parts('a', kind) ?? []);
  const [one, other, now] = [...(accepted ?? []), ...(candidate ?? [])].map(({ id }) => id);
  expect(readKey({ buffer } as Dependencies, 'a')).toBe(`mine ${one} ${other} > ${now}`);
  expect(readKey({ buffer } as Dependencies, 'b')).toBe('mine  > ');
  buffer.close();
});
