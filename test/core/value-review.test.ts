/** When the value guard walks both reads once more: where something may be found, and not for ordinary changes. */
import { describe, expect, test } from 'vitest';
import { multiplyDecimals } from '../../src/core/numbers/arithmetic.ts';
import { diffDrivers, pairDrivers } from '../../src/core/series/diff.ts';
import type { PackedDriver } from '../../src/core/series/packing.ts';
import { parseMonth } from '../../src/core/time/month.ts';
import type { ValueRules } from '../../src/core/values/closed.ts';
import type { Finding, FindingKind } from '../../src/core/values/finding.ts';
import { ValueReview } from '../../src/core/values/review.ts';
import { driver } from '../support/packed.ts';

const open: ValueRules = { isJudged: true, closedUpTo: undefined, deletes: true };
const closed: ValueRules = { ...open, closedUpTo: parseMonth('2020-06') };

type Values = Readonly<Record<string, readonly string[]>>;

/** Values from 2020-01 on; an empty one is no point. */
function readOf(values: Values): readonly PackedDriver[] {
  return Object.entries(values).map(([id, texts]) => {
    const points = texts.flatMap((text, at) => (text === '' ? [] : [[monthAt(at), text] as const]));
    return driver(id, Object.fromEntries(points));
  });
}

function monthAt(at: number): string {
  return `${2020 + Math.floor(at / 12)}-${String((at % 12) + 1).padStart(2, '0')}`;
}

function reviewed(before: Values, after: Values, rules = open): { walks: number; kinds: readonly FindingKind[] } {
  const { walks, found } = foundIn(before, after, rules);
  return { walks, kinds: found.map(({ kind }) => kind) };
}

function foundIn(before: Values, after: Values, rules = open): { walks: number; found: readonly Finding[] } {
  const [was, is] = [readOf(before), readOf(after)];
  const review = new ValueReview(rules);
  for (const change of diffDrivers(was, is)) review.see(change);
  let walks = 0;
  const found = review.findings(() => {
    walks++;
    return pairDrivers(was, is);
  });
  return { walks, found };
}

/** So many drivers that no two values share. */
function drivers(
  count: number,
  valuesOf: (plain: readonly string[], at: number) => readonly string[],
  length = 6,
): Values {
  const entries = Array.from({ length: count }, (_, at) => {
    const plain = Array.from({ length }, (_month, month) => `${101 + at * 37 + ((month * 53) % 97)}.${month + 1}`);
    return [`D${String(at).padStart(3, '0')}`, valuesOf(plain, at)] as const;
  });
  return Object.fromEntries(entries);
}

const plain = (values: readonly string[]): readonly string[] => values;
const thousandfold = (value: string): string => multiplyDecimals(value, '1000');
const some = (count: number, change: (value: string) => string) => (values: readonly string[]) =>
  values.map((value, at) => (at < count ? change(value) : value));

const negated = (value: string): string => `-${value}`;
const changedAt = (month: number, change: (value: string) => string) => (values: readonly string[]) =>
  values.map((value, at) => (at === month ? change(value) : value));
const without = (month: number) => changedAt(month, () => '');

describe('the reads are not walked again where', () => {
  test.each<[string, Values, Values, ValueRules?]>([
    ['nothing changes', drivers(30, plain), drivers(30, plain)],
    ['drivers are new', {}, drivers(30, plain)],
    ['drivers go', drivers(30, plain), {}],
    ['months come behind', drivers(5, (values) => values.slice(0, 5)), drivers(5, plain)],
    ['five values are a thousandfold', drivers(5, plain), drivers(5, some(1, thousandfold))],
    ['half of the values of a driver are', drivers(1, plain, 20), drivers(1, some(10, thousandfold), 20)],
    [
      'half of what changes in many drivers is',
      drivers(20, plain, 12),
      drivers(
        20,
        (values) => values.map((value, at) => (at < 3 ? thousandfold(value) : at < 6 ? `${value}7` : value)),
        12,
      ),
    ],
    ['nine values become 0', drivers(3, plain, 3), drivers(3, (values) => values.map(() => '0'), 3)],
    [
      'one of five values of many drivers becomes 0',
      drivers(30, plain, 5),
      drivers(
        30,
        some(1, () => '0'),
        5,
      ),
    ],
    ['a slip is not looked for', drivers(30, plain), drivers(30, some(6, thousandfold)), { ...open, isJudged: false }],
    [
      'a month after the closed ones changes',
      drivers(3, plain, 7),
      drivers(3, (all) => [...all.slice(0, 6), '7'], 7),
      closed,
    ],
    ['a month after the closed ones comes', drivers(3, (all) => all.slice(0, 6), 7), drivers(3, plain, 7), closed],
    ['a driver is new after them', {}, drivers(1, (all) => ['', '', '', '', '', '', ...all]), closed],
    [
      'a closed month goes, and nothing is deleted',
      drivers(3, plain),
      drivers(3, (all) => all.slice(0, 5)),
      { ...closed, deletes: false },
    ],
    [
      'older months come',
      drivers(10, (all) => all.map((value, month) => (month < 12 ? '' : value)), 16),
      drivers(10, plain, 16),
    ],
    ['a month comes late', drivers(10, without(9), 14), drivers(10, plain, 14)],
    [
      'a month in the middle is restated',
      drivers(10, plain, 14),
      drivers(
        10,
        changedAt(9, (value) => `${value}7`),
        14,
      ),
    ],
    [
      'a month in the middle that was of another size is of that size still',
      drivers(10, changedAt(9, thousandfold), 14),
      drivers(
        10,
        changedAt(9, (value) => `${thousandfold(value)}7`),
        14,
      ),
    ],
    [
      'a month of another size comes late in four drivers',
      drivers(4, without(9), 14),
      drivers(4, changedAt(9, thousandfold), 14),
    ],
  ])('%s', (_what, before, after, rules) => {
    expect(reviewed(before, after, rules)).toEqual({ walks: 0, kinds: [] });
  });
});

