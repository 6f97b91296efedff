/** Bytes of delimited text on their way through the scanner. */

export const lineFeed = 0x0a;
export const carriageReturn = 0x0d;
export const quoteMark = 0x22;

/** What a byte means outside quotes. */
export const plainByte = 0;
/** A delimiter or a line end. */
export const endOfField = 1;

/** Instead of the place where a field ends: the bytes are for csv-parse to judge. */
export const notPlain = -1;

/** Read behind the end without a check: a line end, a quote that closes what is open, and a line end behind that. */
const sentinels = [lineFeed, quoteMark, lineFeed];
const slackBytes = 8;

/** Bytes that are also compared four at a time. */
export interface Words {
  readonly bytes: Buffer;
  readonly words: DataView;
}

export function wordsOf(bytes: Buffer): Words {
  return { bytes, words: new DataView(bytes.buffer, bytes.byteOffset, bytes.length) };
}

/** A buffer that the rows of a file pass through. Every loop over it ends at its sentinels, so that none has to count. */
export class Block implements Words {
  bytes: Buffer;
  words: DataView;
  /** Where the first row begins that is still to be read. */
  start = 0;
  /** Where the sentinels stand. */
  end = 0;
  /** A field that ends here or later is not complete. */
  limit = 0;
  /** Whether a quoted field with a line break was seen, so that rows are no lines. */
  hasBreaks = false;
  /** By byte: `plainByte`, `endOfField`, or another where a field that began without a quote is not plain. */
  readonly classes: Uint8Array;
  readonly delimiter: number;

  constructor(delimiter: number, bytes: number) {
    this.delimiter = delimiter;
    ({ bytes: this.bytes, words: this.words } = wordsOf(Buffer.alloc(bytes + slackBytes)));
    this.classes = new Uint8Array(256);
    for (const byte of [delimiter, lineFeed, carriageReturn]) this.classes[byte] = endOfField;
    this.classes[quoteMark] = 2;
    this.#seal();
  }

  /** Appends bytes; those before `start` go. */
  append(chunk: Buffer): void {
    const kept = this.end - this.start;
    const needed = kept + chunk.length + slackBytes;
    const from = this.bytes;
    if (needed > from.length) {
      ({ bytes: this.bytes, words: this.words } = wordsOf(Buffer.alloc(Math.max(needed, 2 * from.length))));
    }
    if (this.start > 0 || this.bytes !== from) from.copy(this.bytes, 0, this.start, this.end);
    chunk.copy(this.bytes, kept);
    this.start = 0;
    this.end = kept + chunk.length;
    this.#seal();
  }

  #seal(): void {
    this.bytes.set(sentinels, this.end);
  }

  /** Behind a field: its delimiter, its line end, or the sentinel. */
  skip(from: number): number {
    const { bytes, classes } = this;
    if (bytes[from] === quoteMark) return this.#skipQuoted(from + 1);
    let at = from;
    while (classes[bytes[at] as number] === plainByte) at++;
    return classes[bytes[at] as number] === endOfField ? at : notPlain;
  }

  /** @param from behind the opening quote */
  #skipQuoted(from: number): number {
    const { bytes } = this;
    for (let at = from; ; at++) {
      const byte = bytes[at];
      if (byte === lineFeed || byte === carriageReturn) this.hasBreaks ||= at < this.end;
      if (byte !== quoteMark) continue;
      const next = bytes[at + 1] as number;
      if (this.classes[next] === endOfField) return at + 1;
      if (next !== quoteMark) return notPlain;
      at++;
    }
  }
}

/** Counts `\n`, `\r\n` and a lone `\r` as one line end each. No `\r\n` may begin before `to` and end behind it. */
export function countLineEnds(bytes: Buffer, from: number, to: number): number {
  let lines = 0;
  for (let at = from; at < to; at++) {
    const byte = bytes[at];
    if (byte === lineFeed ? at === from || bytes[at - 1] !== carriageReturn : byte === carriageReturn) lines++;
  }
  return lines;
}

/** The bytes of a quoted field from its opening quote to behind its closing one, as the text that they stand for. */
export function withoutQuotes(bytes: Buffer, from: number, to: number): Buffer {
  const text = Buffer.allocUnsafe(to - from);
  let length = 0;
  for (let at = from + 1; at < to - 1; at++) {
    const byte = bytes[at] as number;
    text[length++] = byte;
    if (byte === quoteMark) at++;
  }
  return text.subarray(0, length);
}
