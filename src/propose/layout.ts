/** Guesses how a file is laid out: what is between its fields, what stands above, in and below its table. */
import { CsvError, parse } from 'csv-parse/sync';
import { trimWhiteSpace } from '../core/text.ts';
import { type Aligned, alignedTable } from './aligned.ts';
import { type DecodedPieces, decodePieces } from './encoding.ts';
import { escaped } from './escaped.ts';
import type { Guess } from './evidence.ts';
import { cutBelow } from './footer.ts';
import { type Header, findHeader } from './header.ts';
import { modalWidth } from './widths.ts';

/** A file of text, in pieces from its start, its middle and its end. */
export interface TextSample {
  readonly form: 'text';
  /** As the config names it. */
  readonly name: string;
  readonly pieces: readonly Buffer[];
  /** The pieces are all of the file. */
  readonly isWhole: boolean;
}

/** A sheet of a workbook: its rows as they stand, without blank ones. */
export interface SheetSample {
  readonly form: 'sheet';
  readonly name: string;
  readonly sheet: string;
  /** Other sheets that are shown. */
  readonly others: readonly string[];
  readonly rows: readonly (readonly string[])[];
  readonly isWhole: boolean;
}

/** Records that have columns of their own. */
export interface RecordsSample {
  readonly form: 'records';
  readonly name: string;
  readonly type: 'json' | 'jsonl' | 'parquet';
  /** Where the list is in a JSON document. */
  readonly items?: string | undefined;
  readonly columns: readonly string[];
  readonly rows: readonly (readonly string[])[];
  readonly isWhole: boolean;
}

export type Sample = TextSample | SheetSample | RecordsSample;

export interface Layout {
  readonly name: string;
  readonly type: string;
  /** The keys of the format, in their usual order. */
  readonly keys: readonly Guess[];
  readonly columns: readonly string[];
  /** Rows of the data that have a field for each column. */
  readonly rows: readonly (readonly string[])[];
  /** Rows of the sample that have too few or too many: they will be rejects. */
  readonly ragged: number;
  readonly isWhole: boolean;
  /** What speaks for a decimal comma: a semicolon between fields. */
  readonly hasSemicolons: boolean;
  /** What a person has to look at. */
  readonly notes: readonly string[];
}

/** More records than this say nothing new. */
const recordsMax = 20_000;

export function layoutOf(sample: Sample): Layout {
  if (sample.form === 'records') return ofRecords(sample);
  return sample.form === 'sheet' ? ofSheet(sample) : ofText(sample);
}

function ofRecords({ name, type, items, columns, rows, isWhole }: RecordsSample): Layout {
  const key = { key: 'items', value: items, because: 'where the list of records is in the document' };
  return {
    name,
    type,
    keys: items === undefined ? [] : [key],
    columns,
    rows,
    ragged: 0,
    isWhole,
    hasSemicolons: false,
    notes: [],
  };
}

function ofSheet({ name, sheet, others, rows, isWhole }: SheetSample): Layout {
  const trimmed = rows.map((row) => row.map(trimWhiteSpace));
  const table = findHeader(padded(trimmed, modalWidth(trimmed)));
  const first = rows[table.at] ?? [];
  // Blank rows of a sheet are not seen here, so that its rows cannot be counted.
  const cells = first
    .map(trimWhiteSpace)
    .filter((cell) => cell !== '')
    .slice(0, 2);
  const start = { key: 'skipUntil', value: `^,*${cells.map(escaped).join('.*')}`, because: above(table.at, rows[0]) };
  const choice: Guess = {
    key: 'sheet',
    value: sheet,
    because: 'the first sheet that is shown',
    instead: others.map((other) => `sheet: ${JSON.stringify(other)}`),
  };
  const data = padded(rows.slice(table.at + table.rows), table.columns.length);
  const { keys: below, kept } = cutBelow(data, table.columns);
  return {
    name,
    type: 'xlsx',
    keys: [
      ...(others.length > 0 ? [choice] : []),
      ...(table.at > 0 && table.rows > 0 ? [start] : []),
      ...headerKeys(table),
      ...below,
    ],
    columns: table.columns,
    ...squareOf(kept, table.columns.length),
    isWhole,
    hasSemicolons: false,
    notes: table.notes,
  };
}

