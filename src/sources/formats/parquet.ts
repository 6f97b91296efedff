/** Parquet files to rows: a page of each column in memory at a time, every value the exact text of what is stored. */
import type { AsyncBuffer, FileMetaData, ParquetParsers, RowGroup } from 'hyparquet';
import { AgentError } from '../../core/errors.ts';
import type { FieldFault, Row, RowBatch } from '../../core/model.ts';
import type { PartFile } from '../files/part-file.ts';
import type { FormatContent } from '../files/read-part.ts';
import { FieldFaults } from './field-faults.ts';
import type { FieldProblem } from './field-faults.ts';
import { numberColumns } from './field-numbers.ts';
import { batchLengthMax, fieldBytesMax, isFieldTooLong, megabytes, rowBytesMax } from '../limits.ts';
import { NoText } from './parquet-column.ts';
import type { ColumnText } from './parquet-column.ts';
import { checkFooter, damaged, encrypted, hint } from './parquet-footer.ts';
import { PageFault } from './parquet-page.ts';
import type { ColumnLibrary } from './parquet-pages.ts';
import { ColumnPages, HeldBytes, loadLibrary } from './parquet-pages.ts';
import type { Column } from './parquet-schema.ts';
import { parseColumns } from './parquet-schema.ts';
import { Slices } from './slices.ts';

const batchRows = 1000;
/** The longest footer: 100 000 column chunks with statistics. Each byte of it can take a hundred in memory. */
const footerBytesMax = 16_000_000;

/** An open file with its footer read. */
interface Opened {
  readonly file: PartFile;
  readonly bytes: SlicedFile;
  readonly metadata: FileMetaData;
  readonly columns: readonly Column[];
  readonly library: ColumnLibrary;
}

/** @throws AgentError `part.unreadable` */
export async function* readParquet(file: PartFile): AsyncGenerator<RowBatch, FormatContent, void> {
  const opened = await openParquet(file);
  const columns = opened.columns.map(({ name }) => name);
  const faults = new FieldFaults();
  const columnFaults = opened.columns.map(columnFault);
  const numbers = numberColumns(opened.columns.map(({ text }) => text?.isNumber === true));
  const total = Number(opened.metadata.num_rows);
  let rowsRead = 0;
  for (const rowGroup of opened.metadata.row_groups) {
    const group = new Group(opened, rowGroup, { rowsBefore: rowsRead, faults });
    while (!group.isAtEnd) {
      const rows = await group.readBatch();
      rowsRead += rows.length;
      yield { columns, rows, share: rowsRead / total, ...joined(columnFaults, faults.batchOf(rows)), ...numbers };
      // Only what reads the file notices an abort, and it lets others have their turn.
      await file.byteAt(0);
    }
    group.end();
  }
  if (rowsRead === 0) yield { columns, rows: [] };
  if (rowsRead !== total) throw damaged(file, `it says that it has ${total} rows, and has ${rowsRead}`);
  return {};
}

/** The rows of one row group, which is stored column by column. */
class Group {
  readonly #opened: Opened;
  readonly #rowsBefore: number;
  readonly #faults: FieldFaults;
  readonly #count: number;
  /** One for each column; `undefined` where it is not read. */
  readonly #pages: readonly (ColumnPages | undefined)[];
  #rows = 0;

