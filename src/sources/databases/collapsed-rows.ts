/** What leaves a database that collapsed a query, as batches for the agent. */
import type { CollapsedRow, CollapsedValue, Row, RowBatch } from '../../core/model.ts';
import type { CollapsePlan } from './collapse-query.ts';
import { lineMark, placeLength } from './collapse-sql.ts';
import { amountDigits } from './dialect.ts';
import { oddMark } from './month-ranges.ts';

/** Of a place that count: no query has more rows. */
const placeDigits = 15;

export interface Collapse {
  readonly plan: CollapsePlan;
  /** Of the pieces of each sum: powers of ten. */
  readonly exponents: readonly number[];
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
        places: run.map((row) => (collapse.plan.hasPlaces ? Number(row[columns.length + 2]) : 0)),
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
  return row[width] === '1';
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
function collapsedRow(answer: Row, { plan, exponents }: Collapse): CollapsedRow {
  const { values, lines, entries, hasPlaces } = plan;
  const [, rows = ''] = answer;
  const rest = answer.slice(hasPlaces ? 3 : 2);
  const counts = rest.slice(0, values.length).map(Number);
  const found = rest.slice(values.length).slice(0, lines.length);
  let at = values.length + lines.length;
  const sums = values.map(({ isSummed }, value) => {
    if (!isSummed) return '';
    const pieces = rest.slice(at, at + exponents.length);
    const scale = Number(rest[at + exponents.length]);
    at += exponents.length + 1;
    if (counts[value] === 0) return '';
    let sum = 0n;
    for (const [piece, exponent] of exponents.entries()) sum += scaled(pieces[piece] as string, exponent);
    return decimalText(sum, Math.max(0, scale));
  });
  const read = entries.map(({ value, line, latest, shows }): CollapsedValue | undefined => {
    const count = counts[value] as number;
    if (count === 0) return undefined;
    const { time, text, place } = parseLine(found[line] as string, hasPlaces);
    const newest = parseLine(found[latest] as string, hasPlaces).time;
    const shown = { text, sum: sums[value] as string, count: `${count}` }[shows];
    return { time, value: shown, count, place, ...(newest !== time && { latest: newest }) };
  });
  return { rows: Number(rows), entries: read };
}

function parseLine(
  line: string,
  hasPlaces: CollapsePlan['hasPlaces'],
): { readonly time: string; readonly text: string; readonly place: number } {
  const end = line.indexOf(lineMark);
  const mark = end === -1 ? line.length : end;
  const time = line.startsWith(oddMark) ? line.slice(oddMark.length, mark) : line.slice(0, mark);
  if (!hasPlaces) return { time, text: line.slice(mark + 1), place: 0 };
  const textAt = mark + 1 + placeLength;
  // Without the first digits, which only make all places equally long.
  return { time, text: line.slice(textAt), place: Number(line.slice(textAt - placeDigits, textAt)) };
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
