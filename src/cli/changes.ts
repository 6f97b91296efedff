/** Changes of points as a person reads them: the largest first, and what they add up to. */
import type { MovedDriver } from '../app/ask/plan.ts';
import { type PointChange, differenceOf } from '../core/series/largest.ts';
import type { PathTotal } from '../core/series/totals.ts';
import { count } from '../core/text.ts';
import { type Column, table } from './text.ts';

export const changesShown = 20;

/** The difference with its sign: `+65.50`. */
function signed(difference: string): string {
  return difference.startsWith('-') || /^[0.]+$/.test(difference) ? difference : `+${difference}`;
}

export const pointColumns: readonly Column[] = [
  ['driver', 'left'],
  ['path', 'left'],
  ['month', 'left'],
  ['old value', 'right'],
  ['new value', 'right'],
  ['change', 'right'],
];

export function pointRow(change: PointChange): readonly string[] {
  const { driver, path, month, old = '(none)', new: now = '(none)' } = change;
  return [driver, path.join(' / '), month, old, now, signed(differenceOf(change))];
}

export const totalColumns: readonly Column[] = [
  ['first element', 'left'],
  ['sum before', 'right'],
  ['sum after', 'right'],
  ['change', 'right'],
];

export function totalRow({ path, before, after, change }: PathTotal): readonly string[] {
  return [path, before, after, signed(change)];
}

/** A table of points with the old and the new value. */
export function showPoints(changes: readonly PointChange[]): string[] {
  return table(pointColumns, changes.map(pointRow)).map(indented);
}

/** What the values under each first element of a path add up to, over all months. */
export function showTotals(totals: readonly PathTotal[]): string[] {
  return totals.length === 0 ? [] : ['', ...table(totalColumns, totals.map(totalRow)).map(indented)];
}

/** Drivers under another path. @param all how many these are, of which the first are given */
export function showMoved(moved: readonly MovedDriver[], all: number): string[] {
  if (all === 0) return [];
  const shown = moved.map(({ driver, from, to }) => `  ${driver}: ${from.join(' / ')} becomes ${to.join(' / ')}`);
  const more = all - shown.length;
  return ['', `${count(all, 'driver')} under another path:`, ...shown, ...(more > 0 ? [`  and ${more} more`] : [])];
}

function indented(line: string): string {
  return `  ${line}`;
}
