/**
 * The value guard alone, over drivers in memory: what looking at the values adds to comparing two reads. Prints CPU seconds.
 *
 *   node bench/timed-values.ts DRIVERS MONTHS ROUNDS
 */
import { ValueReview } from '../src/core/values/review.ts';
import { BlobWriter } from '../src/core/series/blob.ts';
import { diffDrivers, pairDrivers } from '../src/core/series/diff.ts';
import type { PackedPoints } from '../src/core/series/packing.ts';
import { productOf, regionOf, valueOf } from './generate.ts';
import { median } from './measure.ts';

const [drivers = 0, months = 0, rounds = 0] = process.argv.slice(2).map(Number);
const firstMonth = 2020 * 12;

const writer = new BlobWriter();
function read(seed: number, count: number): readonly PackedPoints[] {
  return Array.from({ length: drivers }, (_, driver) => {
    writer.reset();
    writer.varint(count);
    for (let month = 0; month < count; month++) {
      writer.varint(month === 0 ? firstMonth : 1);
      writer.text(valueOf(seed, driver, month), 0);
    }
    const product = productOf(driver);
    const path = JSON.stringify(['Revenue', regionOf(driver), product]);
    return { id: `revenue/${product}`, path, rule: 'last' as const, points: writer.copy() };
  }).sort((a, b) => (a.id < b.id ? -1 : 1));
}

/** CPU seconds of a comparison, judged or not. */
function compare(before: readonly PackedPoints[], after: readonly PackedPoints[], isJudged: boolean): number {
  const started = process.cpuUsage();
  const review = new ValueReview({ isJudged, closedUpTo: undefined, deletes: true });
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

const before = read(1, months);
const month = added(before, read(1, months + 1));
const all = added(before, read(2, months));
console.log(JSON.stringify({ month, all }));
