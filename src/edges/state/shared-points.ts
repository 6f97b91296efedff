/** Points that two parts have, of drivers whose readings add up. */
import { monthsIn } from '../../core/series/packing.ts';
import type { SharedPoint } from '../../core/buffer.ts';

/** Folds of one driver in two parts: parameters are the source, the parts and the others, as JSON. */
export const sharedFolds = `SELECT ra.part_read AS part, rb.part_read AS other, a.driver, a.points, b.points AS otherPoints
  FROM fold a JOIN part_run ra ON ra.run = a.part_read
    JOIN fold b ON b.source = a.source AND b.driver = a.driver JOIN part_run rb ON rb.run = b.part_read
  WHERE a.source = ? AND a.rule IN ('sum', 'average', 'count')
    AND ra.part_read IN (SELECT value FROM json_each(?)) AND rb.part_read IN (SELECT value FROM json_each(?))`;

export interface SharedFolds extends Omit<SharedPoint, 'month'> {
  readonly points: Uint8Array;
  readonly otherPoints: Uint8Array;
}

/** The first point that each part shares; ends once every one of `parts` has one. */
export function firstShared(folds: Iterable<SharedFolds>, parts: number): readonly SharedPoint[] {
  const found = new Map<number, SharedPoint>();
  for (const { part, other, driver, points, otherPoints } of folds) {
    if (found.has(part)) continue;
    const months = new Set(monthsIn(points));
    const month = monthsIn(otherPoints).find((one) => months.has(one));
    if (month !== undefined) found.set(part, { part, other, driver, month });
    if (found.size === parts) break;
  }
  return [...found.values()];
}
