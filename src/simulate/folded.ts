/** Points of parts, folded once for each sheet, and how two of them compare. */
import type { SourceSettings } from '../core/settings.ts';
import { type HeldPart, type Points, deletesBetween, foldParts } from './model.ts';
import type { Sheet } from './world/place.ts';

/** Whether a read changes nothing for sure: where two files tie, another one of them may count by now. */
export function isSurelySame(before: Points, after: Points): boolean {
  if (before.size !== after.size) return false;
  for (const [driver, months] of before) {
    const now = after.get(driver);
    if (now === undefined || now.size !== months.size) return false;
    for (const [month, texts] of months) if (texts.length > 1 || now.get(month)?.join() !== texts.join()) return false;
  }
  return true;
}

export function isWithin(points: Points, covered: Points): boolean {
  return deletesBetween(points, covered).points === 0;
}

/** What a sheet has alone: the same one is asked for again and again. The rules of a source never change. */
const folded = new WeakMap<Sheet, Points>();

export function foldedOf(parts: readonly HeldPart[], { mapping }: SourceSettings): Points {
  const [only] = parts;
  const known = only === undefined || parts.length > 1 ? undefined : folded.get(only.sheet);
  if (known !== undefined) return known;
  const points = foldParts(
    parts,
    mapping.drivers.map(({ rule }) => rule),
  );
  if (only !== undefined && parts.length === 1) folded.set(only.sheet, points);
  return points;
}
