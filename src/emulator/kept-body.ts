/** The beginning of a body, kept for the request log. Whatever in it may be a secret is masked when it is shown. */
import { isUtf8 } from 'node:buffer';
import { maskBody, maskBytes } from './secrets.ts';

/** A body as the request log shows it. */
export interface ShownBody {
  /** Its beginning as text, or as base64 if it is not text. Values that may be secrets are shown as `***`. */
  readonly text: string;
  readonly encoding: 'utf8' | 'base64';
  /** Whether more followed than is kept. */
  readonly isCut: boolean;
}

export class KeptBody {
  readonly bytesMax: number;
  readonly #chunks: Uint8Array[] = [];
  #bytes = 0;
  #isCut = false;

  constructor(bytesMax: number) {
    this.bytesMax = bytesMax;
  }

  /** Keeps as much of the chunk as there is room for: the chunk itself if it is all of its memory, and otherwise a copy. */
  add(chunk: Uint8Array): void {
    const room = this.bytesMax - this.#bytes;
    if (chunk.length > room) this.#isCut = true;
    if (room <= 0 || chunk.length === 0) return;
    const isWhole = chunk.length <= room && chunk.length === chunk.buffer.byteLength;
    const kept = isWhole ? chunk : chunk.slice(0, room);
    this.#chunks.push(kept);
    this.#bytes += kept.length;
  }

  /** Null for an empty body. */
  show(): ShownBody | null {
    if (this.#bytes === 0 && !this.#isCut) return null;
    const bytes = Buffer.concat(this.#chunks);
    const whole = this.#isCut ? withoutHalfCharacter(bytes) : bytes;
    const isCut = this.#isCut;
    if (!isUtf8(whole)) return { text: maskBytes(bytes).toString('base64'), encoding: 'base64', isCut };
    return { text: maskBody(whole.toString('utf8')), encoding: 'utf8', isCut };
  }
}

/** A short body that is at hand as text: it is only masked when somebody looks. */
export function keptText(text: string): Pick<KeptBody, 'show'> {
  return { show: () => (text === '' ? null : { text: maskBody(text), encoding: 'utf8', isCut: false }) };
}

/** The bytes up to the last whole character of UTF-8. */
function withoutHalfCharacter(bytes: Buffer): Buffer {
  let end = bytes.length;
  // A character has at most three bytes after its first.
  for (let back = 1; back <= 4 && back <= bytes.length; back += 1) {
    const byte = bytes[bytes.length - back] ?? 0;
    if ((byte & 0b1100_0000) === 0b1000_0000) continue;
    const length = byte >= 0xf0 ? 4 : byte >= 0xe0 ? 3 : byte >= 0xc0 ? 2 : 1;
    if (length > back) end = bytes.length - back;
    break;
  }
  return bytes.subarray(0, end);
}
