/** A driver whose path is the beginning of other drivers' paths, as a total stands above its parts, is looked at by itself too. */
import { describe, expect, test } from 'vitest';
import { multiplyDecimals } from '../../src/core/numbers/arithmetic.ts';
import { diffDrivers, pairDrivers } from '../../src/core/series/diff.ts';
import type { PackedDriver } from '../../src/core/series/packing.ts';
import type { ReachingFinding } from '../../src/core/values/finding.ts';
import { ValueReview } from '../../src/core/values/review.ts';
import { driver } from '../support/packed.ts';

/** Drivers by id: their path and how their values differ from the plain ones. */
type Drivers = Readonly<Record<string, readonly [path: readonly string[], change?: Change]>>;
type Change = (value: string, month: number) => string;

const plain: Change = (value) => value;
const thousandfold: Change = (value) => multiplyDecimals(value, '1000');
const raised: Change = (value) => multiplyDecimals(value, '1.0825');

function readOf(drivers: Drivers, months: number, isChanged: boolean): readonly PackedDriver[] {
  return Object.entries(drivers).map(([id, [path, change = plain]], at) => {
    const points = Array.from({ length: months }, (_, month) => {
      const value = `${10_101 + at * 3_700 + ((month * 53) % 97) * 11}.${month % 10}1`;
      const name = `${2020 + Math.floor(month / 12)}-${String((month % 12) + 1).padStart(2, '0')}`;
      return [name, isChanged ? change(value, month) : value] as const;
    });
    return driver(id, Object.fromEntries(points), path);
  });
}

function found(drivers: Drivers, months = 12): readonly ReachingFinding[] {
  const [was, is] = [readOf(drivers, months, false), readOf(drivers, months, true)];
  const review = new ValueReview({ isJudged: true, closedUpTo: undefined, deletes: true });
  for (const change of diffDrivers(was, is)) review.see(change);
  return review.findings(() => pairDrivers(was, is));
}

const named = (drivers: Drivers, months?: number): readonly unknown[] =>
  found(drivers, months).map(({ kind, group, points, of }) => [kind, group.join(' / '), `${points} of ${of}`]);

const parts = (change?: Change): Drivers =>
  Object.fromEntries(Array.from('BCDEFG', (id) => [id, [['Revenue', id], change ?? plain] as const]));
/** Others of the source, so that no slip below fills all of it. */
const others: Drivers = Object.fromEntries(Array.from('HIJKLMNOPQ', (id) => [id, [['Costs', id]]] as const));

describe.each(['A', 'Z'])('a total that comes with id %s', (total) => {
  const sorted = (drivers: Drivers): Drivers =>
    Object.fromEntries(Object.entries(drivers).sort(([a], [b]) => (a < b ? -1 : 1)));

  test('is named with what it shows alone, and reaches itself alone', () => {
    // One value of a part shows the same, and is not what was found.
    const once: Change = (value, month) => (month === 3 ? thousandfold(value, month) : value);
    const drivers = sorted({
      ...others,
      ...parts(),
      B: [['Revenue', 'B'], once],
      [total]: [['Revenue'], thousandfold],
    });
    expect(named(drivers)).toEqual([['factor', 'Revenue', '12 of 12']]);
    const [{ reach, examples } = { reach: [], examples: [] }] = found(drivers);
    expect(reach).toHaveLength(1);
    expect(new Set(examples.map((one) => one.driver))).toEqual(new Set([total]));
  });

  test('is named by any factor too', () => {
    expect(named(sorted({ ...others, ...parts(), [total]: [['Revenue'], raised] }), 24)).toEqual([
      ['factor', 'Revenue', '24 of 24'],
    ]);
  });

  test('is one group with its parts where they show the same', () => {
    expect(named(sorted({ ...others, ...parts(thousandfold), [total]: [['Revenue'], thousandfold] }))).toEqual([
      ['factor', 'Revenue', '84 of 84'],
    ]);
  });

  test('does not hide what its parts show, nor they each other', () => {
    const drivers = sorted({
      ...others,
      ...parts(),
      B: [['Revenue', 'B'], thousandfold],
      [total]: [['Revenue'], (value, month) => `${10_000 + month * 7}.${value.slice(-1)}`],
    });
    expect(named(drivers)).toEqual([['factor', 'Revenue / B', '12 of 12']]);
  });

  test('and a part that changed places with another driver are both named', () => {
    const alike =
      (id: string): Change =>
      (_value, month) =>
        `${id}${(month * 37) % 89}.5`;
    const before = sorted({
      ...others,
      ...parts(),
      B: [['Revenue', 'B'], alike('7')],
      [total]: [['Revenue'], alike('3')],
    });
    const after = sorted({
      ...others,
      ...parts(),
      B: [['Revenue', 'B'], alike('3')],
      [total]: [['Revenue'], alike('7')],
    });
    const [was, is] = [readOf(before, 12, true), readOf(after, 12, true)];
    const review = new ValueReview({ isJudged: true, closedUpTo: undefined, deletes: true });
    for (const change of diffDrivers(was, is)) review.see(change);
    const findings = review.findings(() => pairDrivers(was, is));
    expect(findings.map(({ kind, group }) => `${kind} ${group.join(' / ')}`).sort()).toEqual([
      'exchanged Revenue',
      'exchanged Revenue / B',
    ]);
    expect(findings.map(({ reach }) => reach?.length)).toEqual([1, 1]);
  });

  test('and has nothing to say where it stays as it was', () => {
    expect(named(sorted({ ...others, ...parts(), [total]: [['Revenue']] }))).toEqual([]);
  });
});
