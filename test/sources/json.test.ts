import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import type { Row } from '../../src/core/model.ts';
import { fileOf, readWhole, unreadable, unreadableLike } from '../support/source-world.ts';
import { rowsOf } from '../support/mapping.ts';

type Type = 'json' | 'jsonl';

interface Rows {
  readonly columns: readonly string[];
  readonly rows: readonly Row[];
}

/** Longer than what is read at once, so that anything may stand across two chunks. */
const manyChunks = 200_000;

/** Records as a file of either kind has them. */
function encode(type: Type, records: readonly string[]): string {
  return type === 'json' ? `[${records.join(',')}]` : records.map((record) => `${record}\n`).join('');
}

async function readRecords(type: Type, records: readonly string[]): Promise<Rows> {
  const { columns, rows } = await readWhole(await fileOf(type, encode(type, records)));
  return { columns, rows };
}

async function failureOf(type: Type, content: string | Uint8Array, keys: object = {}): Promise<unknown> {
  const source = await fileOf(type, content, { ...keys });
  return await readWhole(source).then(
    () => 'no failure',
    (error: unknown) => error,
  );
}

describe.each<Type>(['jsonl', 'json'])('records of %s', (type) => {
  test('have numbers as they are written', async () => {
    const numbers = ['1.50', '0', '-0', '12345678901234567890.10', '1e5', '1E+400', '-1.0e-05', '0.1'];
    const { rows } = await readRecords(
      type,
      numbers.map((number) => `{"n":${number}}`),
    );
    expect(rows).toEqual(numbers.map((number) => [number]));
  });

  test('have texts, true and false as texts, and null as the empty text', async () => {
    const { rows } = await readRecords(type, ['{"a":"\\u00e9\\n\\ud83d\\ude00\\"","b":true,"c":false,"d":null}']);
    expect(rows).toEqual([['é\n😀"', 'true', 'false', '']]);
  });

  test('have the keys of all of them as columns, in the order these first appear', async () => {
    expect(await readRecords(type, ['{"b":1}', '{}', '{"a":2,"b":3}', '{"c":4}'])).toEqual({
      columns: ['b', 'a', 'c'],
      rows: [
        ['1', '', ''],
        ['', '', ''],
        ['3', '2', ''],
        ['', '', '4'],
      ],
    });
  });

  test('have nested objects as columns with dots', async () => {
    expect(await readRecords(type, ['{"customer":{"name":"x","at":{"city":"y"}}}', '{"customer":{"id":1}}'])).toEqual({
      columns: ['customer.name', 'customer.at.city', 'customer.id'],
      rows: [
        ['x', 'y', ''],
        ['', '', '1'],
      ],
    });
  });

  test('have lists and empty objects as their JSON text', async () => {
    const { columns, rows } = await readRecords(type, [
      '{ "a": [ 1.0, "x\\ny", [], {} , {"b" : null, "c": [true, false]} ], "d": { }, "e": {"f": {}} }',
    ]);
    expect(columns).toEqual(['a', 'd', 'e.f']);
    expect(rows).toEqual([['[1.0,"x\\ny",[],{},{"b":null,"c":[true,false]}]', '{}', '{}']]);
  });

  test('may have keys that are special elsewhere', async () => {
    expect(await readRecords(type, ['{"__proto__":{"x":1},"constructor":2,"":3,"toString":4}'])).toEqual({
      columns: ['__proto__.x', 'constructor', '', 'toString'],
      rows: [['1', '2', '3', '4']],
    });
    expect(Object.hasOwn(Object.prototype, 'x')).toBe(false);
  });

  test('may have white space wherever JSON has it', async () => {
    expect(await readRecords(type, [' \t{ "a"\t:\r 1 , "b" : 2 } \r'])).toEqual({
      columns: ['a', 'b'],
      rows: [['1', '2']],
    });
  });

  test('may be none', async () => {
    expect(await readRecords(type, [])).toEqual({ columns: [], rows: [] });
  });

  test.each([
    ['a key twice', '{"a":1,"b":2,"a":1}', /two values for the column "a"/],
    ['a key twice, once with a nested object', '{"a":{"b":1},"a":{"c":2}}', /two values for the column "a"/],
    ['two keys that make one column', '{"a.b":1,"a":{"b":2}}', /two values for the column "a\.b"/],
    ['two keys that trimming makes one', '{"a":1," a ":2}', /two values for the column "a"/],
    ['a key twice inside a list', '{"a":[{"b":1,"b":2}]}', /the key "b" twice/],
    ['a list instead of an object', '[1,2]', /a record must be an object, and this is a list/],
    ['a value instead of an object', '"x"', /a record must be an object, and this is a single value/],
    ['null instead of an object', 'null', /a record must be an object, and this is a single value/],
    ['a NUL character', '{"a":"\\u0000"}', /a text with a NUL character/],
    ['half a surrogate pair', '{"a":"\\ud83d"}', /a text with half a surrogate pair/],
    ['half a surrogate pair in a key', '{"\\ude00":1}', /a text with half a surrogate pair/],
    ['a trailing comma', '{"a":1,}', /invalid JSON/],
    ['a comment', '{"a":1} // x', /invalid JSON/],
    ['a text in single quotes', "{'a':1}", /invalid JSON/],
    ['an invalid number', '{"a":01}', /invalid JSON/],
    ['NaN', '{"a":NaN}', /invalid JSON/],
    ['a line break in a text', '{"a":"x\ny"}', /invalid JSON/],
    ['nesting that is too deep', `{"a":${'['.repeat(10_000)}1${']'.repeat(10_000)}}`, /nested more than 100 levels/],
    ['objects nested too deep', `${'{"a":'.repeat(10_000)}1${'}'.repeat(10_000)}`, /nested more than 100 levels/],
  ])('must not have %s', async (_what, record, message) => {
    expect(await failureOf(type, encode(type, ['{"a":1}', record, '{"a":2}']))).toMatchObject(unreadableLike(message));
    // The fault of a last record is found as well.
    expect(await failureOf(type, encode(type, [record]))).toMatchObject(unreadableLike(message));
  });

  test('may be nested 90 levels deep', async () => {
    const { columns } = await readRecords(type, [`${'{"a":'.repeat(90)}1${'}'.repeat(90)}`]);
    expect(columns).toEqual([Array.from({ length: 90 }, () => 'a').join('.')]);
  });

  test.each(['x'.repeat(10_000_001), 'x'.repeat(30_000_000)])('must not have a text over 10 MB (%#)', async (text) => {
    const record = `{"a":"${text}"}`;
    expect(await failureOf(type, encode(type, [record]))).toMatchObject(unreadableLike(/a text is over 10 MB/));
  });

  test('do not fill the memory where there are many columns and short records', async () => {
    const wide = Array.from({ length: 5000 }, (_, at) => `"c${at}":1`);
    // The list is not for the scanner, which makes no rows.
    const source = await fileOf(
      type,
      encode(type, [`{${wide.join(',')}}`, '{"c1":[]}', ...wide.slice(2).map(() => '{}')]),
    );
    const { signal } = new AbortController();
    let most = 0;
    let count = 0;
    for await (const batch of source.rows((await source.parts(signal))[0]!, signal)) {
      const rows = rowsOf(batch);
      most = Math.max(most, rows.length);
      count += rows.length;
    }
    expect(count).toBe(5000);
    expect(most).toBeLessThan(500);
  });

  test('must not have 100 000 different keys', async () => {
    const records = Array.from({ length: 1001 }, (_, at) => {
      const keys = Array.from({ length: 100 }, (__, key) => `"${at}-${key}":1`);
      return `{${keys.join(',')}}`;
    });
    expect(await failureOf(type, encode(type, records))).toMatchObject(
      unreadableLike(/more than 100 000 different keys/),
    );
  });

  test('are text, whose invalid bytes and NUL characters are faults', async () => {
    expect(await failureOf(type, Buffer.from([0x7b, 0x22, 0xff]))).toMatchObject({
      ...unreadable(`revenue.${type} line 1: invalid utf-8 byte 0xFF at byte offset 2`),
      hint: expect.stringMatching(/^JSON is utf-8: /),
    });
    expect(await failureOf(type, '\n{\0')).toMatchObject(
      unreadable(`revenue.${type} line 2: a NUL character at byte offset 2`),
    );
  });

  test.each<[string, (text: string) => Uint8Array]>([
    ['utf-8', (text) => Buffer.from(text)],
    ['utf-16le', (text) => Buffer.from(text, 'utf16le')],
    ['utf-16be', (text) => Buffer.from(text, 'utf16le').swap16()],
  ])('may begin with a byte-order mark of %s', async (_encoding, write) => {
    const source = await fileOf(type, write(`\uFEFF${encode(type, ['{"a":"é"}'])}`));
    expect(await readWhole(source)).toMatchObject({ columns: ['a'], rows: [['é']] });
  });

  test('are read whole wherever chunks end in them', async () => {
    for (const shift of ['', 'x', 'xx', 'xxx']) {
      const records = Array.from({ length: 6000 }, (_, at) => `{"a":"${shift}é😀\\u00e9","n":${at}.50,"t":true}`);
      expect((await readRecords(type, records)).rows).toEqual(
        records.map((_, at) => [`${shift}é😀é`, `${at}.50`, 'true']),
      );
    }
    const long = '😀é\\n'.repeat(manyChunks / 8);
    expect((await readRecords(type, [`{"a":"${long}"}`])).rows).toEqual([[JSON.parse(`"${long}"`)]]);
  });

  test('are as JSON has them, whatever is in them', async () => {
    const key = fc.string({ minLength: 1, maxLength: 3 }).map((text) => text.replaceAll(/[.\s]/g, '_'));
    const text = fc.string({ unit: 'grapheme' }).map((value) => value.replaceAll('\0', ''));
    const scalar = fc.oneof(text, fc.integer(), fc.double({ noNaN: true, noDefaultInfinity: true }), fc.boolean());
    const record = fc.dictionary(key, fc.oneof(scalar, fc.constant(null), fc.array(scalar, { maxLength: 3 })));
    await fc.assert(
      fc.asyncProperty(fc.array(record, { maxLength: 5 }), async (records) => {
        const columns = [...new Set(records.flatMap(Object.keys))];
        const textOf = (value: unknown): string => (typeof value === 'string' ? value : JSON.stringify(value));
        const rows = records.map((fields) => columns.map((column) => textOf(fields[column] ?? '')));
        const read = await readRecords(
          type,
          records.map((fields) => JSON.stringify(fields)),
        );
        expect(read.columns.toSorted()).toEqual(columns.toSorted());
        const order = columns.map((column) => read.columns.indexOf(column));
        expect(read.rows.map((row) => order.map((at) => row[at]))).toEqual(rows);
      }),
      { numRuns: 60 },
    );
  });
});

