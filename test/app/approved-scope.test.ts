/** Which newer read stays within what somebody approved, and which deletes a person is shown. */
import { describe, expect, test } from 'vitest';
import { allPoints, dropApprovals, furtherThan, shownDeletes } from '../../src/app/review/approvals.ts';
import type { Dependencies } from '../../src/app/dependencies.ts';
import type { ApprovalScope, DeletedPoints } from '../../src/core/ledger.ts';
import type { Month } from '../../src/core/model.ts';
import { compareRuns } from '../../src/core/series/compare.ts';
import { parseMonth } from '../../src/core/time/month.ts';
import type { ReachingFinding } from '../../src/core/values/finding.ts';
import { driver } from '../support/packed.ts';

function month(text: string): Month {
  return parseMonth(text) as Month;
}

/** `{ A: ['2026-01'] }`: that point of A. */
function points(byDriver: Readonly<Record<string, readonly string[]>>): DeletedPoints {
  return new Map(Object.entries(byDriver).map(([id, months]) => [id, months.map(month)]));
}

const nothing: ApprovalScope = { deletes: points({}), moved: points({}), carried: [], findings: [], isEnd: false };
const [january, february] = ['2026-01', '2026-02'];
const found: ReachingFinding = { kind: 'zeros', group: ['Sales'], points: 6, of: 6, examples: [], reach: ['x'] };

/** Nothing is beyond it. */
const isWithin = /^undefined$/;

describe('beyond what was approved is', () => {
  test.each<[string, Partial<ApprovalScope>, Partial<ApprovalScope>, RegExp]>([
    ['not the same', { deletes: points({ A: [january] }) }, { deletes: points({ A: [january] }) }, isWithin],
    ['nothing that does nothing', {}, { deletes: points({ A: [january] }), carried: ['p'] }, isWithin],
    [
      'not less',
      { deletes: points({ A: [january] }) },
      { deletes: points({ A: [january, february], B: [january] }) },
      isWithin,
    ],
    [
      'another month of a driver',
      { deletes: points({ A: [january, february] }) },
      { deletes: points({ A: [january] }) },
      /^a newer read of the source would delete more than the approved one: driver "A" in 2026-02$/,
    ],
    [
      'another driver, beside an approved one',
      { deletes: points({ A: [january], B: [january] }) },
      { deletes: points({ A: [january] }) },
      /would delete more than the approved one: driver "B" in 2026-01$/,
    ],
    [
      'another driver of a source that left',
      { isEnd: true, deletes: points({ A: [january] }) },
      { isEnd: true, deletes: points({}) },
      /^more would be deleted of the source that left than was approved: driver "A" in 2026-01$/,
    ],
    ['a read, where the end was approved', {}, { isEnd: true }, /^the source is back in the config/],
    ['the end, where a read was approved', { isEnd: true }, {}, /^the source left the config/],
    [
      'another carried part',
      { carried: ['p', 'q'] },
      { carried: ['p'] },
      /^a newer read of the source would carry what was not approved: q$/,
    ],
    ['not a carried part alone', { carried: ['p'] }, { carried: ['q', 'p'] }, isWithin],
    [
      'a slip in more points',
      { findings: [{ ...found, points: 7 }] },
      { findings: [found] },
      /^a newer read of the source is held for more than was approved: 7 of 6 values of Sales that were not 0 became 0$/,
    ],
    ['not the same slip', { findings: [found] }, { findings: [found] }, isWithin],
    [
      'what an older agent recorded, which noted no moves',
      { deletes: points({ A: [january] }) },
      { deletes: points({ A: [january] }), moved: undefined },
      /^an older version recorded it/,
    ],
    ['not that without any deletes', {}, { moved: undefined }, isWithin],
    [
      'not the end that an older agent recorded',
      { isEnd: true, deletes: points({ A: [january] }) },
      { isEnd: true, deletes: points({ A: [january] }), moved: undefined },
      isWithin,
    ],
    [
      'a delete that was a move',
      { deletes: points({ A: [january] }) },
      { deletes: points({ A: [january] }), moved: points({ A: [january] }) },
      /^driver "A" was approved to move to another source, which does not have all of it any more$/,
    ],
    [
      'a delete of which one month was a move',
      { deletes: points({ A: [january, february] }), moved: points({ A: [february] }) },
      { deletes: points({ A: [january, february] }), moved: points({ A: [january, february] }) },
      /^driver "A" was approved to move/,
    ],
    [
      'not a move still, nor what stays of it',
      { deletes: points({ A: [january] }), moved: points({ A: [january] }) },
      { deletes: points({ A: [january, february] }), moved: points({ A: [january, february] }) },
      isWithin,
    ],
    [
      'not a delete beside a move',
      { deletes: points({ A: [february] }) },
      { deletes: points({ A: [january, february] }), moved: points({ A: [january] }) },
      isWithin,
    ],
  ])('%s', (_name, scope, approved, why) => {
    expect(String(furtherThan({ ...nothing, ...scope }, { ...nothing, ...approved }))).toMatch(why);
  });
});

describe('a person is shown', () => {
  const names = (letter: string, count: number): readonly string[] =>
    Array.from({ length: count }, (_, at) => `${letter}${String(at).padStart(3, '0')}`);

  function shown(whole: number, partly: number): ReturnType<typeof shownDeletes> {
    const both = { [january]: '1', [february]: '2' };
    const before = [...names('A', partly), ...names('B', whole)].map((id) => driver(id, both));
    const after = names('A', partly).map((id) => driver(id, { [february]: '2' }));
    return shownDeletes(compareRuns(before, after));
  }

  test('drivers that go whole first, then those that lose points, with their months', () => {
    expect(shown(1, 1)).toEqual([
      { driver: 'B000', whole: true, months: [january, february] },
      { driver: 'A000', whole: false, months: [january] },
    ]);
  });

  test.each([
    [0, 101, 0, 100],
    [60, 60, 60, 40],
    [100, 1, 100, 0],
    [101, 0, 100, 0],
  ])('of %i that go and %i that lose points %i and %i', (whole, partly, shownWhole, shownPartly) => {
    const all = shown(whole, partly);
    expect(all.filter((one) => one.whole)).toHaveLength(shownWhole);
    expect(all.filter((one) => !one.whole)).toHaveLength(shownPartly);
    expect(new Set(all.map((one) => one.driver)).size).toBe(100);
  });
});

test('what is dropped waits, is of that source, and was there when the pass began', async () => {
  const approvals = [
    { id: 4, source: 'sales', state: 'pending' },
    { id: 3, source: 'sales', state: 'pending' },
    { id: 2, source: 'rents', state: 'pending' },
    { id: 1, source: 'sales', state: 'used' },
  ];
  const dropped: unknown[] = [];
  const holds = {
    approvals: () => Promise.resolve(approvals),
    closeApproval: (...how: unknown[]) => Promise.resolve(dropped.push(how)),
  };
  const deps = { ledger: { holds } } as unknown as Dependencies;
  await dropApprovals(deps, 'sales', 'gone', 3);
  expect(dropped.splice(0)).toEqual([[3, 'dropped', 'gone']]);
  await dropApprovals(deps, 'sales', 'gone');
  expect(dropped.map((how) => (how as number[])[0])).toEqual([4, 3]);
});

test('all points of drivers are their months', () => {
  const all = allPoints([driver('A', { [january]: '1', [february]: '2' }), driver('B', { [february]: '0' })]);
  expect(all).toEqual(points({ A: [january, february], B: [february] }));
});
