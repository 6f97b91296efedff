/**
 * The value guard alone, over drivers in memory: what looking at the values adds to comparing two reads. Prints CPU seconds.
 *
 *   node bench/timed-values.ts DRIVERS MONTHS ROUNDS
 */
import { ValueReview } from '../src/core/values/review.ts';
import { BlobWriter } from '../src/core/series/blob.ts';
import { diffDrivers, pairDrivers } from '../src/core/series/diff.ts';
import { type PackedPoints, writeCell } from '../src/core/series/packing.ts';
import { productOf, regionOf, valueOf } from './generate.ts';
import { median } from './measure.ts';

const [drivers = 0, months = 0, rounds = 0] = process.argv.slice(2).map(Number);
const firstMonth = 2020 * 12;
const place = { seconds: 1_600_000_000, nanos: 0, row: 1000, part: 1 };

const writers = { points: new BlobWriter(), origins: new BlobWriter() };
function read(seed: number, count: number, rule: 'last' | 'sum'): readonly PackedPoints[] {
  const { points, origins } = writers;
  return Array.from({ length: drivers }, (_, driver) => {
    points.reset();
    points.varint(count);
    origins.reset();
    origins.place(place);
    for (let month = 0; month < count; month++) {
      points.varint(month === 0 ? firstMonth : 1);
      const value = valueOf(seed, driver, month);
      writeCell({ ...place, month, value, text: value, count: 3 }, rule, writers);
    }
    const product = productOf(driver);
    const path = JSON.stringify(['Revenue', regionOf(driver), product]);
    return { id: `revenue/${product}`, path, rule, points: points.copy(), origins: origins.copy() };
  }).sort((a, b) => (a.id < b.id ? -1 : 1));
}

/** CPU seconds of a comparison, judged or not. */
function compare(before: readonly PackedPoints[], after: readonly PackedPoints[], isJudged: boolean): number {
  const started = process.cpuUsage();
  const review = new ValueReview({ isJudged, closedUpTo: undefined, overUpTo: firstMonth + months, deletes: true });
  let changed = 0;
  for (const change of diffDrivers(before, after)) {
    changed++;
    if (isJudged) review.see(change);
  }
  if (isJudged) review.findings(() => pairDrivers(before, after));
  const { user, system } = process.cpuUsage(started);
  if (changed !== drivers) throw new Error(`${changed} drivers changed`);
  return (user + system) / 1e6;
}

function added(before: readonly PackedPoints[], after: readonly PackedPoints[]): number {
  const taken = Array.from({ length: rounds }, () => {
    const alone = compare(before, after, false);
    return compare(before, after, true) - alone;
  });
  return median(taken);
}

const before = read(1, months, 'last');
const month = added(before, read(1, months + 1, 'last'));
const all = added(before, read(2, months, 'last'));
const sums = added(read(1, months, 'sum'), read(2, months, 'sum'));
console.log(JSON.stringify({ month, all, sums }));
