import { type ExplainedPoint, type Explanation, explain as explainDriver } from '../app/ask/explain.ts';
import { type ExplainedRows, type PartBehind, type ReadingBehind, explainRows } from '../app/ask/explain-rows.ts';
import { openState } from '../compose/state.ts';
import { AgentError } from '../core/errors.ts';
import { drawMonths } from './blocks.ts';
import { type Context, answer, commandLog, loadSettings, loadUnsentSettings } from './context.ts';
import { say, terminalWidth } from './output.ts';
import { count } from '../core/text.ts';
import { table } from './text.ts';

export interface ExplainArguments {
  readonly driver: string;
  readonly month: string | undefined;
  /** Whether to read the parts behind the point again. */
  readonly rows: boolean;
}

/** Where a number came from. */
export async function explain(context: Context, { driver, month, rows }: ExplainArguments): Promise<number> {
  if (rows && month === undefined) {
    throw new AgentError('usage', '--rows lists the readings behind one point', {
      hint: `name its month: driver-sync explain "${driver}" 2026-03 --rows`,
    });
  }
  const settings = rows ? loadUnsentSettings(context) : loadSettings(context, 'optional');
  await using state = await openState(settings, commandLog(context));
  const found = await explainDriver(state.deps, driver, month);
  if (found.pushesUnknown !== undefined) say(found.pushesUnknown);
  if (!rows) {
    answer(context, found, () => [...showHead(found), ...drawn(found), ...showPoints(found)]);
    return 0;
  }
  const listed = await explainRows(state.deps, found, new AbortController().signal);
  answer(context, listed, () => [...showHead(listed), ...showRows(listed)]);
  return 0;
}

function showHead({ driver, path, source, rule }: Explanation): string[] {
  return [`${driver}  ${path.join(' / ')}`, `source ${source}, collapse ${rule}`, ''];
}

/** A trend is for eyes: where another program reads, the table is all there is. */
function drawn({ points }: Explanation): string[] {
  const width = terminalWidth();
  const lines = width === undefined ? [] : drawMonths(points, width);
  return lines.length === 0 ? [] : [...lines, ''];
}

const isOfAll = (rule: string): boolean => ['sum', 'average', 'count'].includes(rule);

function showPoints({ points, rule, pushesUnknown }: Explanation): string[] {
  const lines = table(
    [
      ['month', 'left'],
      ['value', 'right'],
      ['part', 'left'],
      ['row', 'right'],
      ['as read', 'left'],
      ['readings', 'right'],
      ['first push', 'right'],
    ],
    points.map((point) => [
      point.month,
      point.value,
      point.part,
      point.row === null ? '' : String(point.row),
      JSON.stringify(point.text),
      String(point.superseded + 1),
      String(point.firstPush ?? (pushesUnknown === undefined ? 'not yet' : 'unknown')),
    ]),
  );
  const notes = points.flatMap(({ month, collapsed }) =>
    collapsed === undefined ? [] : [`${month} was ${collapsed}`],
  );
  notes.push(...carriedNotes(points));
  if (points.some(({ row }) => row !== null))
    notes.push('rows are counted from 1 below the header, without blank lines');
  if (points.some(({ firstPush }) => firstPush !== undefined))
    notes.push('first push: the one since which the service has had the value without a break');
  if (points.some(({ superseded }) => superseded > 0)) {
    const which = isOfAll(rule) ? `the latest reading of the ${rule}` : 'the reading that counts';
    notes.push(`row and text are those of ${which}; with a month, --rows lists all of them`);
  }
  return notes.length === 0 ? lines : [...lines, '', ...notes];
}

