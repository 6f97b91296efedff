/** When so many readings are gone from points that stay that a read is held: the least numbers and shares, and the groups that are named. */
import { describe, expect, test } from 'vitest';
import type { Rule } from '../../src/core/model.ts';
import { diffDrivers, pairDrivers } from '../../src/core/series/diff.ts';
import { type PackedPoints, packDriver } from '../../src/core/series/packing.ts';
import type { ValueRules } from '../../src/core/values/closed.ts';
import type { Finding } from '../../src/core/values/finding.ts';
import { ValueReview } from '../../src/core/values/review.ts';

/** What a driver's point is made of: readings of about 100, unless the value is another one. */
interface Point {
  readonly readings: number;
  readonly value?: string;
}

interface Driver {
  readonly points: readonly (Point | undefined)[];
  readonly path?: readonly string[];
  readonly rule?: Rule;
}

const firstMonth = 24_000;
const rules = { isJudged: true, closedUpTo: undefined, overUpTo: firstMonth + 9, deletes: true } as const;

function packed(drivers: readonly Driver[]): readonly PackedPoints[] {
  return drivers.map(({ points, path, rule = 'sum' }, at) => {
    const id = `D${String(at).padStart(2, '0')}`;
    const place = { seconds: 0, nanos: 0, row: 1, part: 1 };
    const cells = points.flatMap((point, month) => {
      if (point === undefined) return [];
      const { readings, value = String(readings * 100 + at * 3 + month) } = point;
      return [{ month: firstMonth + month, value, text: value, count: readings, sum: value, ...place }];
    });
    return packDriver({ id, path: path ?? [id], rule, pathPlace: place, cells });
  });
}

function found(before: readonly PackedPoints[], after: readonly PackedPoints[]): readonly Finding[] {
  return review(before, after).findings;
}

/** @returns how often the reads were walked once more, too */
function review(
  before: readonly PackedPoints[],
  after: readonly PackedPoints[],
  by: ValueRules = rules,
): { readonly findings: readonly Finding[]; readonly walks: number } {
  const values = new ValueReview(by);
  for (const change of diffDrivers(before, after)) values.see(change);
  let walks = 0;
  const findings = values.findings(() => {
    walks++;
    return pairDrivers(before, after);
  });
  return { findings, walks };
}

const fewer = (before: readonly Driver[], after: readonly Driver[]): readonly Finding[] =>
  found(packed(before), packed(after)).filter(({ kind }) => kind === 'fewer-readings');

/** Drivers of points with so many readings each. The first point of each is not judged. */
const alike = (count: number, readings: readonly number[], more: Omit<Driver, 'points'> = {}): readonly Driver[] =>
  Array.from({ length: count }, () => ({
    points: [{ readings: 5 }, ...readings.map((one) => ({ readings: one }))],
    ...more,
  }));

/** Drivers of one reading a point. */
const single = (count: number): readonly Driver[] =>
  Array.from({ length: count }, () => ({ points: [{ readings: 1 }, { readings: 1 }, { readings: 1 }] }));

describe('the least numbers', () => {
  test.each<[string, readonly Driver[], readonly Driver[], readonly [number, number] | undefined]>([
    ['six drivers', alike(6, [5, 5]), alike(6, [3, 3]), [24, 60]],
    ['five drivers', alike(5, [5, 5]), alike(5, [3, 3]), undefined],
    ['a third', alike(6, [6, 6]), alike(6, [4, 4]), [24, 72]],
    ['less than a third', alike(6, [6, 6, 7]), alike(6, [4, 4, 5]), undefined],
    ['23 readings', alike(6, [5, 5]), [...alike(5, [3, 3]), ...alike(1, [3, 4])], undefined],
    ['a third of what changed', alike(6, [5, 5, 5, 5, 5, 5, 5]), alike(6, [5, 5, 5, 5, 5, 3, 3]), [24, 60]],
    ['eight of ten drivers', alike(10, [5, 5]), [...alike(8, [3, 3]), ...alike(2, [5, 5])], [32, 80]],
    ['seven of ten drivers', alike(10, [5, 5]), [...alike(7, [3, 3]), ...alike(3, [5, 5])], undefined],
    [
      'all drivers but those of one reading a point',
      [...alike(6, [5, 5]), ...single(9)],
      [...alike(6, [3, 3]), ...single(9)],
      [24, 60],
    ],
  ])('%s', (_what, before, after, expected) => {
    const [finding] = fewer(before, after);
    expect(finding && [finding.points, finding.of]).toEqual(expected);
  });
});