/** A sheet has no cells behind the last one that is filled. */
function padded(rows: readonly (readonly string[])[], width: number): readonly (readonly string[])[] {
  return rows.map((row) =>
    row.length < width ? [...row, ...Array.from({ length: width - row.length }, () => '')] : row,
  );
}

function above(count: number, first: readonly string[] | undefined): string {
  const title = first?.find((cell) => cell.trim() !== '')?.trim() ?? '';
  return `${count === 1 ? 'a row stands' : `${count} rows stand`} above the header: ${JSON.stringify(title.slice(0, 40))}`;
}

interface Records {
  readonly rows: readonly (readonly string[])[];
  /** The line that each row of the first piece begins in, from 0. */
  readonly lines: readonly number[];
  readonly firstCount: number;
}

function ofText({ name, pieces, isWhole }: TextSample): Layout {
  const decoded = decodePieces(pieces, isWhole);
  const aligned = alignedTable(decoded.pieces);
  if (aligned !== undefined) return ofAligned({ name, isWhole }, decoded, aligned);
  const [head = ''] = decoded.pieces;
  const delimiter = guessDelimiter(head);
  const comment = guessComment(head, delimiter.value);
  const records = recordsOf(decoded.pieces, delimiter.value, comment?.value);
  const table = findHeader(records.rows.slice(0, records.firstCount));
  const line = records.lines[table.at] ?? 0;
  const skipped = linesToSkip(head, line, comment?.value);
  const skip = {
    key: 'skipRows',
    value: line,
    because: `above the header: ${JSON.stringify(head.split(/\r\n?|\n/)[0]?.slice(0, 40) ?? '')}`,
  };
  const data = records.rows.slice(table.at + table.rows);
  const { keys: below, kept } = cutBelow(data, table.columns);
  const square = squareOf(kept, table.columns.length);
  const last = decoded.pieces.at(-1) ?? '';
  const open = {
    key: 'lineEnd',
    value: 'any',
    because: 'the file does not end with a line end; leave this out if that may mean half a file',
  };
  const isTabbed = delimiter.value === '\t';
  return {
    name,
    type: isTabbed ? 'tsv' : 'csv',
    keys: [
      ...(decoded.encoding === undefined ? [] : [decoded.encoding]),
      ...(isTabbed || delimiter.value === ',' ? [] : [delimiter]),
      ...(skipped ? [skip] : []),
      ...headerKeys(table),
      ...(comment === undefined ? [] : [comment]),
      ...below,
      ...(isWhole && last !== '' && !/[\r\n]$/.test(last) ? [open] : []),
    ],
    columns: table.columns,
    ...square,
    isWhole,
    hasSemicolons: delimiter.value === ';',
    notes: table.notes,
  };
}

function ofAligned(
  { name, isWhole }: Pick<TextSample, 'name' | 'isWhole'>,
  { encoding, pieces }: DecodedPieces,
  { columns, skipped, rows, hasRule }: Aligned,
): Layout {
  const names = columns.map((column) => column.name);
  const { keys: below, kept } = cutBelow(rows, names);
  const places = columns.map((column) => [column.name, `${column.start + 1}-${column.end}`]);
  const [first = ''] = pieces[0]?.split(/\r\n?|\n/) ?? [];
  return {
    name,
    type: 'fixed',
    keys: [
      ...(encoding === undefined ? [] : [encoding]),
      {
        key: 'columns',
        value: Object.fromEntries(places),
        because: `the first and the last place of each in a line, ${hasRule ? 'as the strokes below the header say' : 'guessed from the blanks between them: give each all places that its widest value may take'}`,
      },
      ...(skipped === 0
        ? []
        : [
            {
              key: 'skipRows',
              value: skipped,
              because: `above the data: ${JSON.stringify(first.trim().slice(0, 40))}`,
            },
          ]),
      ...below,
    ],
    columns: names,
    ...squareOf(kept, names.length),
    isWhole,
    hasSemicolons: false,
    notes: [],
  };
}

/** Whether lines have to be skipped: blank lines and comments are left out as they are. */
function linesToSkip(head: string, line: number, comment: string | undefined): boolean {
  const lines = head.split(/\r\n?|\n/, line);
  return lines.some((one) => one.trim() !== '' && (comment === undefined || !one.startsWith(comment)));
}

