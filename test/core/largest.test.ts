import fc from 'fast-check';
import { expect, test } from 'vitest';
import { diffDrivers } from '../../src/core/series/diff.ts';
import { LargestChanges } from '../../src/core/series/largest.ts';
import { driver as packed } from '../support/packed.ts';

type Points = Readonly<Record<string, string>>;

function largest(before: Readonly<Record<string, Points>>, after: Readonly<Record<string, Points>>, max: number) {
  const run = (drivers: Readonly<Record<string, Points>>) =>
    Object.keys(drivers)
      .sort()
      .map((id) => packed(id, drivers[id] as Points));
  const found = new LargestChanges(max);
  for (const change of diffDrivers(run(before), run(after))) found.add(change);
  return found;
}

test('the largest change comes first, whatever its sign and scale, with the old and the new value', () => {
  const found = largest(
    { a: { '2026-01': '10.00', '2026-02': '-5' }, b: { '2026-01': '7' } },
    { a: { '2026-01': '9.5', '2026-02': '5' }, c: { '2026-03': '8.125' } },
    3,
  );
  expect(found.count).toBe(4);
  expect(found.shown()).toEqual([
    { driver: 'a', path: ['a'], month: '2026-02', old: '-5', new: '5' },
    { driver: 'c', path: ['c'], month: '2026-03', new: '8.125' },
    { driver: 'b', path: ['b'], month: '2026-01', old: '7' },
  ]);
});

test('what does not change is not among them, and equal sizes stand by driver and month', () => {
  const found = largest(
    { b: { '2026-01': '1' }, a: { '2026-01': '1' } },
    { b: { '2026-01': '2' }, a: { '2026-01': '2' }, c: {} },
    20,
  );
  expect(found.shown().map(({ driver }) => driver)).toEqual(['a', 'b']);
});

test('however many there are, those kept are the ones that sorting all of them would give', () => {
  fc.assert(
    fc.property(fc.array(fc.integer({ min: -1e6, max: 1e6 }), { maxLength: 3000 }), fc.nat(30), (values, max) => {
      const after = Object.fromEntries(values.map((value, at) => [String(at), { '2026-01': String(value) }]));
      const shown = largest({}, after, max)
        .shown()
        .map(({ new: value }) => Math.abs(Number(value)));
      const sorted = values.map(Math.abs).sort((a, b) => b - a);
      expect(shown).toEqual(sorted.slice(0, max));
    }),
    { numRuns: 30 },
  );
});
