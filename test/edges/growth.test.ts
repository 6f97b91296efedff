/** A part that goes on from an earlier read of it: nothing is copied, and it reads as if it had been read whole. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { describe, expect, onTestFinished, test } from 'vitest';
import type { Growth, LocalBuffer, PartRead } from '../../src/core/buffer.ts';
import { type FoldedDriver, unpackDriver } from '../../src/core/series/packing.ts';
import { openBuffer } from '../../src/edges/state/buffer.ts';

const growth: Growth = {
  bytes: 100,
  blocks: Buffer.alloc(32, 7),
  format: '{}',
  passed: 3,
  rejects: [{ row: 2, reason: 'not a number', text: 'a,b' }],
  isProven: true,
};

function open(): LocalBuffer {
  const dir = mkdtempSync(path.join(tmpdir(), 'driver-sync-growth-'));
  const buffer = openBuffer(path.join(dir, 'buffer.db'), 'write');
  onTestFinished(() => {
    buffer.close();
    rmSync(dir, { recursive: true });
  });
  return buffer;
}

/** One reading in each of these months. */
function driver(
  id: string,
  part: number,
  months: Readonly<Record<number, readonly [row: number, value: string]>>,
): FoldedDriver {
  const cells = Object.entries(months).map(([month, [row, value]]) => ({
    month: Number(month),
    value,
    text: value,
    count: 1,
    seconds: Number(month) * 1000,
    nanos: 0,
    row,
    part,
  }));
  const row = Math.max(...cells.map((cell) => cell.row));
  return {
    id,
    path: [id],
    rule: 'last',
    pathPlace: { seconds: 0, nanos: 0, row, part },
    otherPath: undefined,
    entry: 0,
    cells,
  };
}

interface Written {
  readonly name?: string;
  readonly base?: PartRead;
  readonly revisedAtMs: number;
  readonly drivers: (part: number) => readonly FoldedDriver[];
  readonly growth?: Growth;
}

function write(
  buffer: LocalBuffer,
  { name = 'ledger.csv', base, revisedAtMs, drivers, growth: kept = growth }: Written,
): PartRead {
  const writer = buffer.parts.begin('books', { name, kind: 'part' }, 'as it is', base);
  writer.add(drivers(writer.id));
  const content = { version: `v${revisedAtMs}`, hash: `h${revisedAtMs}`, revisedAtMs, endsWithLineEnd: true };
  return writer.commit(content, { rows: 3, rejects: 1 }, kept);
}

function accept(buffer: LocalBuffer, ...parts: readonly PartRead[]): void {
  buffer.reads.set(
    'books',
    'candidate',
    parts.map(({ id }) => ({ id, carried: false, settled: false })),
  );
  buffer.reads.accept(new Map([['books', []]]));
  buffer.parts.prune();
}

function values(drivers: Iterable<FoldedDriver>): object {
  return Object.fromEntries(
    [...drivers].map(({ id, cells }) => [id, Object.fromEntries(cells.map(({ month, value }) => [month, value]))]),
  );
}

function accepted(buffer: LocalBuffer): object {
  return values(Array.from(buffer.reads.drivers('books', 'accepted'), unpackDriver));
}

const first = (part: number): readonly FoldedDriver[] => [
  driver('a', part, { 10: [1, '1'], 11: [2, '2'] }),
  driver('b', part, { 10: [3, '3'] }),
];
const second = (part: number): readonly FoldedDriver[] => [
  driver('a', part, { 11: [4, '20'], 12: [5, '5'] }),
  driver('c', part, { 12: [6, '6'] }),
];

