/** Where a read begins: how many readings it shows of its oldest month and of the next one, beside the accepted read. */
import type { Month } from '../model.ts';
import { pairDrivers } from './diff.ts';
import { type PackedDriver, monthsIn, readingsIn } from './packing.ts';

/** Of the drivers that both reads have. Where the last reading counts, one that is missing before it changes nothing. */
export interface Beginning {
  /** The oldest month that the read shows. */
  readonly month: Month;
  readonly oldest: FewerReadings;
  /** In the next month that the read shows; `undefined`: it shows no other. */
  readonly next: FewerReadings | undefined;
}

export interface FewerReadings {
  /** Drivers that have fewer readings of the month than they had. One whose point is gone has none. */
  readonly drivers: number;
  /** Drivers that had any. */
  readonly of: number;
  /** How many these have now. */
  readonly readings: number;
}

/** What a read is compared with, and its drivers, from the beginning each time. */
export interface DriverRuns {
  readonly before: () => Iterable<PackedDriver>;
  readonly after: () => Iterable<PackedDriver>;
}

/** Walks both reads. A step is a driver, so that others may have their turn between them. @param month the oldest one that the read shows */
export function* findingBeginning({ before, after }: DriverRuns, month: Month): Generator<void, Beginning> {
  const next = yield* findingNext(after(), month);
  const months = next === undefined ? [month] : [month, next];
  const found = months.map(() => ({ drivers: 0, of: 0, readings: 0 }));
  for (const [old, now] of pairDrivers(before(), after())) {
    yield;
    if (old === undefined || now === undefined || now.rule === 'last') continue;
    const had = readingsIn(old, months);
    const has = readingsIn(now, months);
    for (const [at, one] of found.entries()) {
      const [was, is] = [had[at] as number, has[at] as number];
      if (was === 0) continue;
      one.of++;
      one.readings += is;
      if (is < was) one.drivers++;
    }
  }
  return { month, oldest: found[0] as FewerReadings, next: found[1] };
}

function* findingNext(drivers: Iterable<PackedDriver>, month: Month): Generator<void, Month | undefined> {
  let next: Month | undefined;
  for (const { points, rule } of drivers) {
    yield;
    const later = rule === 'last' ? undefined : monthsIn(points).find((one) => one > month);
    if (later !== undefined && (next === undefined || later < next)) next = later;
    if (next === month + 1) return next;
  }
  return next;
}
