/** The rows of pages: as one table, counted, and hashed. */
import { createHash } from 'node:crypto';
import { AgentError } from '../../core/errors.ts';
import type { RowBatch } from '../../core/model.ts';
import type { FormatBatch, FormatContent } from '../files/read-part.ts';

export async function countRows(rows: AsyncGenerator<FormatBatch, unknown, void>): Promise<number> {
  let count = 0;
  for await (const batch of rows) count += rowsIn(batch);
  return count;
}

/** The same rows have the same hash (hex). */
export async function hashRows(batches: AsyncGenerator<RowBatch, unknown, void>): Promise<string> {
  const hash = createHash('sha256');
  let isFirst = true;
  for await (const { columns, rows, fault, isNumber } of batches) {
    if (isFirst) hash.update(`${JSON.stringify(columns)}\n`);
    isFirst = false;
    // A text is another thing than a list or a number that looks like it.
    for (const [at, row] of rows.entries()) {
      const faults = columns.flatMap((_column, of) => fault?.(at, of) ?? []);
      const numbers = columns.flatMap((_column, of) => (isNumber?.(at, of) === true ? [of] : []));
      hash.update(`${JSON.stringify([row, faults, numbers])}\n`);
    }
  }
  return hash.digest('hex');
}

function rowsIn(batch: FormatBatch): number {
  return 'rows' in batch ? batch.rows.length : batch.count;
}

/** What the rows of pages are followed by: JSON has no line ends. */
export type PageContent = Pick<FormatContent, 'endsWithLineEnd'> | void;

/** The rows of several tables, which have the same columns, and all or none a line end at their end, unless `any` is whole. */
export async function* readTables(
  tables: readonly AsyncGenerator<FormatBatch, FormatContent, void>[],
  { lineEnd }: { readonly lineEnd: 'expected' | 'any' },
): AsyncGenerator<FormatBatch, PageContent, void> {
  let columns: readonly string[] | undefined;
  const ends: (boolean | undefined)[] = [];
  for (const [at, table] of tables.entries()) {
    let count = 0;
    const check = (batch: FormatBatch): FormatBatch => {
      columns ??= batch.columns;
      count += rowsIn(batch);
      if (batch.columns.join('\n') === columns.join('\n')) return { ...batch, columns };
      const why = `page ${at + 1} has other columns than the first: ${batch.columns.join(', ')}`;
      throw new AgentError('part.unreadable', why, { hint: 'pages of one answer are read as one table' });
    };
    const { endsWithLineEnd } = yield* eachOf(table, check);
    // The line end behind a header says nothing of rows: some servers write one between lines alone.
    ends.push(count === 0 && endsWithLineEnd === true ? undefined : endsWithLineEnd);
  }
  const [cut, whole] = [ends.indexOf(false), ends.indexOf(true)];
  if (cut < 0 || whole < 0 || lineEnd === 'any') return { endsWithLineEnd: cut < 0 };
  const why = `page ${cut + 1} ends without a line end, and page ${whole + 1} has one`;
  throw new AgentError('part.unreadable', why, {
    hint: 'it may be half a page, and is read again: did it come whole? lineEnd: any says that such pages are whole',
  });
}

async function* eachOf<Given, End>(
  batches: AsyncGenerator<Given, End, void>,
  change: (batch: Given) => Given,
): AsyncGenerator<Given, End, void> {
  try {
    for (;;) {
      const next = await batches.next();
      if (next.done === true) return next.value;
      yield change(next.value);
    }
  } finally {
    await batches.return(undefined as never);
  }
}
