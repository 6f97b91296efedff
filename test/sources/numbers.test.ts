/** Numbers and texts in one column, under marks that are declared: marks are for texts, and a number is itself. */
import { writeFile } from 'node:fs/promises';
import path from 'node:path';
import { DuckDBInstance } from '@duckdb/node-api';
import Database from 'better-sqlite3';
import { zipSync } from 'fflate';
import { parquetWriteBuffer } from 'hyparquet-writer';
import { describe, expect, test } from 'vitest';
import { parsePattern } from '../../src/core/mapping/pattern.ts';
import type { DecimalFormat } from '../../src/core/numbers/decimal.ts';
import type { Source } from '../../src/core/ports.ts';
import type { Mapping } from '../../src/core/settings.ts';
import { german, germanColumns, readOf } from '../support/number-world.ts';
import { entry, mapping } from '../support/row-world.ts';
import { calm, openSourceIn, tempDir } from '../support/source-world.ts';
import { type TestCell, numberCell, workbook } from '../support/workbooks.ts';

/** By `{k}`, the value of `{v}` in each row. */
function read(value = '{v}', format: DecimalFormat = german, more: Partial<Mapping> = {}): Mapping {
  return mapping([entry({ path: ['{k}'], time: '2026-01', value, format })], more);
}

type Field = number | string | null;
type Kind = (rows: readonly (readonly [string, Field])[], by: Mapping) => Promise<Source>;

const isSafe = (field: Field): field is number => typeof field === 'number';

async function opened(type: string, keys: object, by: Mapping, files: Record<string, string | Uint8Array>) {
  const dir = await tempDir();
  for (const [name, content] of Object.entries(files)) await writeFile(path.join(dir, name), content);
  return openSourceIn({ baseDir: dir, mapping: by }, type, keys);
}

const jsonLines = (rows: readonly (readonly [string, Field])[]): string =>
  rows.map(([k, v]) => `${JSON.stringify({ k, v })}\n`).join('');
const jsonList = (rows: readonly (readonly [string, Field])[]): string =>
  JSON.stringify(rows.map(([k, v]) => ({ k, v })));

function book(rows: readonly (readonly [string, Field])[], header = ['k', 'v']): Uint8Array {
  const cell = (field: Field): TestCell => (isSafe(field) ? numberCell(String(field)) : (field ?? ''));
  return workbook({ sheets: [{ name: 'S', rows: [header, ...rows.map(([k, v]) => [k, cell(v)])] }] });
}

/** Places whose values have a type each. */
const mixed: Readonly<Record<string, Kind>> = {
  xlsx: (rows, by) => opened('xlsx', { files: ['a.xlsx'] }, by, { 'a.xlsx': book(rows) }),
  'xlsx, sheet by sheet': (rows, by) =>
    opened('xlsx', { files: ['a.xlsx'], sheet: '/S/' }, by, { 'a.xlsx': book(rows) }),
  'xlsx in a zip': (rows, by) =>
    opened('xlsx', { files: ['z.zip'], members: ['*.xlsx'] }, by, { 'z.zip': zipSync({ 'a.xlsx': book(rows) }) }),
  jsonl: (rows, by) => opened('jsonl', { files: ['a.jsonl'] }, by, { 'a.jsonl': jsonLines(rows) }),
  'jsonl that is not plain': (rows, by) =>
    opened('jsonl', { files: ['a.jsonl'] }, by, { 'a.jsonl': `${jsonLines(rows)}{"k":"list","v":1,"x":[1]}\n` }),
  json: (rows, by) => opened('json', { files: ['a.json'] }, by, { 'a.json': jsonList(rows) }),
  'json of nested objects': (rows, by) =>
    opened('json', { files: ['a.json'], items: 'rows' }, by, { 'a.json': `{"rows":${jsonList(rows)}}` }),
  'json of lists': (rows, by) =>
    opened('json', { files: ['a.json'], columns: ['k', 'v'] }, by, { 'a.json': JSON.stringify(rows) }),
  'jsonl in a zip': (rows, by) =>
    opened('jsonl', { files: ['z.zip'], members: ['*.jsonl'] }, by, {
      'z.zip': zipSync({ 'a.jsonl': Buffer.from(jsonLines(rows)) }),
    }),
  'a command that writes json': (rows, by) =>
    opened('command', { command: ['/bin/cat', 'a.json'], format: 'json' }, by, { 'a.json': jsonList(rows) }),
  'a command that writes jsonl': (rows, by) =>
    opened('command', { command: ['/bin/cat', 'a.jsonl'], format: 'jsonl' }, by, { 'a.jsonl': jsonLines(rows) }),
  async sqlite(rows, by) {
    const dir = await tempDir();
    const database = new Database(path.join(dir, 'a.db'));
    database.exec('CREATE TABLE t (k, v)');
    const insert = database.prepare('INSERT INTO t VALUES (?, ?)');
    for (const [k, v] of rows) insert.run(k, Number.isInteger(v) ? BigInt(v as number) : v);
    database.close();
    return openSourceIn({ baseDir: dir, mapping: by }, 'sqlite', { file: 'a.db', query: 'SELECT k, v FROM t' });
  },
};