function headerKeys({ rows, columns, notes }: Header): Guess[] {
  if (rows === 1) return [];
  const because = notes.length > 0 ? 'in place of its header' : 'there is no header: these are names of your own';
  if (rows === 0) return [{ key: 'columns', value: columns, because }];
  return [{ key: 'headerRows', value: rows, because: 'the header has several rows, which are joined by a space' }];
}

const delimiters = [',', ';', '\t', '|'] as const;

/** How many lines of the start are looked at for the delimiter. */
const delimiterLines = 300;

function guessDelimiter(head: string): Guess<string> {
  const lines = head.split(/\r\n?|\n/).slice(0, delimiterLines);
  const start = lines.join('\n');
  const tried = delimiters.map((delimiter) => {
    const rows = parseText(start, delimiter).rows;
    const width = modalWidth(rows);
    const share = rows.filter((row) => row.length === width).length / Math.max(1, rows.length);
    return { delimiter, width, score: width < 2 ? 0 : share + Math.min(width, 50) / 1000 };
  });
  const [best] = tried.toSorted((a, b) => b.score - a.score);
  if (best === undefined || best.score === 0) return { key: 'delimiter', value: ',', because: 'there is one column' };
  return { key: 'delimiter', value: best.delimiter, because: `${best.width} fields in most lines` };
}

function guessComment(head: string, delimiter: string): Guess<string> | undefined {
  const rows = parseText(
    head
      .split(/\r\n?|\n/)
      .slice(0, delimiterLines)
      .join('\n'),
    delimiter,
  ).rows;
  const width = modalWidth(rows);
  for (const mark of ['#', '//', '%']) {
    const lines = rows.filter(([first = '']) => first.startsWith(mark));
    if (lines.length === 0 || lines.some((row) => row.length === width && width > 1)) continue;
    return {
      key: 'comment',
      value: mark,
      because: `lines such as ${JSON.stringify(lines[0]?.join(delimiter).slice(0, 40) ?? '')}`,
    };
  }
  return undefined;
}

function recordsOf(pieces: readonly string[], delimiter: string, comment: string | undefined): Records {
  const [head = '', ...others] = pieces;
  const first = parseText(head, delimiter, comment);
  const width = modalWidth(first.rows);
  // A piece may begin within a quoted field, so that only rows of the usual width count there.
  const more = others.map((piece) => parseText(piece, delimiter, comment).rows);
  const behind = more.flatMap((rows, at) =>
    at === more.length - 1
      ? rows.slice(rows.findIndex((row) => row.length === width))
      : rows.filter((row) => row.length === width),
  );
  return { rows: [...first.rows, ...behind], lines: first.lines, firstCount: first.rows.length };
}

function parseText(
  text: string,
  delimiter: string,
  comment?: string,
): { readonly rows: readonly (readonly string[])[]; readonly lines: readonly number[] } {
  const rows: (readonly string[])[] = [];
  const lines: number[] = [];
  try {
    parse(text, {
      delimiter,
      bom: true,
      relax_column_count: true,
      relax_quotes: true,
      skip_empty_lines: true,
      to: recordsMax,
      on_record: (record: readonly string[], { lines: endLine }) => {
        rows.push(record.map(trimWhiteSpace));
        // csv-parse says where a record ends.
        lines.push(endLine - 1 - lineBreaksIn(record));
        return null;
      },
      ...(comment === undefined ? {} : { comment, comment_no_infix: true }),
    });
  } catch (error) {
    // A piece may end within a quoted field: what came before counts.
    if (!(error instanceof CsvError)) throw error;
  }
  return { rows, lines };
}

function lineBreaksIn(record: readonly string[]): number {
  return record.reduce((sum, field) => sum + (field.match(/\r\n?|\n/g)?.length ?? 0), 0);
}

function squareOf(
  rows: readonly (readonly string[])[],
  width: number,
): { readonly rows: readonly (readonly string[])[]; readonly ragged: number } {
  const square = rows.filter((row) => row.length === width);
  return { rows: square, ragged: rows.length - square.length };
}