describe('a line of jsonl', () => {
  test('may be blank, and end in any way', async () => {
    const whole = await readWhole(await fileOf('jsonl', '\n{"a":1}\r\n \t\n\r\n{"a":2}\n\n{"a":3}'));
    expect(whole.rows).toEqual([['1'], ['2'], ['3']]);
    expect(whole.content.endsWithLineEnd).toBe(false);
    expect((await readWhole(await fileOf('jsonl', '{"a":1}\n'))).content.endsWithLineEnd).toBe(true);
  });

  test.each([
    ['must hold one record', '{"a":1}\n{"a":2}{"a":3}\n', 'line 2: more than one record'],
    ['must hold a whole record', '{"a":1}\n\n{"a":\n2}\n', 'line 3: the record does not end on its line'],
    ['must not be cut off', '{"a":1}\n{"a":2', 'line 2: the record does not end on its line'],
    ['must not be a part of a list', '{"a":1},\n{"a":2}\n', 'line 1: invalid JSON: expected a value'],
    [
      'is named for a bad literal at its end',
      '{"a":1}\n{"a":tru}\n{"a":2}\n',
      'line 2: invalid JSON: expected a value',
    ],
    ['is named for rubbish after its record', '{"a":1} tru\n{"a":2}\n', 'line 1: invalid JSON: expected a value'],
    ['is named for rubbish alone', '{"a":1}\n\ntru\n', 'line 3: invalid JSON: expected a value'],
    ['is named for rubbish at the end', '{"a":1}\n{"a":2}\ntru', 'line 3: invalid JSON: expected a value'],
  ])('%s', async (_what, content, message) => {
    expect(await failureOf('jsonl', content)).toMatchObject(unreadable(`revenue.jsonl ${message}`));
  });

  test('is named far into the file', async () => {
    const good = '{"a":1}\n'.repeat(manyChunks / 8);
    expect(await failureOf('jsonl', `${good}{"a":}\n${good}`)).toMatchObject(
      unreadableLike(new RegExp(`^revenue.jsonl line ${manyChunks / 8 + 1}: invalid JSON`)),
    );
  });
});

