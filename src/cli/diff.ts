import { type Difference, type DriverDifference, difference } from '../app/ask/difference.ts';
import type { MovedDriver } from '../app/ask/plan.ts';
import { openState } from '../compose/state.ts';
import { hasChanges } from '../core/series/diff.ts';
import { changesShown, showMoved, showPoints, showTotals } from './changes.ts';
import { type Context, answer, commandLog, loadSettings, refuseJson } from './context.ts';
import { diffMarkdown } from './markdown.ts';
import { showChanges } from './text.ts';

export interface DiffOptions {
  readonly all?: boolean;
  readonly format?: 'text' | 'markdown';
}

/** The difference of two acknowledged snapshots. */
export async function diff(
  context: Context,
  [from, to]: readonly [string, string],
  { all = false, format }: DiffOptions,
): Promise<number> {
  if (format === 'markdown') refuseJson(context);
  await using state = await openState(loadSettings(context, 'optional'), commandLog(context));
  const shownMax = all ? Infinity : changesShown;
  const found = await difference(state.deps, { from, to, shownMax });
  answer(context, found, () => (format === 'markdown' ? diffMarkdown(found) : showDifference(found, shownMax)));
  return 0;
}

function showDifference(
  { from, to, changes, drivers, largest, changedPoints, totals }: Difference,
  shownMax: number,
): string[] {
  if (!hasChanges(changes)) return [`no difference between push ${from} and push ${to}`];
  const moved = drivers.flatMap(movedOf);
  const some = largest.length < changedPoints ? [`the ${largest.length} largest (--all shows all):`] : [];
  return [
    `from push ${from} to push ${to}: ${showChanges(changes)}`,
    '',
    ...some,
    ...(largest.length === 0 ? [] : showPoints(largest)),
    ...showTotals(totals),
    ...showMoved(moved.slice(0, shownMax), moved.length),
  ];
}

function movedOf({ driver, kind, path: { from = [], to = [] } }: DriverDifference): MovedDriver[] {
  return kind === 'update' && JSON.stringify(from) !== JSON.stringify(to) ? [{ driver, from, to }] : [];
}
