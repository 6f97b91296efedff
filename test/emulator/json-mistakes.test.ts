/** What is wrong with a text that is not JSON, and at which byte. */
import fc from 'fast-check';
import { expect, test, vi } from 'vitest';
import { mistakeIn } from '../../src/emulator/drivers/json-grammar.ts';
import { JsonScanner } from '../../src/emulator/drivers/json-scanner.ts';
import { duplicateMembers, parseSlice } from '../../src/emulator/drivers/json-slice.ts';

function told(text: string): string | undefined {
  const mistake = mistakeIn(text, 0);
  return mistake && `${mistake.message} at byte ${mistake.offset}`;
}

const blanks = ' \n\t\r'.repeat(1_000);

test.for([
  ['', 'it is empty at byte 0'],
  [blanks, 'it is empty at byte 4000'],
  [`[${blanks}`, 'it ends where "]" should be at byte 4001'],
  [`{${blanks},`, '"," where a key in double quotes or "}" should be at byte 4001'],
  ['[1,]', '"]" where a value should be at byte 3'],
  ['[1 2]', '"2" where "," or a closing bracket should be at byte 3'],
  ['[1}', '"}" where "," or a closing bracket should be at byte 2'],
  ['[01]', '"1" where "," or a closing bracket should be at byte 2'],
  ['{"a":1,}', '"}" where a key in double quotes should be at byte 7'],
  ['{1:2}', '"1" where a key in double quotes or "}" should be at byte 1'],
  ["{'a':1}", `"'" where a key in double quotes or "}" should be at byte 1`],
  ['{"a":1,b:2}', '"b" where a key in double quotes should be at byte 7'],
  ['{"a" 1}', '"1" where ":" should be at byte 5'],
  ['{"a":}', '"}" where a value should be at byte 5'],
  ['{"a":1', 'it ends where "}" should be at byte 6'],
  ['1 1', '"1" where the end should be at byte 2'],
  ['["é", 👍]', '"👍" where a value should be at byte 7'],
  ['tru', '"t" where a value should be at byte 0'],
  ['[truest]', '"t" where a value should be at byte 1'],
  ['[-]', '"-" where a value should be at byte 1'],
  ['[-1.]', 'a number without its last digits begins at byte 1'],
  ['[1.5e+]', 'a number without its last digits begins at byte 1'],
  ['[1e5e5]', '"e" where "," or a closing bracket should be at byte 4'],
  ['["a', 'a string with a line break begins at byte 1'],
  ['["a\n"]', 'a string with a line break begins at byte 1'],
  ['["\u0000"]', 'a string with a control character begins at byte 1'],
  ['["\\x"]', 'a string with an unknown escape begins at byte 1'],
  ['["\\u12g4"]', 'a string in which \\u lacks four hexadecimal digits begins at byte 1'],
  ['[1, // one\n2]', 'a comment begins at byte 4'],
  ['/* one */', 'a comment begins at byte 0'],
  ['/', '"/" where a value should be at byte 0'],
  ['['.repeat(100_000), 'nested too deeply at byte 0'],
])('%j: %s', ([text = '', message]) => {
  expect(told(text)).toBe(message);
});

const piece = fc.constantFrom(
  ...'{}[]:,"\\/*-+.eE01 \n'.split(''),
  ...'true null "a" "a": {"a":1} [1] \\u \\u00e9 \\x é 👍 \u0000 \u00A0 1. -1'.split(' '),
);
const junk = fc.array(piece, { maxLength: 12 }).map((pieces) => pieces.join(''));
const nearlyJson = fc
  .tuple(fc.json(), fc.nat(), junk)
  .map(([json, at, own]) => json.slice(0, at % json.length) + own + json.slice((at + 1) % json.length));

test('a text has a mistake where JSON.parse does not take it, and has none where it does', () => {
  const takes = (text: string): boolean => {
    try {
      return JSON.parse(text) !== undefined;
    } catch {
      return false;
    }
  };
  fc.assert(
    fc.property(fc.oneof(junk, nearlyJson, fc.json()), (text) => {
      expect(told(text) === undefined).toBe(takes(text));
    }),
    { numRuns: 2_000 },
  );
});

/** How many tokens are looked at until the mistake is found. */
function tokensOf(text: string): number {
  const next = vi.spyOn(JsonScanner.prototype, 'next');
  try {
    expect(told(text)).toBeDefined();
    return next.mock.calls.length;
  } finally {
    next.mockRestore();
  }
}

test('nothing behind the first mistake is looked at, and blanks are no token, however many', () => {
  expect(tokensOf(`[1,,${'1,'.repeat(100_000)}`)).toBe(4);
  expect(tokensOf(' '.repeat(1_000_000))).toBe(1);
  expect(tokensOf(`{${'\n'.repeat(1_000_000)}x`)).toBe(2);
});

const sliceOf = (bytes: Buffer) => ({ bytes, offset: 5, members: 0 });

test('the byte at which a text is not UTF-8 is found in a text of any length', () => {
  fc.assert(
    fc.property(fc.constantFrom('a', 'é', '日', '👍'), fc.nat(200_000), fc.nat(3), (character, many, odd) => {
      const before = Buffer.from('a'.repeat(odd) + character.repeat(many / Buffer.byteLength(character)));
      const slice = sliceOf(Buffer.concat([before, Buffer.from([0xff]), before]));
      expect(() => parseSlice(slice)).toThrow(expect.objectContaining({ offset: 5 + before.length }));
    }),
    { numRuns: 30 },
  );
});

test('keys that are given twice are found in their object, however they are written', () => {
  const text = ` { "a" : [ {"b":1, "c":{"b":2}, "\\u0062" : [1,2]}, {"b":"a"} ] ,"a":"a", "__proto__":{}, "__proto__":1 }`;
  expect(duplicateMembers(sliceOf(Buffer.from(text)))).toEqual([['a', 0, 'b'], ['a'], ['__proto__']]);
});

test('keys are not looked for where a text is nested too deeply', () => {
  const text = Buffer.from('['.repeat(20_000) + ']'.repeat(20_000));
  expect(() => duplicateMembers(sliceOf(text))).toThrow(RangeError);
});
