/** The answer of a database that collapsed a query, as batches for the agent. */
import type { CollapsedRow, CollapsedValue, Row, RowBatch } from '../../core/model.ts';
import type { CollapsePlan } from './collapse-plan.ts';
import type { CollapseSql } from './collapse-sql.ts';
import type { IdPaths } from './id-paths.ts';

export interface Collapse extends CollapseSql {
  readonly plan: CollapsePlan;
  /** Absent where rows are numbered. */
  readonly paths: IdPaths | undefined;
}

/**
 * Rows of `CollapseSql`, in their order, plain and collapsed ones in batches of their own; at least one batch.
 * @throws AgentError `part.unreadable` as `IdPaths`
 */
export function readCollapsed(rows: readonly Row[], columns: readonly string[], collapse: Collapse): RowBatch[] {
  const batches: RowBatch[] = [];
  let at = 0;
  while (at < rows.length) {
    const isPlain = isPlainRow(rows[at] as Row, columns.length);
    let end = at + 1;
    while (end < rows.length && isPlainRow(rows[end] as Row, columns.length) === isPlain) end++;
    const run = rows.slice(at, end);
    if (isPlain) {
      for (const row of run) collapse.plan.entries.forEach((_entry, index) => collapse.paths?.see(row, index));
      batches.push({
        columns,
        rows: run.map((row) => row.slice(0, columns.length)),
        places: run.map((row) => (collapse.plan.hasPlaces ? Number(row[columns.length]) : 0)),
      });
    } else {
      const collapsed = run.map((row) => collapsedRow(row.slice(columns.length), collapse));
      for (const [index, { entries }] of collapsed.entries()) {
        entries.forEach((value, entry) => {
          if (value !== undefined) collapse.paths?.see(run[index] as Row, entry);
        });
      }
      batches.push({
        columns,
        rows: run.map((row) => fieldsOf(row, columns.length, collapse.plan)),
        collapsed,
      });
    }
    at = end;
  }
  return batches.length === 0 ? [{ columns, rows: [] }] : batches;
}

function isPlainRow(row: Row, width: number): boolean {
  return row[width] !== '';
}

/** The key; and where the database judged a condition, a text that passes it. */
function fieldsOf(row: Row, width: number, { conditions, keys }: CollapsePlan): Row {
  const fields = row.slice(0, width);
  for (const { column, passing } of conditions) {
    if (!keys.some((key) => key.column === column)) fields[column] = passing;
  }
  return fields;
}

/** @param answer what follows the fields, see `CollapseSql` */
function collapsedRow(answer: Row, { plan, parseLine }: Collapse): CollapsedRow {
  const { values, lines, entries } = plan;
  const [, rows = '', ...rest] = answer;
  const counts = rest.slice(0, values.length).map(Number);
  const found = rest.slice(values.length, values.length + lines.length);
  const sums = rest.slice(values.length + lines.length);
  const summed = values.map(({ isSummed }) => (isSummed ? (sums.shift() as string) : ''));
  const read = entries.map(({ value, line, latest, shows }): CollapsedValue | undefined => {
    const count = counts[value] as number;
    if (count === 0) return undefined;
    const { time, text, place } = parseLine(found[line] as string);
    const newest = latest === line ? undefined : parseLine(found[latest] as string);
    const shown = { text, sum: summed[value] as string, count: `${count}` }[shows];
    return {
      time,
      value: shown,
      count,
      place,
      ...(newest !== undefined && { latest: { time: newest.time, place: newest.place } }),
    };
  });
  return { rows: Number(rows), entries: read };
}
