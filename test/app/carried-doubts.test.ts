/** What may be wrong with the parts that a candidate carries: rows that count twice, and readings that nobody can read any more. */
import { describe, expect, test } from 'vitest';
import type { Dependencies } from '../../src/app/dependencies.ts';
import { takenOut } from '../../src/app/read/carried.ts';
import { findCarriedDoubts, isWeaker } from '../../src/app/review/carried-doubts.ts';
import type { Rule } from '../../src/core/model.ts';
import type { SourceSettings } from '../../src/core/settings.ts';
import { type KeptPart, type KeptReads, keptReads } from '../support/kept-reads.ts';

const cell = (value: string, seconds = 0, nanos = 0) => ({ value, seconds, nanos });

test.each<[Rule, ReturnType<typeof cell>, ReturnType<typeof cell> | undefined, boolean]>([
  ['last', cell('1', 10), undefined, true],
  ['last', cell('1', 10), cell('1', 9), true],
  ['last', cell('1', 10), cell('1', 10), false],
  ['last', cell('1', 10), cell('1', 11), false],
  ['last', cell('1', 10, 5), cell('1', 10, 4), true],
  ['last', cell('1', 10, 5), cell('1', 10, 6), false],
  ['last', cell('1', 10, 5), cell('1', 11, 4), false],
  ['first', cell('1', 10), cell('1', 11), true],
  ['first', cell('1', 10), cell('1', 10), false],
  ['first', cell('1', 10), cell('1', 9), false],
  ['first', cell('1', 10, 5), cell('1', 10, 6), true],
  ['min', cell('2'), cell('3'), true],
  ['min', cell('2'), cell('2.0'), false],
  ['min', cell('2'), cell('-9'), false],
  ['max', cell('2'), cell('1'), true],
  ['max', cell('2'), cell('2.0'), false],
  ['max', cell('2'), cell('10'), false],
  ['sum', cell('2'), undefined, false],
  ['average', cell('2'), cell('1'), false],
  ['count', cell('2'), undefined, false],
])('by %s, after %o, %o is weaker: %s', (rule, old, now, expected) => {
  expect(isWeaker({ rule }, old, now)).toBe(expected);
});

type Parts = Readonly<Record<string, KeptPart>>;

interface Given {
  readonly accepted: Parts;
  readonly candidate?: Parts;
  readonly rules?: readonly Rule[];
  /** Accepted parts of a source that left the config. */
  readonly left?: Parts;
}

function doubtsOf({ accepted, candidate, rules = ['sum'], left }: Given): readonly object[] {
  const reads: KeptReads = {
    'sales accepted': accepted,
    ...(candidate && { 'sales candidate': candidate }),
    ...(left && { 'left accepted': left }),
  };
  const buffer = keptReads(reads);
  const settings = { name: 'sales', mapping: { drivers: rules.map((rule) => ({ rule })) } };
  const removed = left === undefined ? [] : ['left'];
  const found = findCarriedDoubts({ buffer } as Dependencies, settings as unknown as SourceSettings, { removed });
  buffer.close();
  return found;
}

const [january, february] = ['2026-01', '2026-02'];
const carried = { carried: true };

