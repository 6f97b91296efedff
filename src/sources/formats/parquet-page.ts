/** One page of a Parquet file, expanded and checked before the library decodes it: the library believes what a page says. */
import { brotliDecompressSync, gunzipSync, zstdDecompressSync } from 'node:zlib';
import type { CompressionCodec, Compressors, PageHeader } from 'hyparquet';
import type { deltaBinaryUnpack } from 'hyparquet/src/delta.js';
import type { readRleBitPackedHybrid } from 'hyparquet/src/encoding.js';
import { megabytes } from '../limits.ts';

/** The most that a page or a dictionary may expand to. Most writers end a page at 1 MB, DuckDB at 100 MB. */
const pageBytesMax = 128_000_000;

/** A page as the library takes it, and what its header says. */
export interface Page {
  /** Says that the page is not compressed. */
  readonly header: PageHeader;
  readonly bytes: Uint8Array;
  /** How many values it has, nulls included. */
  readonly count: number;
  readonly encoding: string;
}

export interface PageLibrary {
  readonly compressors: Compressors;
  readonly deltaBinaryUnpack: typeof deltaBinaryUnpack;
  readonly readRleBitPackedHybrid: typeof readRleBitPackedHybrid;
}

/** How the values of a column are stored. */
export interface PageColumn {
  readonly codec: CompressionCodec;
  /** How many definition levels a value has. */
  readonly levels: number;
  readonly isBoolean: boolean;
}

/** A page that is refused; the message says why, to follow its place. */
export class PageFault extends Error {
  readonly hint: string;

  constructor(message: string, hint: string) {
    super(message);
    this.hint = hint;
  }
}

/** The sizes that a header claims, judged before the page is read. @throws PageFault where they are too large */
export function sizesOf(header: PageHeader): {
  readonly stored: number;
  readonly count: number;
  readonly encoding: string;
} {
  const { compressed_page_size: stored, uncompressed_page_size: expanded } = header;
  const content = header.data_page_header ?? header.data_page_header_v2 ?? header.dictionary_page_header;
  const count = content?.num_values ?? 0;
  const v2 = header.data_page_header_v2;
  // A damaged header may leave any of them out.
  const levels = v2 === undefined ? [] : [v2.definition_levels_byte_length, v2.repetition_levels_byte_length];
  const sizes = [stored, expanded, count, ...levels];
  if (!sizes.every((size) => size >= 0)) throw new Error('a page of less than nothing');
  if (Math.max(stored, expanded) > pageBytesMax) {
    throw new PageFault(
      `a page of ${megabytes(Math.max(stored, expanded))}, and at most ${megabytes(pageBytesMax)} are read`,
      'is a text in it a whole document? write the file with pages of about 1 MB, which is what most writers do',
    );
  }
  return { stored, count, encoding: content?.encoding ?? '' };
}

/** The page of these stored bytes. @throws PageFault, or an Error for a damaged page */
export function openPage(header: PageHeader, stored: Uint8Array, column: PageColumn, library: PageLibrary): Page {
  const { count, encoding } = sizesOf(header);
  const v2 = header.data_page_header_v2;
  const isExpanded = column.codec === 'UNCOMPRESSED' || v2?.is_compressed === false;
  // The levels of a page of the second version stand before it and are never compressed.
  const levelBytes = v2 === undefined ? 0 : v2.definition_levels_byte_length + v2.repetition_levels_byte_length;
  const body = stored.subarray(levelBytes);
  const bytes = isExpanded
    ? stored
    : joined(
        stored.subarray(0, levelBytes),
        expand(body, header.uncompressed_page_size - levelBytes, column.codec, library.compressors),
      );
  const page = {
    bytes,
    count,
    encoding,
    header: {
      ...header,
      compressed_page_size: bytes.length,
      uncompressed_page_size: bytes.length,
      ...(v2 && { data_page_header_v2: { ...v2, is_compressed: false } }),
    },
  };
  if (header.type !== 'DICTIONARY_PAGE') checkValues(page, column, library);
  return page;
}

function joined(first: Uint8Array, second: Uint8Array): Uint8Array {
  if (first.length === 0) return second;
  const bytes = new Uint8Array(first.length + second.length);
  bytes.set(first);
  bytes.set(second, first.length);
  return bytes;
}