describe('a number is itself under decimal: "," and group: ".", and a text beside it is read by them', () => {
  test.each(Object.entries(mixed))('in %s', async (_kind, open) => {
    const by = read();
    const rows = [
      ['number', 7.125],
      ['whole', 1234],
      ['negative', -0.125],
      ['tiny', 1.5e-7],
      ['text', '1.234,50'],
      ['text with a point', '7.125'],
      ['no number', '7.12'],
      ['none', null],
    ] as const;
    expect(await readOf(await open(rows, by), by)).toMatchObject({
      number: '7.125',
      whole: '1234',
      negative: '-0.125',
      tiny: '0.00000015 <- 1.5e-7',
      text: '1234.50 <- 1.234,50',
      'text with a point': '7125 <- 7.125',
      'row 7': expect.stringContaining('must stand between groups of 3 digits'),
    });
  });

  test.each(Object.entries(mixed))('in %s without a group mark', async (_kind, open) => {
    const by = read('{v}', { ...german, group: undefined, accounting: true });
    const rows = [
      ['number', 7.125],
      ['text', '(1234,50) €'],
      ['reject', '7.125'],
    ] as const;
    expect(await readOf(await open(rows, by), by)).toMatchObject({
      number: '7.125',
      text: '-1234.50 <- (1234,50) €',
      'row 3': expect.stringContaining('say group: "." if it groups'),
    });
  });

  test.each(Object.entries(mixed))('in %s where values are negated, scaled and rounded', async (_kind, open) => {
    const rows = [
      ['number', 7.125],
      ['text', '1.234,50'],
    ] as const;
    const by = mapping([
      entry({ path: ['negated', '{k}'], time: '2026-01', value: '{v}', format: { ...german, negate: true } }),
      entry({ path: ['scaled', '{k}'], time: '2026-01', value: '{v}', format: { ...german, scale: '1000', round: 0 } }),
    ]);
    expect(await readOf(await open(rows, by), by)).toEqual(
      expect.objectContaining({
        'negated/number': '-7.125 <- 7.125',
        'negated/text': '-1234.50 <- 1.234,50',
        'scaled/number': '7125 <- 7.125',
        'scaled/text': '1234500 <- 1.234,50',
      }),
    );
  });

  test.each(Object.entries(mixed))('in %s that is filled down', async (_kind, open) => {
    const by = read('{v}', german, { fillDown: ['v'] });
    const rows = [
      ['a', 7.125],
      ['b', null],
      ['c', '1.234,50'],
      ['d', null],
      ['e', '7.125'],
      ['f', ''],
    ] as const;
    expect(await readOf(await open(rows, by), by)).toMatchObject({
      a: '7.125',
      b: '7.125',
      c: '1234.50 <- 1.234,50',
      d: '1234.50 <- 1.234,50',
      e: '7125 <- 7.125',
      f: '7125 <- 7.125',
    });
  });

  test.each(Object.entries(mixed))('in %s with numbers that are missing', async (_kind, open) => {
    const by = read('{v}', german, { missing: ['', '-99.999', '1.000'] });
    const rows = [
      ['number', 7.125],
      ['missing', -99.999],
      ['missing as a text', '1.000'],
      ['whole', 1000],
    ] as const;
    const found = await readOf(await open(rows, by), by);
    expect(found).toMatchObject({ number: '7.125', whole: '1000' });
    expect(Object.keys(found).filter((key) => key.startsWith('missing'))).toEqual([]);
  });
});

