/** What of a candidate counts as read by other settings, and what is said of it. */
import { describe, expect, test } from 'vitest';
import type { Dependencies } from '../../src/app/dependencies.ts';
import { type ReadBy, nameOfNumbers, writeBasis } from '../../src/app/read/read-by.ts';
import {
  type Otherwise,
  carriedPathsNote,
  findOtherwise,
  otherwiseDoubts,
} from '../../src/app/review/read-otherwise.ts';
import type { LocalBuffer } from '../../src/core/buffer.ts';
import type { Rule } from '../../src/core/model.ts';
import type { SourceSettings } from '../../src/core/settings.ts';
import { type KeptPart, keepRead, keptReads } from '../support/kept-reads.ts';

type Parts = Readonly<Record<string, KeptPart>>;

const before: ReadBy = { readings: 'r1', rules: 'u1', paths: 'p1' };
const scaled: ReadBy = { ...before, readings: 'r2' };
const ruled: ReadBy = { ...before, rules: 'u2' };
const renamed: ReadBy = { ...before, paths: 'p2' };

const points = { A: { '2026-01': '1', '2026-02': '2' } };
const there: KeptPart = { points, fingerprint: 'new' };
const gone: KeptPart = { points, fingerprint: 'old', carried: true };
const older: KeptPart = { points, fingerprint: 'older', kind: 'history' };
/** An accepted read of two parts, of which the candidate carries one. */
const two = { 'a.csv': { ...there, fingerprint: 'old' }, 'b.csv': { points, fingerprint: 'old' } };
/** The content of what is there is another one by now. */
const rewritten = { ...there, hash: 'rewritten' };

interface Given {
  readonly candidate?: Parts;
  /** Accepted reads by source, with the settings that each was read by; `undefined`: nobody knows. */
  readonly accepted?: Readonly<Record<string, readonly [Parts, ReadBy | undefined]>>;
  readonly now?: ReadBy;
  readonly rules?: readonly Rule[];
}

function look<T>(given: Given, see: (found: Otherwise | undefined, buffer: LocalBuffer) => T): T {
  const { candidate, accepted = { sales: [two, before] }, now = scaled, rules = ['last'] } = given;
  const buffer = keptReads(candidate === undefined ? {} : { 'sales candidate': candidate });
  for (const [source, [parts, readBy]] of Object.entries(accepted)) {
    const basis = readBy === undefined ? {} : { basis: writeBasis({ readBy }) };
    keepRead(buffer, { source, kind: 'accepted', ...basis }, parts);
  }
  const settings = { mapping: { drivers: rules.map((rule) => ({ rule })) } } as unknown as SourceSettings;
  const inheritedFrom = Object.keys(accepted).filter((name) => name !== 'sales');
  const facts = { source: 'sales', settings, inheritedFrom, readBy: () => now };
  const seen = see(findOtherwise({ buffer } as Dependencies, facts), buffer);
  buffer.close();
  return seen;
}

const found = (given: Given) =>
  look(given, (otherwise) => otherwise && [otherwise.difference, otherwise.parts.map(({ name }) => name)]);
const doubts = (given: Given) =>
  look(given, (otherwise, buffer) => otherwiseDoubts({ buffer } as Dependencies, otherwise));
const note = (given: Given) => look(given, carriedPathsNote);

describe('what was read by other settings', () => {
  test('is what is carried, and months that only an older read had', () => {
    const candidate = { 'a.csv': rewritten, 'b.csv': gone, '': older };
    expect(found({ candidate })).toEqual(['readings', ['', 'b.csv']]);
    expect(found({ candidate: { 'a.csv': rewritten, '': older } })).toEqual(['readings', ['']]);
  });

  test('is nothing where nothing is carried, or it was read by what is there was read by', () => {
    expect(found({})).toBeUndefined();
    expect(found({ candidate: { 'a.csv': rewritten } })).toBeUndefined();
    expect(found({ candidate: { 'a.csv': rewritten, 'b.csv': { ...gone, fingerprint: 'new' } } })).toBeUndefined();
  });

  test('is also what older months were read by', () => {
    const candidate = { 'a.csv': rewritten, 'b.csv': gone, '': { ...older, fingerprint: 'old' } };
    expect(found({ candidate })).toEqual(['readings', ['', 'b.csv']]);
  });

  test('is nothing where the accepted read was read by the same, or nobody knows by what', () => {
    const candidate = { 'a.csv': rewritten, 'b.csv': gone };
    expect(found({ candidate, now: before })).toBeUndefined();
    expect(found({ candidate, accepted: { sales: [two, undefined] } })).toBeUndefined();
  });

  test('is only what such a read had, of all that the source takes over', () => {
    const candidate = { 'a.csv': rewritten, 'b.csv': gone, 'c.csv': gone };
    const accepted = { sales: [two, scaled], old: [{ 'c.csv': gone }, before] } as const;
    expect(found({ candidate, accepted })).toEqual(['readings', ['c.csv']]);
  });

  test('is told by the most that differs', () => {
    const candidate = { 'a.csv': rewritten, 'b.csv': gone, 'c.csv': gone };
    const of = (own: ReadBy, other: ReadBy) =>
      found({ candidate, now: before, accepted: { sales: [two, own], old: [{ 'c.csv': gone }, other] } });
    expect(of(ruled, scaled)).toEqual(['readings', ['c.csv']]);
    expect(of(ruled, renamed)).toEqual(['rules', ['b.csv']]);
    expect(of(renamed, before)).toEqual(['paths', ['b.csv']]);
  });
});