  constructor(
    opened: Opened,
    rowGroup: RowGroup,
    { rowsBefore, faults }: { readonly rowsBefore: number; readonly faults: FieldFaults },
  ) {
    this.#opened = opened;
    this.#rowsBefore = rowsBefore;
    this.#faults = faults;
    this.#count = Number(rowGroup.num_rows);
    const { columns, bytes, library } = opened;
    const held = new HeldBytes();
    this.#pages = columns.map(({ name, chunk, text, schemaPath }) => {
      const stored = rowGroup.columns[chunk];
      if (text === undefined || stored === undefined) return undefined;
      const parsers = { ...asStored, ...hooksOf(text) };
      return bytes.guard(
        () => new ColumnPages(bytes, { schemaPath, parsers }, stored, { library, held }),
        `column ${name}`,
      );
    });
  }

  get isAtEnd(): boolean {
    return this.#rows >= this.#count;
  }

  async readBatch(): Promise<readonly Row[]> {
    const rows: Row[] = [];
    let length = 0;
    while (!this.isAtEnd && rows.length < batchRows && length < batchLengthMax) {
      for (const [at, pages] of this.#pages.entries()) if (pages?.isEmpty === true) await this.#load(pages, at);
      const row = this.#readRow();
      for (const field of row) length += field.length;
      rows.push(row);
      this.#rows++;
    }
    return rows;
  }

  /** @throws AgentError where a column has more values than the group has rows */
  end(): void {
    for (const [at, pages] of this.#pages.entries()) {
      if (pages === undefined || pages.isEmpty) continue;
      throw damaged(this.#opened.file, `column ${this.#nameOf(at)} has more than ${this.#count} rows in a row group`);
    }
  }

  async #load(pages: ColumnPages, at: number): Promise<void> {
    try {
      await this.#opened.bytes.guardAsync(() => pages.load(), `column ${this.#nameOf(at)}`);
    } catch (error) {
      if (error instanceof PageFault) throw this.#refused(at, error.message, error.hint);
      throw error;
    }
  }

  #readRow(): Row {
    const row: string[] = [];
    let problems: Map<number, FieldProblem> | undefined;
    let length = 0;
    for (const [at, pages] of this.#pages.entries()) {
      const { name, text, type } = this.#opened.columns[at] as Column;
      const value = text === undefined || pages === undefined ? `(${type})` : fieldOf(text, pages.next());
      if (value instanceof NoText) {
        problems ??= new Map();
        const problem = `column ${name} ${value.why}`;
        problems.set(at, { problem, hint: 'give the column a text or number type in the export' });
      }
      const shown = value instanceof NoText ? value.shown : value;
      if (isFieldTooLong(shown)) throw this.#refused(at, `a text of over ${megabytes(fieldBytesMax)}`, wrongColumn);
      length += shown.length;
      row.push(shown);
    }
    if (length > rowBytesMax) throw this.#refused(undefined, `over ${megabytes(rowBytesMax)} of text`, wrongColumn);
    if (problems !== undefined) this.#faults.set(row, problems);
    return row;
  }

  /** The failure of the row that comes next. */
  #refused(column: number | undefined, what: string, todo: string): AgentError {
    const { file } = this.#opened;
    const where = column === undefined ? '' : `, column ${this.#nameOf(column)}`;
    return new AgentError('part.unreadable', `${file.name} row ${this.#rowsBefore + this.#rows + 1}${where}: ${what}`, {
      hint: todo,
    });
  }

  #nameOf(at: number): string {
    return this.#opened.columns[at]?.name ?? '';
  }
}

const wrongColumn = 'leave documents and pictures out of the export';

/** The empty text where there is no value. */
function fieldOf(text: ColumnText, stored: unknown): string | NoText {
  let value = stored;
  // An optional struct around the column comes as a list of one, or as an empty list where it is null.
  while (Array.isArray(value)) value = value[0] as unknown;
  if (value === null || value === undefined) return '';
  return typeof value === 'string' || value instanceof NoText ? value : text.textOf(value);
}

/** Why no field of a column can be used, where that is so. */
function columnFault({ name, text, type }: Column): string | undefined {
  if (text !== undefined) return undefined;
  const problem = `column ${name} holds no single text or number (${type})`;
  return `${problem}: read the file by type: duckdb, with a query that makes one of it`;
}

function joined(
  columnFaults: readonly (string | undefined)[],
  { fault }: Pick<RowBatch, 'fault'>,
): { readonly fault?: FieldFault } {
  if (columnFaults.every((found) => found === undefined)) return fault === undefined ? {} : { fault };
  return { fault: (row, column) => columnFaults[column] ?? fault?.(row, column) };
}

