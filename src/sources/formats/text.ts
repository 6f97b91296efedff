/**
 * Bytes of a file to checked text. What cannot be decoded exactly is a failure with its place: no value ever holds a
 * U+FFFD that was not in the file.
 */
import { isUtf8 } from 'node:buffer';
import { createRequire } from 'node:module';
import { AgentError } from '../../core/errors.ts';
import { type OneByteEncoding, OneByteEvidence } from '../../core/one-byte.ts';
import type { PartFile } from '../files/part-file.ts';
import { otherKind, unmarkedUtf16 } from './other-kinds.ts';

/** Bytes that a failed decoder may have kept back: more than any character has. */
const characterBytesMax = 8;

export interface TextFile {
  readonly file: PartFile;
  /** A label that `isEncoding` knows; a byte-order mark of the file wins over it. */
  readonly encoding: string;
  /** What it is, where its format has no other encoding. */
  readonly format?: 'JSON';
}

export function jsonText(file: PartFile): TextFile {
  return { file, encoding: 'utf-8', format: 'JSON' };
}

/** Whether text of this encoding can be read: any WHATWG label, or a DOS code page such as cp437 or cp850. */
export function isEncoding(label: string): boolean {
  return isStandard(label) || isCodePage(label);
}

/**
 * The text as UTF-8, without its byte-order mark, in chunks that end between characters.
 * @throws AgentError `part.unreadable` for an invalid byte (its offset and line) or a NUL character.
 */
export async function* readText(text: TextFile): AsyncGenerator<Buffer, void, void> {
  let decoder: Decoder | undefined;
  let offset = 0;
  for await (const chunk of text.file.chunks()) {
    let start = 0;
    if (decoder === undefined) {
      refuseOther(text.file.name, chunk);
      const mark = markOf(chunk);
      decoder = openDecoder(mark?.encoding ?? text.encoding);
      start = mark?.bytes ?? 0;
    }
    const decoded = decoder.write(chunk.subarray(start));
    if (decoded === undefined || decoded.includes(0)) throw await locateFault(text, offset);
    offset += chunk.length;
    if (decoded.length > 0) yield decoded;
  }
  if (decoder !== undefined && !decoder.isComplete()) throw await locateFault(text, offset);
}

/** @throws AgentError `part.unreadable` where the file is of another kind, even if rows could be made of it */
function refuseOther(name: string, start: Buffer): void {
  const other = otherKind(start);
  if (other === undefined) return;
  throw new AgentError('part.unreadable', `${name} is not a table of text: it is ${other.what}`, { hint: other.hint });
}

/**
 * The line, counted from 1, that a place in the text (in bytes of what `readText` gives) stands in. Reads the file once
 * more from its start, so that reading well-formed files pays nothing for it.
 */
export async function lineAt(text: TextFile, offset: number): Promise<number> {
  const lines = new LineCounter();
  let left = offset;
  for await (const chunk of readText(text)) {
    lines.add(chunk.subarray(0, left));
    left -= chunk.length;
    if (left <= 0) break;
  }
  return lines.line;
}

/** Whether a text whose last byte this is ends its last line. */
export function isLineEnd(byte: number | undefined): boolean {
  return byte === 0x0a || byte === 0x0d;
}

/** Whether the file ends with a line end. Looks at its first and last bytes alone; a compressed file is expanded for them. */
export async function endsLastLine({ file, encoding }: TextFile): Promise<boolean> {
  const { start, end } = await file.ends();
  const label = markOf(start)?.encoding ?? encoding;
  const name = isStandard(label) ? new TextDecoder(label).encoding : label;
  const [beforeLast, last] = end;
  if (name === 'utf-16le') return last === 0 && isLineEnd(beforeLast);
  if (name === 'utf-16be') return beforeLast === 0 && isLineEnd(last);
  // In every other encoding a byte of a line end is nothing else.
  return isLineEnd(last ?? beforeLast);
}

