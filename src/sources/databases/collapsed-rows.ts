/** What leaves a database that collapsed a query, as batches for the agent. */
import type { CollapsedRow, CollapsedValue, Row, RowBatch } from '../../core/model.ts';
import type { CollapsePlan } from './collapse-query.ts';
import type { CollapseSql } from './collapse-sql.ts';
import { amountDigits } from './dialect.ts';

export interface Collapse extends CollapseSql {
  readonly plan: CollapsePlan;
}

/** Rows of `CollapseSql`, in their order, plain and collapsed ones in batches of their own; at least one batch. */
export function readCollapsed(rows: readonly Row[], columns: readonly string[], collapse: Collapse): RowBatch[] {
  const batches: RowBatch[] = [];
  let at = 0;
  while (at < rows.length) {
    const isOdd = isOddRow(rows[at] as Row, columns.length);
    let end = at + 1;
    while (end < rows.length && isOddRow(rows[end] as Row, columns.length) === isOdd) end++;
    const run = rows.slice(at, end);
    if (isOdd) {
      batches.push({
        columns,
        rows: run.map((row) => row.slice(0, columns.length)),
        places: run.map((row) => (collapse.plan.hasPlaces ? Number(row[columns.length]) : 0)),
      });
    } else {
      batches.push({
        columns,
        rows: run.map((row) => fieldsOf(row, columns.length, collapse.plan)),
        collapsed: run.map((row) => collapsedRow(row.slice(columns.length), collapse)),
      });
    }
    at = end;
  }
  return batches.length === 0 ? [{ columns, rows: [] }] : batches;
}

function isOddRow(row: Row, width: number): boolean {
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
function collapsedRow(answer: Row, { plan, sums, parseLine }: Collapse): CollapsedRow {
  const { values, lines, entries } = plan;
  const [, rows = '', ...rest] = answer;
  const counts = rest.slice(0, values.length).map(Number);
  const found = rest.slice(values.length, values.length + lines.length);
  let at = values.length + lines.length;
  const summed = sums.map((columns, value) => {
    if (columns === undefined) return '';
    const { exponents, hasScale } = columns;
    const pieces = rest.slice(at, at + exponents.length);
    at += exponents.length;
    const scale = hasScale ? Number(rest[at++]) : undefined;
    return counts[value] === 0 ? '' : sumText(pieces, exponents, scale);
  });
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

/** A sum of one piece is its text. @param scale how many digits that of several shows after its point */
function sumText(pieces: Row, exponents: readonly number[], scale: number | undefined): string {
  if (scale === undefined) return pieces.join();
  let units = 0n;
  for (const [piece, exponent] of exponents.entries()) units += scaled(pieces[piece] as string, exponent);
  return decimalText(units, Math.max(0, scale));
}

/** A decimal text times ten to the power of `exponent`, in units of 10^-18. */
function scaled(text: string, exponent: number): bigint {
  const [whole = '', fraction = ''] = text.replace('-', '').split('.');
  const digits = BigInt(whole + fraction) * 10n ** BigInt(amountDigits + exponent - fraction.length);
  return text.startsWith('-') ? -digits : digits;
}

/** Units of 10^-18 as decimal text of a scale that shows all of them. */
function decimalText(units: bigint, scale: number): string {
  const digits = (units < 0n ? -units : units).toString().padStart(amountDigits + 1, '0');
  const fraction = digits.slice(-amountDigits).slice(0, scale);
  const whole = digits.slice(0, -amountDigits);
  return `${units < 0n ? '-' : ''}${whole}${scale === 0 ? '' : `.${fraction}`}`;
}
