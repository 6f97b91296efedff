import { type Difference, difference } from '../app/ask/inspect.ts';
import { openState } from '../compose/state.ts';
import { type Context, answer, commandLog, loadSettings } from './context.ts';
import { showChanges } from './text.ts';

/** The difference of two acknowledged snapshots. */
export function diff(context: Context, from: string, to: string): number {
  using state = openState(loadSettings(context, 'optional'), commandLog(context));
  const found = difference(state.deps, from, to);
  answer(context, found, () => showDifference(found));
  return 0;
}

function showDifference({ changes, drivers }: Difference): string[] {
  const mark = { create: '+', update: '~', delete: '-' };
  const lines = drivers.flatMap(({ kind, driver, path, points }) => [
    `${mark[kind]} ${driver}  ${(path.to ?? path.from ?? []).join(' / ')}`,
    ...points.map(({ month, from, to }) => `    ${month}  ${from ?? '(none)'} -> ${to ?? '(none)'}`),
  ]);
  return [...lines, drivers.length === 0 ? 'no difference' : showChanges(changes)];
}
