/** The bytes of a file for the scanner, from where the data of its table begins. */
import type { PartFile } from '../../files/part-file.ts';
import { isUtf8Label, markOf, readText } from '../text.ts';
import { type TextBytes, singleByteText, utf8 } from './text-bytes.ts';

type Settled = { readonly result: IteratorResult<Buffer, void> } | { readonly error: unknown };

/** A file as it is scanned: as it is, or as the UTF-8 that is made of it. */
export interface ScannedText {
  readonly encoding: TextBytes;
  readonly label: string;
  /** The bytes of the file itself. */
  readonly isRaw: boolean;
  /** How long its byte-order mark is. */
  readonly markBytes: number;
  readonly chunks: () => AsyncGenerator<Buffer, void, void>;
}

export async function openText(file: PartFile, declared: string, blockBytes: number): Promise<ScannedText> {
  let mark: ReturnType<typeof markOf>;
  for await (const chunk of file.chunks()) {
    mark = markOf(chunk);
    break;
  }
  const label = mark?.encoding ?? declared;
  const encoding = isUtf8Label(label) ? utf8 : singleByteText(label);
  const markBytes = mark?.bytes ?? 0;
  if (encoding !== undefined)
    return { encoding, label, isRaw: true, markBytes, chunks: () => file.chunks(ring(blockBytes)) };
  return { encoding: utf8, label, isRaw: false, markBytes: 0, chunks: () => readText({ file, encoding: declared }) };
}

/**
 * Buffers for chunks that nobody keeps: one is worked on, one waits, and one is being read. New ones by the thousand would keep the garbage
 * collector busy.
 */
function ring(bytes: number): readonly Buffer[] {
  return [1, 2, 3].map(() => Buffer.allocUnsafe(bytes));
}

/** Chunks of a text behind its first bytes. The next chunk is read while the last one is worked on. */
export class TextInput {
  /** The last byte of the text so far, also of what is skipped. */
  last: number | undefined;
  readonly #chunks: AsyncGenerator<Buffer, void, void>;
  readonly #widths: Uint8Array | undefined;
  /** How much was skipped, without the byte-order mark. */
  bytesSkipped = 0;
  #bytesToSkip: number;
  #utf8ToSkip: number;
  #ahead: Promise<Settled>;

  /** @param utf8Bytes how much is skipped, as UTF-8 and without a byte-order mark */
  constructor(text: ScannedText, utf8Bytes: number) {
    this.#chunks = text.chunks();
    this.#widths = text.encoding.utf8Widths;
    this.#bytesToSkip = text.markBytes;
    this.#utf8ToSkip = utf8Bytes;
    this.#ahead = this.#readAhead();
  }

  /** `undefined` at the end. */
  async next(): Promise<Buffer | undefined> {
    for (;;) {
      const settled = await this.#ahead;
      if ('error' in settled) throw settled.error;
      if (settled.result.done === true) return undefined;
      this.#ahead = this.#readAhead();
      const chunk = settled.result.value;
      this.last = chunk.at(-1);
      const rest = this.#skip(chunk);
      if (rest.length > 0) return rest;
    }
  }

  async close(): Promise<void> {
    await this.#ahead;
    await this.#chunks.return();
  }

  /** A failure waits until it is asked for: nobody may be waiting for it while rows are worked on. */
  #readAhead(): Promise<Settled> {
    return this.#chunks.next().then(
      (result) => ({ result }),
      (error: unknown) => ({ error }),
    );
  }

  #skip(chunk: Buffer): Buffer {
    const marked = chunk.subarray(this.#bytesToSkip);
    this.#bytesToSkip -= chunk.length - marked.length;
    const skipped = this.#widths === undefined ? this.#utf8ToSkip : bytesOf(marked, this.#utf8ToSkip, this.#widths);
    const rest = marked.subarray(skipped);
    this.bytesSkipped += marked.length - rest.length;
    this.#utf8ToSkip -= utf8Length(marked.subarray(0, marked.length - rest.length), this.#widths);
    return rest;
  }
}

/** How many bytes of a text are so many as UTF-8. */
function bytesOf(bytes: Buffer, utf8Bytes: number, widths: Uint8Array): number {
  let at = 0;
  for (let length = 0; length < utf8Bytes && at < bytes.length; at++) length += widths[bytes[at] as number] as number;
  return at;
}

function utf8Length(bytes: Buffer, widths: Uint8Array | undefined): number {
  if (widths === undefined) return bytes.length;
  let length = 0;
  for (const byte of bytes) length += widths[byte] as number;
  return length;
}

/** Where a place that is given in UTF-8, without a byte-order mark, is in the bytes of the file. */
export async function byteOffsetOf({ encoding, markBytes, chunks }: ScannedText, utf8Bytes: number): Promise<number> {
  const widths = encoding.utf8Widths;
  if (widths === undefined) return markBytes + utf8Bytes;
  let offset = 0;
  let left = utf8Bytes;
  for await (const chunk of chunks()) {
    const bytes = bytesOf(chunk, left, widths);
    offset += bytes;
    left -= utf8Length(chunk.subarray(0, bytes), widths);
    if (left <= 0) break;
  }
  return offset;
}

/** How many bytes the first `bytes` of a text, without its byte-order mark, are as UTF-8. Reads the file once more. */
export async function utf8LengthOf({ encoding, chunks }: ScannedText, bytes: number): Promise<number> {
  if (encoding.utf8Widths === undefined) return bytes;
  let left = bytes;
  let length = 0;
  for await (const chunk of chunks()) {
    length += utf8Length(chunk.subarray(0, left), encoding.utf8Widths);
    left -= chunk.length;
    if (left <= 0) break;
  }
  return length;
}