/** Where the text that could not be decoded stops being text; nothing before `failedFrom` is at fault. */
async function locateFault(text: TextFile, failedFrom: number): Promise<AgentError> {
  const lines = new LineCounter();
  let decoder: Decoder | undefined;
  let encoding = text.encoding;
  let offset = 0;
  let goodUntil = 0;
  for await (const chunk of text.file.chunks()) {
    let start = 0;
    if (decoder === undefined) {
      const mark = markOf(chunk);
      encoding = mark?.encoding ?? encoding;
      decoder = openDecoder(encoding);
      start = mark?.bytes ?? 0;
      goodUntil = start;
    }
    const bulk = Math.max(start, Math.min(chunk.length, failedFrom - characterBytesMax - offset));
    lines.add(decoder.write(chunk.subarray(start, bulk)) ?? chunk.subarray(0, 0));
    if (bulk > start) goodUntil = offset + bulk;
    for (let at = bulk; at < chunk.length; at++) {
      const decoded = decoder.write(chunk.subarray(at, at + 1));
      if (decoded === undefined) return await invalidByte(text, { encoding, offset: goodUntil, line: lines.line });
      if (decoded.includes(0)) return await nulCharacter(text, { encoding, offset: goodUntil, line: lines.line });
      lines.add(decoded);
      if (decoded.length > 0) goodUntil = offset + at + 1;
    }
    offset += chunk.length;
  }
  return await invalidByte(text, { encoding, offset: goodUntil, line: lines.line });
}

interface Fault {
  readonly encoding: string;
  readonly offset: number;
  readonly line: number;
}

async function invalidByte({ file, format }: TextFile, { encoding, offset, line }: Fault): Promise<AgentError> {
  const byte = (await file.byteAt(offset)) ?? 0;
  const shown = `0x${byte.toString(16).toUpperCase().padStart(2, '0')}`;
  const others = encoding === 'utf-8' ? await likelyEncodings(file, offset) : [];
  const ofOther =
    others.length === 0
      ? 'declare the encoding that the file is written in'
      : `declare ${others.map((one) => `encoding: ${one} if it comes from ${writers[one]}`).join(', or ')}; else the file is damaged`;
  const hint =
    format === undefined
      ? ofOther
      : `${format} is utf-8: have it written so, or turn it into that first (type: command with curl and iconv -f ${others[0] ?? 'windows-1252'} -t utf-8)`;
  return new AgentError(
    'part.unreadable',
    `${file.name} line ${line}: invalid ${encoding} byte ${shown} at byte offset ${offset}`,
    { hint },
  );
}

const writers: Readonly<Record<OneByteEncoding, string>> = {
  'windows-1252': 'an older Windows program',
  cp850: 'a DOS program',
};

/** Enough to tell two encodings apart. */
const evidenceBytesMax = 4_000_000;

/** By the bytes from a place on. */
async function likelyEncodings(file: PartFile, from: number): Promise<readonly OneByteEncoding[]> {
  const evidence = new OneByteEvidence();
  let passed = 0;
  for await (const chunk of file.chunks()) {
    evidence.add(chunk.subarray(Math.max(0, from - passed)));
    passed += chunk.length;
    if (passed > from + evidenceBytesMax) break;
  }
  return evidence.likelyEncodings();
}

async function nulCharacter({ file }: TextFile, { encoding, offset, line }: Fault): Promise<AgentError> {
  const unmarked = unmarkedUtf16((await file.ends()).start);
  const hint =
    unmarked === undefined
      ? 'the file is damaged, or is not text'
      : `it is ${unmarked} without a byte-order mark: declare encoding: ${unmarked}, or write it as utf-8 where there is no such key`;
  return new AgentError('part.unreadable', `${file.name} line ${line}: a NUL character at byte offset ${offset}`, {
    hint: encoding.startsWith('utf-16') ? 'the file is damaged' : hint,
  });
}

/** Counts `\n`, `\r\n` and a lone `\r` as one line end each. */
class LineCounter {
  /** The line of what comes next. */
  line = 1;
  #isAfterCr = false;