describe('a part that goes on from an earlier read', () => {
  test('has the rows of both, while the earlier one stays as it was', () => {
    const buffer = open();
    const base = write(buffer, { revisedAtMs: 1, drivers: first });
    accept(buffer, base);
    const grown = write(buffer, { base, revisedAtMs: 2, drivers: second });
    expect(values(buffer.parts.drivers(grown))).toEqual({
      a: { 10: '1', 11: '20', 12: '5' },
      b: { 10: '3' },
      c: { 12: '6' },
    });
    expect(values(buffer.parts.drivers(base))).toEqual({ a: { 10: '1', 11: '2' }, b: { 10: '3' } });
    expect(buffer.growths.continues(grown.id, base.id)).toBe(true);
    expect(buffer.growths.continues(base.id, grown.id)).toBe(false);

    accept(buffer, grown);
    expect(accepted(buffer)).toEqual({ a: { 10: '1', 11: '20', 12: '5' }, b: { 10: '3' }, c: { 12: '6' } });
    expect(buffer.growths.of(base.id)).toBeUndefined();
    expect(buffer.growths.of(grown.id)).toEqual(growth);
  });

  test('leaves nothing behind when it is dropped', () => {
    const buffer = open();
    const base = write(buffer, { revisedAtMs: 1, drivers: first });
    accept(buffer, base);
    write(buffer, { base, revisedAtMs: 2, drivers: second });
    buffer.parts.prune();
    expect(accepted(buffer)).toEqual({ a: { 10: '1', 11: '2' }, b: { 10: '3' } });
    accept(buffer);
    expect([...buffer.parts.drivers(base)]).toEqual([]);
  });

  test('is one part to everything that names parts, in its newest revision once it is accepted', () => {
    const buffer = open();
    const base = write(buffer, { revisedAtMs: 1, drivers: first });
    accept(buffer, base);
    const grown = write(buffer, { base, revisedAtMs: 2, drivers: second });
    expect(buffer.reads.origins()).toMatchObject([{ id: base.id, revisedAtMs: 1, hash: 'h1' }]);
    accept(buffer, grown);
    expect(buffer.reads.origins()).toMatchObject([{ id: base.id, name: 'ledger.csv', revisedAtMs: 2, hash: 'h2' }]);
    expect(buffer.parts.origin(grown.origin)).toMatchObject({ name: 'ledger.csv', revisedAtMs: 2 });
  });

  test('wins ties against other parts as a part of its new age, also with its old rows', () => {
    const buffer = open();
    const other = (value: string) => (part: number) => [driver('a', part, { 10: [1, value] })];
    const base = write(buffer, { revisedAtMs: 1, drivers: first });
    const rival = write(buffer, { name: 'rival.csv', revisedAtMs: 5, drivers: other('rival') });
    accept(buffer, base, rival);
    expect(accepted(buffer)).toMatchObject({ a: { 10: 'rival' } });

    const grown = write(buffer, { base, revisedAtMs: 9, drivers: second });
    buffer.reads.set(
      'books',
      'candidate',
      [grown, rival].map(({ id }) => ({ id, carried: false, settled: false })),
    );
    expect(accepted(buffer)).toMatchObject({ a: { 10: 'rival' } });
    buffer.reads.accept(new Map([['books', []]]));
    expect(accepted(buffer)).toMatchObject({ a: { 10: '1' } });
  });

  test('can be made one run again, in pieces, and goes on from there', () => {
    const buffer = open();
    let part = write(buffer, { revisedAtMs: 1, drivers: first });
    accept(buffer, part);
    const months: Record<number, string> = { 10: '1', 11: '2' };
    for (let at = 0; at < 5; at++) {
      const row = 4 + at;
      part = write(buffer, {
        base: part,
        revisedAtMs: 2 + at,
        drivers: (id) => [driver('a', id, { [20 + at]: [row, String(row)] })],
      });
      months[20 + at] = String(row);
      accept(buffer, part);
    }
    expect(buffer.growths.scattered(5)).toMatchObject([{ id: part.id }]);
    for (const _piece of buffer.growths.compact(part)) expect(accepted(buffer)).toMatchObject({ a: months });
    expect(buffer.growths.scattered(1)).toEqual([]);
    expect(accepted(buffer)).toEqual({ a: months, b: { 10: '3' } });
    buffer.parts.prune();
    part = write(buffer, { base: part, revisedAtMs: 9, drivers: second });
    accept(buffer, part);
    expect(accepted(buffer)).toEqual({ a: { ...months, 11: '20', 12: '5' }, b: { 10: '3' }, c: { 12: '6' } });
  });

  test('that is made one run and is stopped on the way is as it was', () => {
    const buffer = open();
    const many = (part: number): readonly FoldedDriver[] =>
      Array.from({ length: 600 }, (_, at) => driver(`d${at}`, part, { 10: [at + 1, '1'] }));
    const base = write(buffer, { revisedAtMs: 1, drivers: many });
    const grown = write(buffer, { base, revisedAtMs: 2, drivers: second });
    accept(buffer, grown);
    const before = accepted(buffer);
    const compacting = buffer.growths.compact(grown);
    compacting.next();
    compacting.return();
    expect(accepted(buffer)).toEqual(before);
    buffer.parts.prune();
    expect(accepted(buffer)).toEqual(before);
    expect(buffer.growths.scattered(1)).toHaveLength(1);
  });

  test('says what it rests on until that is proven, and is read anew where it was wrong', () => {
    const buffer = open();
    const base = write(buffer, { revisedAtMs: 1, drivers: first });
    const grown = write(buffer, { base, revisedAtMs: 2, drivers: second, growth: { ...growth, isProven: false } });
    expect(buffer.growths.unproven()).toEqual([]);
    accept(buffer, grown);
    expect(buffer.growths.unproven()).toMatchObject([{ id: grown.id, name: 'ledger.csv' }]);
    buffer.growths.setProven(grown.id);
    expect(buffer.growths.unproven()).toEqual([]);
    buffer.growths.disprove(grown.id);
    expect(buffer.growths.of(grown.id)).toBeUndefined();
    expect(buffer.reads.parts('books', 'accepted')).toMatchObject([{ version: '' }]);
  });
});
