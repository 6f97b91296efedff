/** Parses one value and says what `JSON.parse` does not: the byte where it is not JSON, and keys given twice. */
import { isUtf8 } from 'node:buffer';
import { JsonError } from './byte-input.ts';
import type { JsonSlice } from './byte-input.ts';
import { depthMax, mistakeIn } from './json-grammar.ts';
import { JsonScanner } from './json-scanner.ts';
import type { Token } from './json-scanner.ts';

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
    throw mistakeIn(text, offset) ?? new JsonError('a mistake', offset);
  }
}

/** An object with the keys that it had so far, or a list, and the place in it. */
interface Open {
  readonly keys?: Set<string>;
  at: string | number;
}

/**
 * Paths of members whose key occurs before in the same object. `JSON.parse` silently keeps the last one.
 * @param slice which is JSON
 * @throws RangeError where it is nested too deeply.
 */
export function duplicateMembers({ bytes }: JsonSlice): JsonPath[] {
  const duplicates: JsonPath[] = [];
  const open: Open[] = [];
  const scanner = new JsonScanner(bytes.toString('utf8'));
  let before: Token | undefined;
  for (let token = scanner.next(); token !== 'end'; token = scanner.next()) {
    const within = open.at(-1);
    if (token === '{') open.push({ keys: new Set(), at: '' });
    else if (token === '[') open.push({ at: 0 });
    else if (token === '}' || token === ']') open.pop();
    else if (token === ',' && typeof within?.at === 'number') within.at += 1;
    else if (token === 'string' && within?.keys !== undefined && before !== ':') {
      within.at = scanner.said();
      if (within.keys.has(within.at)) duplicates.push(open.map(({ at }) => at));
      within.keys.add(within.at);
    }
    if (open.length > depthMax) throw new RangeError('nested too deeply');
    before = token;
  }
  return duplicates;
}

/** Asking for each character takes a tenth of a microsecond, so that whole steps are asked for before. */
const stepBytes = 64 * 1024;

function firstInvalidUtf8(bytes: Buffer): number {
  let at = 0;
  for (;;) {
    const next = beginOfCharacter(bytes, at + stepBytes);
    if (next <= at || next >= bytes.length || !isUtf8(bytes.subarray(at, next))) break;
    at = next;
  }
  while (at < bytes.length) {
    const lead = bytes[at] as number;
    const length = lead < 0x80 ? 1 : lead < 0xe0 ? 2 : lead < 0xf0 ? 3 : 4;
    if (!isUtf8(bytes.subarray(at, at + length))) return at;
    at += length;
  }
  return at;
}

/** At this byte or up to three before it. */
function beginOfCharacter(bytes: Buffer, at: number): number {
  let begin = at;
  while (begin > at - 3 && ((bytes[begin] ?? 0) & 0b1100_0000) === 0b1000_0000) begin -= 1;
  return begin;
}
