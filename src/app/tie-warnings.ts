/** What people are told of readings that have one same time and different values, where a last or first takes one of them. */
import { rowOf } from '../core/row-origin.ts';
import type { Rule } from '../core/model.ts';
import type { TiesFound } from '../core/series/compare.ts';
import { utcOffsetSeconds } from '../core/time/zone.ts';

export interface TieContext {
  /** The rules of the source's `drivers:`, in their order. */
  readonly rules: readonly Rule[];
  readonly partName: (part: number) => string;
  /** IANA name. */
  readonly timezone: string;
}

/** One warning for each entry and place: within parts, and across them. */
export function tieWarnings(ties: readonly TiesFound[], context: TieContext): readonly string[] {
  const groups = Map.groupBy(ties, (tie) => JSON.stringify([entriesOf(tie, context), tie.rule, tie.where]));
  return [...groups.values()].map((group) => {
    const [first] = group as [TiesFound];
    return warning({ ...first, points: group.reduce((sum, { points }) => sum + points, 0) }, context);
  });
}

function warning(tie: TiesFound, context: TieContext): string {
  const { rule, where, points, example } = tie;
  const { driver, seconds, left, kept } = example;
  const reading = ({ value, row, part }: typeof left): string =>
    `${value} (${context.partName(part)}${rowOf(row) === null ? '' : ` row ${rowOf(row)}`})`;
  const many = points === 1 ? '1 point has' : `${points} points have`;
  const rows = where === 'within' ? 'rows' : 'rows in several parts';
  const which = rule === 'last' ? 'later' : 'earlier';
  const keeps =
    where === 'within'
      ? `the ${which} row`
      : `the row of the part revised ${which}, as is right for exports that restate months`;
  const at = `driver "${driver}" at ${timeShown(seconds, context.timezone)}`;
  const shown = `${at}: ${reading(left)} and ${reading(kept)}`;
  if (isOneRow(example)) {
    return `${entriesOf(tie, context)}: ${many} readings of one row and one same time with different values, such as ${at}: ${left.value} and ${reading(kept)}; "${rule}" keeps the ${which} one; name in the path what tells them apart, or say collapse: sum if they add up`;
  }
  return `${entriesOf(tie, context)}: ${many} ${rows} of one same time with different values, such as ${shown}; "${rule}" keeps ${keeps}; say collapse: sum if they add up`;
}

/** Such as two columns of a wide file that mean the same. */
function isOneRow({ left, kept }: TiesFound['example']): boolean {
  return left.part === kept.part && left.row === kept.row && rowOf(kept.row) !== null;
}

/** The entry is not known of what was taken out of a snapshot: then it is one of those with that rule. */
function entriesOf({ entry, rule }: TiesFound, { rules }: TieContext): string {
  if (entry !== undefined) return `drivers[${entry}]`;
  return rules.flatMap((other, index) => (other === rule ? [`drivers[${index}]`] : [])).join(' or ');
}

/** A date where it is the midnight of one. */
function timeShown(seconds: number, timezone: string): string {
  const local = new Date((seconds + utcOffsetSeconds(timezone, seconds)) * 1000).toISOString();
  return local.includes('T00:00:00') ? local.slice(0, 10) : local.slice(0, 19).replace('T', ' ');
}