describe('rows may count twice', () => {
  const sum = (points: KeptPart['points'] = { A: { [january]: '1' } }): KeptPart => ({
    points: points ?? {},
    rule: 'sum',
  });
  const accepted = { 'a.csv': sum(), 'b.csv': sum({ A: { [february]: '1' } }) };
  const gone = { ...accepted['b.csv'], ...carried };
  /** It shows what the part that is gone had, beside what it had itself. */
  const grown = { ...sum({ A: { [january]: '1', [february]: '1' } }), hash: 'grown' };
  const twice = (part: string, other: string, driver = 'A', month = february) => {
    return { kind: 'twice', carried: part, other: { part: other, driver, month } };
  };

  test('where a part that is new or changed has a point of one that is gone', () => {
    expect(doubtsOf({ accepted, candidate: { 'a.csv': grown, 'b.csv': gone } })).toEqual([twice('b.csv', 'a.csv')]);
    const candidate = { 'a.csv': sum(), 'b.csv': gone, 'c.csv': grown };
    expect(doubtsOf({ accepted, candidate })).toEqual([twice('b.csv', 'c.csv')]);
  });

  test('not where the part that has it was accepted beside it', () => {
    const before = { ...accepted, 'a.csv': grown };
    expect(doubtsOf({ accepted: before, candidate: { 'a.csv': grown, 'b.csv': gone } })).toEqual([]);
  });

  test('not where nothing is carried, or somebody approved it, or there is no candidate', () => {
    expect(doubtsOf({ accepted, candidate: { 'a.csv': grown, 'b.csv': sum() } })).toEqual([]);
    const settled = { ...gone, settled: true };
    expect(doubtsOf({ accepted, candidate: { 'a.csv': grown, 'b.csv': settled } })).toEqual([]);
    expect(doubtsOf({ accepted })).toEqual([]);
  });

  test('of each part that is gone, but for those that somebody approved', () => {
    const before = { ...accepted, 'c.csv': sum({ A: { [february]: '2' } }), 'd.csv': sum({ A: { [february]: '3' } }) };
    const candidate = {
      'a.csv': grown,
      'b.csv': gone,
      'c.csv': { ...before['c.csv'], ...carried, settled: true },
      'd.csv': { ...before['d.csv'], ...carried },
    };
    expect(doubtsOf({ accepted: before, candidate })).toEqual([twice('b.csv', 'a.csv'), twice('d.csv', 'a.csv')]);
  });

  test('not where points differ, or readings do not add up', () => {
    const elsewhere = { ...sum({ A: { [january]: '1', '2026-03': '1' }, B: { [february]: '1' } }), hash: 'grown' };
    expect(doubtsOf({ accepted, candidate: { 'a.csv': elsewhere, 'b.csv': gone } })).toEqual([]);
    expect(doubtsOf({ accepted, candidate: { 'a.csv': grown, 'b.csv': gone }, rules: ['last'] })).toEqual([]);
    expect(doubtsOf({ accepted, candidate: { 'a.csv': grown, 'b.csv': gone }, rules: ['last', 'sum'] })).toHaveLength(
      1,
    );
  });

  test('not for older months, which are no rows', () => {
    const candidate = {
      'a.csv': sum(),
      'b.csv': gone,
      '': { ...sum({ A: { [february]: '1' } }), kind: 'history' },
    } as const;
    expect(doubtsOf({ accepted, candidate })).toEqual([]);
  });

  test('not for older months that were accepted either: a new part beside them is judged by itself', () => {
    const before = { ...accepted, '': { ...grown, kind: 'history' } } as const;
    const candidate = { 'a.csv': grown, 'b.csv': gone };
    expect(doubtsOf({ accepted: before, candidate })).toEqual([twice('b.csv', 'a.csv')]);
  });

  test('where a part has taken over the content of one that is gone', () => {
    const moved = { ...sum({ A: { [february]: '1' } }), hash: 'content of b.csv' };
    expect(doubtsOf({ accepted, candidate: { 'a.csv': moved, 'b.csv': gone } })).toEqual([twice('b.csv', 'a.csv')]);
    const copied = { ...accepted, 'a.csv': moved };
    expect(doubtsOf({ accepted: copied, candidate: { 'a.csv': moved, 'b.csv': gone } })).toEqual([]);
  });

  test('not where content that was accepted moved from another part to a new one', () => {
    const before = { ...accepted, 'a.csv': grown };
    const candidate = { 'b.csv': gone, 'c.csv': grown };
    expect(doubtsOf({ accepted: before, candidate })).toEqual([]);
  });

  describe('where accepted content is read another way and comes to other points:', () => {
    const other = { fingerprint: 'other settings' };
    const both = { ...sum({ A: { [february]: '1' }, B: { [february]: '2' } }), hash: 'same' };
    const before = { 'a.csv': both, 'b.csv': accepted['b.csv'] };

    test.each<[string, KeptPart, number]>([
      ['the same', {}, 0],
      ['another value', { points: { A: { [february]: '1' }, B: { [february]: '3' } } }, 1],
      ['another month', { points: { A: { [february]: '1' }, B: { [january]: '2' } } }, 1],
      ['another driver', { points: { A: { [february]: '1' }, C: { [february]: '2' } } }, 1],
      ['a driver more', { points: { ...both.points, C: { [february]: '2' } } }, 1],
      ['a driver less', { points: { A: { [february]: '1' } } }, 1],
      ['another rule', { rule: 'average' }, 1],
      ['more readings', { count: 2 }, 1],
    ])('%s', (_name, now, count) => {
      const candidate = { 'a.csv': { ...both, ...other, ...now }, 'b.csv': gone };
      expect(doubtsOf({ accepted: before, candidate })).toHaveLength(count);
    });

    test('it is not looked at where the settings are the same', () => {
      const candidate = { 'a.csv': { ...both, points: { A: { [february]: '5' } } }, 'b.csv': gone };
      expect(doubtsOf({ accepted: before, candidate })).toEqual([]);
    });

    test('two sources may have read it, each its own drivers', () => {
      const [a, b] = [{ A: { [february]: '1' } }, { B: { [february]: '2' } }];
      const own = { ...before, 'a.csv': { ...both, points: a } };
      const candidate = { 'a.csv': { ...both, ...other }, 'b.csv': gone };
      expect(doubtsOf({ accepted: own, candidate, left: { 'a.csv': { ...both, points: b } } })).toEqual([]);
      expect(doubtsOf({ accepted: own, candidate })).toHaveLength(1);
    });
  });
});

