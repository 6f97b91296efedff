/** Readings of one same time with different values: which points they decide is known, whatever order they come in. */
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import type { Rule } from '../../src/core/model.ts';
import { compareDecimals } from '../../src/core/numbers/arithmetic.ts';
import { summarizeRun } from '../../src/core/series/compare.ts';
import { Fold } from '../../src/core/series/fold/fold.ts';
import { mergeDrivers, placeOrder } from '../../src/core/series/merge-folds.ts';
import { type FoldedDriver, packDriver, unpackDriver } from '../../src/core/series/packing.ts';
import { readingsOf } from '../support/mapping.ts';

interface Given {
  readonly month: number;
  readonly seconds: number;
  readonly nanos?: number;
  readonly value: string;
}

function fold(rule: Rule, part: number, readings: readonly Given[]): FoldedDriver[] {
  using folding = new Fold(part);
  for (const [index, { month, seconds, nanos = 0, value }] of readings.entries()) {
    const moment = { month, months: 1, seconds, nanos };
    folding.take(readingsOf({ name: { id: 'a', path: ['A'], rule }, moment, value, row: index + 1, entry: 2 }));
  }
  return [...folding.drain()].map(unpackDriver);
}

const order = placeOrder((id) => ({ id, source: 's', name: `${id}.csv`, revisedAtMs: id % 2 }));
const at = (seconds: number, value: string, month = 1): Given => ({ month, seconds, value });
const later = (seconds: number, value: string): Given => ({ ...at(seconds, value), nanos: 9 });
/** In nanoseconds. */
const timeOf = ({ seconds, nanos = 0 }: Given): number => seconds * 1e9 + nanos;
const long = '12345678901234567890';
const tiedMonths = (driver: FoldedDriver): number[] =>
  driver.cells.flatMap(({ month, tie }) => (tie === undefined ? [] : [month]));

describe('within a part', () => {
  const tie = (left: [string, number], kept: [string, number], seconds = 5): object => {
    const reading = ([value, row]: [string, number]): object => ({ value, row, part: 7 });
    return { seconds, nanos: 0, left: reading(left), kept: reading(kept) };
  };
  test.each<[string, Rule, readonly Given[], object | undefined]>([
    ['two values of one time', 'last', [at(5, '1'), at(5, '2')], tie(['1', 1], ['2', 2])],
    ['the same by first', 'first', [at(5, '1'), at(5, '2')], tie(['2', 2], ['1', 1])],
    ['a value that came back', 'last', [at(5, '1'), at(5, '2'), at(5, '1')], tie(['2', 2], ['1', 3])],
    ['equal values', 'last', [at(5, '1'), at(5, '1.00')], undefined],
    ['bookings of a day before the last one', 'last', [at(5, '1'), at(5, '2'), at(6, '3')], tie(['1', 1], ['2', 2])],
    ['bookings of the last day', 'last', [at(4, '0'), at(5, '1'), at(5, '2')], tie(['1', 2], ['2', 3])],
    ['the last day, with another one between', 'last', [at(5, '1'), at(4, '9'), at(5, '2')], tie(['1', 1], ['2', 3])],
    ['the same by first', 'first', [at(5, '1'), at(6, '9'), at(5, '2')], tie(['2', 3], ['1', 1])],
    ['a day before the last one again', 'last', [at(6, '1'), at(5, '2'), at(5, '3')], tie(['2', 2], ['3', 3])],
    ['an equal one between', 'first', [at(5, '1'), at(5, '1'), at(6, '9'), at(5, '2')], tie(['2', 4], ['1', 1])],
    ['other times', 'last', [at(5, '1'), at(6, '2')], undefined],
    ['times that differ by a nanosecond', 'last', [{ ...at(5, '1'), nanos: 1 }, at(5, '2')], undefined],
    [
      'two days, the later one first',
      'last',
      [at(5, '1'), at(5, '2'), at(4, '8'), at(4, '9')],
      tie(['1', 1], ['2', 2]),
    ],
    ['the same by first', 'first', [at(5, '1'), at(5, '2'), at(6, '8'), at(6, '9')], tie(['2', 2], ['1', 1])],
    [
      'two moments of one second, the later one first',
      'last',
      [later(5, '1'), later(5, '2'), at(5, '8'), at(5, '9')],
      { ...tie(['1', 1], ['2', 2]), nanos: 9 },
    ],
    ['the same by first', 'first', [at(5, '1'), at(5, '2'), later(5, '8'), later(5, '9')], tie(['2', 2], ['1', 1])],
    ['long values', 'last', [at(5, '1'), at(5, long), at(5, `${long}.0`)], tie(['1', 1], [long, 2])],
    ['long values that differ', 'first', [at(5, long), at(5, `${long}.1`)], tie([`${long}.1`, 2], [long, 1])],
    ['a long one between', 'last', [at(6, long), at(5, `${long}.1`), at(5, '3')], tie([`${long}.1`, 2], ['3', 3])],
    ['readings that add up', 'sum', [at(5, '1'), at(5, '2')], undefined],
    ['readings that are chosen by value', 'max', [at(5, '1'), at(5, '2')], undefined],
  ])('%s', (_what, rule, readings, expected) => {
    expect(fold(rule, 7, readings)[0]?.cells[0]?.tie).toEqual(expected);
  });
});

