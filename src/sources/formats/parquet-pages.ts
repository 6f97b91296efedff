/** The values of one column of a row group, one page in memory at a time. */
import type { DecodedArray, PageHeader, ParquetParsers, RowGroup, SchemaTree } from 'hyparquet';
import type { readPage } from 'hyparquet/src/column.js';
import { megabytes } from '../limits.ts';
import type { PageColumn, PageLibrary } from './parquet-page.ts';
import { PageFault, openPage, sizesOf } from './parquet-page.ts';
import type { Slices } from './slices.ts';

/**
 * The most that the pages and dictionaries open at one time may take, by the estimates below: a page of a million values
 * in each of a hundred columns. A page takes most while it is decoded.
 */
const heldBytesMax = 1_000_000_000;
/** Measured: an entry of an array, how many arrays a page needs, a text without its characters, a view of a page's bytes. */
const entryBytes = 8;
const entryArrays = 4;
const textBytes = 40;
const viewBytes = 160;

/** The longest header of a page. One with statistics has some hundred bytes. */
const headerBytesMax = 1_000_000;
const readBytes = 64 * 1024;

/** A column that is read: where its values are in the schema, and what becomes of them. */
export interface StoredColumn {
  /** From the root of the schema to the column. */
  readonly schemaPath: readonly SchemaTree[];
  readonly parsers: ParquetParsers;
}

type Decoder = Parameters<typeof readPage>[2];

/** Adds up what the columns of a row group hold together. */
export class HeldBytes {
  #bytes = 0;

  /** @param more needed besides, while a page is decoded @throws PageFault where that is too much */
  take(bytes: number, more: number): void {
    this.#bytes += bytes;
    if (this.#bytes + more <= heldBytesMax) return;
    throw new PageFault(
      `the pages that have to be open together would take more than ${megabytes(heldBytesMax)} of memory`,
      'write the file with smaller row groups and pages, or read it by type: duckdb',
    );
  }

  release(bytes: number): void {
    this.#bytes -= bytes;
  }
}

type Columns = typeof import('hyparquet/src/column.js');
type Converting = typeof import('hyparquet/src/convert.js');

/** The functions of the library that read pages. */
export interface ColumnLibrary extends PageLibrary {
  readonly parquetHeader: Columns['parquetHeader'];
  readonly readPage: Columns['readPage'];
  readonly convert: Converting['convert'];
}

/** Loaded when the first file is read. */
export async function loadLibrary(): Promise<ColumnLibrary> {
  const [{ parquetHeader, readPage: readOne }, { convert }, { deltaBinaryUnpack }, encodings, { compressors }] =
    await Promise.all([
      import('hyparquet/src/column.js'),
      import('hyparquet/src/convert.js'),
      import('hyparquet/src/delta.js'),
      import('hyparquet/src/encoding.js'),
      import('hyparquet-compressors'),
    ]);
  const { readRleBitPackedHybrid } = encodings;
  return { parquetHeader, readPage: readOne, convert, deltaBinaryUnpack, readRleBitPackedHybrid, compressors };
}

export class ColumnPages {
  readonly #library: ColumnLibrary;
  readonly #bytes: ChunkBytes;
  readonly #decoder: Decoder;
  readonly #stored: PageColumn;
  readonly #held: HeldBytes;
  #dictionary: DecodedArray | undefined;
  #values: DecodedArray = [];
  #at = 0;
  #heldBytes = 0;
  /** Values in all pages so far. */
  count = 0;

