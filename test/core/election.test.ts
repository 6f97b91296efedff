/** The rules of the election, one by one. What they come to together is played in `election-model.test.ts`. */
import { describe, expect, test } from 'vitest';
import {
  type Candidacy,
  type LeadRow,
  type OtherAgent,
  givesWay,
  isRenewalDue,
  isTrusted,
  nextStep,
  pauseMs,
  overdue,
  saw,
  watched,
  whyNotLead,
  won,
} from '../../src/core/election/election.ts';

const alone: Candidacy = { self: 'a', config: 'one', leaseMs: 10_000, seenTerm: 3 };
const free: LeadRow = { term: 3, holder: 'b', leftMs: 0, deadline: 1, leaseMs: 20_000, config: 'one' };

describe('an agent whose passes break', () => {
  const broken = { ...alone, isBroken: true };
  const other = { id: 'c', config: 'one', seenAgoMs: 1000, isAble: true };

  test.each([
    ['an agent that can', [other], true],
    ['nobody else', [], false],
    ['itself', [{ ...other, id: 'a' }], false],
    ['an agent whose passes break too', [{ ...other, isAble: false }], false],
    ['an agent that was not heard of for three leases', [{ ...other, seenAgoMs: 30_000 }], false],
    ['an agent with another config', [{ ...other, config: 'other' }], false],
    ['two of them', [{ ...other, isAble: false }, other], true],
  ])('beside %s', (_name, others, givesUp) => {
    expect(givesWay(broken, others)).toBe(givesUp);
    expect(nextStep(broken, free, others)).toBe(givesUp ? 'look' : 'claim');
    expect(whyNotLead(broken, free, others)).toBe(givesUp ? 'others can' : undefined);
    expect(givesWay(alone, others)).toBe(false);
    expect(nextStep(alone, free, others)).toBe('claim');
  });
});

describe('an agent that does not lead', () => {
  test('claims the lead once its deadline has passed, and not before', () => {
    expect(nextStep(alone, free, [])).toBe('claim');
    expect(nextStep(alone, { ...free, leftMs: 1 }, [])).toBe('look');
    expect(nextStep(alone, { ...free, holder: undefined, leftMs: -1 }, [])).toBe('claim');
  });

  test('claims what was given back, whatever the clock of the database says', () => {
    expect(nextStep(alone, { ...free, holder: undefined, leftMs: 3_600_000 }, [])).toBe('claim');
  });

  test('claims a lead that was not renewed for the whole lease of its holder, though the clock of the database went back', () => {
    const row = { ...free, leftMs: 3_600_000 };
    const lookedAt = (askedMs: number, from: Candidacy = alone, at = row): Candidacy =>
      watched(from, at, { askedMs, answeredMs: askedMs + 100 });
    const once = lookedAt(0);
    expect(nextStep(once, row, [])).toBe('look');
    expect(nextStep(lookedAt(20_099, once), row, [])).toBe('look');
    const twice = lookedAt(20_100, once);
    expect(nextStep(twice, row, [])).toBe('claim');
    expect(overdue(twice, row)).toBe(1);
    // Whoever renews it is there.
    const renewed = { ...row, deadline: 2 };
    expect(nextStep(lookedAt(20_100, once, renewed), renewed, [])).toBe('look');
    expect(nextStep(twice, { ...row, leaseMs: undefined }, [])).toBe('look');
    // With another config it waits for others that are there, and for none that was seen before the clock went back.
    const others = (seenAgoMs: number): readonly OtherAgent[] => [
      { id: 'b', config: 'other', seenAgoMs, isAble: true },
    ];
    expect(nextStep(twice, { ...row, config: 'other' }, others(10))).toBe('look');
    expect(nextStep(twice, { ...row, config: 'other' }, others(-3_590_000))).toBe('claim');
  });

  test('takes its own lead up again at once', () => {
    expect(nextStep(alone, { ...free, holder: 'a', leftMs: 5000 }, [])).toBe('claim');
  });

  test('with another config waits while somebody may come who has the right one', () => {
    const row = { ...free, config: 'other' };
    expect(whyNotLead(alone, { ...row, leftMs: 5000 }, [])).toBe('leader differs');
    const others = [{ id: 'c', config: 'other', seenAgoMs: 1000, isAble: true }];
    expect(whyNotLead(alone, row, others)).toBe('others differ');
    expect(nextStep(alone, row, others)).toBe('look');
    // Whoever has been silent for three leases does not come any more.
    expect(nextStep(alone, row, [{ ...others[0]!, seenAgoMs: 30_000 }])).toBe('claim');
    // All that are there agree with it.
    expect(nextStep(alone, row, [{ id: 'c', config: 'one', seenAgoMs: 0, isAble: true }])).toBe('claim');
  });

  test('looks sooner where the deadline comes sooner', () => {
    expect(pauseMs(alone, { ...free, leftMs: 20_000 }, 0)).toBe(500);
    expect(pauseMs(alone, { ...free, leftMs: 80 }, 0)).toBe(80);
    expect(pauseMs(alone, undefined, 0)).toBe(500);
  });
});

describe('an agent that leads', () => {
  const leading = won(alone, { term: 4, begunMs: 1000 });

  test('trusts in its term for less time than the database gives it, from before it asked', () => {
    expect(isTrusted(leading, 9999)).toBe(true);
    expect(isTrusted(leading, 10_000)).toBe(false);
    expect(isTrusted(alone, 0)).toBe(false);
  });

  test('renews it after a third of the time', () => {
    expect(isRenewalDue(leading, 4000)).toBe(false);
    expect(isRenewalDue(leading, 4334)).toBe(true);
    expect(nextStep(leading, { ...free, leftMs: 0 }, [])).toBe('renew');
  });

  test('stops as soon as it sees another holder or another term', () => {
    expect(saw(leading, { term: 4, holder: 'a' }).held?.term).toBe(4);
    expect(saw(leading, { term: 5, holder: 'b' })).toMatchObject({ held: undefined, seenTerm: 5 });
    expect(saw(leading, { term: 4, holder: undefined }).held).toBeUndefined();
    // A database that lost rows: the term that was seen stays the highest.
    expect(saw(leading, { term: 2, holder: 'b' })).toMatchObject({ held: undefined, seenTerm: 4 });
  });
});
