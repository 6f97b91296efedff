/** What several runs hold together, against maps. */
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { valuesByMonth } from '../../src/core/series/diff.ts';
import { type PackedPoints, packPoints } from '../../src/core/series/packing.ts';
import { compareUtf8 } from '../../src/core/series/snapshot.ts';
import { unionOf } from '../../src/core/series/union.ts';

type Points = ReadonlyMap<number, string>;
type Run = ReadonlyMap<string, Points>;

const months = fc.oneof(fc.integer({ min: 24_000, max: 24_012 }), fc.integer({ min: 0, max: 119_987 }));
const values = fc.oneof(fc.integer().map(String), fc.constantFrom('0.50', '-1', '9'.repeat(128)));
const points = fc
  .array(fc.tuple(months, values), { minLength: 1, maxLength: 15 })
  .map((entries): Points => new Map([...new Map(entries)].sort(([a], [b]) => a - b)));
const drivers = fc.constantFrom('a', 'b', 'c', 'Zürich', '\u{1F600}', '\uFFFD');
const run = fc.array(fc.tuple(drivers, points), { maxLength: 6 }).map((entries): Run => new Map(entries));

/** As a buffer or a snapshot gives it: bytes of a driver are gone once the next one is asked for. */
function* packed(of: Run) {
  for (const id of [...of.keys()].sort(compareUtf8)) {
    const cells = [...(of.get(id) as Points)].map(([month, value]) => ({ month, value: Buffer.from(value) }));
    const bytes = packPoints(cells);
    yield { id, path: JSON.stringify([id]), rule: 'last' as const, points: bytes };
    bytes.fill(255);
  }
}

test('holds each driver once, with its newest value in each month that any run has', () => {
  const check = (runs: readonly Run[]): void => {
    const together = new Map<string, Map<number, string>>();
    for (const one of [...runs].reverse())
      for (const [id, cells] of one) together.set(id, new Map([...(together.get(id) ?? []), ...cells]));
    const seen: string[] = [];
    for (const { id, points: bytes } of runs.reduce<Iterable<PackedPoints>>(
      (newer, older) => unionOf(newer, packed(older)),
      [],
    )) {
      seen.push(id);
      const expected = [...(together.get(id) ?? [])].sort(([a], [b]) => a - b);
      expect([...valuesByMonth(bytes)]).toEqual(expected);
    }
    expect(seen).toEqual([...together.keys()].sort(compareUtf8));
  };
  fc.assert(fc.property(fc.array(run, { maxLength: 4 }), check));
});
