/** Parses one value, and says where it is not JSON, which `JSON.parse` does not: by byte, and with keys given twice. */
import { isUtf8 } from 'node:buffer';
import { depthMax, describeByte, JsonError } from './byte-input.ts';
import type { JsonSlice } from './byte-input.ts';

export type JsonPath = readonly (string | number)[];

/** @throws JsonError with the offset in the whole text. */
export function parseSlice(slice: JsonSlice): unknown {
  if (!isUtf8(slice.bytes)) throw new JsonError('invalid UTF-8', slice.offset + firstInvalidUtf8(slice.bytes));
  try {
    return JSON.parse(slice.bytes.toString('utf8'));
  } catch (cause) {
    // It does not always say where, and counts characters.
    new JsonWalk(slice).run();
    throw cause;
  }
}

/** The members whose key their object already has. `JSON.parse` keeps the last one without a word. */
export function duplicateMembers(slice: JsonSlice): JsonPath[] {
  const walk = new JsonWalk(slice);
  walk.run();
  return walk.duplicates;
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

const keywords = ['true', 'false', 'null'];
const number = /-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?/y;
const simpleEscapes = '"\\/bfnrt';

/** The grammar of RFC 8259, once more and slowly. Only for values that were refused. */
class JsonWalk {
  readonly duplicates: JsonPath[] = [];
  readonly #path: (string | number)[] = [];
  readonly #slice: JsonSlice;
  /** One character for each byte. */
  readonly #text: string;
  #at = 0;

  constructor(slice: JsonSlice) {
    this.#slice = slice;
    this.#text = slice.bytes.toString('latin1');
  }

  /** @throws JsonError at the first byte that cannot be. */
  run(): void {
    this.#value();
    this.#space();
    if (this.#at < this.#text.length) this.#fail('the end');
  }

  #value(): void {
    this.#space();
    const character = this.#text[this.#at];
    if (character === '{') return this.#object();
    if (character === '[') return this.#array();
    if (character === '"') return void this.#string();
    const keyword = keywords.find((word) => this.#text.startsWith(word, this.#at));
    number.lastIndex = this.#at;
    const length = keyword?.length ?? number.exec(this.#text)?.[0].length;
    if (length === undefined) this.#fail('a value');
    this.#at += length;
  }

  #object(): void {
    const keys = new Set<string>();
    this.#elements('{', '}', () => {
      const key = this.#string();
      this.#path.push(key);
      if (keys.has(key)) this.duplicates.push([...this.#path]);
      keys.add(key);
      this.#take(':', '":"');
      this.#value();
      this.#path.pop();
    });
  }

  #array(): void {
    let index = 0;
    this.#elements('[', ']', () => {
      this.#path.push(index);
      this.#value();
      this.#path.pop();
      index += 1;
    });
  }

  #elements(open: string, close: string, element: () => void): void {
    this.#take(open, `"${open}"`);
    if (this.#path.length > depthMax) this.#fail('an end of the nesting');
    this.#space();
    if (this.#text[this.#at] === close) {
      this.#at += 1;
      return;
    }
    do element();
    while (this.#take(`,${close}`, `"," or "${close}"`) === ',');
  }

  #string(): string {
    this.#take('"', 'a string');
    const start = this.#at - 1;
    for (;;) {
      const character = this.#text[this.#at];
      if (character === undefined || character < ' ') this.#fail('the rest of a string');
      this.#at += 1;
      if (character === '"') break;
      if (character === '\\') this.#escape();
    }
    return JSON.parse(this.#slice.bytes.toString('utf8', start, this.#at)) as string;
  }

  #escape(): void {
    if (this.#text[this.#at] !== 'u') {
      if (!simpleEscapes.includes(this.#text[this.#at] ?? ' ')) this.#fail('an escape');
      this.#at += 1;
      return;
    }
    this.#at += 1;
    for (let digit = 0; digit < 4; digit++) {
      if (!/^[0-9a-f]$/i.test(this.#text[this.#at] ?? '')) this.#fail('a hexadecimal digit');
      this.#at += 1;
    }
  }

  #take(characters: string, what: string): string {
    this.#space();
    const character = this.#text[this.#at];
    if (character === undefined || !characters.includes(character)) this.#fail(what);
    this.#at += 1;
    return character;
  }

  #space(): void {
    while (this.#at < this.#text.length && ' \n\r\t'.includes(this.#text[this.#at] as string)) this.#at += 1;
  }

  #fail(expected: string): never {
    const byte = this.#slice.bytes[this.#at];
    const found = byte === undefined ? 'it ends' : describeByte(byte);
    throw new JsonError(`${found} where ${expected} should be`, this.#slice.offset + this.#at);
  }
}