describe('a column of numbers', () => {
  const expected = { a: '7.125', b: '1234.500', c: '-0.125' };

  test('of parquet', async () => {
    const numbers = [7.125, 1234.5, -0.125];
    const file = new Uint8Array(
      parquetWriteBuffer({
        columnData: [
          { name: 'k', data: ['a', 'b', 'c'], type: 'STRING' },
          { name: 'double', data: numbers, type: 'DOUBLE' },
          { name: 'float', data: numbers, type: 'FLOAT' },
          { name: 'text', data: ['7.125', '1.234,50', '-0,125'], type: 'STRING' },
        ],
      }),
    );
    for (const column of ['double', 'float']) {
      const by = read(`{${column}}`);
      const source = await opened('parquet', { files: ['a.parquet'] }, by, { 'a.parquet': file });
      expect(await readOf(source, by)).toEqual({ a: '7.125', b: '1234.5', c: '-0.125' });
    }
    const by = read('{text}');
    const source = await opened('parquet', { files: ['a.parquet'] }, by, { 'a.parquet': file });
    expect(await readOf(source, by)).toEqual({
      a: '7125 <- 7.125',
      b: '1234.50 <- 1.234,50',
      c: '-0.125 <- -0,125',
    });
  });

  test('of parquet, as decimals of every width', async () => {
    const dir = await tempDir();
    const instance = await DuckDBInstance.create(':memory:', { threads: '1' });
    const connection = await instance.connect();
    for (const digits of [9, 18, 38]) {
      const values = "VALUES ('a', 7.125), ('b', 1234.5), ('c', -0.125)";
      const query = `SELECT k, v::DECIMAL(${digits}, 3) AS v FROM (${values}) AS t(k, v)`;
      await connection.run(`COPY (${query}) TO '${path.join(dir, `${digits}.parquet`)}' (FORMAT parquet)`);
      const by = read();
      const source = openSourceIn({ baseDir: dir, mapping: by }, 'parquet', { files: [`${digits}.parquet`] });
      expect(await readOf(source, by)).toEqual(expected);
    }
    connection.closeSync();
    instance.closeSync();
  });

  test('of duckdb, beside texts', async () => {
    const query = `SELECT 7.125::DECIMAL(12, 3) AS d, -7.125::DOUBLE AS double, 7.5::FLOAT AS float, '1.234,50' AS t,
      '7.125' AS point, '[7.125, "1.234"]'::JSON->0 AS json`;
    const by = germanColumns('d', 'double', 'float', 't', 'point', 'json');
    const source = openSourceIn({ baseDir: await tempDir(), mapping: by }, 'duckdb', { query });
    expect(await readOf(source, by)).toEqual({
      d: '7.125',
      double: '-7.125',
      float: '7.5',
      t: '1234.50 <- 1.234,50',
      point: '7125 <- 7.125',
      json: '7.125',
    });
  });

  test('and texts in one column of duckdb is refused where its values have no text of their own', async () => {
    const by = read();
    const query = "SELECT 'a' AS k, 7.125::VARIANT AS v";
    const source = openSourceIn({ baseDir: await tempDir(), mapping: by }, 'duckdb', { query });
    await expect(readOf(source, by)).rejects.toMatchObject({
      code: 'part.unreadable',
      message: expect.stringContaining('the column v is a VARIANT, whose values may be numbers'),
    });
  });

  test('is another content than the same texts', async () => {
    const by = read();
    const hashOf = async (v: Field, type: 'sqlite' | 'xlsx, sheet by sheet'): Promise<unknown> => {
      const source = await mixed[type]!([['a', v]], by);
      const reading = source.rows((await source.parts(calm))[0]!, calm);
      for (;;) {
        const next = await reading.next();
        if (next.done === true) return next.value.hash;
      }
    };
    for (const type of ['sqlite', 'xlsx, sheet by sheet'] as const) {
      expect(await hashOf('7.125', type)).not.toBe(await hashOf(7.125, type));
    }
  });
});

describe('cells of a workbook', () => {
  test('are numbers where a formula gave one', async () => {
    const formula = (result: string, type = 'n'): TestCell => ({
      attributes: `t="${type}"`,
      xml: `<f>A1</f><v>${result}</v>`,
    });
    const rows = [
      ['k', 'v'],
      ['number', formula('7.125')],
      ['text', formula('1.234,50', 'str')],
    ];
    const by = read();
    const source = await opened('xlsx', { files: ['a.xlsx'] }, by, {
      'a.xlsx': workbook({ sheets: [{ name: 'S', rows }] }),
    });
    expect(await readOf(source, by)).toEqual({ number: '7.125', text: '1234.50 <- 1.234,50' });
  });

  test('are named by their place, and stay numbers in rows that are cut to the width of the header', async () => {
    const rows = [
      ['k', 'v', 'more'],
      ['a', numberCell('7.125')],
      ['b', '1.234,50', 'x'],
    ];
    const by = read('{#2}');
    const source = await opened('xlsx', { files: ['a.xlsx'] }, by, {
      'a.xlsx': workbook({ sheets: [{ name: 'S', rows }] }),
    });
    expect(await readOf(source, by)).toEqual({ a: '7.125', b: '1234.50 <- 1.234,50' });
  });

  test.each(['xlsx', 'jsonl'])('are unpivoted as what they are, also of %s', async (type) => {
    const columns = parsePattern(String.raw`^\d{4}-\d{2}$`);
    if ('problem' in columns) throw new Error(columns.problem);
    const by = mapping([entry({ path: ['{month}'], time: '{month}', value: '{v}', format: german })], {
      unpivot: { columns, name: 'month', value: ['v'] },
    });
    const rows = [
      ['k', '2026-01', '2026-02', '2026-03'],
      ['a', numberCell('7.125'), '1.234,50', '7.125'],
    ];
    const content =
      type === 'xlsx'
        ? workbook({ sheets: [{ name: 'S', rows }] })
        : '{"k":"a","2026-01":7.125,"2026-02":"1.234,50","2026-03":"7.125"}\n';
    const source = await opened(type, { files: [`a.${type}`] }, by, { [`a.${type}`]: content });
    expect(await readOf(source, by)).toEqual({
      '2026-01': '7.125',
      '2026-02': '1234.50 <- 1.234,50',
      '2026-03': '7125 <- 7.125',
    });
  });
});