  add(text: Buffer): void {
    for (const byte of text) {
      if (byte === 0x0d || (byte === 0x0a && !this.#isAfterCr)) this.line++;
      this.#isAfterCr = byte === 0x0d;
    }
  }
}

export interface Decoder {
  /** The characters that are complete, as UTF-8; `undefined` where the bytes are invalid. */
  write(bytes: Buffer): Buffer | undefined;
  /** Whether nothing is left over. */
  isComplete(): boolean;
}

export function openDecoder(label: string): Decoder {
  if (!isStandard(label)) return openCodePage(label);
  return isUtf8Label(label) ? openUtf8() : openStandard(label);
}

/** UTF-8 is what the parsers take, so that the bytes need a check only. */
function openUtf8(): Decoder {
  let tail: Buffer = Buffer.alloc(0);
  return {
    write(bytes) {
      const joined = tail.length === 0 ? bytes : Buffer.concat([tail, bytes]);
      const end = completeUntil(joined);
      tail = joined.subarray(end);
      const complete = joined.subarray(0, end);
      return isUtf8(complete) ? complete : undefined;
    },
    isComplete: () => tail.length === 0,
  };
}

/** Where the last character that has all its bytes ends; a character has at most four. */
function completeUntil(bytes: Buffer): number {
  for (let back = 1; back <= Math.min(3, bytes.length); back++) {
    const byte = bytes[bytes.length - back] ?? 0;
    const isContinuation = (byte & 0xc0) === 0x80;
    if (isContinuation) continue;
    const needs = byte >= 0xf0 ? 4 : byte >= 0xe0 ? 3 : byte >= 0xc0 ? 2 : 1;
    return needs > back ? bytes.length - back : bytes.length;
  }
  return bytes.length;
}

function openStandard(label: string): Decoder {
  const decoder = new TextDecoder(label, { fatal: true, ignoreBOM: true });
  const mayHoldReplacement = decoder.encoding.startsWith('utf-16') || decoder.encoding === 'gb18030';
  const decode = (bytes: Buffer | undefined): string | undefined => {
    try {
      return bytes === undefined ? decoder.decode() : decoder.decode(bytes, { stream: true });
    } catch {
      // Its only failure is invalid text, and it does not say where.
      return undefined;
    }
  };
  return {
    write(bytes) {
      const text = decode(bytes);
      if (text === undefined || (!mayHoldReplacement && text.includes('\uFFFD'))) return undefined;
      return Buffer.from(text);
    },
    isComplete: () => decode(undefined) === '',
  };
}

/** The DOS code pages, which the platform does not know. None of them has a U+FFFD, so that one means an invalid byte. */
function openCodePage(label: string): Decoder {
  const decoder = iconv().getDecoder(label);
  return {
    write(bytes) {
      const text = decoder.write(bytes);
      return text.includes('\uFFFD') ? undefined : Buffer.from(text);
    },
    isComplete: () => (decoder.end() ?? '') === '',
  };
}

/** Byte-order marks win over what was declared: a program wrote them on purpose. */
export function markOf(start: Buffer): { encoding: string; bytes: number } | undefined {
  if (start[0] === 0xef && start[1] === 0xbb && start[2] === 0xbf) return { encoding: 'utf-8', bytes: 3 };
  if (start[0] === 0xff && start[1] === 0xfe) return { encoding: 'utf-16le', bytes: 2 };
  if (start[0] === 0xfe && start[1] === 0xff) return { encoding: 'utf-16be', bytes: 2 };
  return undefined;
}

export function isUtf8Label(label: string): boolean {
  return isStandard(label) && new TextDecoder(label).encoding === 'utf-8';
}

function isStandard(label: string): boolean {
  try {
    return new TextDecoder(label).encoding !== '';
  } catch {
    // A RangeError is how the platform says no.
    return false;
  }
}

function isCodePage(label: string): boolean {
  return /^(cp|ibm)-?\d+$/i.test(label) && iconv().encodingExists(label);
}

/** Loaded for those few files that need it. */
function iconv(): typeof import('iconv-lite') {
  return createRequire(import.meta.url)('iconv-lite') as typeof import('iconv-lite');
}
