/** One file of JSON records read by the scanner and by the tokenizer, and what differs. */
import type { ColumnNeed } from '../../src/core/mapping/column-batch.ts';
import { isAgentError } from '../../src/core/errors.ts';
import type { Row } from '../../src/core/model.ts';
import type { FormatBatch } from '../../src/sources/files/read-part.ts';
import { readDocument } from '../../src/sources/formats/json-array.ts';
import { readTokens } from '../../src/sources/formats/json-lines.ts';
import { readPlainRecords } from '../../src/sources/formats/scan/json-read.ts';
import { fileOf } from './nasty-files.ts';
import type { NastyJson } from './nasty-json.ts';
import { checkRow } from './two-ways.ts';

interface Outcome {
  columns: readonly string[] | undefined;
  readonly rows: Row[];
  /** Of each row, where records are lines. */
  readonly lines: number[];
  hasFaults: boolean;
  /** Of fields with a point, by row and column: whether it is a number, where the reader was asked. */
  readonly numbers: Map<string, boolean>;
  /** What the reader returned, or its failure. */
  end: unknown;
}

/** @returns how many rows the scanner read; `undefined` where it left the file to the tokenizer */
export async function readJsonBothWays({
  content,
  layout,
  chunkBytes,
  blockBytes,
  draw,
}: NastyJson): Promise<number | undefined> {
  const tokens =
    layout === 'lines'
      ? readTokens
      : (file: ReturnType<typeof fileOf>) => readDocument(file, { steps: [], isPointer: false, hasLists: false });
  const byTokens = await outcomeOf(tokens(fileOf(content, chunkBytes)));
  const needs = (columns: readonly string[]): readonly ColumnNeed[] =>
    columns.map(() => ({ isCoded: !draw.once(3), isValue: draw.once(2), isNumberAsked: draw.once(2) }));
  const byColumns = await outcomeOf(readPlainRecords(fileOf(content, chunkBytes), { layout, needs, blockBytes }));
  const isLeft = byColumns.end === 'notPlain';
  if (isLeft && byColumns.columns !== undefined) throw new Error('a batch was handed over');
  const shown = ({ columns, rows, lines, hasFaults }: Outcome): string =>
    JSON.stringify({ columns, rows, lines, hasFaults }, undefined, 1);
  const isFailure = typeof byTokens.end === 'string';
  if (!isLeft && (isFailure || shown(byTokens) !== shown(byColumns))) {
    throw new Error(`tokenizer: ${shown(byTokens)} ${String(byTokens.end)}\nscanner: ${shown(byColumns)}`);
  }
  for (const [field, isNumber] of isLeft ? [] : byColumns.numbers) {
    if (byTokens.numbers.get(field) !== isNumber) throw new Error(`${field}: a number to one of the two`);
  }
  return isLeft ? undefined : byColumns.rows.length;
}

async function outcomeOf(reading: AsyncGenerator<FormatBatch, unknown, void>): Promise<Outcome> {
  const outcome: Outcome = {
    columns: undefined,
    rows: [],
    lines: [],
    hasFaults: false,
    numbers: new Map(),
    end: undefined,
  };
  try {
    for (;;) {
      const next = await reading.next();
      if (next.done === true) return Object.assign(outcome, { end: next.value });
      const batch = next.value;
      if (outcome.columns !== undefined && outcome.columns !== batch.columns) throw new Error('other columns');
      outcome.columns = batch.columns;
      outcome.hasFaults ||= 'fault' in batch;
      if ('rows' in batch) {
        for (const [at, row] of batch.rows.entries()) {
          noteNumbers(outcome, row, (column) => batch.isNumber?.(at, column) === true);
          outcome.rows.push(row);
        }
        outcome.lines.push(...(batch.lines ?? []));
        continue;
      }
      for (let at = 0; at < batch.count; at++) {
        noteNumbers(outcome, batch.row(at), (column) => batch.values[column]?.isNumber?.(at));
        checkRow(batch, at, batch.row(at));
        outcome.rows.push(batch.row(at));
        if (batch.line !== undefined) outcome.lines.push(batch.line(at));
      }
    }
  } catch (error) {
    if (!isAgentError(error)) throw error;
    return Object.assign(outcome, { end: error.message });
  }
}

function noteNumbers({ rows, numbers }: Outcome, row: Row, isNumber: (column: number) => boolean | undefined): void {
  for (const [column, text] of row.entries()) {
    const found = text.includes('.') ? isNumber(column) : undefined;
    if (found !== undefined) numbers.set(`row ${rows.length + 1}, column ${column + 1}`, found);
  }
}
