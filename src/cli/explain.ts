import { type Explanation, explain as explainDriver } from '../app/ask/inspect.ts';
import { openState } from '../compose/state.ts';
import { type Context, answer, commandLog, loadSettings } from './context.ts';
import { table } from './text.ts';

/** Where a number came from. */
export function explain(context: Context, driver: string, month: string | undefined): number {
  using state = openState(loadSettings(context, 'optional'), commandLog(context));
  const found = explainDriver(state.deps, driver, month);
  answer(context, found, () => showExplanation(found));
  return 0;
}

function showExplanation({ driver, path, source, rule, points }: Explanation): string[] {
  const rows = points.map((point) => [
    point.month,
    point.value,
    point.part,
    point.row === null ? '' : String(point.row),
    JSON.stringify(point.text),
    String(point.superseded),
    point.firstPush === undefined ? 'not yet' : String(point.firstPush),
  ]);
  const head = [`${driver}  ${path.join(' / ')}`, `source ${source}, collapse ${rule}`, ''];
  const body = table(
    [
      ['month', 'left'],
      ['value', 'right'],
      ['part', 'left'],
      ['row', 'right'],
      ['as read', 'left'],
      ['superseded', 'right'],
      ['first push', 'right'],
    ],
    rows,
  );
  const notes = points.flatMap(({ month, collapsed }) =>
    collapsed === undefined ? [] : [`${month} was ${collapsed}`],
  );
  return [...head, ...body, ...(notes.length === 0 ? [] : ['', ...notes])];
}
