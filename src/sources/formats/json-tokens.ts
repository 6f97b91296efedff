/** JSON text to tokens: chunks in, keys and values out, numbers as they are written. */
import type { Token } from 'stream-json/core/parser.js';
import { depthMax, fieldBytesMax, isFieldTooLong, megabytes, rowBytesMax } from '../limits.ts';

export type JsonToken = Token;

/** A text of escapes alone has each character at least twice in the file. */
const rawTextLengthMax = 2 * fieldBytesMax;

/**
 * White space that makes the tokenizer decide what came before: it puts off refusing what might still become a literal
 * or an escape until 16 more characters are there.
 */
export const decisive = ' '.repeat(20);

/** A text that is not JSON, or not a record of a table. The reader adds the place. */
export class JsonFault extends Error {
  override readonly name = 'JsonFault';
  readonly hint: string;
  /** Whether the text is not JSON, which shows up to 16 characters late. */
  readonly isSyntax: boolean;

  /** @param message what is wrong, to follow a place and a colon */
  constructor(message: string, hint: string, kind: 'syntax' | 'record' = 'record') {
    super(message);
    this.hint = hint;
    this.isSyntax = kind === 'syntax';
  }
}

/** @throws JsonFault */
export function checkDepth(depth: number): void {
  if (depth > depthMax) throw new JsonFault(`nested more than ${depthMax} levels deep`, 'is this the right file?');
}

/** Refuses texts that the buffer and the service cannot hold. @throws JsonFault */
export function checkText(text: string): string {
  if (isFieldTooLong(text)) throw tooLong('a text');
  if (text.includes('\0')) throw new JsonFault('a text with a NUL character', 'leave it out of the export');
  if (!text.isWellFormed()) {
    throw new JsonFault('a text with half a surrogate pair', 'was it cut in the middle of a character?');
  }
  return text;
}

export function tooLong(what: string): JsonFault {
  return new JsonFault(
    `${what} is over ${megabytes(fieldBytesMax)}`,
    'is a quote not closed, or is this the wrong file?',
  );
}

/** How much came since the last record and the last token ended. */
export class JsonSize {
  #record = 0;
  #text = 0;

  /** @throws JsonFault */
  add(length: number, tokens: number): void {
    this.#record += length;
    this.#text = tokens > 0 ? length : this.#text + length;
    if (this.#text > rawTextLengthMax) throw tooLong('a text');
    if (this.#record > rowBytesMax) {
      throw new JsonFault(
        `a record is over ${megabytes(rowBytesMax)}`,
        'is this the list of records, and the right file?',
      );
    }
  }

  endRecord(): void {
    this.#record = 0;
  }
}

/**
 * stream-json's tokenizer, driven by hand. It takes what JSON.parse takes and nothing else (600 000 random texts, cut at
 * random places), keeps the text of numbers, and needs 0.7 s for a million small records, as long as JSON.parse itself.
 */
export class JsonTokenizer {
  readonly #write: (text: string) => unknown;

  private constructor(write: (text: string) => unknown) {
    this.#write = write;
  }

  /** @param documents how many of them, one after the other, are one text */
  static async open(documents: 'one' | 'many'): Promise<JsonTokenizer> {
    const { jsonParser } = await import('stream-json/core/parser.js');
    return new JsonTokenizer(
      jsonParser({ packValues: true, streamValues: false, jsonStreaming: documents === 'many' }),
    );
  }

  /** The tokens that this text completes. A number is complete once something follows it. @throws JsonFault */
  write(text: string): readonly JsonToken[] {
    let result: unknown;
    try {
      result = this.#write(text);
    } catch (error) {
      // Its one failure, which does not say where.
      if (!(error instanceof Error && error.message.startsWith('Parser '))) throw error;
      const said = error.message.replace(/^Parser (cannot parse input: |has )/, '');
      throw new JsonFault(
        `invalid JSON: ${said === 'escaped characters' ? 'a text that is not closed, or an invalid escape' : said}`,
        'is it complete? JSON knows no comments and no trailing commas, and has texts and keys in double quotes',
        'syntax',
      );
    }
    return typeof result === 'object' && result !== null && 'values' in result
      ? (result.values as readonly JsonToken[])
      : [];
  }
}