test('readings behind a cut that are not taken tie with each other, also with one between', () => {
  using folding = new Fold(7);
  const take = (row: number, seconds: number, value: string): void => {
    const moment = { month: 1, months: 1, seconds, nanos: 0 };
    folding.take(readingsOf({ name: { id: 'a', path: ['A'], rule: 'last' }, moment, value, row, entry: 2 }));
  };
  take(1, 10, '1');
  folding.cutTies(1);
  take(2, 5, '2');
  take(3, 3, '3');
  take(4, 5, '4');
  const [cell] = unpackDriver([...folding.drain()][0]!).cells;
  expect(cell?.tie).toMatchObject({ seconds: 5, left: { value: '2', row: 2 }, kept: { value: '4', row: 4 } });
});

test('the reading at a cut ties with none behind it', () => {
  using folding = new Fold(7);
  for (const [row, value] of [
    [1, '1'],
    [2, '2'],
  ] as const) {
    const moment = { month: 1, months: 1, seconds: 10, nanos: 0 };
    folding.take(readingsOf({ name: { id: 'a', path: ['A'], rule: 'first' }, moment, value, row, entry: 2 }));
    folding.cutTies(row);
  }
  expect(unpackDriver([...folding.drain()][0]!).cells[0]?.tie).toBeUndefined();
});

test.each(['last', 'first'] as const)('what was drained ties with nothing that comes after it (%s)', (rule) => {
  using folding = new Fold(7);
  const take = (id: string, row: number, [seconds, value]: readonly [number, string]): void => {
    const moment = { month: 1, months: 1, seconds, nanos: 0 };
    folding.take(readingsOf({ name: { id, path: [id], rule }, moment, value, row, entry: 2 }));
  };
  const tied = (): readonly unknown[] => [...folding.drain()].map((one) => unpackDriver(one).cells[0]?.tie);
  // The second reading is not taken, and so remembered beside the cell.
  const [taken, passed] = rule === 'last' ? [9, 5] : [5, 9];
  take('a', 1, [taken, '1']);
  take('a', 2, [passed, long]);
  expect(tied()).toEqual([undefined]);
  take('b', 1, [taken, '1']);
  take('b', 2, [passed, '3']);
  expect(tied()).toEqual([undefined]);
});

describe('across parts', () => {
  // Parts with odd numbers are revised later.
  const parts = (...readings: readonly (readonly Given[])[]): FoldedDriver =>
    mergeDrivers(
      readings.flatMap((read, index) => fold('last', index + 1, read)),
      order,
    );
  const tieOfParts = (...readings: readonly (readonly Given[])[]): unknown => parts(...readings).cells[0]?.tie;

  test('another value of the time that is taken', () => {
    expect(tieOfParts([at(5, '1')], [at(5, '2')])).toEqual({
      seconds: 5,
      nanos: 0,
      left: { value: '2', row: 1, part: 2 },
      kept: { value: '1', row: 1, part: 1 },
    });
  });

  test('not an equal value, and not one of another time', () => {
    expect(tieOfParts([at(5, '2')], [at(5, '2.0')])).toBeUndefined();
    expect(tieOfParts([at(5, '1')], [at(6, '2')])).toBeUndefined();
    expect(tieOfParts([at(5, '1')], [at(5, '2')], [at(6, '3')])).toBeUndefined();
  });

  test('a tie within a part stays, whatever another part has', () => {
    const within = { left: { value: '1', part: 1 }, kept: { value: '2', part: 1 } };
    expect(tieOfParts([at(5, '1'), at(5, '2')], [at(6, '3')])).toMatchObject(within);
    expect(tieOfParts([at(5, '1'), at(5, '2')], [at(5, '3')])).toMatchObject(within);
  });
});

test('points are counted by rule and entry, within parts and across them, with one example each', () => {
  const first = fold('last', 1, [at(5, '1'), at(5, '2'), at(40, '3', 2), at(40, '4', 2), at(80, '5', 3)]);
  const second = fold('last', 2, [at(80, '6', 3), at(120, '7', 4)]);
  const merged = packDriver(mergeDrivers([...first, ...second], order));
  expect(summarizeRun([merged]).ties).toEqual([
    {
      rule: 'last',
      entry: 2,
      where: 'within',
      points: 2,
      example: {
        driver: 'a',
        seconds: 5,
        nanos: 0,
        left: { value: '1', row: 1, part: 1 },
        kept: { value: '2', row: 2, part: 1 },
      },
    },
    expect.objectContaining({ where: 'across', points: 1 }),
  ]);
});

