/**
 * Cuts a text into the tokens of JSON, in one pass, without recursion and without a copy: somebody may send 96 MiB of blanks,
 * and nobody else is answered meanwhile.
 */
import { JsonError } from './byte-input.ts';

/** A `literal` is a number or one of `true`, `false` and `null`. */
export type Token = '{' | '}' | '[' | ']' | ':' | ',' | 'string' | 'literal' | 'end';

const [tab, lineFeed, carriageReturn, blank] = [0x09, 0x0a, 0x0d, 0x20];
const [quote, backslash, zero, nine] = [0x22, 0x5c, 0x30, 0x39];

const word = /(?:true|false|null)(?![^ \t\n\r{}[\]":,/])/y;
/** As much of it as is right. */
const number = /-?\d+(?:\.\d+)?(?:[eE][+-]?\d+)?/y;
/** One that breaks off: `1.`, `1e`, `1.5e+`. */
const cutNumber = /-?\d+(?:\.(?!\d)|(?:\.\d+)?[eE](?![+-]?\d))/y;

export class JsonScanner {
  readonly text: string;
  /** Where the token begins and ends, in characters. */
  start = 0;
  end = 0;
  readonly #offset: number;

  /** @param offset where the text begins in the whole one, in bytes. */
  constructor(text: string, offset = 0) {
    this.text = text;
    this.#offset = offset;
  }

  /** Goes on to the next token. @param expected what should be there. @throws JsonError for a character with which none begins, and for what is wrong within one */
  next(expected = 'a value'): Token {
    this.#skipSpace();
    this.start = this.end;
    const character = this.text[this.start];
    if (character === undefined) return 'end';
    if (character === '"') return this.#string();
    if (!isSign(character)) return this.#literal(character, expected);
    this.end += 1;
    return character;
  }

  /** What the string that is the token says. */
  said(): string {
    const written = this.text.slice(this.start, this.end);
    return written.includes('\\') ? (JSON.parse(written) as string) : written.slice(1, -1);
  }

  /** The token is another one than it should be. Of the text it quotes no more than one character: it may hold secrets. */
  mistake(expected: string): JsonError {
    const [found] = this.text.slice(this.start, this.start + 2);
    return this.#error(`${found === undefined ? 'it ends' : JSON.stringify(found)} where ${expected} should be`);
  }

  /** There is no token at all. */
  isEmpty(): JsonError {
    return this.#error('it is empty');
  }

  #skipSpace(): void {
    const { text } = this;
    let at = this.end;
    for (;;) {
      const code = text.charCodeAt(at);
      if (code !== blank && code !== lineFeed && code !== carriageReturn && code !== tab) break;
      at += 1;
    }
    this.end = at;
  }

  #literal(first: string, expected: string): Token {
    const { text, start } = this;
    if (first === '/' && /[/*]/.test(text[start + 1] ?? '')) throw this.#error('a comment begins');
    this.end = endOfDigits(text, start);
    if (this.end === start) {
      word.lastIndex = start;
      if (!word.test(text)) throw this.mistake(expected);
      this.end = word.lastIndex;
    } else if ('.eE'.includes(text[this.end] ?? ' ')) {
      cutNumber.lastIndex = start;
      if (cutNumber.test(text)) throw this.#error('a number without its last digits begins');
      number.lastIndex = start;
      number.test(text);
      this.end = number.lastIndex;
    }
    return 'literal';
  }

  /** Of several mistakes within it, the last one is told. */
  #string(): Token {
    const { text } = this;
    let mistake: string | undefined;
    let at = this.start + 1;
    for (;;) {
      const code = text.charCodeAt(at);
      if (code === quote) break;
      if (code === lineFeed || code === carriageReturn || at >= text.length) {
        throw this.#error('a string with a line break begins');
      }
      if (code < blank) mistake = 'a string with a control character begins';
      if (code !== backslash) at += 1;
      else {
        const escaped = escapeAt(text, at);
        mistake = escaped.mistake ?? mistake;
        at = escaped.end;
      }
    }
    this.end = at + 1;
    if (mistake !== undefined) throw this.#error(mistake);
    return 'string';
  }

  #error(message: string): JsonError {
    return new JsonError(message, this.#offset + Buffer.byteLength(this.text.slice(0, this.start)));
  }
}

type Sign = Exclude<Token, 'string' | 'literal' | 'end'>;

function isSign(character: string): character is Sign {
  switch (character) {
    case '{':
    case '}':
    case '[':
    case ']':
    case ':':
    case ',':
      return true;
    default:
      return false;
  }
}

function escapeAt(text: string, at: number): { readonly end: number; readonly mistake?: string } {
  const letter = text[at + 1] ?? '';
  if (letter === 'u') {
    let end = at + 2;
    while (end < at + 6 && /[\da-fA-F]/.test(text[end] ?? '')) end += 1;
    if (end === at + 6) return { end };
    return { end, mistake: 'a string in which \\u lacks four hexadecimal digits begins' };
  }
  const end = at + 2;
  return '"\\/bfnrt'.includes(letter) ? { end } : { end, mistake: 'a string with an unknown escape begins' };
}

/** Most numbers have no more than these. Where they begin if there are none. */
function endOfDigits(text: string, start: number): number {
  const first = text[start] === '-' ? start + 1 : start;
  if (text.charCodeAt(first) === zero) return first + 1;
  let at = first;
  for (let code = text.charCodeAt(at); code >= zero && code <= nine; code = text.charCodeAt(at)) at += 1;
  return at === first ? start : at;
}
