import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import {
  type Evidence,
  type GuardRules,
  allowedDeletes,
  isBeyond,
  judge,
  judgeRemoved,
} from '../../src/core/guard/guard.ts';
import type { Limit } from '../../src/core/settings.ts';
import { monthOf } from '../../src/core/time/month.ts';

const share = (percent: number): Limit => ({ kind: 'share', millionths: percent * 10_000 });
const number = (count: number): Limit => ({ kind: 'count', count });
const rules: GuardRules = { maxDeletes: share(10), floor: 5, mayBeEmpty: false };

const nothing = { drivers: 0, points: 0 };

/** A candidate that deletes so many of 100 drivers and 1000 points. */
function evidence(deletes: { drivers?: number; points?: number }, more: Partial<Evidence> = {}): Evidence {
  const { drivers = 0, points = 0 } = deletes;
  return {
    accepted: { drivers: 100, points: 1000, rejects: 0 },
    candidate: { drivers: 100 - drivers, points: 1000 - points, rejects: 0 },
    changes: {
      drivers: { create: 0, update: 0, delete: drivers },
      points: { create: 0, update: 0, delete: points },
    },
    dropsOnlyOldest: false,
    losingOldest: { drivers: 0, of: 100 },
    losingBetween: undefined,
    beginning: undefined,
    letThrough: { day: nothing, month: { ...nothing, had: undefined } },
    doubts: [],
    regression: undefined,
    dropsOnlyNewest: false,
    ...more,
  };
}

describe('the share of deletes', () => {
  test.each([
    [{ drivers: 10, points: 100 }, undefined],
    [{ drivers: 11, points: 100 }, 'it would delete 11 of 100 drivers, more than guard.maxDeletes 10%'],
    [{ drivers: 10, points: 101 }, 'it would delete 101 of 1000 points, more than guard.maxDeletes 10%'],
  ])('of %j', (deletes, reason) => {
    expect(judge(evidence(deletes), rules)?.reason).toBe(reason);
  });

  test('counts what went in the last 24 hours', () => {
    const letThrough = { day: { drivers: 6, points: 6 }, month: { drivers: 6, points: 6, had: undefined } };
    expect(judge(evidence({ drivers: 4, points: 4 }, { letThrough }), rules)).toBeUndefined();
    expect(judge(evidence({ drivers: 5, points: 5 }, { letThrough }), rules)?.reason).toBe(
      'it would delete 5 of 100 drivers after 6 in the last 24 hours, more than guard.maxDeletes 10%',
    );
  });

  test('does not stop a read that deletes nothing, whatever went before', () => {
    const letThrough = { day: { drivers: 90, points: 900 }, month: { drivers: 90, points: 900, had: undefined } };
    expect(judge(evidence({}, { letThrough }), rules)).toBeUndefined();
  });

  test('counts what went in the last 30 days, three times as much of what there was then', () => {
    const had = { drivers: 150, points: 1500 };
    const letThrough = { day: nothing, month: { drivers: 40, points: 40, had } };
    expect(judge(evidence({ drivers: 5, points: 5 }, { letThrough }), rules)).toBeUndefined();
    expect(judge(evidence({ drivers: 6, points: 6 }, { letThrough }), rules)?.reason).toBe(
      'it would delete 6 of 100 drivers after 40 of 150 in the last 30 days, more than three times guard.maxDeletes 10%',
    );
  });

  test('lets no more than half of a small source go in 30 days', () => {
    const before = { drivers: 4, points: 4 };
    const letThrough = { day: nothing, month: { drivers: 4, points: 4, had: { drivers: 8, points: 8 } } };
    const small = { accepted: { ...before, rejects: 0 }, candidate: { drivers: 3, points: 3, rejects: 0 }, letThrough };
    expect(judge(evidence({ drivers: 1, points: 1 }, small), rules)?.reason).toContain(
      'after 4 of 8 in the last 30 days',
    );
  });

  test.each([
    ['a day', { day: { drivers: 90, points: 900 }, month: { ...nothing, had: undefined } }],
    ['30 days', { day: nothing, month: { drivers: 400, points: 4000, had: { drivers: 120, points: 1200 } } }],
  ])('of 100 % is no limit, whatever went before it in %s', (_name, letThrough) => {
    const allGo = evidence({ drivers: 99, points: 999 }, { letThrough });
    expect(judge(allGo, { ...rules, maxDeletes: share(100) })).toBeUndefined();
    expect(judge(allGo, { ...rules, maxDeletes: share(99) })?.reason).toContain('more than');
    // What is held whatever the share still is.
    expect(judge({ ...allGo, dropsOnlyOldest: true }, { ...rules, maxDeletes: share(100) })?.reason).toContain(
      'oldest',
    );
  });

  test.each([
    [100, rules, 10],
    [20, rules, 5],
    [9, rules, 4],
    [1, rules, 0],
    [100, { ...rules, maxDeletes: number(3) }, 3],
    [100, { ...rules, maxDeletes: number(0) }, 0],
    [29, { ...rules, maxDeletes: share(10), floor: 0 }, 2],
  ])('of %i drivers lets so many go', (whole, limits, allowed) => {
    expect(allowedDeletes(whole, limits)).toBe(allowed);
  });

  test('never lets more than half go by the floor alone', () => {
    fc.assert(
      fc.property(fc.nat(1000), fc.nat(1000), (whole, floor) => {
        expect(allowedDeletes(whole, { maxDeletes: share(0), floor })).toBeLessThanOrEqual(whole / 2);
      }),
    );
  });
});