describe('items', () => {
  const document =
    '{"meta":{"rows":[1,[2]],"n":null},"result":{"x":[],"rows":[{"a":1},{"a":2}],"y":{"rows":3}},"z":[{}]}';

  test('lead to the list through objects', async () => {
    const { rows } = await readWhole(await fileOf('json', document, { items: 'result.rows' }));
    expect(rows).toEqual([['1'], ['2']]);
  });

  test.each([
    [undefined, 'the document is an object and no list: it has the keys "meta", "result", "z"'],
    ['rows', 'the document has no key "rows": it has the keys "meta", "result", "z"'],
    ['result.row', 'items: result has no key "row": it has the keys "x", "rows", "y"'],
    ['result.y.row', 'items: result.y has no key "row": it has the keys "rows"'],
    ['result', 'items: result is an object and no list: it has the keys "x", "rows", "y"'],
    ['result.y.rows', 'items: result.y.rows is a single value and no list'],
    ['meta.n', 'items: meta.n is a single value and no list'],
    ['z.a', 'items: z is a list, which has no keys'],
  ])('must lead there: %j', async (items, message) => {
    const keys = items === undefined ? {} : { items };
    expect(await failureOf('json', document, keys)).toMatchObject({
      code: 'part.unreadable',
      message: expect.stringContaining(message),
      hint: expect.stringContaining('items'),
    });
  });

  test('must not be there twice', async () => {
    expect(await failureOf('json', '{"a":[{"b":1}],"a":[]}', { items: 'a' })).toMatchObject(
      unreadableLike(/items: a stands there twice/),
    );
  });

  test.each(['', '.', 'a.', 'a..b'])('must be keys: %j', async (items) => {
    await expect(fileOf('json', '[]', { items })).rejects.toThrow('items');
  });
});

