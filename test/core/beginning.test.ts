/** Where a read begins: how many drivers have fewer readings of its oldest month, and of the next one that it shows. */
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import type { Rule } from '../../src/core/model.ts';
import { type Beginning, findingBeginning } from '../../src/core/series/beginning.ts';
import { type PackedDriver, packDriver } from '../../src/core/series/packing.ts';
import { atOnce } from '../../src/core/steps.ts';

/** By driver, then by month: how many readings. */
type Readings = Readonly<Record<string, Readonly<Record<number, number>>>>;

const first = 24_313;
const place = { seconds: 0, nanos: 0, row: 1, part: 1 };

function packed(readings: Readings, rule: Rule): readonly PackedDriver[] {
  return Object.entries(readings)
    .sort(([one], [other]) => (one < other ? -1 : 1))
    .map(([id, months]) => {
      const cells = Object.entries(months).map(([month, count]) => {
        return {
          month: Number(month),
          value: '1',
          text: '1.0',
          count,
          ...place,
          ...(rule === 'average' && { sum: '1' }),
        };
      });
      return packDriver({ id, path: [id], rule, pathPlace: place, cells });
    });
}

function begins(before: Readings, after: Readings, rule: Rule = 'sum'): Beginning {
  const runs = { before: () => packed(before, rule), after: () => packed(after, rule) };
  return atOnce(findingBeginning(runs, first));
}

describe('readings of the oldest month and the next', () => {
  const whole = { [first - 1]: 31, [first]: 28, [first + 1]: 31 };

  test('are counted of drivers that both have and that had any', () => {
    const before = { A: whole, B: whole, C: { [first + 1]: 4 }, D: whole };
    const after = { A: { ...whole, [first]: 14 }, B: { [first + 1]: 31 }, C: { [first]: 1, [first + 1]: 3 }, E: whole };
    expect(begins(before, after)).toEqual({
      month: first,
      oldest: { drivers: 2, of: 2, readings: 14 },
      next: { drivers: 1, of: 3, readings: 65 },
    });
  });

  test('the next month is the first later one that any driver has', () => {
    const before = { A: { [first]: 2, [first + 5]: 2 }, B: { [first + 3]: 2 } };
    expect(begins(before, { A: before.A, B: { [first + 3]: 1 } }).next).toEqual({ drivers: 1, of: 1, readings: 1 });
    expect(begins(before, { A: { [first]: 1 } }).next).toBeUndefined();
  });

  test('are not counted where only the last one counts', () => {
    expect(begins({ A: whole }, { A: { ...whole, [first]: 1 } }, 'last')).toEqual({
      month: first,
      oldest: { drivers: 0, of: 0, readings: 0 },
      next: undefined,
    });
  });
});

test('a read that has all readings of before has fewer nowhere; one without its first rows has, of each driver that had them', () => {
  const months = fc.uniqueArray(fc.integer({ min: first - 3, max: first + 3 }), { maxLength: 7 });
  const counted = months.chain((of) =>
    fc.tuple(...of.map((month) => fc.integer({ min: 1, max: 40 }).map((count) => [month, count] as const))),
  );
  const readings = fc.dictionary(
    fc.constantFrom('a', 'b', 'c', 'd', 'e'),
    counted.map((all) => Object.fromEntries(all)),
  );
  fc.assert(
    fc.property(readings, fc.constantFrom<Rule>('sum', 'average', 'count', 'min'), (all, rule) => {
      const same = begins(all, all, rule);
      expect([same.oldest.drivers, same.next?.drivers ?? 0]).toEqual([0, 0]);
      const had = Object.values(all).filter((of) => of[first] !== undefined);
      const shorter = Object.entries(all).map(([id, of]) => {
        return [id, Object.fromEntries(Object.entries(of).flatMap(([month, count]) => lessOf(Number(month), count)))];
      });
      const { oldest, next } = begins(all, Object.fromEntries(shorter) as Readings, rule);
      expect(oldest).toMatchObject({ drivers: had.length, of: had.length });
      expect(next?.drivers ?? 0).toBe(0);
    }),
  );
});

function lessOf(month: number, count: number): readonly (readonly [number, number])[] {
  if (month !== first) return [[month, count]];
  return count === 1 ? [] : [[month, count - 1]];
}