describe('what is held whatever the share', () => {
  test('a read that turned empty', () => {
    const empty = { candidate: { drivers: 0, points: 0, rejects: 0 } };
    expect(judge(evidence({ drivers: 100, points: 1000 }, empty), rules)?.reason).toContain('turned empty');
  });

  test('a first read that is empty, unless it may be', () => {
    const first = evidence({}, { accepted: undefined, candidate: { drivers: 0, points: 0, rejects: 0 } });
    expect(judge(first, rules)?.reason).toBe('its first read has no readings');
    expect(judge(first, { ...rules, mayBeEmpty: true })).toBeUndefined();
  });

  test('one with more rejects than before that deletes anything', () => {
    const rejects = { candidate: { drivers: 100, points: 999, rejects: 1 } };
    expect(judge(evidence({ points: 1 }, rejects), rules)?.reason).toContain('1 reject where the accepted read had 0');
    expect(judge(evidence({}, rejects), rules)).toBeUndefined();
  });

  test('one that only drops the oldest months', () => {
    expect(judge(evidence({ points: 1 }, { dropsOnlyOldest: true }), rules)).toMatchObject({
      reason: expect.stringContaining('only drops the oldest months') as string,
      hint: expect.stringContaining('history: carry') as string,
    });
  });

  test.each([
    [2, 3, true],
    [1, 2, false],
    [51, 100, true],
    [50, 100, false],
  ])('one in which %i of %i drivers lose their oldest months, whatever else goes: %s', (drivers, of, isHeld) => {
    const held = judge(evidence({ points: 1 }, { losingOldest: { drivers, of } }), {
      ...rules,
      maxDeletes: share(100),
    });
    expect(held?.reason).toBe(
      isHeld ? `it drops the oldest months of ${drivers} of ${of} drivers and would delete 1 point` : undefined,
    );
  });

  test.each([
    [6, 11, true],
    [6, 12, false],
    [5, 5, false],
    [51, 100, true],
  ])('one in which %i of %i drivers lose a month between others, beyond the floor of 5: %s', (drivers, of, isHeld) => {
    const losing = { losingBetween: { month: monthOf(2026, 6), drivers }, losingOldest: { drivers: 0, of } };
    expect(judge(evidence({ points: drivers }, losing), rules)?.reason).toBe(
      isHeld
        ? `it drops 2026-06, between months that stay, of ${drivers} of ${of} drivers and would delete ${drivers} points`
        : undefined,
    );
    expect(judge(evidence({ points: drivers }, losing), { ...rules, maxDeletes: share(100) })).toBeUndefined();
  });

  test.each([
    { oldest: [6, 11], next: [0, 11], isHeld: true },
    { oldest: [6, 12], next: [0, 12], isHeld: false },
    { oldest: [5, 5], next: [0, 5], isHeld: false },
    { oldest: [51, 100], next: [50, 100], isHeld: true },
    { oldest: [51, 100], next: [51, 100], isHeld: false },
    { oldest: [10, 10], next: [0, 0], isHeld: true },
    { oldest: [10, 10], next: undefined, isHeld: false },
  ])('one with fewer readings of its oldest month, for $oldest, and not of the next, $next: $isHeld', (found) => {
    const of = ([drivers, all]: number[]) => ({ drivers: drivers ?? 0, of: all ?? 0, readings: 27 });
    const next = found.next && of(found.next);
    const beginning = { month: monthOf(2026, 2), oldest: of(found.oldest), next };
    const [drivers, all] = found.oldest;
    const reason = found.isHeld
      ? `it shows fewer readings of 2026-02, its oldest month, for ${drivers} of ${all} drivers, as an export that begins within that month does`
      : undefined;
    for (const points of [0, 1]) {
      expect(judge(evidence({ points }, { beginning }), rules)?.reason).toBe(reason);
      expect(judge(evidence({ points }, { beginning }), { ...rules, maxDeletes: share(100) })).toBeUndefined();
    }
    expect(judge(evidence({}, { beginning, accepted: undefined }), rules)).toBeUndefined();
  });

  test('one that may count rows twice, by the parts and the point', () => {
    const other = { part: 'in/2.csv', driver: 'North', month: '2026-01' };
    expect(judge(evidence({}, { doubts: [{ kind: 'twice', carried: 'in/1.csv', other }] }), rules)?.reason).toBe(
      'rows may be counted twice: in/1.csv is gone and carried, and in/2.csv has its driver "North" in 2026-01 too',
    );
  });

  test('one without files that are gone, by the first of them', () => {
    const without = (files: readonly string[]): string | undefined =>
      judge(evidence({}, { doubts: files.map((carried) => ({ kind: 'file', carried })) }), rules)?.reason;
    expect(without(['in/1.parquet'])).toBe('the accepted read was made of in/1.parquet too, which is gone');
    expect(without(['a', 'b', 'c', 'd', 'e'])).toBe(
      'the accepted read was made of a, b, c and 2 more too, which are gone',
    );
  });

  test('a source that left the config', () => {
    const { changes } = evidence({ drivers: 1, points: 1 });
    const reason = (unread: readonly string[], awaited: ReadonlyMap<string, string>): string =>
      judgeRemoved(changes, { unread, awaited }).reason;
    const deleted = 'the source left the config and 1 driver would be deleted';
    expect(reason([], new Map())).toBe(deleted);
    const awaited = new Map([
      ['x', 'b'],
      ['y', 'b'],
    ]);
    expect(reason(['c', 'd'], awaited)).toBe(
      `${deleted} once "c", "d" are read, which may have them now; 2 more wait for the held read of "b"`,
    );
  });
});

test('a limit is exact where a share is not a whole number', () => {
  expect(isBeyond(1, 100, share(1))).toBe(false);
  expect(isBeyond(1, 99, share(1))).toBe(true);
  expect(isBeyond(3, 1, number(3))).toBe(false);
  expect(isBeyond(4, 1000, number(3))).toBe(true);
});

test('a source that may be empty may turn empty, unless rejects made it so', () => {
  const empty = { drivers: 0, points: 0, rejects: 0 };
  const all = { drivers: 100, points: 1000 };
  const mayBeEmpty = { ...rules, mayBeEmpty: true };
  expect(judge(evidence(all, { candidate: empty, dropsOnlyOldest: true }), mayBeEmpty)).toBeUndefined();
  expect(judge(evidence(all, { candidate: { ...empty, rejects: 1 } }), mayBeEmpty)?.reason).toContain('1 reject');
});
