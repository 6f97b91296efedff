/** One delimited file read in both ways, and what differs. */
import type { Batch, ColumnNeed } from '../../src/core/mapping/column-batch.ts';
import type { Row } from '../../src/core/model.ts';
import { isAgentError } from '../../src/core/errors.ts';
import { readMantissa } from '../../src/core/numbers/mantissa.ts';
import type { FormatBatch } from '../../src/sources/files/read-part.ts';
import { readDelimited } from '../../src/sources/formats/delimited.ts';
import { readColumns } from '../../src/sources/formats/scan/read.ts';
import { type Draw, type NastyFile, fileOf } from './nasty-files.ts';

interface Outcome {
  columns: readonly string[] | undefined;
  readonly rows: { readonly line: number | undefined; readonly fields: Row }[];
  /** How it ended: with its last line end or without it, or a failure as people read it. */
  end: string;
  /** Rows that came as columns. */
  scanned: number;
}

/** @returns how many rows the scanner read. @throws Error that says the first difference */
export async function readBothWays(nasty: NastyFile): Promise<number> {
  const { content, settings, chunkBytes, blockBytes, draw } = nasty;
  const byRows = await outcomeOf(readDelimited(fileOf(content, chunkBytes), settings), draw);
  const needs = (columns: readonly string[]): readonly ColumnNeed[] =>
    columns.map(() => ({ isCoded: !draw.once(3), isValue: draw.once(2) }));
  const byColumns = await outcomeOf(readColumns(fileOf(content, chunkBytes), settings, { needs, blockBytes }), draw);
  const isFailure = byRows.end.startsWith('failure');
  // What is handed over before a failure depends on how much is read at once, and is not used.
  const common = isFailure ? Math.min(byRows.rows.length, byColumns.rows.length) : Infinity;
  const shown = ({ columns, rows, end }: Outcome): string =>
    JSON.stringify({ columns: isFailure ? '' : columns, rows: rows.slice(0, common), end }, undefined, 1);
  if (shown(byRows) !== shown(byColumns)) {
    throw new Error(`csv-parse: ${shown(byRows)}\nscanner: ${shown(byColumns)}`);
  }
  return byColumns.scanned;
}

async function outcomeOf(
  reading: AsyncGenerator<FormatBatch, { readonly endsWithLineEnd?: boolean | undefined }, void>,
  draw: Draw,
): Promise<Outcome> {
  const outcome: Outcome = { columns: undefined, rows: [], end: '', scanned: 0 };
  try {
    for (;;) {
      const next = await reading.next();
      if (next.done === true) {
        outcome.end = String(next.value.endsWithLineEnd);
        return outcome;
      }
      const batch = next.value;
      if (outcome.columns !== undefined && outcome.columns !== batch.columns) throw new Error('other columns');
      outcome.columns = batch.columns;
      if ('rows' in batch) {
        for (const [at, fields] of batch.rows.entries()) outcome.rows.push({ line: batch.lines?.[at], fields });
      } else {
        outcome.scanned += batch.count;
        outcome.rows.push(...rowsOf(batch, draw));
      }
    }
  } catch (error) {
    if (!isAgentError(error)) throw error;
    outcome.end = `failure ${error.code}: ${error.message} (${error.hint})`;
    return outcome;
  }
}

function rowsOf(batch: Batch, draw: Draw): Outcome['rows'] {
  const places = Array.from({ length: batch.count }, (_, at) => at);
  // In any order.
  if (draw.once(4)) places.reverse();
  const rows = places.map((at) => ({ line: batch.line?.(at), fields: batch.row(at) }));
  if (places[0] !== 0) rows.reverse();
  for (const [at, { fields }] of rows.entries()) checkRow(batch, at, fields);
  return rows;
}

/** @throws Error where the columns of a row say other than its fields */
export function checkRow(batch: Batch, at: number, fields: Row): void {
  const same = (what: string, found: unknown, wanted: unknown): void => {
    if (!Object.is(found, wanted)) throw new Error(`row ${at}: ${what} is ${String(found)}, not ${String(wanted)}`);
  };
  const isRagged = fields.length !== batch.columns.length;
  same('its number of fields', batch.ragged.get(at), isRagged ? fields.length : undefined);
  if (isRagged) return;
  const parsed = { mantissas: new Float64Array(1), scales: new Int8Array(1) };
  for (const [column, text] of fields.entries()) {
    const coded = batch.coded[column];
    if (coded !== undefined) {
      const code = coded.codes[at] as number;
      same('the text of a code', coded.texts.text(code), text);
      // JSON may write one text in several ways, which have a number each.
      same('the text of the code of a text', coded.texts.text(coded.texts.code(text)), text);
      if (code >= coded.texts.size) throw new Error('a code beyond the size');
    }
    const value = batch.values[column];
    if (value === undefined) continue;
    readMantissa(text, 0, parsed);
    same('the text of a value', value.text(at), text);
    // A text beside numbers may be left alone.
    const isLeft = value.isNumber?.(at) === false && value.scales[at] === -1;
    if (!isLeft) same('a scale', value.scales[at], parsed.scales[0]);
    if (!isLeft && parsed.scales[0] !== -1) same('a mantissa', value.mantissas[at], parsed.mantissas[0]);
  }
}
