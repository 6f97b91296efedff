import { type Difference, difference } from '../app/ask/difference.ts';
import { openState } from '../compose/state.ts';
import { type Context, answer, commandLog, loadSettings } from './context.ts';
import { count, showChanges } from './text.ts';

/** The difference of two acknowledged snapshots. */
export async function diff(
  context: Context,
  { from, to, all }: { from: string; to: string; all: boolean },
): Promise<number> {
  await using state = await openState(loadSettings(context, 'optional'), commandLog(context));
  const found = await difference(state.deps, from, to);
  answer(context, found, () => showDifference(found, all));
  return 0;
}

const linesShown = 100;

function showDifference({ from, to, changes, drivers }: Difference, all: boolean): string[] {
  if (drivers.length === 0) return [`no difference between push ${from} and push ${to}`];
  const mark = { create: 'created', update: 'updated', delete: 'deleted' };
  const lines = drivers.flatMap(({ kind, driver, path, points }) => [
    `${mark[kind]} ${driver}  ${(path.to ?? path.from ?? []).join(' / ')}`,
    ...points.map((point) => `    ${point.month}  ${point.from ?? '(none)'} -> ${point.to ?? '(none)'}`),
  ]);
  const total = `from push ${from} to push ${to}: ${showChanges(changes)}`;
  if (all || lines.length <= linesShown) return [total, '', ...lines];
  const rest = `and ${count(lines.length - linesShown, 'more line')}: driver-sync diff ${from} ${to} --all`;
  return [total, '', ...lines.slice(0, linesShown), rest];
}
