/** Parses one value and says what `JSON.parse` does not: the byte where it is not JSON, and keys given twice. */
import { isUtf8 } from 'node:buffer';
import { printParseErrorCode, visit } from 'jsonc-parser';
import { JsonError } from './byte-input.ts';
import type { JsonSlice } from './byte-input.ts';

export type JsonPath = readonly (string | number)[];

/** @throws JsonError with the offset in the whole text. */
export function parseSlice(slice: JsonSlice): unknown {
  if (!isUtf8(slice.bytes)) throw new JsonError('invalid UTF-8', slice.offset + firstInvalidUtf8(slice.bytes));
  return parseText(slice.bytes.toString('utf8'), slice.offset);
}

/**
 * Says where the mistake is, and unlike `JSON.parse` quotes nothing of the text but one character: it may hold secrets.
 * @throws JsonError with the offset in the whole text.
 */
export function parseText(text: string, offset = 0): unknown {
  try {
    return JSON.parse(text);
  } catch {
    throw errorIn(text, offset);
  }
}

/** Paths of members whose key occurs before in the same object. `JSON.parse` silently keeps the last one. */
export function duplicateMembers({ bytes }: JsonSlice): JsonPath[] {
  const duplicates: JsonPath[] = [];
  /** The keys of each open object. */
  const keys: Set<string>[] = [];
  visit(bytes.toString('utf8'), {
    onObjectBegin: () => void keys.push(new Set()),
    onObjectEnd: () => void keys.pop(),
    onObjectProperty(...[key, , , , , pathOfObject]) {
      const known = keys.at(-1);
      if (known?.has(key)) duplicates.push([...pathOfObject(), key]);
      known?.add(key);
    },
  });
  return duplicates;
}

function firstInvalidUtf8(bytes: Buffer): number {
  let at = 0;
  while (at < bytes.length) {
    const lead = bytes[at] as number;
    const length = lead < 0x80 ? 1 : lead < 0xe0 ? 2 : lead < 0xf0 ? 3 : 4;
    if (!isUtf8(bytes.subarray(at, at + length))) return at;
    at += length;
  }
  return at;
}

/** What the parser expected, by its names for errors. */
const expected: Readonly<Record<string, string>> = {
  InvalidSymbol: 'a value',
  ValueExpected: 'a value',
  PropertyNameExpected: 'a string',
  ColonExpected: '":"',
  CommaExpected: '"," or a closing bracket',
  CloseBraceExpected: '"}"',
  CloseBracketExpected: '"]"',
  EndOfFileExpected: 'the end',
};

/** Errors within a string, a number or a comment. The parser gives the place where it begins. */
const within: Readonly<Record<string, string>> = {
  InvalidCharacter: 'a string with a control character',
  InvalidEscapeCharacter: 'a string with an unknown escape',
  InvalidUnicode: 'a string in which \\u lacks four hexadecimal digits',
  UnexpectedEndOfString: 'a string with a line break',
  UnexpectedEndOfNumber: 'a number without its last digits',
  InvalidCommentToken: 'a comment',
};

/** The first error in `text`, which begins at `offset` of the whole text. */
function errorIn(text: string, offset: number): JsonError {
  let first: JsonError | undefined;
  const onError = (code: Parameters<typeof printParseErrorCode>[0], at: number): void => {
    first ??= new JsonError(messageOf(printParseErrorCode(code), text.slice(at)), offset + byteLengthOf(text, at));
  };
  try {
    visit(text, { onError }, { disallowComments: true });
  } catch (error) {
    if (!(error instanceof RangeError)) throw error;
    first ??= new JsonError('nested too deeply', offset);
  }
  return first ?? new JsonError('a mistake', offset);
}

function messageOf(code: string, rest: string): string {
  const what = within[code];
  if (what !== undefined) return `${what} begins`;
  const [found = ''] = rest;
  const shown = found === '' ? 'it ends' : JSON.stringify(found);
  return `${shown} where ${expected[code] ?? 'something else'} should be`;
}

function byteLengthOf(text: string, characters: number): number {
  return Buffer.byteLength(text.slice(0, characters));
}