describe('content that both settings have read', () => {
  test('is evidence that they do not differ where it has the same points, in all parts', () => {
    expect(found({ candidate: { 'a.csv': there, 'b.csv': gone } })).toBeUndefined();
    expect(found({ candidate: { 'a.csv': there, 'b.csv': gone, 'c.csv': there } })).toBeUndefined();
    const accepted = { sales: [{ ...two, 'c.csv': { points } }, before] } as const;
    const other = { ...there, points: { A: { '2026-01': '1000', '2026-02': '2' } } };
    const both = { 'a.csv': there, 'b.csv': gone, 'c.csv': other };
    expect(found({ candidate: both, accepted })).toEqual(['readings', ['b.csv']]);
  });

  test('is none where only its rows are counted otherwise', () => {
    expect(found({ candidate: { 'a.csv': there, 'b.csv': gone }, now: ruled })).toEqual(['rules', ['b.csv']]);
  });
});

describe('a doubt', () => {
  const counted = { ...gone, points: { A: { '2026-01': '4', '2026-02': '1', '2026-03': '2' }, B: { '2025-11': '3' } } };
  const candidate = { 'a.csv': rewritten, 'b.csv': counted };
  const settings = nameOfNumbers(scaled);
  const all = { points: 4, from: '2025-11', to: '2026-03' };

  test('names the part, its points and months, and the settings of today', () => {
    expect(doubts({ candidate })).toEqual([{ kind: 'otherwise', carried: 'b.csv', what: { ...all, settings } }]);
    expect(doubts({ candidate: { 'a.csv': rewritten, '': { ...older, points: counted.points } } })).toMatchObject([
      { carried: undefined, what: all },
    ]);
  });

  test('concerns points of several readings alone where only rules differ, but for counts', () => {
    const of = (part: KeptPart, rules: readonly Rule[] = ['last']) =>
      doubts({ candidate: { 'a.csv': rewritten, 'b.csv': part }, now: ruled, rules }).map((one) => one.kind);
    expect(of(counted)).toEqual([]);
    expect(of({ ...counted, count: 2 })).toEqual(['otherwise']);
    expect(of({ ...counted, rule: 'count' })).toEqual(['otherwise']);
    expect(of(counted, ['last', 'count'])).toEqual(['otherwise']);
  });

  test('is none where a part has no points, only paths differ, or nothing does', () => {
    expect(doubts({ candidate: { 'a.csv': rewritten, 'b.csv': { ...gone, points: {} } } })).toEqual([]);
    const several = { 'a.csv': rewritten, 'b.csv': { ...counted, count: 2 } };
    expect(doubts({ candidate: several, now: renamed })).toEqual([]);
    expect(doubts({ candidate, now: before })).toEqual([]);
  });
});

describe('where only paths differ', () => {
  const words = 'the config gives other paths now, and what is carried may keep those that it was read with: ';

  test('what may keep the old ones is named', () => {
    const now = renamed;
    expect(note({ now, candidate: { 'a.csv': rewritten, 'b.csv': gone } })).toBe(`${words}b.csv`);
    expect(note({ now, candidate: { 'a.csv': rewritten, '': older } })).toBe(`${words}older months`);
    expect(note({ now, candidate: { 'a.csv': gone, 'b.csv': gone, '': older } })).toBe(
      `${words}older months and 2 more`,
    );
  });

  test('nothing is named of what another read had, or where more differs', () => {
    expect(note({ now: renamed, candidate: { 'a.csv': rewritten, 'c.csv': gone } })).toBeUndefined();
    expect(note({ candidate: { 'a.csv': rewritten, 'b.csv': gone } })).toBeUndefined();
    expect(note({ now: renamed, candidate: { 'a.csv': rewritten } })).toBeUndefined();
  });
});
