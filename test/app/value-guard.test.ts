/** What the value guard makes of findings: which hold, which warn, and what is said where points go without a read. */
import { describe, expect, test } from 'vitest';
import {
  type ValueFindings,
  ValueGuardReview,
  closedChanges,
  closedReview,
  joinFindings,
} from '../../src/app/review/values.ts';
import { diffDrivers, pairDrivers } from '../../src/core/series/diff.ts';
import type { PackedDriver } from '../../src/core/series/packing.ts';
import { parseMonth } from '../../src/core/time/month.ts';
import type { FindingKind } from '../../src/core/values/finding.ts';
import { driver } from '../support/packed.ts';

const months = ['2020-01', '2020-02', '2020-03', '2020-04', '2020-05', '2020-06', '2020-07', '2020-08'];

function read(valueOf: (at: number) => string): readonly PackedDriver[] {
  return [driver('A', Object.fromEntries(months.map((month, at) => [month, valueOf(at)])))];
}

const plain = read((at) => `${101 + at * 37}`);
const thousandfold = read((at) => `${101 + at * 37}000`);

type Deps = ConstructorParameters<typeof ValueGuardReview>[0];

function depsOf(values: 'hold' | 'warn' | 'off', lastClose?: string): Deps {
  const month = lastClose === undefined ? undefined : parseMonth(lastClose);
  const settings = {
    guard: { values },
    timezone: 'UTC',
    shouldDeleteMissing: true,
    lastClose: month === undefined ? undefined : { kind: 'month', month },
  };
  return { settings, clock: { now: () => new Date('2020-09-15T12:00:00Z') } } as unknown as Deps;
}

function found(
  review: ValueGuardReview,
  after: readonly PackedDriver[],
  isLookedFor?: (kind: FindingKind) => boolean,
): ValueFindings {
  for (const change of diffDrivers(plain, after)) review.see(change);
  return review.findings(() => pairDrivers(plain, after), isLookedFor);
}

const kindsOf = (findings: readonly { readonly kind: string }[]): readonly string[] => findings.map(({ kind }) => kind);

describe('a slip that changes closed months', () => {
  test.each([
    ['hold', 'hold', undefined, ['factor', 'closed'], 0],
    ['warn', 'warn', undefined, ['closed'], 1],
    ['warn, and the source holds', 'warn', 'hold', ['factor', 'closed'], 0],
    ['off, where only closed months are looked after', 'off', undefined, ['closed'], 0],
  ] as const)('values: %s', (...row) => {
    const [, values, ofSource, holding, warnings] = row;
    const review = new ValueGuardReview(depsOf(values, '2020-06'), { values: ofSource, removed: 'carry' });
    const findings = found(review, thousandfold);
    expect(kindsOf(findings.holding)).toEqual(holding);
    expect(findings.warnings).toHaveLength(warnings);
    expect(findings.all.every((one) => !('reach' in one))).toBe(true);
    expect(review.hold(undefined, findings)?.reason).toMatch(
      /6 points of closed months of A would change .*closed up to 2020-06/,
    );
  });

  test('is a slip alone where something else looks after closed months', () => {
    const review = new ValueGuardReview(
      depsOf('hold', '2020-06'),
      { values: undefined, removed: 'carry' },
      { closed: 'none' },
    );
    const findings = found(review, thousandfold);
    expect(kindsOf(findings.all)).toEqual(['factor']);
    expect(review.hold(undefined, findings)?.reason).not.toContain('closed');
  });

  test('stands behind a hold for deletes, and without findings that hold is as it was', () => {
    const review = new ValueGuardReview(depsOf('hold'), { values: undefined, removed: 'carry' });
    const findings = found(review, thousandfold);
    const hold = { reason: 'it would delete much', hint: 'approve' };
    expect(review.hold(hold, findings)?.reason).toMatch(/^it would delete much; and 8 of 8 values of A are 1000 times/);
    expect(review.hold(hold, { ...findings, holding: [] })).toBe(hold);
  });
});

test('two looks are joined, and each of them can be asked for some kinds alone', () => {
  const look = (isLookedFor?: (kind: FindingKind) => boolean): ValueFindings => {
    const review = new ValueGuardReview(depsOf('warn', '2020-06'), { values: undefined, removed: 'carry' });
    return found(review, thousandfold, isLookedFor);
  };
  const [closed, slips] = ['closed', 'factor'].map((kind) => look((one) => one === kind));
  expect([closed, slips].map((one) => kindsOf(one!.all))).toEqual([['closed'], ['factor']]);
  expect([closed, slips].map((one) => [one!.holding.length, one!.warnings.length])).toEqual([
    [1, 0],
    [0, 1],
  ]);
  expect(joinFindings(slips!, closed!)).toEqual(look());
});

describe('points that go without a read of their source', () => {
  test('are looked at for closed months alone', () => {
    expect(found(closedReview(depsOf('hold')), thousandfold).all).toEqual([]);
    expect(kindsOf(found(closedReview(depsOf('hold', '2020-06')), thousandfold).all)).toEqual(['closed']);
  });

  test('are named in words, and nothing is said where no month is closed or none of them changes', () => {
    const states = { before: () => plain, after: (): readonly PackedDriver[] => [] };
    const { findings, text } = closedChanges(depsOf('hold', '2020-06'), states);
    expect(findings).toMatchObject([{ kind: 'closed', points: 6, of: 6 }]);
    expect(text).toMatch(/^6 points of closed months of A would change/);
    expect(closedChanges(depsOf('hold', '2020-06'), { ...states, after: () => plain })).toEqual({
      findings: [],
      text: '',
    });
  });

  test('are not walked where no month is closed', () => {
    const never = (): never => {
      throw new Error('nothing has to be compared');
    };
    expect(closedChanges(depsOf('hold'), { before: never, after: never })).toEqual({ findings: [], text: '' });
  });
});
