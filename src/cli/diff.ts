import { type Difference, type DriverDifference, difference } from '../app/ask/difference.ts';
import { openState } from '../compose/state.ts';
import { hasChanges } from '../core/series/diff.ts';
import { changesShown, showPoints, showTotals } from './changes.ts';
import { type Context, answer, commandLog, loadSettings, refuseJson } from './context.ts';
import { diffMarkdown } from './markdown.ts';
import { count } from '../core/text.ts';
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
  const found = await difference(state.deps, { from, to, shownMax: all ? Infinity : changesShown });
  answer(context, found, () => (format === 'markdown' ? diffMarkdown(found) : showDifference(found)));
  return 0;
}

function showDifference({ from, to, changes, drivers, largest, changedPoints, totals }: Difference): string[] {
  if (!hasChanges(changes)) return [`no difference between push ${from} and push ${to}`];
  const some = largest.length < changedPoints ? [`the ${largest.length} largest (--all shows all):`] : [];
  return [
    `from push ${from} to push ${to}: ${showChanges(changes)}`,
    '',
    ...some,
    ...(largest.length === 0 ? [] : showPoints(largest)),
    ...showTotals(totals),
    ...showMoved(drivers.filter(isMoved)),
  ];
}

function isMoved({ kind, path: { from, to } }: DriverDifference): boolean {
  return kind === 'update' && JSON.stringify(from) !== JSON.stringify(to);
}

/** Drivers under another path. */
function showMoved(drivers: readonly DriverDifference[]): string[] {
  if (drivers.length === 0) return [];
  const shown = drivers.slice(0, changesShown).map(({ driver, path: { from = [], to = [] } }) => {
    return `  ${driver}: ${from.join(' / ')} becomes ${to.join(' / ')}`;
  });
  const more = drivers.length - shown.length;
  return [
    '',
    `${count(drivers.length, 'driver')} under another path:`,
    ...shown,
    ...(more > 0 ? [`  and ${more} more`] : []),
  ];
}
