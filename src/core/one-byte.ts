/** What the bytes of a text that is not UTF-8 say of its encoding: windows-1252, as older Windows programs write, or DOS's cp850. */

export type OneByteEncoding = 'windows-1252' | 'cp850';

/** What `likelyEncodings` goes by. */
export class OneByteEvidence {
  /** By byte, those that are of no UTF-8 character. */
  readonly #counts = new Uint32Array(256);

  /** Bytes of a text, which may begin or end within a character. */
  add(bytes: Uint8Array): void {
    for (let at = 0; at < bytes.length; at++) {
      const byte = bytes[at] as number;
      if (byte < 0x80) continue;
      const length = utf8Length(bytes, at);
      if (length > 0) at += length - 1;
      else this.#counts[byte] = (this.#counts[byte] as number) + 1;
    }
  }

  /** The likelier one first. Never empty. */
  likelyEncodings(): readonly OneByteEncoding[] {
    if (this.#has((byte) => noCharacters.has(byte))) return ['cp850'];
    // Letters with marks stand at C0 to FF in windows-1252, and mostly at 80 to A5 in cp850. 80 is as often the euro sign there.
    const dos = this.#count((byte) => byte > 0x80 && byte <= 0xa5);
    const windows = this.#count((byte) => byte >= 0xc0 && byte !== sharpS850);
    if (dos > windows) return ['cp850', 'windows-1252'];
    const isSure = dos === 0 && this.#has(isSign850);
    return isSure ? ['windows-1252'] : ['windows-1252', 'cp850'];
  }

  #count(isMeant: (byte: number) => boolean): number {
    return this.#counts.reduce((sum, number, byte) => (isMeant(byte) ? sum + number : sum), 0);
  }

  #has(isMeant: (byte: number) => boolean): boolean {
    return this.#counts.some((number, byte) => number > 0 && isMeant(byte));
  }
}

/**
 * Bytes that are no character of windows-1252. A decoder of the web makes control characters of them and says nothing.
 */
const noCharacters: ReadonlySet<number> = new Set([0x81, 0x8d, 0x8f, 0x90, 0x9d]);

/** ß in cp850; á in windows-1252. */
const sharpS850 = 0xe1;

/** Whether a byte from C0 on is a frame or another sign in cp850, which stands in no word, and a letter in windows-1252. */
function isSign850(byte: number): boolean {
  if (byte < 0xc0 || byte === 0xd7 || byte === 0xf7) return false;
  return (
    byte <= 0xc5 || (byte >= 0xc8 && byte <= 0xcf) || (byte >= 0xd9 && byte <= 0xdd) || byte === 0xdf || byte >= 0xee
  );
}

/** How many bytes the UTF-8 character has that begins here; 0 where none does. */
function utf8Length(bytes: Uint8Array, at: number): number {
  const byte = bytes[at] as number;
  const length = byte >= 0xf5 ? 0 : byte >= 0xf0 ? 4 : byte >= 0xe0 ? 3 : byte >= 0xc2 ? 2 : 0;
  for (let next = 1; next < length; next++) if (((bytes[at + next] ?? 0) & 0xc0) !== 0x80) return 0;
  return length;
}

/** A character that bytes of another encoding became: texts of no one-byte encoding have it by intent. */
export function controlIn(text: string): string | undefined {
  return /[\u0080-\u009f]/.exec(text)?.[0];
}
