/** What is said of parts of one content, by what became of each of them. */
import { describe, expect, test } from 'vitest';
import { sameContentWarnings } from '../../src/app/review/same-content.ts';
import type { ReadKind } from '../../src/core/buffer.ts';
import type { SourceSettings } from '../../src/core/settings.ts';
import { type KeptPart, keptReads } from '../support/kept-reads.ts';

const points = { A: { '2026-03': '100' } };

/** Parts by name. They all have one content unless it says otherwise. */
function told(
  parts: Readonly<Record<string, KeptPart>>,
  { rules = ['sum'], kind = 'accepted' }: { rules?: readonly string[]; kind?: ReadKind } = {},
): readonly string[] {
  const same = Object.entries(parts).map(([name, part]) => [name, { points, rule: 'sum', hash: 'same', ...part }]);
  const buffer = keptReads({ 'sales accepted': Object.fromEntries(same) as Record<string, KeptPart> });
  const source = { name: 'sales', mapping: { drivers: rules.map((rule) => ({ rule })) } } as unknown as SourceSettings;
  const found = sameContentWarnings({ buffer }, source, kind);
  buffer.close();
  return found;
}

describe('of parts with one content', () => {
  test('the one with the shortest name is the original', () => {
    const copy = 'Copy of a.csv has the same content as a.csv: its rows count twice';
    expect(told({ 'Copy of a.csv': {}, 'a.csv': {} })).toEqual([copy]);
    expect(told({ 'a.csv': {}, 'b.csv': {} })).toEqual(['b.csv has the same content as a.csv: its rows count twice']);
  });

  test('all are counted, and one beside the original is named', () => {
    expect(told({ 'a (1).csv': {}, 'a (22).csv': {}, 'a.csv': {}, 'a (333).csv': {} })).toEqual([
      'a (1).csv and 2 more have the same content as a.csv: its rows count 4 times',
    ]);
  });

  test('one that is gone is named with the command that drops it, and quoted there where a shell needs it', () => {
    expect(told({ 'a (1).csv': { carried: true }, 'a.csv': {} })).toEqual([
      `a (1).csv is gone and carried, and a.csv has its content: its rows count twice; "driver-sync forget sales 'a (1).csv'" drops what is carried`,
    ]);
  });

  test('several that are gone are counted beside the one with the shortest name', () => {
    const gone = { carried: true };
    expect(told({ 'a-2.csv': gone, 'a.csv': gone, 'b-2.csv': {}, 'c.csv': {} })).toEqual([
      'a.csv and 1 more is gone and carried, and c.csv has its content: its rows count 4 times; "driver-sync forget sales a.csv" drops what is carried',
    ]);
  });

  test('nothing is said where all of them are gone, since none can be told from the others any more', () => {
    expect(told({ 'a.csv': { carried: true }, 'b.csv': { carried: true } })).toEqual([]);
  });

  test('nothing is said where the content differs or is not known, or one of them is no part of the source', () => {
    expect(told({ 'a.csv': {}, 'b.csv': { hash: 'other' } })).toEqual([]);
    expect(told({ 'a.csv': { hash: '' }, 'b.csv': { hash: '' } })).toEqual([]);
    expect(told({ 'a.csv': {}, '': { kind: 'history' } })).toEqual([]);
  });

  test('nothing is said of a source that was not read', () => {
    expect(told({ 'a.csv': {}, 'b.csv': {} }, { kind: 'candidate' })).toEqual([]);
  });

  test('nothing is said where one reading counts for every driver', () => {
    expect(told({ 'a.csv': {}, 'b.csv': {} }, { rules: ['last', 'max'] })).toEqual([]);
    expect(told({ 'a.csv': {}, 'b.csv': {} }, { rules: ['last', 'sum'] })).toHaveLength(1);
  });

  test.each([
    [20, []],
    [21, ['and 1 more of files that are there twice']],
    [23, ['and 3 more of files that are there twice']],
  ])('twenty are told of, of %i', (count, more) => {
    const pairs = Array.from({ length: count }, (_, at) => [`${at}.csv`, `${at} (1).csv`].map((name) => [name, at]));
    const parts = pairs.flat().map(([name, at]) => [name, { hash: `content ${at}` }]);
    const found = told(Object.fromEntries(parts) as Record<string, KeptPart>);
    expect(found.slice(0, 20).every((line) => line.includes('has the same content as'))).toBe(true);
    expect(found.slice(20)).toEqual(more);
  });
});
