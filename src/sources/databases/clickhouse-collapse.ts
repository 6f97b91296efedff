/**
 * Collapsing in ClickHouse: one statement that groups rows where they are and keeps the row that counts by comparing typed values,
 * and one around it that turns groups into rows. Rows that are left to the agent are kept whole within their group.
 */
import { AgentError } from '../../core/errors.ts';
import type { Row } from '../../core/model.ts';
import { GroupWriter, type Rows } from './clickhouse-groups.ts';
import { plainSelect } from './clickhouse-select.ts';
import { named, typeOf } from './clickhouse-types.ts';
import { type CollapsePlan, type CollapseRequest, planCollapse } from './collapse-plan.ts';
import type { CollapseQuery } from './collapse-query.ts';
import { type Collapse, readCollapsed } from './collapsed-rows.ts';
import type { Connection } from './connection.ts';
import type { Planning } from './dialect.ts';
import { pathsOf } from './id-paths.ts';
import { outermostWords, withoutEnd } from './query-words.ts';

const planning: Planning = {
  syntax: 'clickhouse',
  types: {
    kindOf: (type) => typeOf(type).kind,
    numberCast: (name) => `toDecimal64(${name}, 2)`,
    timeCast: (name) => `toDate(${name})`,
  },
};

type Describing = Pick<Connection, 'describe'>;

/** @throws AgentError `part.unreadable` as `collapseQuery` */
export async function clickhouseCollapse(request: CollapseRequest, connection: Describing): Promise<CollapseQuery> {
  const { query, columns, timezone } = request;
  const isOrdered = outermostWords(query, 'clickhouse').has('order');
  const whole = planCollapse(planning, request);
  // A server gives rows in any order, unless it is told one.
  const plan: CollapsePlan = { ...whole, hasPlaces: whole.hasPlaces && isOrdered };
  const written = await connection.describe(query);
  const isOld = !(await isDescribed(connection, ofNewer));
  const write = (items: readonly string[], rows: Pick<Rows, 'from' | 'where'>): string => {
    const described = columns.map(({ name, type }, at) => ({ name, type, sql: items[at] as string, isOld }));
    return new GroupWriter(plan, { ...rows, columns: described }, timezone).statement();
  };
  const names = columns.map((_column, at) => `driver_sync_${at}`);
  const fields = written.map(({ name }, at) => `${named(name)} AS ${names[at]}`);
  const select = withoutEnd(query, 'clickhouse');
  const within = write(names, { from: `(SELECT ${fields.join(', ')} FROM (\n${select}\n))`, where: undefined });
  const plain = plan.hasPlaces ? undefined : plainSelect(select);
  const atTable = plain?.items.length === columns.length ? write(plain.items, plain) : undefined;
  // An aggregate of the query's own, or whatever else is no value of one row, cannot stand within another.
  const sql = atTable !== undefined && (await isDescribed(connection, atTable)) ? atTable : within;
  const paths = pathsOf(whole, request);
  return { sql, batch: (answer, header) => readRows(answer, header, { plan, paths }) };
}

/** Decimals of 76 digits, which servers before 20.11 do not have. */
const ofNewer = 'SELECT toDecimal256(0, 0) AS a';

/** Whether a server can run a statement. */
async function isDescribed(connection: Describing, sql: string): Promise<boolean> {
  try {
    await connection.describe(sql);
    return true;
  } catch (error) {
    if (error instanceof AgentError && error.code === 'part.unreadable') return false;
    throw error;
  }
}

/** Between the parts of a line: no text of a time has it. */
const mark = '!';

/** Rows of the answer as `readCollapsed` takes them. */
function readRows(
  answer: readonly Row[],
  header: readonly string[],
  { plan, paths }: Pick<Collapse, 'plan' | 'paths'>,
): ReturnType<typeof readCollapsed> {
  const width = header.length;
  const keys = new Set(plan.keys.map(({ column }) => column));
  const lines = plan.values.length;
  const rows = answer.map((row): Row => {
    const isLeft = row[width] !== '0';
    const linesAt = width + 2 + lines;
    const sumsAt = linesAt + 3 * plan.lines.length;
    return [
      ...row.slice(0, width).map((text, at) => (isLeft || keys.has(at) ? text : '')),
      isLeft ? (row[width] as string) : '',
      ...row.slice(width + 1, linesAt),
      ...plan.lines.map((_line, at) => row.slice(linesAt + 3 * at, linesAt + 3 * at + 3).join(mark)),
      ...row.slice(sumsAt),
    ];
  });
  const parseLine = (line: string): { readonly time: string; readonly place: number; readonly text: string } => {
    const [time = '', place = '', text = ''] = line.split(mark);
    return { time, place: Number(place), text };
  };
  return readCollapsed(rows, header, { plan, paths, sql: '', parseLine });
}
