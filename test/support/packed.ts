/** Packed drivers for tests: `driver('a', { '2026-03': '1.50' })`. */
import { parseMonth } from '../../src/core/time/month.ts';
import { type PackedDriver, packDriver } from '../../src/core/series/packing.ts';

export function driver(
  id: string,
  values: Readonly<Record<string, string>>,
  path: readonly string[] = [id],
): PackedDriver {
  const place = { seconds: 0, nanos: 0, row: 1, part: 1 };
  const cells = Object.entries(values).map(([month, value]) => ({
    month: parseMonth(month) ?? fail(month),
    value,
    text: value,
    count: 1,
    ...place,
  }));
  return packDriver({ id, path, rule: 'last', pathPlace: place, otherPath: undefined, cells });
}

function fail(month: string): never {
  throw new Error(`${month} is no month`);
}