describe('after a loss of the buffer, when a snapshot stands for the accepted read, rows', () => {
  const points = { A: { [january]: '1' } };
  const twiceIn = (hash: string): readonly object[] => {
    const gone = { points, rule: 'sum', version: takenOut.whole, ...carried } as const;
    const there = { points, rule: 'sum', hash, fingerprint: 'new' } as const;
    const buffer = keptReads({ 'sales candidate': { 'a.csv': there, 'b.csv': gone } });
    const writer = buffer.parts.begin('sales', { name: '', kind: 'snapshot' }, 'old');
    const known = { source: 'sales', revisedAtMs: 7, isPart: true };
    for (const [at, name] of ['a.csv', 'b.csv'].entries())
      writer.addOrigin(buffer.parts.addRestoredOrigin({ ...known, id: 100 + at, name, hash: `content of ${name}` }));
    const { id } = writer.commit({ version: '', hash: '', revisedAtMs: 0 }, { rows: 0, rejects: 0 });
    buffer.reads.set('sales', 'accepted', [{ id, carried: false, settled: false }]);
    const settings = { name: 'sales', mapping: { drivers: [{ rule: 'sum' }] } } as unknown as SourceSettings;
    const found = findCarriedDoubts({ buffer } as Dependencies, settings, { removed: [] });
    buffer.close();
    return found;
  };

  test('do not count twice in content that it knows', () => {
    expect(twiceIn('content of a.csv')).toEqual([]);
  });

  test('may count twice in content that it does not know', () => {
    expect(twiceIn('other')).toEqual([
      { kind: 'twice', carried: 'b.csv', other: { part: 'a.csv', driver: 'A', month: january } },
    ]);
  });
});

describe('readings may be missing', () => {
  const last = (value: string, seconds: number, more: KeptPart = {}): KeptPart => {
    return { points: { A: { [january]: value, [february]: value } }, seconds, ...more };
  };
  const accepted = { 'all.csv': last('5', 10, { kind: 'snapshot' }) };
  const part = (version: string): KeptPart => ({ points: { B: { [january]: '1' } }, ...carried, version });
  const sales = (candidate: Parts) => doubtsOf({ accepted, candidate, rules: ['last'] });
  const hidden = (month: string) => [{ kind: 'hidden', carried: 'b.csv', driver: 'A', month }];

  test('of sums that a part had a share of, until somebody approves that', () => {
    const inPart = part(takenOut.inPart);
    expect(sales({ 'a.csv': last('6', 11), 'b.csv': inPart })).toEqual([{ kind: 'share', carried: 'b.csv' }]);
    expect(sales({ 'a.csv': last('6', 11), 'b.csv': { ...inPart, settled: true } })).toEqual([]);
    expect(sales({ 'a.csv': last('6', 11), 'b.csv': { ...inPart, carried: false } })).toEqual([]);
    expect(sales({ 'a.csv': last('6', 9), 'b.csv': part(takenOut.whole) })).toEqual([]);
  });

  test('where a reading that counted gave way to an earlier one, or is gone', () => {
    const hiding = { 'b.csv': part(takenOut.hiding) };
    expect(sales({ 'a.csv': last('6', 9), ...hiding })).toEqual(hidden(january));
    expect(sales({ 'a.csv': { points: { A: { [january]: '5' } }, seconds: 10 }, ...hiding })).toEqual(hidden(february));
    expect(sales({ 'a.csv': { points: {} }, ...hiding })).toEqual(hidden(january));
  });

  test('not where it gave way to a later one, the points are the same, or the driver is new', () => {
    const hiding = { 'b.csv': part(takenOut.hiding) };
    expect(sales({ 'a.csv': last('6', 11), ...hiding })).toEqual([]);
    expect(sales({ 'a.csv': last('5', 9), ...hiding })).toEqual([]);
    const more = { points: { A: { [january]: '5', [february]: '5' }, AA: { [january]: '1' } }, seconds: 10 };
    expect(sales({ 'a.csv': more, ...hiding })).toEqual([]);
  });

  test('of a driver behind one that is as it was, and of a source that left', () => {
    const hiding = { 'b.csv': part(takenOut.hiding) };
    const before = { 'all.csv': { points: { A: { [january]: '1' }, C: { [january]: '2' } }, seconds: 10 } };
    const now = { points: { A: { [january]: '1' }, C: { [january]: '3' } }, seconds: 9 };
    const found = [{ kind: 'hidden', carried: 'b.csv', driver: 'C', month: january }];
    const given = { candidate: { 'a.csv': now, ...hiding }, rules: ['last'] } as const;
    expect(doubtsOf({ accepted: before, ...given })).toEqual(found);
    expect(doubtsOf({ accepted: {}, left: before, ...given })).toEqual(found);
  });

  test('both ways in one candidate', () => {
    const before = { 'all.csv': last('5', 10), 'b.csv': { points: { B: { [january]: '1' } } } };
    const candidate = {
      'a.csv': last('6', 9),
      'b.csv': part(takenOut.inPart),
      'c.csv': { ...part(takenOut.hiding), points: { C: { [january]: '1' } } },
    };
    expect(doubtsOf({ accepted: before, candidate, rules: ['last'] })).toEqual([
      { kind: 'share', carried: 'b.csv' },
      { kind: 'hidden', carried: 'c.csv', driver: 'A', month: january },
    ]);
  });
});
