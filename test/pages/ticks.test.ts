/** The labels of the axes of charts. */
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { monthTicks, valueRange, valueTicks } from '../../src/pages/ticks.ts';
import type { Tick } from '../../src/pages/ticks.ts';
import { at } from '../support/emulator-world.ts';

const labelsOf = (ticks: readonly Tick[]): string[] => ticks.map(({ label }) => label);

function monthLabels(from: string, to: string, countMax: number): string[] {
  return labelsOf(monthTicks(Number(at(`${from}Z`)), Number(at(`${to}Z`)), countMax));
}

describe('months', () => {
  test('are named at their first day, and a long series by years', () => {
    expect(monthLabels('2024-01-01T00:00', '2024-04-01T00:00', 5)).toEqual([
      '2024-01',
      '2024-02',
      '2024-03',
      '2024-04',
    ]);
    expect(monthLabels('2024-01-15T12:00', '2025-12-01T00:00', 5)).toEqual(['2024-07', '2025-01', '2025-07']);
    expect(monthLabels('1926-01-01T00:00', '2025-12-01T00:00', 5)).toEqual(['1940', '1960', '1980', '2000', '2020']);
    expect(monthLabels('-000400-01-01T00:00', '2000-01-01T00:00', 5)).toEqual(['0000', '0500', '1000', '1500', '2000']);
  });

  test('are never too many, and there is at least one from two months on', () => {
    const moments = fc.integer({ min: -60_000_000_000, max: 250_000_000_000 });
    fc.assert(
      fc.property(moments, moments, fc.integer({ min: 3, max: 20 }), (first, second, countMax) => {
        const [min, max] = [Math.min(first, second), Math.max(first, second)];
        const ticks = monthTicks(min, max, countMax);
        expect(ticks.length).toBeLessThanOrEqual(countMax + 1);
        expect(ticks.length).toBeGreaterThanOrEqual(max - min > 6_000_000 ? 1 : 0);
        for (const tick of ticks) expect(new Date(tick.at * 1_000).toISOString()).toMatch(/-01T00:00:00.000Z$/);
      }),
    );
  });

  test('end with the calendar', () => {
    expect(monthTicks(8.63e12, 9e12, 5).every(({ at: seconds }) => seconds <= 8.64e12)).toBe(true);
    expect(monthTicks(9e12, 9.1e12, 5)).toEqual([]);
  });
});

describe('values', () => {
  test.for<[min: number, max: number, labels: string[]]>([
    [-7.5, 161.5, ['0', '50', '100', '150']],
    [-0.5, 0.5, ['-0.4', '-0.2', '0.0', '0.2', '0.4']],
    [0, 2_500_000, ['0', '500 000', '1 000 000', '1 500 000', '2 000 000', '2 500 000']],
    [1_000_000.001, 1_000_000.002, ['0010', '0012', '0014', '0016', '0018', '0020'].map((end) => `1 000 000.${end}`)],
    [1e-9, 3e-9, ['1.0e-9', '1.5e-9', '2.0e-9', '2.5e-9', '3.0e-9']],
    [0, 3e22, ['0e0', '5e21', '1.0e22', '1.5e22', '2.0e22', '2.5e22', '3.0e22']],
  ])('from %d to %d are labelled', ([min, max, labels]) => {
    expect(labelsOf(valueTicks(min, max, 6))).toEqual(labels.map((label) => label.replaceAll(' ', '\u202F')));
  });

  test.for<[min: number, max: number, range: [number, number]]>([
    [100, 200, [90, 210]],
    [5, 200, [0, 219.5]],
    [-200, -5, [-219.5, 0]],
    [-10, 10, [-12, 12]],
    [50, 50, [45, 55]],
    [0, 0, [0, 0.1]],
    [1e-20, 2e-20, [9e-21, 2.1e-20]],
  ])('from %d to %d have some room, and none beyond zero', ([min, max, range]) => {
    const [low, high] = valueRange(min, max);
    const scale = Math.abs(max) || 1;
    expect(low / scale).toBeCloseTo(range[0] / scale);
    expect(high / scale).toBeCloseTo(range[1] / scale);
  });

  test('of every size have short labels that tell them apart', () => {
    const values = fc.oneof(fc.double({ min: -1e300, max: 1e300, noNaN: true }), fc.integer());
    // Also for a series whose values are nearly equal.
    const pairs = fc.oneof(
      fc.tuple(values, values),
      values.map((value) => [value, value * (1 + Number.EPSILON)] as const),
    );
    fc.assert(
      fc.property(pairs, ([first, second]) => {
        const [min, max] = valueRange(Math.min(first, second), Math.max(first, second));
        const labels = labelsOf(valueTicks(min, max, 6));
        expect(labels.length).toBeGreaterThanOrEqual(max - min > 1e-300 ? 2 : 0);
        expect(labels.length).toBeLessThanOrEqual(8);
        expect(new Set(labels).size).toBe(labels.length);
        for (const label of labels) expect(label.length).toBeLessThan(26);
      }),
      { numRuns: 1_000 },
    );
  });
});
