/** What a person reads of a hold, and which of two reasons comes first. */
import { describe, expect, test } from 'vitest';
import {
  type CarriedDoubt,
  type Evidence,
  type GuardRules,
  accumulates,
  describeLimit,
  describeTwoHolds,
  isNameOfBeginning,
  judge,
  judgeRemoved,
  nameOfBeginning,
  rejectLimit,
} from '../../src/core/guard/guard.ts';
import type { Mapping } from '../../src/core/settings.ts';
import { monthOf } from '../../src/core/time/month.ts';

const rules: GuardRules = { maxDeletes: { kind: 'share', millionths: 100_000 }, floor: 5, mayBeEmpty: false };
const none = { create: 0, update: 0, delete: 0 };
const nothing = { drivers: 0, points: 0 };

function evidence(more: Partial<Evidence> = {}): Evidence {
  return {
    accepted: { drivers: 100, points: 1000, rejects: 0 },
    candidate: { drivers: 100, points: 999, rejects: 0 },
    changes: { drivers: none, points: { ...none, delete: 1 } },
    dropsOnlyOldest: false,
    losingOldest: { drivers: 0, of: 100 },
    losingBetween: undefined,
    beginning: undefined,
    dropsOnlyNewest: false,
    letThrough: { day: nothing, month: { ...nothing, had: undefined } },
    doubts: [],
    regression: undefined,
    ...more,
  };
}

describe('a place that says that it is older than it was', () => {
  const regression = { from: '12', to: '11' };

  test('is held with both moments and what to do, where anything changed', () => {
    expect(judge(evidence({ regression }), rules)).toEqual({
      reason: 'its query "changed" went back from 12 to 11',
      hint: 'a replica that lags catches up by itself; approve it if an older state is the truth now, as after a restore',
    });
  });

  test('is accepted where nothing changed, and at its first read', () => {
    const same = { drivers: none, points: none };
    expect(judge(evidence({ regression, changes: same }), rules)).toBeUndefined();
    expect(judge(evidence({ regression, accepted: undefined }), rules)).toBeUndefined();
  });
});

test('a read that only drops the newest months is held with what to do', () => {
  expect(judge(evidence({ dropsOnlyNewest: true }), rules)).toEqual({
    reason: 'it only drops the newest months and would delete 1 point',
    hint: 'a replica that lags catches up by itself; approve it if they are really gone',
  });
});

test('a read that begins within its oldest month is held with what to do about the export', () => {
  const fewer = { drivers: 10, of: 10, readings: 270 };
  const beginning = { month: monthOf(2026, 2), oldest: fewer, next: { ...fewer, drivers: 0 } };
  const same = { drivers: none, points: { ...none, update: 10 } };
  expect(judge(evidence({ beginning, changes: same }), rules)).toEqual({
    reason:
      'it shows fewer readings of 2026-02, its oldest month, for 10 of 10 drivers, as an export that begins within that month does',
    hint: 'let the export begin with the first day of a month (history: carry keeps the months before it); approve it if those readings are really gone',
  });
  expect(nameOfBeginning(beginning)).toBe('only 270 readings of 2026-02');
  expect(isNameOfBeginning(nameOfBeginning(beginning))).toBe(true);
  expect(isNameOfBeginning('exports/2026-02.csv')).toBe(false);
});

test('deletes with new rejects are held with where to look, drivers and points by their number', () => {
  const changes = { drivers: { ...none, delete: 1 }, points: { ...none, delete: 2 } };
  const candidate = { drivers: 99, points: 998, rejects: 2 };
  expect(judge(evidence({ changes, candidate }), rules)).toEqual({
    reason: 'it would delete 1 driver and 2 points and has 2 rejects where the accepted read had 0',
    hint: 'a row that could not be read is no evidence that its points are gone: see "driver-sync rejects"',
  });
});

test('more than the limit is held with the command that shows it; a limit may be a number', () => {
  const changes = { drivers: { ...none, delete: 0 }, points: { ...none, delete: 13 } };
  const limited = { ...rules, maxDeletes: { kind: 'count', count: 4 } } as const;
  const month = { drivers: 0, points: 0, had: undefined };
  expect(judge(evidence({ changes }), limited)).toEqual({
    reason: 'it would delete 13 of 1000 points, more than guard.maxDeletes 4',
    hint: 'see "driver-sync plan"; approve it if the data is really gone',
  });
  const four = { drivers: none, points: { ...none, delete: 4 } };
  const went = (points: number): Partial<Evidence> => ({
    changes: four,
    letThrough: { day: nothing, month: { ...month, points } },
  });
  expect(judge(evidence(went(8)), limited)).toBeUndefined();
  expect(judge(evidence(went(9)), limited)?.reason).toContain('in the last 30 days, more than three times');
});