/** One line for each reason, and the months that it is true of. */
function carriedNotes(points: readonly ExplainedPoint[]): string[] {
  const found = points.flatMap(({ month, part, carried }) => {
    if (carried === undefined) return [];
    const rule = carried.rule === undefined ? '' : `, with collapse ${carried.rule}`;
    const why =
      carried.from === 'history'
        ? 'older than all that is shown now: as an earlier read had it, whatever the settings were then'
        : `of ${part}, which is gone: as it was read${rule}`;
    return [{ month, why }];
  });
  return [...Map.groupBy(found, ({ why }) => why)].map(([why, of]) => {
    const [first, last] = [of[0]?.month, of.at(-1)?.month];
    return first === last ? `${first} is carried, ${why}` : `${first} to ${last} are carried, ${why}`;
  });
}

function showRows({ rule, points }: ExplainedRows): string[] {
  return points.flatMap((point) => {
    const { month, value, superseded, readings, parts, carried } = point;
    const counting = isOfAll(rule) ? undefined : countingOf(rule, point);
    const place = readings.some(({ sheetRow }) => sheetRow !== undefined) ? 'sheet row' : 'line';
    const hasPlaces = readings.some(({ line, sheetRow }) => (line ?? sheetRow) !== undefined);
    const lines = table(
      [
        ['', 'left'],
        ['part', 'left'],
        ['row', 'right'],
        [place, 'right'],
        ['time', 'left'],
        ['value', 'right'],
        ['as read', 'left'],
      ],
      readings.map((reading) => [
        reading === counting ? '*' : '',
        reading.part,
        reading.row === null ? '' : String(reading.row),
        String(reading.line ?? reading.sheetRow ?? ''),
        reading.time,
        reading.value,
        JSON.stringify(reading.text),
      ]),
    );
    const all = count(superseded + 1, 'reading');
    const by = carried === undefined ? rule : carried.rule;
    const ofOne = superseded === 0 ? 'its only reading (*)' : `one of ${all} (*)`;
    const made = by === undefined ? `of ${all}` : isOfAll(by) ? `the ${by} of ${all}` : ofOne;
    const notes = [
      `rows are counted from 1 below the header, without blank lines${hasPlaces ? `; ${place}s are those of the file` : ''}`,
      ...carriedNotes([point]),
      ...parts.flatMap(partNote),
      ...(parts.some(({ accepted }) => accepted === null)
        ? [`${all} of this point were accepted, and how many of them from each part is not kept`]
        : []),
    ];
    return [`${month}: ${value}, ${made}`, '', ...lines, '', ...notes];
  });
}

/** The reading that counts. One row may have given several of the month: of equal ones it does not matter which is shown. */
function countingOf(
  rule: string,
  { part, row, text, readings }: Pick<ExplainedRows['points'][number], 'part' | 'row' | 'text' | 'readings'>,
): ReadingBehind | undefined {
  const ofRow = readings.filter((reading) => reading.part === part && reading.row === row);
  const asAccepted = ofRow.filter((reading) => reading.text === text);
  // Where the row has changed since, its readings are shown as they are now.
  const candidates = asAccepted.length > 0 ? asAccepted : ofRow;
  return candidates.at(rule === 'last' ? -1 : 0);
}

function partNote({ part, state, reason, accepted, found }: PartBehind): string[] {
  const now = partNow(part, state, reason);
  if (accepted === null) return now === undefined ? [] : [now];
  const were = `${count(accepted, 'reading')} of this point ${accepted === 1 ? 'was' : 'were'} accepted from it`;
  if (now !== undefined) return [`${now}; ${were}`];
  return accepted === found
    ? []
    : [`${part} is unchanged and is read differently now: ${were}; did the config change?`];
}

/** What has become of a part since it was accepted. */
function partNow(part: string, state: PartBehind['state'], reason: string | undefined): string | undefined {
  switch (state) {
    case 'gone':
      return `${part} is not there any more`;
    case 'unreadable':
      return `${part} cannot be read now: ${reason}`;
    case 'changed':
      return `${part} has changed since it was accepted: these are its rows now`;
    case 'unknown':
      return `${part} may have changed since it was accepted: these are its rows now`;
    case 'unchanged':
      return undefined;
  }
}
