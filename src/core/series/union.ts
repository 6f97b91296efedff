/** What two runs of drivers hold together. */
import { pairDrivers } from './diff.ts';
import { type PackedPoints, PointWalk, packPoints } from './packing.ts';

/**
 * The drivers of two runs that come in the order of ids, each once: as the newer run has it, with the months that the older one alone has.
 * A driver is valid until the next one is asked for.
 */
export function* unionOf<D extends PackedPoints>(newer: Iterable<D>, older: Iterable<D>): Generator<D, void> {
  for (const [now, before] of pairDrivers(newer, older)) {
    if (now !== undefined && before !== undefined) yield withMonthsOf(now, before);
    else yield (now ?? before) as D;
  }
}

/** The driver with the points of an older state of it in months that it lacks itself. */
export function withMonthsOf<D extends PackedPoints>(driver: D, older: PackedPoints): D {
  if (Buffer.compare(driver.points, older.points) === 0) return driver;
  const [own, other] = [sideOf(driver), sideOf(older)];
  const points: { month: number; value: Uint8Array }[] = [];
  let [hasOwn, hasOther] = [own.walk.next(), other.walk.next()];
  while (hasOwn || hasOther) {
    const isOwn = hasOwn && (!hasOther || own.walk.month <= other.walk.month);
    const isBoth = hasOwn && hasOther && own.walk.month === other.walk.month;
    const { points: bytes, walk } = isOwn ? own : other;
    points.push({ month: walk.month, value: bytes.subarray(walk.start, walk.end) });
    if (isOwn) hasOwn = own.walk.next();
    if (!isOwn || isBoth) hasOther = other.walk.next();
  }
  return { ...driver, points: packPoints(points) };
}

function sideOf({ points }: PackedPoints): { readonly points: Uint8Array; readonly walk: PointWalk } {
  return { points, walk: new PointWalk(points) };
}