describe('they are walked again, and it is found, where', () => {
  test.each<[string, FindingKind, Values, Values, ValueRules?]>([
    ['six values of a driver are a thousandfold', 'factor', drivers(1, plain), drivers(1, some(6, thousandfold))],
    ['24 values are that changed alone', 'factor', drivers(8, plain, 12), drivers(8, some(3, thousandfold), 12)],
    ['nine of ten values are', 'factor', drivers(1, plain, 10), drivers(1, some(9, thousandfold), 10)],
    [
      '19 of 20 values that change in a driver are',
      'factor',
      drivers(2, plain, 60),
      drivers(2, (all) => all.map((value, at) => (at < 19 ? thousandfold(value) : at < 20 ? `${value}7` : value)), 60),
    ],
    [
      'they are, and a month comes behind',
      'factor',
      drivers(1, (all) => all.slice(0, 6), 7),
      drivers(1, some(6, thousandfold), 7),
    ],
    [
      'a new month is of another size in many drivers',
      'new-scale',
      drivers(10, (all) => all.slice(0, 11), 12),
      drivers(10, (all) => [...all.slice(0, 11), thousandfold(all[11]!)], 12),
    ],
    [
      'a month that comes late is',
      'new-scale',
      drivers(10, without(9), 14),
      drivers(10, changedAt(9, thousandfold), 14),
    ],
    [
      'a plan becomes an actual of another size before other months of the plan',
      'new-scale',
      drivers(10, plain, 14),
      drivers(
        10,
        changedAt(9, (value) => `${value.replace('.', '7')}.5`),
        14,
      ),
    ],
    [
      'older months come that are',
      'new-scale',
      drivers(10, (all) => all.map((value, month) => (month < 12 ? '' : value)), 16),
      drivers(10, some(12, thousandfold), 16),
    ],
    [
      'a month that comes late has the other sign',
      'new-sign',
      drivers(10, without(14), 18),
      drivers(10, changedAt(14, negated), 18),
    ],
    [
      'two months come that both repeat the one before',
      'copied',
      drivers(10, (all) => all.slice(0, 14), 16),
      drivers(10, (all) => [...all.slice(0, 14), all[13]!, all[13]!], 16),
    ],
    ['ten values become 0', 'zeros', drivers(2, plain, 5), drivers(2, (all) => all.map(() => '0'), 5)],
    ['the last closed month comes behind', 'closed', drivers(1, (all) => all.slice(0, 5)), drivers(1, plain), closed],
    [
      'the last closed month changes',
      'closed',
      drivers(1, plain),
      drivers(1, (all) => [...all.slice(0, 5), '7']),
      closed,
    ],
    ['the last closed month goes', 'closed', drivers(1, plain), drivers(1, (all) => all.slice(0, 5)), closed],
    [
      'one goes, and one that is not closed comes',
      'closed',
      drivers(1, (all) => all.slice(0, 6), 7),
      drivers(1, (all) => ['', ...all.slice(1)], 7),
      closed,
    ],
    [
      'one changes, and one that is not closed comes',
      'closed',
      drivers(1, (all) => all.slice(0, 6), 7),
      drivers(1, (all) => ['7', ...all.slice(1)], 7),
      closed,
    ],
    ['a driver is new there', 'closed', {}, drivers(1, plain), closed],
    ['a driver goes there', 'closed', drivers(1, plain), {}, closed],
    ['only that is looked for', 'closed', drivers(1, plain), {}, { ...closed, isJudged: false }],
  ])('%s', (...row) => {
    const [, kind, before, after, rules] = row;
    const { walks, kinds } = reviewed(before, after, rules);
    expect(walks).toBeGreaterThan(0);
    expect(kinds).toEqual([kind]);
  });
});

test('a new month stands beside the newest one that it is judged by, also behind another new one', () => {
  const before = drivers(6, (all) => all.slice(0, 12), 14);
  const after = drivers(6, (all) => [...all.slice(0, 12), ...all.slice(12).map(thousandfold)], 14);
  const { found } = foundIn(before, after);
  const [id, values] = Object.entries(after)[0]!;
  expect(found.map(({ kind, examples }) => [kind, examples[0]])).toEqual([
    ['new-scale', { driver: id, month: '2021-02', old: values[11], new: values[13] }],
  ]);
});