describe('a read without anything', () => {
  const empty = { drivers: 0, points: 0, rejects: 0 };

  test('says what to look at, at first and later', () => {
    expect(judge(evidence({ accepted: undefined, candidate: empty }), rules)).toEqual({
      reason: 'its first read has no readings',
      hint: 'check "where" and the columns, or set mayBeEmpty: true',
    });
    expect(judge(evidence({ accepted: { drivers: 1, points: 1, rejects: 0 }, candidate: empty }), rules)).toEqual({
      reason: 'it turned empty and would delete all 1 driver',
      hint: 'check the export; approve only if the data is really gone',
    });
    expect(judge(evidence({ candidate: empty }), rules)?.reason).toContain('all 100 drivers');
  });

  test('is accepted after one that had nothing either', () => {
    const same = { drivers: none, points: none };
    expect(judge(evidence({ accepted: empty, candidate: empty, changes: same }), rules)).toBeUndefined();
  });
});

describe('doubts about what is carried', () => {
  const twice = (part: string): CarriedDoubt => ({
    kind: 'twice',
    carried: 'a.csv',
    other: { part, driver: 'x', month: '2026-01' },
  });
  const share: CarriedDoubt = { kind: 'share', carried: 'b.csv' };
  const hidden: CarriedDoubt = { kind: 'hidden', carried: 'c.csv', driver: 'x', month: '2026-02' };

  test('what is missing says so, and how to get it back', () => {
    expect(judge(evidence({ doubts: [share, hidden] }), rules)).toEqual({
      reason:
        'readings are missing: b.csv is gone, and the last snapshot does not say what it added to sums, averages and counts; ' +
        'c.csv is gone, and the last snapshot does not say whether it had a reading of driver "x" in 2026-02, which would count now',
      hint: 'put the part that is gone back and it is read again; approve to go on without it, see "driver-sync plan"',
    });
  });

  test('what may count twice comes first, and no more than three of a kind are named', () => {
    const hold = judge(evidence({ doubts: [share, twice('1'), twice('2'), twice('3'), twice('4')] }), rules);
    expect(hold?.reason).toMatch(
      /^rows may be counted twice: a\.csv is gone and carried, and 1 has .*; and 1 more; readings are missing: b\.csv/,
    );
    expect(hold?.reason).not.toContain('and 4 has');
    const three = judge(evidence({ doubts: [twice('1'), twice('2'), twice('3')] }), rules);
    expect(three?.reason).toMatch(/ in 2026-01 too; a\.csv .* and 3 has its driver "x" in 2026-01 too$/);
    expect(three?.hint).toBe(
      'put the part that is gone back, or drop it with "driver-sync forget"; approve if both really add up',
    );
  });
});

test('a source that left the config names each source that may have its drivers once, and what to do', () => {
  const changes = { drivers: { ...none, delete: 2 }, points: none };
  expect(judgeRemoved(changes, { unread: ['c'], awaited: new Map([['x', 'b']]) })).toEqual({
    reason:
      'the source left the config and 2 drivers would be deleted once "c" is read, which may have them now; 1 more wait for the held read of "b"',
    hint: 'approve it, or put the source back',
  });
});

test('two holds of one read are one, with the hints that there are', () => {
  expect(describeTwoHolds({ reason: 'a', hint: 'x' }, { reason: 'b', hint: 'y' })).toEqual({
    reason: 'a; and b',
    hint: 'x; y',
  });
  expect(describeTwoHolds({ reason: 'a' }, { reason: 'b', hint: 'y' })).toEqual({ reason: 'a; and b', hint: 'y' });
  expect(describeTwoHolds({ reason: 'a' }, { reason: 'b' })).toEqual({ reason: 'a; and b' });
});

test('a source that adds up allows no reject unless it says so, any other one a hundredth', () => {
  const mapping = (...names: readonly string[]): Mapping =>
    ({ drivers: names.map((rule) => ({ rule })) }) as unknown as Mapping;
  expect(rejectLimit(mapping('last', 'sum'), undefined)).toEqual({ kind: 'count', count: 0 });
  expect(rejectLimit(mapping('last', 'max'), undefined)).toEqual({ kind: 'share', millionths: 10_000 });
  expect(rejectLimit(mapping('sum'), { kind: 'count', count: 3 })).toEqual({ kind: 'count', count: 3 });
  expect([accumulates(mapping('last')), accumulates(mapping('last', 'average'))]).toEqual([false, true]);
});

test('limits are written as in the config', () => {
  expect(describeLimit({ kind: 'count', count: 4 })).toBe('4');
  expect(describeLimit({ kind: 'share', millionths: 15_000 })).toBe('1.5%');
});
