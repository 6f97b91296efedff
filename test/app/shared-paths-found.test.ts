/** Which paths of which sources are told of as shared. */
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import type { Dependencies } from '../../src/app/dependencies.ts';
import { sharedPathWarnings } from '../../src/app/review/shared-paths.ts';
import type { LocalBuffer } from '../../src/core/buffer.ts';
import { keepRead, keptReads } from '../support/kept-reads.ts';

/** By source, in the order of the config: ids with their paths. */
type Paths = Readonly<Record<string, Readonly<Record<string, string>>>>;

function keep(buffer: LocalBuffer, source: string, paths: Readonly<Record<string, string>>): void {
  const ids = Object.keys(paths).toSorted();
  const points = Object.fromEntries(ids.map((id) => [id, { '2026-01': '1' }]));
  keepRead(buffer, { source, kind: 'accepted' }, { 'a.csv': { points, pathOf: (id) => ['Sales', paths[id] ?? ''] } });
}

function settingsOf(names: readonly string[]): Dependencies['settings'] {
  return { sources: names.map((name) => ({ name })) } as unknown as Dependencies['settings'];
}

function told(paths: Paths): Readonly<Record<string, readonly string[]>> {
  const buffer = keptReads({});
  for (const [source, of] of Object.entries(paths)) keep(buffer, source, of);
  const found = sharedPathWarnings({ buffer, settings: settingsOf(Object.keys(paths)) });
  buffer.close();
  return Object.fromEntries(Object.entries(found).filter(([, warnings]) => warnings.length > 0));
}

const line = (owner: string, source: string, id: string, path: string): string =>
  `drivers "${owner}" of source "${source}" and "${id}" of this one have one path, ["Sales","${path}"]`;

describe('one path of two sources', () => {
  test('is told of in each that comes after the first, which is the one that all of them name', () => {
    expect(told({ a: { 'a/X': 'X' }, b: { 'b/X': 'X', 'b/Y': 'Y' }, c: { 'c/X': 'X', 'c/Y': 'Y' } })).toEqual({
      b: [line('a/X', 'a', 'b/X', 'X')],
      c: [line('a/X', 'a', 'c/X', 'X'), line('b/Y', 'b', 'c/Y', 'Y')],
    });
  });

  test('is told of where two drivers of the first one have it, and is not told of these two', () => {
    expect(told({ a: { 'a/1': 'X', 'a/2': 'X' }, b: { 'b/1': 'X', 'b/2': 'X' } })).toEqual({
      b: [line('a/1', 'a', 'b/1', 'X'), line('a/1', 'a', 'b/2', 'X')],
    });
  });

  test('is not told of one driver that both have', () => {
    expect(told({ a: { X: 'X', Y: 'Y' }, b: { X: 'X', 'b/Y': 'Y' } })).toEqual({ b: [line('Y', 'a', 'b/Y', 'Y')] });
  });

  test('is not there in one source alone, nor where all paths differ', () => {
    expect(told({ a: { 'a/1': 'X', 'a/2': 'X' } })).toEqual({});
    expect(told({ a: { 'a/X': 'X' }, b: { 'b/Y': 'Y' }, c: {} })).toEqual({});
  });

  test('is named twenty times, and the others are counted', () => {
    const many = (source: string, count: number) =>
      Object.fromEntries(Array.from({ length: count }, (_, at) => [`${source}/${at}`, `P${at}`]));
    expect(told({ a: many('a', 20), b: many('b', 20) })['b']).toHaveLength(20);
    expect(told({ a: many('a', 21), b: many('b', 21) })['b']?.slice(20)).toEqual([
      'and 1 more with a path of another source',
    ]);
  });

  test('is found wherever it lies among others', () => {
    const of = (source: string) =>
      fc
        .uniqueArray(fc.integer({ min: 0, max: 40 }), { maxLength: 15 })
        .map((numbers) => Object.fromEntries(numbers.map((number) => [`${source}/${number + 10}`, `P${number}`])));
    fc.assert(
      fc.property(of('a'), of('b'), of('c'), (a, b, c) => {
        const pathsOf = (...all: readonly Readonly<Record<string, string>>[]) => new Set(all.flatMap(Object.values));
        const shared = (one: ReadonlySet<unknown>, other: ReadonlySet<unknown>): number =>
          [...one].filter((path) => other.has(path)).length;
        const found = told({ a, b, c });
        expect(found['b']?.length ?? 0).toBe(shared(pathsOf(a), pathsOf(b)));
        expect(found['c']?.length ?? 0).toBe(shared(pathsOf(a, b), pathsOf(c)));
      }),
      { numRuns: 40 },
    );
  });
});

test('what was found is kept until a read is accepted or the config names other sources', () => {
  const buffer = keptReads({});
  keep(buffer, 'a', { 'a/X': 'X' });
  keep(buffer, 'b', { 'b/X': 'X' });
  const found = sharedPathWarnings({ buffer, settings: settingsOf(['a', 'b']) });
  const never = { state: () => buffer.state(), reads: buffer.reads } as unknown as LocalBuffer;
  expect(sharedPathWarnings({ buffer: never, settings: settingsOf(['a', 'b']) })).toEqual(found);
  expect(sharedPathWarnings({ buffer, settings: settingsOf(['b', 'a']) })).toHaveProperty('a', [
    line('b/X', 'b', 'a/X', 'X'),
  ]);
  keep(buffer, 'a', { 'a/Y': 'Y' });
  expect(Object.values(sharedPathWarnings({ buffer, settings: settingsOf(['b', 'a']) })).flat()).toEqual([]);
  buffer.close();
});
