import fc from 'fast-check';
import { expect, test } from 'vitest';
import { addDecimals } from '../../src/core/numbers/arithmetic.ts';
import { diffDrivers } from '../../src/core/series/diff.ts';
import type { PackedPoints } from '../../src/core/series/packing.ts';
import { PathTotals } from '../../src/core/series/totals.ts';
import { driver as packed } from '../support/packed.ts';

interface Driver {
  readonly top: string;
  readonly points: Readonly<Record<string, string>>;
}

type Run = Readonly<Record<string, Driver>>;

function packedRun(run: Run): PackedPoints[] {
  return Object.entries(run)
    .sort(([a], [b]) => (a < b ? -1 : 1))
    .map(([id, { top, points }]) => ({ ...packed(id, sorted(points)), path: JSON.stringify([top, id]) }));
}

function sorted(points: Driver['points']): Driver['points'] {
  return Object.fromEntries(Object.entries(points).sort(([a], [b]) => (a < b ? -1 : 1)));
}

/** By adding up one value after the other. */
function sumOf(run: Run, top: string): string {
  const values = Object.values(run).flatMap((driver) => (driver.top === top ? Object.values(driver.points) : []));
  return values.reduce(addDecimals, '0');
}

const value = fc.tuple(fc.bigInt(-(10n ** 20n), 10n ** 20n), fc.nat(4)).map(([mantissa, scale]) => {
  const digits = String(mantissa < 0n ? -mantissa : mantissa).padStart(scale + 1, '0');
  const text = scale === 0 ? digits : `${digits.slice(0, -scale)}.${digits.slice(-scale)}`;
  return mantissa < 0n ? `-${text}` : text;
});
const run = fc.dictionary(
  fc.constantFrom('a', 'b', 'c', 'd'),
  fc.record({
    top: fc.constantFrom('Sales', 'Costs', ''),
    points: fc.dictionary(fc.constantFrom('2026-01', '2026-02', '2026-03'), value),
  }),
);

test('totals are what the values add up to, whatever is created, changed, deleted or moved', () => {
  fc.assert(
    fc.property(run, run, (before, after) => {
      const totals = new PathTotals();
      for (const change of diffDrivers(packedRun(before), packedRun(after))) totals.note(change);
      for (const driver of packedRun(after)) totals.count(driver);
      const zero = (text: string): string => addDecimals(text, '0.0000');
      for (const { path, before: was, after: is, change } of totals.list()) {
        expect([path, zero(was)]).toEqual([path, zero(sumOf(before, path))]);
        expect([path, zero(is)]).toEqual([path, zero(sumOf(after, path))]);
        expect(zero(addDecimals(was, change))).toBe(zero(is));
      }
      const listed = totals.list().map(({ path }) => path);
      const changed = ['', 'Costs', 'Sales'].filter((top) => zero(sumOf(before, top)) !== zero(sumOf(after, top)));
      expect(listed).toEqual(expect.arrayContaining(changed));
    }),
  );
});
