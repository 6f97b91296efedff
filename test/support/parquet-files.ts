/** Parquet files as no writer makes them: pages of any bytes, under headers that say anything. */
import type {
  ColumnMetaData,
  CompressionCodec,
  Encoding,
  FileMetaData,
  PageHeader,
  ParquetType,
  SchemaElement,
} from 'hyparquet';
import { ByteWriter } from 'hyparquet-writer';
import { writePageHeader } from 'hyparquet-writer/src/datapage.js';
import { writeMetadata } from 'hyparquet-writer/src/metadata.js';

export interface OddPage {
  readonly kind?: 'data' | 'dictionary';
  /** How many values its header says. */
  readonly count: number;
  readonly encoding?: Encoding;
  /** As they are stored, that is compressed. */
  readonly bytes: Uint8Array;
  /** What the header says that they expand to. Default: as many as there are. */
  readonly expandedBytes?: number;
}

export interface OddColumn {
  readonly type?: ParquetType;
  readonly codec?: CompressionCodec;
  readonly pages: readonly OddPage[];
}

/** A file of one row group. Its columns are called `a`, `b` and so on, and hold no nulls. */
export function oddParquet(rows: number, columns: readonly OddColumn[]): Buffer {
  const writer = new ByteWriter();
  writer.appendBytes(Buffer.from('PAR1'));
  const chunks = columns.map(({ type = 'BYTE_ARRAY', codec = 'UNCOMPRESSED', pages }, at) => {
    const start = writer.offset;
    for (const page of pages) {
      writePageHeader(writer, headerOf(page));
      writer.appendBytes(page.bytes);
    }
    const chunk: ColumnMetaData = {
      type,
      encodings: ['PLAIN'],
      path_in_schema: [nameAt(at)],
      codec,
      num_values: BigInt(rows),
      total_uncompressed_size: BigInt(writer.offset - start),
      total_compressed_size: BigInt(writer.offset - start),
      data_page_offset: BigInt(start),
    };
    return { file_offset: BigInt(start), meta_data: chunk };
  });
  const leaves = columns.map(({ type = 'BYTE_ARRAY' }, at): SchemaElement => ({
    name: nameAt(at),
    type,
    repetition_type: 'REQUIRED',
  }));
  return ended(writer, {
    version: 2,
    schema: [{ name: 'root', num_children: columns.length }, ...leaves],
    num_rows: BigInt(rows),
    row_groups: [{ columns: chunks, total_byte_size: BigInt(writer.offset), num_rows: BigInt(rows) }],
    metadata_length: 0,
  });
}

/** A file without rows, whose one column is in so many structs. */
export function nestedParquet(depth: number): Buffer {
  const writer = new ByteWriter();
  writer.appendBytes(Buffer.from('PAR1'));
  const structs = Array.from({ length: depth }, (): SchemaElement => ({ name: 's', num_children: 1 }));
  const schema: SchemaElement[] = [...structs, { name: 'a', type: 'INT32', repetition_type: 'REQUIRED' }];
  return ended(writer, { version: 2, schema, num_rows: 0n, row_groups: [], metadata_length: 0 });
}

function nameAt(at: number): string {
  return at < 26 ? String.fromCodePoint(97 + at) : `c${at}`;
}

function headerOf({
  kind = 'data',
  count,
  encoding = 'PLAIN',
  bytes,
  expandedBytes = bytes.length,
}: OddPage): PageHeader {
  const sizes = { uncompressed_page_size: expandedBytes, compressed_page_size: bytes.length };
  if (kind === 'dictionary') {
    return {
      type: 'DICTIONARY_PAGE',
      ...sizes,
      dictionary_page_header: { num_values: count, encoding, is_sorted: false },
    };
  }
  return {
    type: 'DATA_PAGE',
    ...sizes,
    data_page_header: {
      num_values: count,
      encoding,
      definition_level_encoding: 'RLE',
      repetition_level_encoding: 'RLE',
    },
  };
}

function ended(writer: ByteWriter, metadata: FileMetaData): Buffer {
  writeMetadata(writer, metadata);
  writer.appendBytes(Buffer.from('PAR1'));
  return Buffer.from(writer.getBuffer());
}

/** A text as a plain page has it: its length in four bytes, and its bytes. */
export function plainText(text: string): Buffer {
  const bytes = Buffer.from(`....${text}`);
  bytes.writeUInt32LE(bytes.length - 4);
  return bytes;
}

/** `count` times the value 0, as indexes of a dictionary: one run. */
export function runOfZeros(count: number): Buffer {
  const bytes = [1];
  for (let left = count * 2; ; left = Math.floor(left / 128)) {
    bytes.push(left < 128 ? left : (left % 128) + 128);
    if (left < 128) return Buffer.from([...bytes, 0]);
  }
}
