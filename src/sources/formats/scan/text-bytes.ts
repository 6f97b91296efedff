/** How text stands in the bytes of a file that is scanned as it is: in UTF-8, or in one byte for each character. */
import { isUtf8 } from 'node:buffer';
import { openDecoder } from '../text.ts';
import { quoteMark, withoutQuotes } from './block.ts';

export interface TextBytes {
  decode(bytes: Buffer, start: number, end: number): string;
  /** `undefined` for a text that the encoding cannot write. */
  encode(text: string): Buffer | undefined;
  /** Whether all of it is text, without a NUL. */
  isText(bytes: Buffer): boolean;
  /** By byte, how many bytes its character has in UTF-8; `undefined` where the bytes are UTF-8. */
  readonly utf8Widths?: Uint8Array;
}

export const utf8: TextBytes = {
  decode: (bytes, start, end) => bytes.toString('utf8', start, end),
  encode: (text) => (text.isWellFormed() ? Buffer.from(text) : undefined),
  isText: (bytes) => !bytes.includes(0) && isUtf8(bytes),
};

/** By label: looking at every byte takes about 1 ms. */
const known = new Map<string, TextBytes | undefined>();

/** `undefined` for an encoding that is not of one byte a character, or not a superset of ASCII. */
export function singleByteText(label: string): TextBytes | undefined {
  if (!known.has(label)) known.set(label, tryBytes(label));
  return known.get(label);
}

function tryBytes(label: string): TextBytes | undefined {
  const characters: (string | undefined)[] = [];
  for (let byte = 0; byte < 256; byte++) {
    const decoded = openDecoder(label).write(Buffer.of(byte))?.toString();
    // The first byte of several gives no character by itself.
    if (decoded !== undefined && decoded.length !== 1) return undefined;
    if (byte < 0x80 && decoded !== String.fromCharCode(byte)) return undefined;
    characters.push(decoded);
  }
  const bytesOf = new Map(
    characters.flatMap((character, byte) => (character === undefined ? [] : [[character, byte]])),
  );
  const invalid = [...characters.keys()].filter((byte) => byte === 0 || characters[byte] === undefined);
  // Two bytes for one character would be two numbers for one text.
  if (bytesOf.size + invalid.length - 1 !== 256) return undefined;
  return {
    decode: (bytes, start, end) => {
      let text = '';
      for (let at = start; at < end; at++) text += characters[bytes[at] as number] ?? '\uFFFD';
      return text;
    },
    encode: (text) => {
      const bytes = Array.from({ length: text.length }, (_, at) => bytesOf.get(text.charAt(at)));
      return bytes.every((byte) => byte !== undefined) ? Buffer.from(bytes) : undefined;
    },
    isText: (bytes) => !invalid.some((byte) => bytes.includes(byte)),
    utf8Widths: Uint8Array.from(characters, (character) => Buffer.byteLength(character ?? '')),
  };
}

/** The text of a field that stands from `start` to before `end`, with its quotes where it has some. */
export function fieldText(bytes: Buffer, start: number, end: number, encoding: TextBytes): string {
  if (bytes[start] !== quoteMark) return encoding.decode(bytes, start, end);
  const text = withoutQuotes(bytes, start, end);
  return encoding.decode(text, 0, text.length);
}
