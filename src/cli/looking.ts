/** Commands that only look: `history`, `diff`, `explain`, `rejects`. */
import { openState } from '../app/compose.ts';
import { type Difference, type Explanation, difference, explain as explainDriver } from '../app/inspect.ts';
import type { PushRecord } from '../core/stores.ts';
import { AgentError } from '../core/errors.ts';
import { type Context, answer, commandLog, loadSettings, print } from './context.ts';
import { showBytes, showChanges, showCounts, table } from './text.ts';

/** All pushes, newest first. */
export function history(context: Context): number {
  using state = openState(loadSettings(context, 'optional'), commandLog(context));
  const pushes = state.world.ledger.pushes().map(pushRow);
  answer(context, { pushes }, () =>
    pushes.length === 0 ? 'nothing was pushed yet: "driver-sync sync" does' : showPushes(pushes),
  );
  return 0;
}

function pushRow(push: PushRecord) {
  const { id, atMs, outcome, digest, drivers, points, bytes, changes, address, rollbackOf, status, detail } = push;
  const at = new Date(atMs).toISOString();
  return {
    id,
    at,
    outcome: outcome ?? 'unknown',
    digest,
    drivers,
    points,
    bytes,
    changes,
    address,
    rollbackOf,
    status,
    detail,
  };
}

function showPushes(pushes: readonly ReturnType<typeof pushRow>[]): string {
  const failures = pushes.flatMap(({ id, outcome, detail }) =>
    outcome === 'acknowledged' || detail === undefined ? [] : [`push ${id} ${outcome}: ${detail}`],
  );
  const all = table(
    [
      ['push', 'right'],
      ['at', 'left'],
      ['outcome', 'left'],
      ['drivers', 'right'],
      ['points', 'right'],
      ['bytes', 'right'],
      ['drivers changed', 'left'],
      ['points changed', 'left'],
      ['digest', 'left'],
    ],
    pushes.map((push) => [
      String(push.id),
      push.at,
      push.rollbackOf === undefined ? push.outcome : `${push.outcome} (rollback to ${push.rollbackOf})`,
      String(push.drivers),
      String(push.points),
      showBytes(push.bytes),
      showCounts(push.changes.drivers),
      showCounts(push.changes.points),
      push.digest.slice(0, 12),
    ]),
  );
  return [all, ...failures].join('\n');
}

/** The difference of two acknowledged snapshots. */
export function diff(context: Context, from: string, to: string): number {
  using state = openState(loadSettings(context, 'optional'), commandLog(context));
  const found = difference(state.world, from, to);
  answer(context, found, () => showDifference(found));
  return 0;
}

function showDifference({ changes, drivers }: Difference): string {
  const mark = { create: '+', update: '~', delete: '-' };
  const lines = drivers.flatMap(({ kind, driver, path, points }) => [
    `${mark[kind]} ${driver}  ${(path.to ?? path.from ?? []).join(' / ')}`,
    ...points.map(({ month, from, to }) => `    ${month}  ${from ?? '(none)'} -> ${to ?? '(none)'}`),
  ]);
  return [...lines, drivers.length === 0 ? 'no difference' : showChanges(changes)].join('\n');
}

/** Where a number came from. */
export function explain(context: Context, driver: string, month: string | undefined): number {
  using state = openState(loadSettings(context, 'optional'), commandLog(context));
  const found = explainDriver(state.world, driver, month);
  answer(context, found, () => showExplanation(found));
  return 0;
}

function showExplanation({ driver, path, source, rule, points }: Explanation): string {
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
  return [...head, body, ...(notes.length === 0 ? [] : ['', ...notes])].join('\n');
}

/** Rows of the newest read that could not be used, as CSV. */
export function rejects(context: Context, source: string | undefined): number {
  const settings = loadSettings(context, 'optional');
  using state = openState(settings, commandLog(context));
  if (source !== undefined && !settings.sources.some(({ name }) => name === source)) {
    const hint = `there are ${settings.sources.map(({ name }) => name).join(', ')}`;
    throw new AgentError('usage', `there is no source "${source}"`, { hint });
  }
  const found = [...state.world.buffer.rejects(source)];
  if (context.options.json === true) {
    answer(context, { rejects: found }, () => '');
    return 0;
  }
  const lines = found.map((one) =>
    [one.source, one.part, String(one.row), one.reason, one.text].map(quoteField).join(','),
  );
  print(['source,part,row,reason,text', ...lines].join('\n'));
  return 0;
}

function quoteField(text: string): string {
  return /[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
}
