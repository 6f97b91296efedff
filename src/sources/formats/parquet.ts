/** Parquet files to rows: one row group in memory at a time, every value the exact text of what is stored. */
import type { AsyncBuffer, DecodedArray, FileMetaData, ParquetParsers, SchemaElement, SchemaTree } from 'hyparquet';
import { AgentError } from '../../core/errors.ts';
import type { FieldFault, Row, RowBatch } from '../../core/model.ts';
import { trimWhiteSpace } from '../../core/text.ts';
import type { PartFile } from '../files/part-file.ts';
import type { FormatContent } from '../files/place.ts';
import { FieldFaults } from './field-faults.ts';
import type { FieldProblem } from './field-faults.ts';
import { NoText, columnText } from './parquet-column.ts';
import type { ColumnText } from './parquet-column.ts';
import { Slices } from './slices.ts';

const batchRows = 1000;
const hint = 'was it written to its end? export it again';
/** Of one row group, which is held at once: Arrow's million rows of 64 columns, about 1 GB. */
const valuesMax = 64 * 1024 * 1024;

interface Column {
  /** The names of the structs that it is in, and its own, joined by dots. */
  readonly name: string;
  /** Where it begins among the columns that are stored: a map is two of them. */
  readonly chunk: number;
  /** How its values become text; `undefined` for one that holds no single values, which is not read. */
  readonly text: ColumnText | undefined;
  /** The name of its type. */
  readonly type: string;
}

/** An open file with its footer read. */
interface Opened {
  readonly file: PartFile;
  readonly bytes: SlicedFile;
  readonly metadata: FileMetaData;
  readonly columns: readonly Column[];
}

/** @throws AgentError `part.unreadable` */
export async function* readParquet(file: PartFile): AsyncGenerator<RowBatch, FormatContent, void> {
  const opened = await openParquet(file);
  const columns = opened.columns.map(({ name }) => name);
  const faults = new FieldFaults();
  const columnFaults = opened.columns.map(columnFault);
  const total = Number(opened.metadata.num_rows);
  let rowsRead = 0;
  for (const group of opened.metadata.row_groups.keys()) {
    const { count, values } = await readGroup(opened, group);
    for (let from = 0; from < count; from += batchRows) {
      const rows: Row[] = [];
      const to = Math.min(from + batchRows, count);
      for (let at = from; at < to; at++) rows.push(readRow(values, at, faults));
      rowsRead += rows.length;
      yield { columns, rows, share: rowsRead / total, ...joined(columnFaults, faults.batchOf(rows)) };
      // Only what reads the file notices an abort, and it lets others have their turn.
      await file.byteAt(0);
    }
  }
  if (rowsRead === 0) yield { columns, rows: [] };
  if (rowsRead !== total) throw damaged(file, `it says that it has ${total} rows, and has ${rowsRead}`);
  return {};
}

function readRow(values: readonly ColumnValues[], at: number, faults: FieldFaults): Row {
  const row: string[] = [];
  let problems: Map<number, FieldProblem> | undefined;
  for (const column of values) {
    const value = column.valueAt(at);
    if (value instanceof NoText) {
      problems ??= new Map();
      const problem = `column ${column.name} ${value.why}`;
      problems.set(row.length, { problem, hint: 'give the column a text or number type in the export' });
    }
    row.push(value instanceof NoText ? value.shown : value);
  }
  if (problems !== undefined) faults.set(row, problems);
  return row;
}

/** What is wrong with all fields of a column. */
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
  const metadata = await bytes.guard(() => parquetMetadataAsync(bytes, { parsers: asStored, geoparquet: false }));
  const root = await bytes.guard(() => parquetSchema(metadata));
  const columns = parseColumns(root);
  checkColumns(file, columns);
  checkChunks(file, metadata, columns);
  return { file, bytes, columns, metadata: { ...metadata, schema: metadata.schema.map(bare) } };
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
  throw new AgentError('part.unreadable', `${file.name} is no parquet file: it does not begin with PAR1`, {
    hint: 'check what the glob matches, or change the type of the source',
  });
}

function parseColumns(root: SchemaTree): readonly Column[] {
  const columns: Column[] = [];
  let chunk = 0;
  const walk = (tree: SchemaTree): void => {
    // A list is one column, however deep it goes.
    if (tree.children.length > 0 && !isMany(tree.element)) return tree.children.forEach(walk);
    columns.push(parseColumn(tree, chunk));
    chunk += countChunks(tree);
  };
  root.children.forEach(walk);
  return columns;
}

/** How many columns are stored for it: a map has two, a struct without fields none. */
function countChunks({ element, children }: SchemaTree): number {
  return children.reduce((sum, child) => sum + countChunks(child), element.type === undefined ? 0 : 1);
}

const manyTypes: ReadonlySet<string | undefined> = new Set(['LIST', 'MAP', 'MAP_KEY_VALUE', 'VARIANT']);

function isMany(element: SchemaElement): boolean {
  return (
    element.repetition_type === 'REPEATED' ||
    manyTypes.has(element.converted_type) ||
    manyTypes.has(element.logical_type?.type)
  );
}

function parseColumn({ element, path }: SchemaTree, chunk: number): Column {
  const name = trimWhiteSpace(path.join('.'));
  const stored = isMany(element) ? 'LIST' : element.type;
  const type = element.logical_type?.type ?? element.converted_type ?? stored ?? 'an empty struct';
  return { name, chunk, type, text: isMany(element) ? undefined : columnText(element) };
}