test.each<Rule>(['average', 'count'])('%s is looked at as a sum is', (rule) => {
  expect(fewer(alike(6, [5, 5], { rule }), alike(6, [3, 3], { rule }))).toMatchObject([{ points: 24, of: 60 }]);
});

test('a change of less than a hundredth is rounding', () => {
  const rounded = (readings: number, value: number): readonly Driver[] =>
    alike(6, [readings, readings]).map(({ points }) => ({
      points: points.map((point, at) => (at === 0 ? point! : { readings, value: String(value) })),
    }));
  expect(fewer(rounded(5, 1000), rounded(1, 991))).toEqual([]);
  expect(fewer(rounded(5, 1000), rounded(1, 990))).toMatchObject([{ points: 48, of: 60 }]);
});

describe('the oldest month', () => {
  const of = (readings: readonly number[]): readonly Driver[] =>
    Array.from({ length: 6 }, () => ({ points: readings.map((one) => ({ readings: one })) }));

  test.each<[string, readonly number[], readonly number[], number | undefined]>([
    ['alone is the beginning of an export', [9, 9], [2, 9], undefined],
    ['counts beside another one', [9, 9], [2, 2], 84],
    ['counts where there is no other one that is over', [9], [2], 42],
  ])('%s', (_what, before, after, lost) => {
    expect(fewer(of(before), of(after))[0]?.points).toBe(lost);
  });

  test('counts before the present one', () => {
    const one = { ...rules, overUpTo: firstMonth };
    const [before, after] = [packed(of([9, 9])), packed(of([2, 9]))];
    expect(review(before, after, one).findings).toMatchObject([{ points: 42, of: 54, inMonths: ['2000-01'] }]);
  });
});

test('of a part, what is gone counts as lost, since other parts may have it still', () => {
  const part = { ...rules, isPart: true };
  const before = packed(alike(6, [5, 5]));
  expect(review(before, [], part).findings).toMatchObject([{ points: 90, of: 90 }]);
  expect(review(before, packed(alike(6, [])), part).findings).toMatchObject([{ points: 60, of: 60 }]);
  expect(review(before, []).findings).toEqual([]);
});

test('a month that is over is the last one that counts', () => {
  const until = (last: number) => (readings: number) =>
    alike(
      6,
      Array.from({ length: 11 }, (_, at) => (at + 1 === last ? readings : 5)),
    );
  expect(fewer(until(9)(9), until(9)(1))).toMatchObject([{ points: 48, of: 54 }]);
  expect(fewer(until(10)(9), until(10)(1))).toEqual([]);
});

test('months that have lost none are no examples', () => {
  const restated = alike(6, [2, 2, 3]).map(({ points }) => ({
    points: points.map((point, at) => (at === 3 ? { ...point!, value: '7' } : point)),
  }));
  const [finding] = fewer(alike(6, [6, 6, 3]), restated);
  expect(finding?.examples.map(({ month }) => month)).toEqual(['2000-03', '2000-03', '2000-03']);
});

describe('the reads are walked once more where readings may be lost, and not where', () => {
  const before = packed(alike(6, [5, 5]));
  const walks = (after: readonly Driver[]): number => review(before, packed(after)).walks;

  test('they may', () => {
    expect(walks(alike(6, [3, 3]))).toBeGreaterThan(0);
  });

  test.each<[string, readonly Driver[]]>([
    ['they became more', alike(6, [6, 5])],
    ['only five drivers have fewer', [...alike(5, [3, 3]), ...alike(1, [5, 5])]],
    [
      'only the oldest month has',
      alike(6, [5, 5]).map(({ points }) => ({ points: [{ readings: 1 }, ...points.slice(1)] })),
    ],
    [
      'values changed alone',
      alike(6, [5, 5]).map(({ points }) => ({ points: [...points.slice(0, 2), { readings: 5, value: '7' }] })),
    ],
  ])('%s', (_what, after) => {
    expect(walks(after)).toBe(0);
  });
});

