/** The months of a driver as a line of blocks, for a terminal. */
import { parseMonth } from '../core/time/month.ts';

const blocks = ['▁', '▂', '▃', '▄', '▅', '▆', '▇', '█'] as const;

interface Point {
  /** Such as `2026-03`. */
  readonly month: string;
  /** Canonical decimal text. */
  readonly value: string;
}

/**
 * A block for each month from the first to the last, as high as its value lies between the smallest and the largest; a blank for a
 * month without a point. Then the months and the values that it spans. Nothing where there are fewer than two points.
 * @param points in the order of months
 * @param width of the terminal: where more months than that are there, it shows the last ones
 */
export function drawMonths(points: readonly Point[], width: number): string[] {
  const placed = points.map(({ month, value }) => ({ month, value, at: parseMonth(month) ?? 0 }));
  const last = placed.at(-1);
  const shown = placed.filter(({ at }) => last !== undefined && at > last.at - width);
  const [first] = shown;
  if (first === undefined || last === undefined || shown.length < 2) return [];
  const scale = Math.max(...shown.map(({ value }) => value.split('.')[1]?.length ?? 0));
  const levels = shown.map((point) => ({ ...point, level: scaled(point.value, scale) }));
  const lowest = levels.reduce((least, point) => (point.level < least.level ? point : least));
  const highest = levels.reduce((most, point) => (point.level > most.level ? point : most));
  const line = Array.from({ length: last.at - first.at + 1 }, () => ' ');
  for (const { at, level } of levels) line[at - first.at] = blockOf(level - lowest.level, highest.level - lowest.level);
  return [line.join(''), `${first.month} to ${last.month}, ${lowest.value} (▁) to ${highest.value} (█)`];
}

/** A constant is drawn in the middle. */
function blockOf(above: bigint, span: bigint): string {
  return blocks[span === 0n ? 3 : Number((above * 7n) / span)] ?? ' ';
}

/** The integer that a decimal is of units of the last place. */
function scaled(value: string, scale: number): bigint {
  const [whole = '', fraction = ''] = value.split('.');
  return BigInt(whole + fraction.padEnd(scale, '0'));
}
