/** Whether a month is one that a candidate may begin within, and what in it has to change. */
import { describe, expect, test } from 'vitest';
import type { Dependencies } from '../../src/app/dependencies.ts';
import { BeginningReview } from '../../src/app/review/beginning.ts';
import type { Rule } from '../../src/core/model.ts';
import { diffDrivers } from '../../src/core/series/diff.ts';
import { formatMonth } from '../../src/core/time/month.ts';
import type { SourceSettings } from '../../src/core/settings.ts';
import { type KeptPart, keptReads } from '../support/kept-reads.ts';

type Parts = Readonly<Record<string, KeptPart>>;

interface Given {
  readonly rules?: readonly Rule[];
  readonly now?: string;
  readonly timezone?: string;
  readonly shouldDeleteMissing?: boolean;
  readonly keys?: Partial<SourceSettings>;
}

/** The month that is found to have changed at a candidate's beginning, and of how many drivers it has fewer readings. */
async function found(accepted: Parts, candidate: Parts | undefined, given: Given = {}): Promise<string> {
  const { rules = ['sum'], now = '2026-03-15T12:00:00Z', timezone = 'UTC', shouldDeleteMissing = true } = given;
  const reads = { 'sales accepted': accepted, ...(candidate && { 'sales candidate': candidate }) };
  const buffer = keptReads(reads);
  const settings = { timezone, shouldDeleteMissing };
  const source = { name: 'sales', mapping: { drivers: rules.map((rule) => ({ rule })) }, ...given.keys };
  const deps = { buffer, settings, clock: { now: () => new Date(now) } } as unknown as Dependencies;
  const runs = {
    before: () => buffer.reads.drivers('sales', 'accepted'),
    after: () => buffer.reads.drivers('sales', 'candidate'),
  };
  const review = new BeginningReview(deps, source as unknown as SourceSettings);
  for (const change of diffDrivers(runs.before(), runs.after())) review.see(change);
  const beginning = await review.find(runs);
  buffer.close();
  if (beginning === undefined) return 'nothing';
  const { month, oldest } = beginning;
  return `${formatMonth(month)}: ${oldest.drivers} of ${oldest.of}`;
}

const sum = (points: KeptPart['points'], count: number, more: KeptPart = {}): KeptPart => {
  return { points: points ?? {}, rule: 'sum', count, ...more };
};
const whole = { 'a.csv': sum({ A: { '2026-01': '30', '2026-02': '28' } }, 30) };
const fewer = { 'a.csv': sum({ A: { '2026-01': '10', '2026-02': '28' } }, 10) };

describe('the oldest month that a candidate shows', () => {
  test('is judged where it changes', async () => {
    expect(await found(whole, fewer)).toBe('2026-01: 1 of 1');
    expect(await found(whole, whole)).toBe('nothing');
  });

  test('is not judged where only later months change', async () => {
    expect(await found(whole, { 'a.csv': sum({ A: { '2026-01': '30', '2026-02': '29' } }, 10) })).toBe('nothing');
  });

  test('has changed whatever changes in the drivers behind', async () => {
    const two = (first: string, later: string) => {
      return { 'a.csv': sum({ A: { '2026-01': first, '2026-02': '28' }, B: { '2026-01': '1', '2026-02': later } }, 9) };
    };
    expect(await found(two('30', '5'), two('10', '6'))).toBe('2026-01: 0 of 2');
  });

  test('has changed where a driver has no point of it any more, but not where the service keeps that', async () => {
    const both = { 'a.csv': sum({ A: { '2026-01': '1', '2026-02': '2' }, B: { '2026-01': '3' } }, 9) };
    const gone = { 'a.csv': sum({ A: { '2026-02': '2' }, B: { '2026-01': '3' } }, 9) };
    expect(await found(both, gone)).toBe('2026-01: 1 of 2');
    expect(await found(both, gone, { shouldDeleteMissing: false })).toBe('nothing');
    expect(await found(whole, fewer, { shouldDeleteMissing: false })).toBe('2026-01: 1 of 1');
  });

  test('has not changed where a driver comes or goes, though others have fewer readings that come to the same', async () => {
    const largest = (count: number, ids: readonly string[]) => {
      const points = Object.fromEntries(ids.map((id) => [id, { '2026-01': '9', '2026-02': '9' }]));
      return { 'a.csv': { points, rule: 'max', count } as const };
    };
    expect(await found(largest(9, ['A', 'B']), largest(3, ['A']), { rules: ['max'] })).toBe('nothing');
    expect(await found(largest(9, ['A']), largest(3, ['A', 'B']), { rules: ['max'] })).toBe('nothing');
  });

  test('is that of what is there, and not of what is carried or older', async () => {
    const older = { '': sum({ A: { '2025-06': '1' } }, 1, { kind: 'history' }) };
    const gone = { 'b.csv': sum({ A: { '2025-12': '1' } }, 1, { carried: true }) };
    expect(await found(whole, { ...fewer, ...older, ...gone })).toBe('2026-01: 1 of 1');
    expect(await found(whole, { 'a.csv': { ...fewer['a.csv'], carried: true } })).toBe('nothing');
  });

  test('is not judged where readings go with their file, or the last one counts in every driver', async () => {
    expect(await found(whole, fewer, { keys: { removed: 'delete' } })).toBe('nothing');
    expect(await found(whole, fewer, { rules: ['last'] })).toBe('nothing');
    expect(await found(whole, fewer, { rules: ['last', 'sum'] })).toBe('2026-01: 1 of 1');
  });

  test('is not judged where it is the present one, in the time zone of the config', async () => {
    expect(await found(whole, fewer, { now: '2026-01-31T20:00:00Z' })).toBe('nothing');
    expect(await found(whole, fewer, { now: '2026-01-31T20:00:00Z', timezone: 'Asia/Tokyo' })).toBe('2026-01: 1 of 1');
  });

  test('is not there where a source has no candidate', async () => {
    expect(await found(whole, undefined)).toBe('nothing');
  });
});
