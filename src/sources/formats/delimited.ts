/** Delimited text to rows, for csv, tsv and answers from the web. */
import { z } from 'zod';
import { AgentError } from '../../core/errors.ts';
import type { Row, RowBatch } from '../../core/model.ts';
import { trimWhiteSpace } from '../../core/text.ts';
import type { PartFile } from '../files/part-file.ts';
import type { FormatContent } from '../files/read-part.ts';
import { BytesAbove, LinesAbove } from './above.ts';
import { CsvFault, CsvParser } from './csv-parser.ts';
import { LinesOfRows } from './lines-of-rows.ts';
import { fieldBytesMax, grouped, megabytes, rowBytesMax, rowFieldsMax } from '../limits.ts';
import { Table, neverMatched, tableKeys } from './table.ts';
import { encodingKey } from './encoding-key.ts';
import { isLineEnd, lineAt, readText } from './text.ts';

export const delimiterKey = z
  .string()
  .transform((text) => (text === '\\t' ? '\t' : text))
  .refine(
    (text) => [...text].length === 1 && !/["\r\n\0]/.test(text),
    'expected one character, and no quote or line end',
  )
  .prefault(',')
  .describe(
    'The one character between fields; `"\\t"` is a tab. The quote is always `"`, doubled inside a quoted field.',
  );

/** The keys of delimited text, without its delimiter. A schema that has them is refined by `checkTable`. */
export const delimitedKeys = {
  encoding: encodingKey,
  ...tableKeys,
  comment: z
    .string()
    .min(1)
    .refine((text) => !/["\r\n\0]/.test(text), 'must hold no quote and no line end')
    .optional()
    .describe('Lines that start with this text are ignored. Default: no line is.'),
};

/** The output of `delimitedKeys`, and the delimiter. */
export type DelimitedSettings = z.output<z.ZodObject<typeof delimitedKeys>> & { readonly delimiter: string };

/** Where the data of a table begins, or a row of it before which all was read. */
export interface DataStart {
  readonly columns: readonly string[];
  /** The first row of the file that csv-parse reads, of the header or of the data. */
  readonly firstRow: Row;
  /** In bytes of what `readText` gives. */
  readonly offset: number;
  /** How many lines stand before it. */
  readonly lines: number;
}

/**
 * The rows of delimited text. Quotes are read as RFC 4180 has them, and strictly: text that could be read in two ways is
 * refused.
 * @param from where the reading starts, instead of at the header
 * @throws AgentError `part.unreadable` with the line and column
 */
export async function* readDelimited(
  file: PartFile,
  settings: DelimitedSettings,
  from?: DataStart,
): AsyncGenerator<RowBatch, FormatContent, void> {
  let last: number | undefined;
  const text = { file, encoding: settings.encoding };
  const parser = await CsvParser.open(settings, from?.firstRow);
  const above = from === undefined ? new LinesAbove(settings) : new BytesAbove(from.offset, from.lines);
  const ofTable = from === undefined ? settings : { ...settings, columns: from.columns, headerRows: 0 };
  const table = new Table(ofTable, file.name, 'skipped');
  const lines = new LinesOfRows();
  const take = (rows: readonly Row[]): RowBatch | undefined => {
    lines.add(rows, parser.lines);
    const batch = table.take(rows);
    return batch && { ...batch, lines: lines.take(batch.rows, above.linesCut), share: file.share };
  };
  try {
    for await (const chunk of readText(text)) {
      last = chunk.at(-1);
      const batch = take(parser.write(above.cut(chunk)));
      if (batch !== undefined) yield batch;
    }
    for (const rest of [() => parser.write(above.end()), () => parser.end()]) {
      const batch = take(rest());
      if (batch !== undefined) yield batch;
    }
  } catch (error) {
    if (!(error instanceof CsvFault)) throw error;
    const { offset, linesSkipped } = error.place;
    const line = (await lineAt(text, above.bytesCut + offset)) + linesSkipped;
    // Without a header, the first row that is read is data and no name of anything.
    const header = settings.columns ?? (settings.headerRows === 0 ? undefined : parser.header);
    throw faultError(error, { name: file.name, line, header });
  }
  if (file.bytes === 0) {
    throw new AgentError('part.unreadable', `${file.name} has no header: it is empty (0 bytes)`, {
      hint: 'is the export still to be written, or did it fail?',
    });
  }
  if (settings.skipUntil !== undefined && !above.isCut) throw neverMatched(file.name, 'line', settings.skipUntil);
  const columnsAlone = table.end();
  if (columnsAlone !== undefined) yield columnsAlone;
  return { endsWithLineEnd: isLineEnd(last) };
}

interface FaultPlace {
  readonly name: string;
  readonly line: number;
  readonly header: Row | undefined;
}

function faultError(fault: CsvFault, { name, line, header }: FaultPlace): AgentError {
  const { column } = fault.place;
  const title = trimWhiteSpace(header?.[column ?? -1] ?? '');
  const where = [
    `${name} line ${line}`,
    column === undefined ? '' : `, column ${column + 1}`,
    title === '' ? '' : ` (${title})`,
  ].join('');
  switch (fault.kind) {
    case 'unclosed':
      return new AgentError('part.unreadable', `${where}: the quote that opens here is never closed`, {
        hint: 'close it, or double it ("") where it is part of the text; is the file complete?',
      });
    case 'afterQuote':
      return new AgentError(
        'part.unreadable',
        `${where}: text follows the closing quote of the field that starts here`,
        {
          hint: 'double the quotes ("") that are part of the text, and check the delimiter',
        },
      );
    case 'insideField':
      return new AgentError('part.unreadable', `${where}: a quote inside a field that does not start with one`, {
        hint: 'put the whole field in quotes and double those inside it ("")',
      });
    case 'fieldTooLong':
      return new AgentError(
        'part.unreadable',
        `${where}: the field that starts here is over ${megabytes(fieldBytesMax)}`,
        {
          hint: 'is a quote not closed, or is this not the delimiter?',
        },
      );
    case 'rowTooLong':
      return new AgentError('part.unreadable', `${where}: the row that starts here is over ${megabytes(rowBytesMax)}`, {
        hint: 'is a quote not closed, or does the file have no line ends?',
      });
    case 'rowTooWide':
      return new AgentError(
        'part.unreadable',
        `${where}: the row that starts here has over ${grouped(rowFieldsMax)} fields`,
        {
          hint: 'does the file have no line ends, or is this not the delimiter?',
        },
      );
  }
}