function checkColumns(file: PartFile, columns: readonly Column[]): void {
  const places = new Map<string, number>();
  for (const [at, { name }] of columns.entries()) {
    const before = places.get(name);
    if (before !== undefined) {
      throw new AgentError(
        'part.unreadable',
        `${file.name}: columns ${before + 1} and ${at + 1} are both called ${name}`,
        {
          hint: 'give every column of the export its own name',
        },
      );
    }
    places.set(name, at);
  }
  if (columns.length === 0) throw damaged(file, 'it has no columns');
  if (columns.some(({ text }) => text !== undefined)) return;
  const types = columns.map(({ name, type }) => `${name} (${type})`).join(', ');
  throw new AgentError('part.unreadable', `${file.name}: no column holds single texts or numbers: ${types}`, {
    hint: 'read the file by type: duckdb, with a query that makes some of them',
  });
}

function checkChunks(file: PartFile, { row_groups: groups, schema }: FileMetaData, wanted: readonly Column[]): void {
  const leaves = schema.filter(({ type }) => type !== undefined).length;
  const held = wanted.filter(({ text }) => text !== undefined).length;
  for (const { columns, num_rows: rows } of groups) {
    for (const { meta_data: chunk, crypto_metadata: crypto } of columns) {
      const name = chunk?.path_in_schema.join('.');
      if (crypto !== undefined || chunk === undefined) {
        throw encrypted(file, name === undefined ? 'a column is' : `column ${name} is`);
      }
    }
    if (columns.length !== leaves) throw damaged(file, `a row group has ${columns.length} of ${leaves} columns`);
    if (Number(rows) * held <= valuesMax) continue;
    throw new AgentError(
      'part.unreadable',
      `${file.name}: a row group of ${rows} rows is too large to hold in memory`,
      {
        hint: 'write the file with row groups of up to a million rows, which is what most writers do',
      },
    );
  }
}

/** The values of one column of a row group, page after page, as stored. */
class ColumnValues {
  length = 0;
  readonly #pages: { readonly from: number; readonly values: DecodedArray }[] = [];
  readonly #column: Column;
  #page = 0;

  constructor(column: Column) {
    this.#column = column;
  }

  get name(): string {
    return this.#column.name;
  }

  add(values: DecodedArray): void {
    this.#pages.push({ from: this.length, values });
    this.length += values.length;
  }

  /** The empty text where there is no value. Asked for in rising order. */
  valueAt(row: number): string | NoText {
    const { text, type } = this.#column;
    if (text === undefined) return `(${type})`;
    while ((this.#pages[this.#page + 1]?.from ?? Infinity) <= row) this.#page++;
    const page = this.#pages[this.#page];
    let value: unknown = page?.values[row - page.from];
    // An optional struct around the column comes as a list of one, or of none where it is null.
    while (Array.isArray(value)) value = value[0] as unknown;
    if (value === null || value === undefined) return '';
    return typeof value === 'string' || value instanceof NoText ? value : text.textOf(value);
  }
}

/** Column by column, so that each is decoded by what its own type says. */
async function readGroup(
  opened: Opened,
  group: number,
): Promise<{ readonly count: number; readonly values: readonly ColumnValues[] }> {
  const { file, bytes, metadata, columns } = opened;
  const [{ parquetRead }, { compressors }] = await Promise.all([import('hyparquet'), import('hyparquet-compressors')]);
  const rowGroup = metadata.row_groups[group] as FileMetaData['row_groups'][number];
  const count = Number(rowGroup.num_rows);
  const all: ColumnValues[] = [];
  for (const column of columns) {
    const values = new ColumnValues(column);
    all.push(values);
    if (column.text === undefined) continue;
    const chunk = rowGroup.columns.slice(column.chunk, column.chunk + 1);
    const only = { ...metadata, row_groups: [{ ...rowGroup, columns: chunk }] };
    const parsers = { ...asStored, ...hooksOf(column.text) };
    const onPage = ({ columnData }: { columnData: DecodedArray }): void => values.add(columnData);
    await bytes.guard(
      () => parquetRead({ file: bytes, metadata: only, compressors, parsers, geoparquet: false, onPage }),
      `column ${column.name}`,
    );
    if (values.length !== count) {
      throw damaged(file, `column ${column.name} has ${values.length} of ${rowGroup.num_rows} rows`);
    }
  }
  return { count, values: all };
}

/**
 * The library makes numbers of decimals and Dates of moments. A leaf without its types is left as it is stored; one that
 * is called UTF8 comes through `stringFromBytes`, once for each text of a dictionary.
 */
function bare(element: SchemaElement): SchemaElement {
  const { type, type_length: length, repetition_type: repetition, name, num_children: children } = element;
  return {
    name,
    ...(type && { type }),
    ...(length !== undefined && { type_length: length }),
    ...(repetition && { repetition_type: repetition }),
    ...(children !== undefined && { num_children: children }),
    ...((type === 'BYTE_ARRAY' || type === 'FIXED_LEN_BYTE_ARRAY') && { converted_type: 'UTF8' as const }),
  };
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

  /** What `work` of the library gives. @throws AgentError `part.unreadable` for what it throws, and what reading throws */
  async guard<T>(work: () => T | Promise<T>, where = 'its footer'): Promise<T> {
    try {
      return await work();
    } catch (error) {
      throw this.blame(named(error, where), hint);
    }
  }
}

function named(error: unknown, where: string): Error {
  return new Error(`${where}: ${error instanceof Error ? error.message : String(error)}`, { cause: error });
}

function damaged(file: PartFile, why: string): AgentError {
  return new AgentError('part.unreadable', `${file.name} is damaged: ${why}`, { hint });
}

function encrypted(file: PartFile, what: string): AgentError {
  return new AgentError('part.unreadable', `${file.name}: ${what} encrypted`, { hint: 'export it without encryption' });
}
