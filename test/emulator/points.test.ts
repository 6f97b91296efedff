import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import type { Point } from '../../src/contract/driver-push.ts';
import { latestOfEachMonth, overlay, packPoints, unpackPoints } from '../../src/emulator/drivers/points.ts';

const point = (time: string | number | bigint, value = '1'): Point => ({ time: String(time), value });

/** Whether two times belong to one month, in which case only one of them is kept. */
const shareMonth = (first: string | bigint, second: string | bigint): boolean =>
  latestOfEachMonth([point(first), point(second)]).length === 1;

// The range of Date, in seconds.
const dateSeconds = fc.integer({ min: -8_640_000_000_000, max: 8_640_000_000_000 });
const nearby = fc.integer({ min: -40 * 86_400, max: 40 * 86_400 });

const utcMonth = (seconds: number): string => new Date(seconds * 1_000).toISOString().replace(/-\d\dT.*/, '');

describe('the month of a point', () => {
  test('is that of its UTC date', () => {
    fc.assert(
      fc.property(dateSeconds, nearby, (seconds, distance) => {
        const other = Math.max(-8_640_000_000_000, Math.min(8_640_000_000_000, seconds + distance));
        expect(shareMonth(String(seconds), String(other))).toBe(utcMonth(seconds) === utcMonth(other));
      }),
      { numRuns: 2_000 },
    );
  });

  test('ends with its last second, also in leap years and before 1970', () => {
    for (const month of ['2024-03', '2023-03', '2000-03', '1900-03', '1970-01', '1969-12', '0000-03', '+010000-01']) {
      const first = Date.parse(`${month}-01T00:00:00Z`) / 1_000;
      expect(shareMonth(String(first - 1), String(first))).toBe(false);
      expect(shareMonth(String(first), String(first + 27 * 86_400))).toBe(true);
      expect(shareMonth(String(first - 1), String(first - 27 * 86_400))).toBe(true);
    }
  });

  test('is the same for any number of digits: the calendar repeats every 400 years', () => {
    fc.assert(
      fc.property(
        dateSeconds,
        nearby,
        fc.bigInt({ min: -(10n ** 40n), max: 10n ** 40n }),
        (seconds, distance, cycles) => {
          const shift = cycles * 12_622_780_800n;
          const [first, second] = [BigInt(seconds), BigInt(seconds + distance)];
          expect(shareMonth(first + shift, second + shift)).toBe(shareMonth(first, second));
        },
      ),
    );
  });

  test('does not change where numbers stop being exact', () => {
    for (const edge of [2n ** 53n, -(2n ** 53n), 10n ** 14n, 10n ** 15n]) {
      expect(shareMonth(edge, edge + 1n)).toBe(true);
      expect(shareMonth(`${edge < 0n ? '-' : ''}000${String(edge).replace('-', '')}`, edge)).toBe(true);
    }
  });
});

describe('the latest of each month', () => {
  test('compares times exactly, however long, and leading zeros do not count', () => {
    const huge = '123456789012345678901234567890';
    const [first, later] = [point(`${huge}1`, 'first'), point(`${huge}2`, 'later')];
    expect(latestOfEachMonth([later, first])).toEqual([later]);
    expect(latestOfEachMonth([point('00000000000000000010', 'a'), point('9', 'b')])).toEqual([
      point('00000000000000000010', 'a'),
    ]);
    expect(latestOfEachMonth([point('-0', 'a'), point('0', 'b')])).toEqual([point('0', 'b')]);
  });

  test('comes in the order of months', () => {
    const times = ['-99999999999999999999', '-86400', '0', '2678400', '99999999999999999999'];
    const points = times.map((time) => point(time));
    fc.assert(
      fc.property(fc.shuffledSubarray(points, { minLength: points.length }), (shuffled) => {
        expect(latestOfEachMonth(shuffled)).toEqual(points);
      }),
    );
  });
});

test('a later request wins in its months and leaves the others', () => {
  const month = (index: number, value: string) => point(Date.UTC(2026, index, 15) / 1_000, value);
  const months = fc.uniqueArray(fc.nat(12)).map((indexes) => indexes.sort((one, other) => one - other));
  fc.assert(
    fc.property(months, months, (earlier, later) => {
      const all = [...new Set([...earlier, ...later])].sort((one, other) => one - other);
      expect(
        overlay(
          earlier.map((index) => month(index, 'earlier')),
          later.map((index) => month(index, 'later')),
        ),
      ).toEqual(all.map((index) => month(index, later.includes(index) ? 'later' : 'earlier')));
    }),
  );
});

test('points are packed and unpacked without a change', () => {
  const points = fc.array(
    fc.record({ time: fc.stringMatching(/^-?\d{1,20}$/), value: fc.stringMatching(/^-?\d{1,30}(\.\d{1,30})?$/) }),
  );
  fc.assert(
    fc.property(points, (some) => {
      expect(unpackPoints(packPoints(some))).toEqual(some);
    }),
  );
});