async function openParquet(file: PartFile): Promise<Opened> {
  const { parquetMetadataAsync, parquetSchema } = await import('hyparquet');
  const bytes = new SlicedFile(file, await file.size());
  await checkMagic(file, bytes);
  const footerBytes = (await bytes.read(bytes.byteLength - 8, bytes.byteLength - 4)).readUInt32LE();
  if (footerBytes > footerBytesMax && footerBytes < bytes.byteLength) {
    throw new AgentError('part.unreadable', `${file.name}: its footer is over ${megabytes(footerBytesMax)}`, {
      hint: 'write the file with larger row groups, or as several files',
    });
  }
  const metadata = await bytes.guardAsync(() => parquetMetadataAsync(bytes, { parsers: asStored, geoparquet: false }));
  checkFooter(file, metadata);
  const columns = parseColumns(
    file,
    bytes.guard(() => parquetSchema(metadata)),
  );
  if (columns.length === 0) throw damaged(file, 'it has no columns');
  return { file, bytes, columns, metadata, library: await loadLibrary() };
}

/** The first and the last four bytes say what a file is, and whether it was written to its end. */
async function checkMagic(file: PartFile, bytes: SlicedFile): Promise<void> {
  const size = bytes.byteLength;
  const [head, tail] =
    size < 12
      ? ['', '']
      : [await bytes.read(0, 4), await bytes.read(size - 4, size)].map((four) => four.toString('latin1'));
  if (head === 'PAR1' && tail === 'PAR1') return;
  if (tail === 'PARE' || head === 'PARE') throw encrypted(file, 'its footer is');
  if (head === 'PAR1') {
    throw new AgentError('part.unreadable', `${file.name} is cut short: it does not end as a parquet file does`, {
      hint,
    });
  }
  throw new AgentError('part.unreadable', `${file.name} is not a parquet file: it does not begin with PAR1`, {
    hint: 'check what the glob matches, or change the type of the source',
  });
}

function hooksOf({ from, textOf }: ColumnText): Partial<ParquetParsers> {
  if (from === 'nanos') return { timestampFromNanoseconds: textOf };
  return from === 'bytes' ? { stringFromBytes: textOf } : {};
}

const asStored: ParquetParsers = {
  timestampFromMilliseconds: (millis) => millis,
  timestampFromMicroseconds: (micros) => micros,
  timestampFromNanoseconds: (nanos) => nanos,
  dateFromDays: (days) => days,
  stringFromBytes: (bytes) => bytes,
  jsonFromBytes: (bytes) => bytes,
  geometryFromBytes: (bytes) => bytes,
  geographyFromBytes: (bytes) => bytes,
  uuidFromBytes: (bytes) => bytes,
};

/** The file as the library wants it. */
class SlicedFile extends Slices implements AsyncBuffer {
  slice(start: number, end: number = this.byteLength): Promise<ArrayBuffer> {
    const reading = this.read(start, end).then((bytes) => new Uint8Array(bytes).buffer);
    // The library reads ahead, and never looks at what it did not need then: that must not end the process.
    reading.catch(() => undefined);
    return reading;
  }

  /** The result of `work`, a call of the library. @throws AgentError `part.unreadable` for its failures; failed reads as they are */
  guard<T>(work: () => T, where = 'its footer'): T {
    try {
      return work();
    } catch (error) {
      throw this.#blamed(error, where);
    }
  }

  /** As `guard`, for work that reads. */
  async guardAsync<T>(work: () => Promise<T>, where = 'its footer'): Promise<T> {
    try {
      return await work();
    } catch (error) {
      throw this.#blamed(error, where);
    }
  }

  #blamed(error: unknown, where: string): unknown {
    return error instanceof PageFault ? error : this.blame(named(error, where), hint);
  }
}

function named(error: unknown, where: string): Error {
  return new Error(`${where}: ${error instanceof Error ? error.message : String(error)}`, { cause: error });
}