describe('a document of json', () => {
  test.each([
    ['must not be empty', '', 'line 1 (byte offset 0): there is no JSON'],
    ['must not be blank', ' \n ', 'line 2 (byte offset 2): there is no JSON'],
    ['must not be a value', '5', 'line 1 (byte offset 0): the document is a single value and no list'],
    ['must not be cut off', '[{"a":1}', 'line 1, record 1 (byte offset 7): the document ends too early'],
    [
      'must not be cut off after its list',
      '{"a":[{"b":1}]',
      'line 1 (byte offset 13): the document ends too early',
      'a',
    ],
    ['must be the last', '[{"a":1}]\n{"b":1}', 'line 2 (byte offset 10): invalid JSON: unexpected characters'],
    ['is read to its end', '{"a":[{"b":1}],\n"c":x}', 'line 2 (byte offset 20): invalid JSON: expected a value', 'a'],
    [
      'has no deep nesting elsewhere',
      `{"b":${'['.repeat(200)}`,
      'line 1 (byte offset 104): nested more than 100 levels deep',
      'a',
    ],
  ])('%s', async (_what, content, message, items?: string) => {
    expect(await failureOf('json', content, items === undefined ? {} : { items })).toMatchObject(
      unreadable(`revenue.json ${message}`),
    );
  });

  test('has the record and line of a fault named, before, in and after what is read at once', async () => {
    const good = '{"a":1},\n';
    for (const count of [0, 7280, 7281, 7282, 20_000]) {
      const before = `[\n${good.repeat(count)}`;
      const where = `revenue.json line ${count + 2}, record ${count + 1}`;
      expect(await failureOf('json', `${before}{"a":tru},\n${good.repeat(9000)}{}]`)).toMatchObject(
        unreadable(`${where} (byte offset ${before.length + 5}): invalid JSON: expected a value`),
      );
      expect(await failureOf('json', `${before}{"é":1,"é":2},\n${good}{}]`)).toMatchObject(
        unreadable(`${where} (byte offset ${before.length + 11}): two values for the column "é"`),
      );
      expect(await failureOf('json', `${before}[]]`)).toMatchObject(
        unreadable(`${where} (byte offset ${before.length}): a record must be an object, and this is a list`),
      );
    }
  });

  test('says how much of it was read', async () => {
    const source = await fileOf('json', `[${'{"a":1},'.repeat(manyChunks / 8)}{}]`);
    const shares: number[] = [];
    const { signal } = new AbortController();
    for await (const { share = 0 } of source.rows((await source.parts(signal))[0]!, signal)) shares.push(share);
    expect(shares).toEqual(shares.toSorted((a, b) => a - b));
    expect(shares[0]).toBeGreaterThan(0.5);
    expect(shares.at(-1)).toBe(1);
  });
});