const given: fc.Arbitrary<Given> = fc
  .record({
    month: fc.integer({ min: 1, max: 2 }),
    second: fc.integer({ min: 0, max: 2 }),
    nanos: fc.constantFrom(0, 0, 7),
    value: fc.constantFrom('1', '1.0', '2', '2.00', '-3', '12345678901234567890', '12345678901234567891'),
  })
  .map(({ month, second, nanos, value }) => ({ month, seconds: month * 100 + second, nanos, value }));

const rule = fc.constantFrom<Rule>('last', 'first');

test('a point whose time has another value in its part has a tie, in whatever order the rows come', () => {
  fc.assert(
    fc.property(rule, fc.array(given, { minLength: 1, maxLength: 8 }), (by, readings) => {
      const [driver] = fold(by, 1, readings) as [FoldedDriver];
      const decided = driver.cells.filter(({ value, seconds, nanos }) =>
        readings.some(
          (one) => timeOf(one) === timeOf({ ...one, seconds, nanos }) && compareDecimals(one.value, value) !== 0,
        ),
      );
      expect(tiedMonths(driver)).toEqual(expect.arrayContaining(decided.map(({ month }) => month)));
    }),
  );
});

test('a fold that is cut has the ties of folds of its pieces', () => {
  const pieces = fc.array(fc.array(given, { maxLength: 6 }), { minLength: 1, maxLength: 4 });
  fc.assert(
    fc.property(rule, pieces, (by, read) => {
      using whole = new Fold(1);
      const alone: FoldedDriver[] = [];
      let row = 0;
      for (const readings of read) {
        using piece = new Fold(1);
        for (const { month, seconds, nanos = 0, value } of readings) {
          const moment = { month, months: 1, seconds, nanos };
          const one = readingsOf({ name: { id: 'a', path: ['A'], rule: by }, moment, value, row: ++row, entry: 2 });
          for (const into of [whole, piece]) into.take(one);
        }
        whole.cutTies(row);
        alone.push(...[...piece.drain()].map(unpackDriver));
      }
      if (alone.length === 0) return;
      expect([...whole.drain()].map(unpackDriver)).toEqual([mergeDrivers(alone, order)]);
    }),
  );
});

test('a point of several parts has the same tie in whatever order they are merged, and packed it comes back', () => {
  const parts = fc.array(fc.array(given, { maxLength: 5 }), { minLength: 2, maxLength: 4 });
  fc.assert(
    fc.property(rule, parts, fc.infiniteStream(fc.nat()), (by, read, places) => {
      const folds = read.flatMap((readings, index) => fold(by, index + 1, readings));
      if (folds.length === 0) return;
      const shuffled = folds
        .map((one) => ({ one: unpackDriver(packDriver(one)), place: places.next().value as number }))
        .toSorted((a, b) => a.place - b.place)
        .map(({ one }) => one);
      const merged = mergeDrivers(shuffled, order);
      expect(merged).toEqual(mergeDrivers(folds, order));
      expect(unpackDriver(packDriver(merged))).toEqual(merged);
    }),
  );
});

test('in parts that are sorted by time a point has a tie if and only if a row of its time differs', () => {
  const parts = fc.array(fc.array(given, { maxLength: 5 }), { minLength: 1, maxLength: 3 });
  fc.assert(
    fc.property(rule, parts, (by, unsorted) => {
      const read = unsorted.map((readings) =>
        readings.toSorted((a, b) => (by === 'last' ? timeOf(a) - timeOf(b) : timeOf(b) - timeOf(a))),
      );
      const folds = read.flatMap((readings, index) => fold(by, index + 1, readings));
      if (folds.length === 0) return;
      const differ = (readings: readonly Given[]): boolean =>
        readings.some(({ value }) => compareDecimals(value, (readings[0] as Given).value) !== 0);
      const expected = [1, 2].filter((month) => {
        const inMonth = read.map((readings) => readings.filter((one) => one.month === month));
        const within = inMonth.some((readings) => [...Map.groupBy(readings, timeOf).values()].some(differ));
        const times = inMonth.flat().map(timeOf);
        const taken = by === 'last' ? Math.max(...times) : Math.min(...times);
        return within || differ(inMonth.flat().filter((one) => timeOf(one) === taken));
      });
      expect(tiedMonths(mergeDrivers(folds, order))).toEqual(expected);
    }),
  );
});
