/** Drivers packed into bytes and back: no digit, text or place is lost on the way. */
import fc from 'fast-check';
import { expect, test } from 'vitest';
import type { Rule } from '../../src/core/model.ts';
import {
  type FoldedDriver,
  PointWalk,
  packDriver,
  packMonths,
  pointCount,
  readingsIn,
  unpackDriver,
  unpackMonths,
} from '../../src/core/series/packing.ts';

const decimal = fc.stringMatching(/^-?(0|[1-9]\d{0,200})(\.\d{0,20}[1-9])?$/, { size: 'max' });
const place = fc.record({
  seconds: fc.integer({ min: -30_000_000_000, max: 253_402_300_799 }),
  nanos: fc.integer({ min: 0, max: 999_999_999 }),
  row: fc.integer({ min: 1, max: 2 ** 40 }),
  part: fc.integer({ min: 1, max: 2 ** 31 }),
});
const tied = fc.record({ value: decimal, row: fc.integer({ min: 1, max: 2 ** 40 }), part: fc.nat() });
const tie = fc.record({ seconds: fc.integer(), nanos: fc.nat(999_999_999), left: tied, kept: tied });
const months = fc.uniqueArray(fc.integer({ min: 12_000, max: 120_000 }), { maxLength: 40 });
const text = fc.string({ unit: 'grapheme', maxLength: 30 });

function driverOf(rule: Rule): fc.Arbitrary<FoldedDriver> {
  const cell = fc
    .tuple(
      place,
      fc.record({ value: decimal, text, count: fc.integer({ min: 1, max: 2 ** 31 }) }),
      rule === 'average' ? fc.record({ sum: decimal }) : fc.constant({}),
      fc.option(fc.record({ tie }), { nil: {} }),
    )
    .map(([where, what, sum, tieOf]) => ({ ...where, ...what, ...sum, ...tieOf }));
  return fc
    .record({
      id: text,
      path: fc.array(text),
      rule: fc.constant(rule),
      pathPlace: place,
      otherPath: fc.option(fc.array(text), { nil: undefined }),
      entry: fc.option(fc.nat(), { nil: undefined }),
      months,
      cells: fc.array(cell, { minLength: 40, maxLength: 40 }),
    })
    .map(({ months: some, cells, ...driver }) => ({
      ...driver,
      cells: some.toSorted((a, b) => a - b).map((month, index) => ({ ...cells[index]!, month })),
    }));
}

test.each<Rule>(['sum', 'average', 'min'])('how many readings a month of a driver by %s has', (rule) => {
  fc.assert(
    fc.property(driverOf(rule), months, (driver, others) => {
      const asked = [...driver.cells.filter((_, at) => at % 2 === 0).map(({ month }) => month), ...others];
      const inOrder = [...new Set(asked)].sort((a, b) => a - b);
      const counts = new Map(driver.cells.map(({ month, count }) => [month, count]));
      expect(readingsIn(packDriver(driver), inOrder)).toEqual(inOrder.map((month) => counts.get(month) ?? 0));
    }),
  );
});

test.each<Rule>(['last', 'sum', 'average', 'count'])('a driver by %s comes back as it was', (rule) => {
  fc.assert(
    fc.property(driverOf(rule), (driver) => {
      expect(unpackDriver(packDriver(driver))).toEqual(driver);
    }),
  );
});

test('a walk over packed points meets every month and value, whatever their length', () => {
  fc.assert(
    fc.property(driverOf('last'), ({ cells, ...driver }) => {
      const { points } = packDriver({ ...driver, cells });
      const walk = new PointWalk(points);
      const met: object[] = [];
      while (walk.next()) {
        const value = Buffer.from(points.subarray(walk.start, walk.end)).toString('latin1');
        met.push({ month: walk.month, value });
      }
      expect(met).toEqual(cells.map(({ month, value }) => ({ month, value })));
      expect(pointCount(points)).toBe(cells.length);
    }),
  );
});

test('drivers with the same points have the same bytes, wherever the points came from', () => {
  fc.assert(
    fc.property(driverOf('last'), place, (driver, elsewhere) => {
      const moved = { ...driver, cells: driver.cells.map((cell) => ({ ...cell, ...elsewhere, text: 'another' })) };
      expect(packDriver(moved).points).toEqual(packDriver(driver).points);
    }),
  );
});

test('a set of months comes back as it was', () => {
  fc.assert(
    fc.property(months, (some) => {
      const sorted = some.toSorted((a, b) => a - b);
      expect(unpackMonths(packMonths(sorted))).toEqual(sorted);
    }),
  );
});