/** Never gives more than `length`, even where the stored bytes claim more. */
function expand(bytes: Uint8Array, length: number, codec: CompressionCodec, compressors: Compressors): Uint8Array {
  const options = { maxOutputLength: Math.max(1, length) };
  const expanded =
    codec === 'GZIP'
      ? gunzipSync(bytes, options)
      : codec === 'BROTLI'
        ? brotliDecompressSync(bytes, options)
        : codec === 'ZSTD'
          ? zstdDecompressSync(bytes, options)
          : compressors[codec]?.(bytes, length);
  if (expanded === undefined) throw new Error(`an unknown compression (${codec})`);
  if (expanded.length !== length) throw new Error(`a page of ${expanded.length} bytes that should have ${length}`);
  return expanded;
}

/** The library fills its arrays with what runs and prefixes say, beyond the number of values and the size of the page. */
function checkValues(page: Page, { levels, isBoolean }: PageColumn, library: PageLibrary): void {
  const { bytes, count, encoding } = page;
  const v2 = page.header.data_page_header_v2;
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  const start = v2?.repetition_levels_byte_length ?? 0;
  const width = 32 - Math.clz32(levels);
  let at = start;
  if (levels > 0) {
    checkRuns(view, { at: v2 === undefined ? 4 : start, width, count });
    at += v2?.definition_levels_byte_length ?? 4 + view.getUint32(0, true);
  }
  if (encoding.endsWith('DICTIONARY')) {
    if (at < bytes.length) checkRuns(view, { at: at + 1, width: view.getUint8(at), count });
  } else if (encoding === 'RLE' && isBoolean) {
    checkRuns(view, { at: at + 4, width: 1, count });
  } else if (encoding === 'DELTA_BINARY_PACKED' || encoding === 'DELTA_LENGTH_BYTE_ARRAY') {
    checkBlocks(view, at);
  } else if (encoding === 'DELTA_BYTE_ARRAY') {
    let held = count - (v2?.num_nulls ?? 0);
    if (v2 === undefined && levels > 0) {
      const found: number[] = Array.from({ length: count });
      library.readRleBitPackedHybrid({ view, offset: 0 }, width, found);
      held = found.filter((level) => level === levels).length;
    }
    checkPrefixes({ view, offset: at }, held, library.deltaBinaryUnpack);
  }
}

function checkRuns(
  view: DataView,
  runs: { readonly at: number; readonly width: number; readonly count: number },
): void {
  const { width, count } = runs;
  let { at } = runs;
  for (let seen = 0; seen < count && at < view.byteLength;) {
    const { value: header, end } = varintAt(view, at);
    at = end;
    const length = Math.floor(header / 2);
    const isPacked = header % 2 === 1;
    // Packed values come by eights, so that the last ones may be too many. The end of the page stops them, but where they have no width.
    seen += isPacked ? length * 8 : length;
    if (seen >= count + 8 && (!isPacked || width === 0))
      throw new Error(`a run of ${length} values in a page of ${count}`);
    at += isPacked ? length * width : (width + 7) >> 3;
  }
}

/**
 * The library goes back in a page, and for ever, where blocks of deltas have less than nothing. A block has a whole number of values in each of
 * its miniblocks. Source: the Parquet format, Encodings.md, DELTA_BINARY_PACKED.
 */
function checkBlocks(view: DataView, at: number): void {
  // A page of nulls alone may have no blocks.
  if (at >= view.byteLength) return;
  const { value: values, end } = varintAt(view, at);
  const { value: miniblocks } = varintAt(view, end);
  if (values === 0 || values % miniblocks !== 0 || values >= 2 ** 31)
    throw new Error(`blocks of ${values} values in ${miniblocks} miniblocks`);
}

/** Up to five bytes, of seven bits each: what the library takes for 32 bits. */
function varintAt(view: DataView, from: number): { readonly value: number; readonly end: number } {
  let [value, end, byte] = [0, from, 0x80];
  for (let shift = 0; byte >= 0x80 && shift < 35; shift += 7) {
    byte = view.getUint8(end++);
    value += (byte & 0x7f) * 2 ** shift;
  }
  if (byte >= 0x80) throw new Error('a number of more than five bytes');
  return { value, end };
}

/** Each value may begin with all of the one before: a page of a few bytes can stand for texts of any length. */
function checkPrefixes(
  reader: { view: DataView; offset: number },
  count: number,
  unpack: PageLibrary['deltaBinaryUnpack'],
): void {
  const lengths = [new Int32Array(count), new Int32Array(count)];
  for (const some of lengths) {
    checkBlocks(reader.view, reader.offset);
    unpack(reader, count, some);
  }
  let bytes = 0;
  for (const some of lengths) for (const length of some) bytes += length;
  if (bytes <= pageBytesMax) return;
  throw new PageFault(
    `a page whose texts are ${megabytes(bytes)} together, and at most ${megabytes(pageBytesMax)} are read`,
    'write the file with pages of about 1 MB, or without delta encoding',
  );
}