describe('what is not lost', () => {
  const before = alike(8, [5, 5, 5]);
  test.each<[string, readonly Driver[]]>([
    ['readings of points that go', alike(8, [5, 5]).map((one) => ({ points: [...one.points.slice(0, 3), undefined] }))],
    [
      'readings of points that keep their value',
      before.map(({ points }, at) => ({
        points: points.map((_point, month) => ({ readings: 2, value: String(500 + at * 3 + month) })),
      })),
    ],
    ['readings of the oldest month', before.map(({ points }) => ({ points: [{ readings: 1 }, ...points.slice(1)] }))],
    [
      'readings under another rule',
      before.map(() => ({ points: [5, 2, 2, 2].map((readings) => ({ readings })), rule: 'average' })),
    ],
    ['readings that became more', alike(8, [6, 7, 8])],
  ])('%s', (_what, after) => {
    expect(fewer(before, after)).toEqual([]);
  });

  test.each<Rule>(['last', 'first', 'min', 'max'])('readings of which one counts: %s', (rule) => {
    expect(fewer(alike(8, [5, 5, 5], { rule }), alike(8, [2, 2, 2], { rule }))).toEqual([]);
  });

  test('readings of months that are not over', () => {
    const months = Array.from({ length: 9 }, () => 5);
    expect(fewer(alike(8, [...months, 20, 20]), alike(8, [...months, 2, 2]))).toEqual([]);
  });

  test('readings of one month more than eight that changed', () => {
    const changed = (readings: readonly number[]): readonly Driver[] => alike(8, readings, { rule: 'sum' });
    const restated = (lost: number): readonly Driver[] =>
      changed([5, 5, 5, 5, 5, 5, 5, 5, 5].map((one, at) => (at === lost ? 1 : one))).map(({ points }) => ({
        points: points.map((point, at) => (at === 0 ? point! : { ...point!, value: String(at * 7) })),
      }));
    const was = changed([5, 5, 5, 5, 5, 5, 5, 5, 5]);
    expect([7, 8].map((lost) => review(packed(was), packed(restated(lost))).walks > 0)).toEqual([true, false]);
  });

  test('readings that nobody knows of', () => {
    const unknown = (drivers: readonly Driver[]): readonly PackedPoints[] =>
      packed(drivers).map(({ id, path, rule, points }) => ({ id, path, rule, points }));
    const after = alike(8, [2, 2, 2]);
    expect(found(unknown(before), packed(after)).map(({ kind }) => kind)).toEqual([]);
    expect(found(packed(before), unknown(after)).map(({ kind }) => kind)).toEqual([]);
    expect(fewer(before, after)).toHaveLength(1);
  });
});

describe('the group that is named', () => {
  const regions = ['North', 'South', 'West'];
  const inRegions = (readings: (region: string) => readonly number[]): readonly Driver[] =>
    regions.flatMap((region) =>
      alike(6, readings(region)).map((one, at) => ({ ...one, path: [region, `D${String(at).padStart(2, '0')}`] })),
    );
  const before = inRegions(() => [5, 5]);

  test.each([
    [['North'], [['North']]],
    [
      ['North', 'West'],
      [['North'], ['West']],
    ],
    [regions, [[]]],
  ])('in %j: %j', (some, groups) => {
    const findings = fewer(
      before,
      inRegions((region) => (some.includes(region) ? [3, 2] : [5, 5])),
    );
    expect(findings.map(({ group }) => group)).toEqual(groups);
    expect(findings[0]?.examples).toHaveLength(3);
  });

  test('is one of drivers whose points are shown with what they were', () => {
    const [finding] = fewer(
      before,
      inRegions(() => [5, 2]),
    );
    expect(finding?.examples[0]).toEqual({
      driver: 'D00',
      month: '2000-03',
      old: '502',
      new: '202',
    });
  });
});
