/** When a loss of records is asked about, and when somebody has asked already. Notes at a real database are in `shared-lead.e2e.test.ts`. */
import { describe, expect, test } from 'vitest';
import { type Beside, type Found, doubtOf } from '../../src/core/election/doubt.ts';
import { type Glance, noted } from '../../src/core/election/noting.ts';

const here = '7100/00000002';
const found: Found = {
  term: 6,
  before: here,
  cluster: here,
  lastDoubt: { sinceMs: 5000, term: 6, holder: 'a' },
};
const beside: Beside = { sinceMs: 4000, term: 5, holder: 'a', cluster: '7100/00000001', lastDoubt: undefined };

function doubt(lostBeside: Partial<Beside>, now: Partial<Found> = {}): string | undefined {
  const seen = { term: 5, head: '9:bb', lost: '17:aa', lostBeside: { ...beside, ...lostBeside } };
  return doubtOf({ seen, seenTerm: 5 }, { ...found, ...now });
}

describe('an agent that saw a record which is not there any more', () => {
  test('does not ask where a doubt was raised since', () => {
    expect(doubt({})).toBeUndefined();
    expect(doubt({ lastDoubt: { sinceMs: 1000, term: 2, holder: 'b' } })).toBeUndefined();
    // An agent that did not know of the lost term has led in one of that number.
    expect(doubt({ term: 6, holder: 'b' })).toBeUndefined();
  });

  test('asks where none was', () => {
    expect(doubt({}, { lastDoubt: undefined })).toContain('record 17 was there');
  });

  test('asks where it saw that doubt beside the record, or a later one', () => {
    expect(doubt({ lastDoubt: found.lastDoubt })).toContain('record 17');
    expect(doubt({ lastDoubt: { sinceMs: 4500, term: 7, holder: 'b' } })).toContain('record 17');
  });

  test('asks where the record is newer than the doubt: it was cut off, and led in what was left of the old primary', () => {
    expect(doubt({ sinceMs: 5001 })).toContain('record 17');
  });

  test('asks where the doubt may be of another ledger', () => {
    expect(doubt({ cluster: '7200/00000001' })).toContain('record 17');
    expect(doubt({ cluster: '/00000001' }, { before: '/00000002', cluster: '/00000002' })).toContain('record 17');
    expect(doubt({ cluster: '' })).toContain('record 17');
  });

  test('asks after the next promotion', () => {
    expect(doubt({}, { cluster: '7100/00000003' })).toContain('(timeline 00000002 became 00000003)');
  });
});

test('a term that was lost is asked about like a record', () => {
  const seen = { term: 9, lostBeside: { ...beside, term: 9 } };
  expect(doubtOf({ seen, seenTerm: 9 }, found)).toBeUndefined();
  expect(doubtOf({ seen, seenTerm: 9 }, { ...found, lastDoubt: undefined })).toContain('term 9 was there');
  expect(doubtOf({ seen: { term: 9 }, seenTerm: 9 }, found)).toContain('term 9 was there, and it says 6');
});

test('a term that somebody won after that doubt is asked about, though the record beside it is older', () => {
  const glance: Glance = { nowMs: 4000, head: '9:aa', term: 5, holder: 'b', cluster: here, isGone: false };
  const first = noted(undefined, glance, undefined);
  // The doubt was raised at 5000, where this agent was not; it looked at what was left of the old primary.
  const later = noted(first, { ...glance, nowMs: 6000, term: 8, holder: 'c' }, undefined);
  const seen = noted(later, { ...glance, nowMs: 7000, term: 6, holder: 'a' }, found.lastDoubt);
  expect(seen.lostBeside?.sinceMs).toBe(6000);
  expect(doubtOf({ seen, seenTerm: 8 }, found)).toContain('term 8 was there');
  // Of the same number, and another one's.
  expect(noted(first, { ...glance, nowMs: 6000, holder: 'c' }, undefined).beside?.sinceMs).toBe(6000);
  expect(noted(first, { ...glance, nowMs: 6000, holder: undefined }, undefined).beside?.sinceMs).toBe(4000);
});

test('a term that was lost between the last look and the claim is asked about', () => {
  const seen = { term: 9, beside: { ...beside, term: 9, sinceMs: 6000 }, lost: '17:aa', lostBeside: beside };
  expect(doubtOf({ seen, seenTerm: 9 }, found)).toContain('record 17');
  // It won the term, and never looked at it.
  expect(doubtOf({ seen: { term: 9, beside, lostBeside: beside }, seenTerm: 9 }, found)).toContain('term 9');
});