describe('a template', () => {
  const rows = [
    ['number', 7.125],
    ['text', ' 1.234,50 '],
    ['none', null],
  ] as const;
  type Rows = readonly (readonly [string, string | number | null])[];
  const readBy = async (kind: string, of: Rows, by: ReturnType<typeof read>) => readOf(await mixed[kind]!(of, by), by);
  const rendered = (kind: string, of: Rows, from: string) => readBy(kind, of, read(from));

  test.each(['xlsx', 'jsonl', 'sqlite'])('of one column with filters leaves a number of %s a number', async (kind) => {
    expect(await rendered(kind, rows, '{v|trim}')).toEqual({
      number: '7.125',
      text: '1234.50 <- 1.234,50',
    });
    expect(await rendered(kind, rows, '{v|default:1.000,5}')).toEqual({
      number: '7.125',
      text: '1234.50 <-  1.234,50 ',
      none: '1000.5 <- 1.000,5',
    });
    expect(await rendered(kind, rows, '{v|match:^\\s*\\d+}')).toEqual({ number: '7', text: '1 <-  1' });
  });

  const signed = [
    ['up', 1.234],
    ['down', -1.234],
    ['text', '-1.234,50'],
  ] as const;

  test.each(['xlsx', 'jsonl', 'sqlite'])('that takes a part of a number of %s leaves it a number', async (kind) => {
    expect(await rendered(kind, signed, '{v|match:[\\d.,]+}')).toEqual({
      up: '1.234',
      down: '1.234',
      text: '1234.50 <- 1.234,50',
    });
    for (const filter of ['lower', 'upper'])
      expect((await rendered(kind, [['tiny', 1.5e-7]], `{v|${filter}}`))['tiny']).toMatch(/^0\.00000015\b/);
    expect(await rendered(kind, signed, '-{v|match:[\\d.,]+}')).toMatchObject({
      up: '-1.234 <- -1,234',
      down: '-1.234 <- -1,234',
      text: '-1234.50 <- -1.234,50',
    });
  });

  test.each(['xlsx', 'jsonl', 'sqlite'])(
    'that puts another text in place of a number of %s has a text',
    async (kind) => {
      const mapped = { ...read('{v|map:sizes}'), maps: { sizes: { '1.234': '2.345,5', '-1.234': '1.000' } } };
      expect(await readBy(kind, signed.slice(0, 2), mapped)).toEqual({
        up: '2345.5 <- 2.345,5',
        down: '1000 <- 1.000',
      });
      expect(await rendered(kind, signed.slice(0, 2), '{v|match:^\\d.*|default:1.000}')).toEqual({
        up: '1.234',
        down: '1000 <- 1.000',
      });
    },
  );

  test.each(['xlsx', 'jsonl', 'sqlite'])(
    'of several writes a number of %s with the mark of the entry',
    async (kind) => {
      expect(await rendered(kind, rows, '-{v|trim}')).toMatchObject({
        number: '-7.125 <- -7,125',
        text: '-1234.50 <- -1.234,50',
      });
    },
  );

  test('that reads a column by a point reads it so, whatever another entry says', async () => {
    const by = mapping([
      entry({ path: ['german', '{k}'], time: '2026-01', value: '{v}', format: german }),
      entry({ path: ['plain', '{k}'], time: '2026-01', value: '{v}' }),
    ]);
    const both = [
      ['a', 7.125],
      ['b', '7.125'],
    ] as const;
    expect(await readBy('jsonl', both, by)).toEqual({
      'german/a': '7.125',
      'plain/a': '7.125',
      'german/b': '7125 <- 7.125',
      'plain/b': '7.125',
    });
  });
});