  constructor(
    slices: Slices,
    { schemaPath, parsers }: StoredColumn,
    chunk: RowGroup['columns'][number],
    { library, held }: { readonly library: ColumnLibrary; readonly held: HeldBytes },
  ) {
    const meta = chunk.meta_data;
    const leaf = schemaPath.at(-1);
    if (meta === undefined || leaf === undefined) throw new Error('its description is missing');
    if (chunk.file_path) throw new Error('it is in another file');
    const start = Number(meta.dictionary_page_offset || meta.data_page_offset);
    this.#library = library;
    this.#held = held;
    this.#bytes = new ChunkBytes(slices, start, start + Number(meta.total_compressed_size));
    this.#decoder = {
      pathInSchema: meta.path_in_schema,
      type: meta.type,
      element: leaf.element,
      schemaPath: [...schemaPath],
      codec: 'UNCOMPRESSED',
      parsers,
    };
    this.#stored = {
      codec: meta.codec,
      levels: schemaPath.slice(1).filter(({ element }) => element.repetition_type !== 'REQUIRED').length,
      isBoolean: meta.type === 'BOOLEAN',
    };
  }

  /** Whether the page in memory has no value left: then `load` before `next`. */
  get isEmpty(): boolean {
    return this.#at === this.#values.length;
  }

  next(): unknown {
    return this.#values[this.#at++];
  }

  /** Brings in the next page that has values. @throws PageFault; an Error for what is damaged, also where no page is left */
  async load(): Promise<void> {
    this.#values = [];
    this.#at = 0;
    this.#held.release(this.#heldBytes);
    this.#heldBytes = 0;
    while (this.#values.length === 0) await this.#readPage();
    this.count += this.#values.length;
  }

  async #readPage(): Promise<void> {
    if (this.#bytes.isAtEnd) throw new Error(`it ends after ${this.count} rows`);
    const header = await this.#readHeader();
    const { stored, count, encoding } = sizesOf(header);
    const isDictionary = header.type === 'DICTIONARY_PAGE';
    const areIndexes = !isDictionary && encoding.endsWith('DICTIONARY');
    if (areIndexes && this.#dictionary === undefined) throw new Error('a page refers to a dictionary that is missing');
    const areTexts = this.#decoder.type.endsWith('BYTE_ARRAY') && !areIndexes;
    const held =
      count * (areTexts ? entryBytes + textBytes : entryBytes) + (areTexts ? 2 : 1) * header.uncompressed_page_size;
    const decoding = count * (entryArrays * entryBytes + (areTexts ? viewBytes : 0));
    this.#held.take(held, decoding);
    const page = openPage(header, await this.#bytes.take(stored), this.#stored, this.#library);
    const view = new DataView(page.bytes.buffer, page.bytes.byteOffset, page.bytes.byteLength);
    const { data = [] } = this.#library.readPage(
      { view, offset: 0 },
      page.header,
      this.#decoder,
      this.#dictionary,
      undefined,
      0,
    );
    if (isDictionary) {
      this.#dictionary = this.#library.convert(data, this.#decoder);
    } else {
      this.#values = data;
      this.#heldBytes = held;
    }
  }

  async #readHeader(): Promise<PageHeader> {
    for (let length = 4096; ; length *= 16) {
      const bytes = await this.#bytes.peek(Math.min(length, headerBytesMax));
      const reader = { view: new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength), offset: 0 };
      try {
        const header = this.#library.parquetHeader(reader);
        this.#bytes.skip(reader.offset);
        return header;
      } catch (error) {
        // The header may be longer than what was read: its length is not stored.
        if (bytes.length < length) throw error;
      }
    }
  }
}

/** The bytes of one column of a row group, from front to back. */
class ChunkBytes {
  readonly #slices: Slices;
  readonly #end: number;
  /** In the file, where `#buffer` begins and what comes next. */
  #from: number;
  #at: number;
  #buffer: Uint8Array = new Uint8Array(0);

  constructor(slices: Slices, start: number, end: number) {
    this.#slices = slices;
    this.#from = start;
    this.#at = start;
    this.#end = end;
  }

  get isAtEnd(): boolean {
    return this.#at >= this.#end;
  }

  /** The next bytes, as many as there are. */
  async peek(length: number): Promise<Uint8Array> {
    const wanted = Math.min(length, this.#end - this.#at);
    if (this.#at + wanted > this.#from + this.#buffer.length) {
      this.#buffer = await this.#slices.read(this.#at, Math.min(this.#end, this.#at + Math.max(wanted, readBytes)));
      this.#from = this.#at;
    }
    return this.#buffer.subarray(this.#at - this.#from, this.#at - this.#from + wanted);
  }

  async take(length: number): Promise<Uint8Array> {
    const bytes = await this.peek(length);
    if (bytes.length < length) throw new Error(`a page of ${length} bytes, and ${bytes.length} are left`);
    this.skip(length);
    return bytes;
  }

  skip(length: number): void {
    this.#at += length;
  }
}
