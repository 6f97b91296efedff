import { readFile } from 'node:fs/promises';
import path from 'node:path';
import { gzipSync } from 'node:zlib';
import type { DuckDBConnection } from '@duckdb/node-api';
import { DuckDBInstance } from '@duckdb/node-api';
import fc from 'fast-check';
import { parquetWriteBuffer } from 'hyparquet-writer';
import type { ParquetWriteOptions } from 'hyparquet-writer';
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest';
import { isAgentError } from '../../src/core/errors.ts';
import { runsOf } from '../support/campaign.ts';
import type { FaultyPart } from '../support/field-faults.ts';
import { readFaults } from '../support/field-faults.ts';
import { openSource, readWhole, tempDir, writeFiles } from '../support/source-world.ts';
import type { WholePart } from '../support/source-world.ts';

const file = 'books.parquet';

let duckdb: DuckDBConnection;
let instance: DuckDBInstance;

beforeAll(async () => {
  instance = await DuckDBInstance.create(':memory:', { threads: '1' });
  duckdb = await instance.connect();
});

afterAll(() => {
  duckdb.closeSync();
  instance.closeSync();
});

/** The bytes of what DuckDB copies of a query. */
async function copied(query: string, options = ''): Promise<Buffer> {
  const target = path.join(await tempDir(), file);
  await duckdb.run(`COPY (${query}) TO '${target}' (FORMAT parquet${options})`);
  return await readFile(target);
}

async function readBytes(bytes: Uint8Array): Promise<WholePart> {
  const dir = await tempDir();
  await writeFiles(dir, { [file]: bytes });
  return await readWhole(openSource('parquet', { files: [file] }, dir));
}

async function readQuery(query: string, options = ''): Promise<WholePart> {
  return await readBytes(await copied(query, options));
}

async function faultsOf(query: string): Promise<FaultyPart> {
  const dir = await tempDir();
  await writeFiles(dir, { [file]: await copied(query) });
  return await readFaults(openSource('parquet', { files: [file] }, dir));
}

function readWritten(options: Omit<ParquetWriteOptions, 'writer'>): Promise<WholePart> {
  return readBytes(new Uint8Array(parquetWriteBuffer(options)));
}

async function textOf(value: string): Promise<string | undefined> {
  return (await readQuery(`SELECT ${value} AS a`)).rows[0]?.[0];
}

/** No writer here makes an INT96 any more: one of FIXED_LEN_BYTE_ARRAY(12), whose type's number is replaced. */
function withMoments(data: (Buffer | null)[]): Uint8Array {
  const leaf = { name: 'a', type: 'FIXED_LEN_BYTE_ARRAY', type_length: 12, repetition_type: 'OPTIONAL' } as const;
  const schema = [{ name: 'root', num_children: 1 }, leaf];
  const bytes = Buffer.from(parquetWriteBuffer({ columnData: [{ name: 'a', data, encoding: 'PLAIN' }], schema }));
  // The field of a type in the footer, 7 for these and 3 for INT96, in the footer's encoding of numbers.
  for (const field of ['150e1518', '150e19']) {
    const at = bytes.lastIndexOf(Buffer.from(field, 'hex'));
    bytes[at + 1] = 0x06;
  }
  return bytes;
}

function unreadable(message: RegExp, hint: RegExp = /./): object {
  return { code: 'part.unreadable', message: expect.stringMatching(message), hint: expect.stringMatching(hint) };
}

describe('values', () => {
  test.each([
    ['1.50::DECIMAL(4,2)', '1.50'],
    ['-0.05::DECIMAL(9,2)', '-0.05'],
    ['-12345678901234.5678::DECIMAL(18,4)', '-12345678901234.5678'],
    ['-98765432109876543210987654321.123456789::DECIMAL(38,9)', '-98765432109876543210987654321.123456789'],
    ['12::DECIMAL(18,0)', '12'],
    ['9223372036854775807::BIGINT', '9223372036854775807'],
    ['18446744073709551615::UBIGINT', '18446744073709551615'],
    ['4294967295::UINTEGER', '4294967295'],
    ['(-128)::TINYINT', '-128'],
    ['0.1::FLOAT', '0.1'],
    ['16777216.0::FLOAT', '16777216'],
    ['3.4028235e38::FLOAT', '3.4028235e+38'],
    ['0.1::DOUBLE + 0.2::DOUBLE', '0.30000000000000004'],
    ['1e300::DOUBLE', '1e+300'],
    ["'NaN'::DOUBLE", 'NaN'],
    ["'-inf'::FLOAT", '-Infinity'],
    ['true', 'true'],
    ["DATE '1969-12-31'", '1969-12-31'],
    ["DATE '2024-02-29'", '2024-02-29'],
    ["TIMESTAMP '2024-01-31 23:00:00'", '2024-01-31T23:00:00'],
    ["TIMESTAMP '1969-12-31 23:59:59.999999'", '1969-12-31T23:59:59.999999'],
    ["TIMESTAMP_NS '2024-01-31 23:00:00.123456789'", '2024-01-31T23:00:00.123456789'],
    ["TIMESTAMP_MS '2024-01-31 23:00:00.5'", '2024-01-31T23:00:00.5'],
    ["TIMESTAMPTZ '2024-01-31 23:00:00+02'", '2024-01-31T21:00:00Z'],
    ["TIME '10:15:00.25'", '10:15:00.25'],
    ["'ünï😀\n'", 'ünï😀\n'],
    ["'text'::BLOB", 'text'],
    ["'8f14e45f-ceea-467f-a8b6-0c1e2d3f4a5b'::UUID", '8f14e45f-ceea-467f-a8b6-0c1e2d3f4a5b'],
    ["'a'::ENUM('a', 'b')", 'a'],
    ['\'{"a": 1.10}\'::JSON', '{"a": 1.10}'],
    ['NULL::DECIMAL(9,2)', ''],
    ['NULL::VARCHAR', ''],
  ])('%s come as %j', async (value, text) => {
    expect(await textOf(value)).toBe(text);
  });

  test.each(['Pacific/Kiritimati', 'America/St_Johns'])('do not depend on TZ=%s', async (zone) => {
    const before = process.env['TZ'];
    process.env['TZ'] = zone;
    onTestFinished(() => {
      if (before === undefined) delete process.env['TZ'];
      else process.env['TZ'] = before;
    });
    expect(await textOf("DATE '2024-01-31'")).toBe('2024-01-31');
    expect(await textOf("TIMESTAMP '2024-01-31 23:00:00'")).toBe('2024-01-31T23:00:00');
  });

  test('of the oldest type for moments keep their nanoseconds', async () => {
    const moment = Buffer.alloc(12);
    moment.writeBigUInt64LE(82_800_123_456_789n, 0);
    moment.writeUInt32LE(2_440_588 + 19_753, 8);
    expect((await readBytes(withMoments([moment, null]))).rows).toEqual([['2024-01-31T23:00:00.123456789'], ['']]);
  });

  test('of the older words for types come as of the newer ones', async () => {
    const leaf = (name: string, type: 'INT32' | 'INT64' | 'BYTE_ARRAY', more: object): object => ({
      name,
      type,
      repetition_type: 'REQUIRED',
      ...more,
    });
    const schema = [
      { name: 'root', num_children: 5 },
      leaf('ms', 'INT64', { converted_type: 'TIMESTAMP_MILLIS' }),
      leaf('us', 'INT64', { converted_type: 'TIMESTAMP_MICROS' }),
      leaf('time', 'INT32', { converted_type: 'TIME_MILLIS' }),
      leaf('decimal', 'INT32', { converted_type: 'DECIMAL', precision: 9, scale: 2 }),
      leaf('plain', 'BYTE_ARRAY', {}),
    ] as NonNullable<ParquetWriteOptions['schema']>;
    const columnData = [
      { name: 'ms', data: [new Date('2024-01-31T23:00:00.5Z')] },
      { name: 'us', data: [new Date('2024-01-31T23:00:00.25Z')] },
      { name: 'time', data: [36_900_000] },
      { name: 'decimal', data: [-1.5] },
      { name: 'plain', data: [new TextEncoder().encode('ä')] },
    ];
    expect((await readWritten({ columnData, schema })).rows).toEqual([
      ['2024-01-31T23:00:00.5Z', '2024-01-31T23:00:00.25Z', '10:15:00', '-1.50', 'ä'],
    ]);
  });

  test('of 32 bits come as the shortest text of such a number', async () => {
    const floats = fc.array(fc.float({ noNaN: true, noDefaultInfinity: true }), { minLength: 1, maxLength: 50 });
    await fc.assert(
      fc.asyncProperty(floats, async (data) => {
        const { rows } = await readWritten({ columnData: [{ name: 'a', data, type: 'FLOAT' }] });
        for (const [at, [text]] of rows.entries()) {
          expect(Math.fround(Number(text))).toBe(Math.abs(data[at]!) === 0 ? 0 : data[at]);
          const digits = text!.replace(/e.*|[-.]/g, '').replace(/^0+|0+$/g, '').length;
          const shorter = Number(data[at]!.toPrecision(Math.max(1, digits - 1)));
          expect(digits > 1 && Math.fround(shorter) === data[at]).toBe(false);
        }
      }),
      runsOf(20, 100),
    );
  });

  test('that are not text are a fault of their field, whose text is their first bytes', async () => {
    const query = `SELECT * FROM (VALUES ('x'::BLOB, 1), ('\\xFF\\x00'::BLOB, 2), (NULL, 3),
      ('\\xFF'::BLOB || repeat('a', 20)::BLOB, 4)) AS t(picture, n)`;
    expect((await readQuery(query)).rows.map(([picture]) => picture)).toEqual([
      'x',
      '0xff00',
      '',
      '0xff616161616161616161616161616161…',
    ]);
    const reason =
      'column picture holds no text (BYTE_ARRAY without a type, and no valid utf-8): give the column a text or number type in the export';
    expect(await faultsOf(query)).toMatchObject({
      faults: [`row 2 picture: ${reason}`, `row 4 picture: ${reason}`],
    });
  });
});

describe('random tables', () => {
  const pad = (number: number, digits: number): string => String(number).padStart(digits, '0');
  const decimal = fc
    .tuple(fc.bigInt({ min: -(10n ** 36n), max: 10n ** 36n }), fc.constant(7))
    .map(([digits, scale]) => {
      const text = String(digits < 0n ? -digits : digits).padStart(scale + 1, '0');
      return `${digits < 0n ? '-' : ''}${text.slice(0, -scale)}.${text.slice(-scale)}`;
    });
  const date = fc
    .tuple(fc.integer({ min: 1000, max: 9999 }), fc.integer({ min: 1, max: 12 }), fc.integer({ min: 1, max: 28 }))
    .map(([year, month, day]) => `${pad(year, 4)}-${pad(month, 2)}-${pad(day, 2)}`);
  const text = fc.string({ unit: 'binary' }).map((any) => any.replaceAll('\0', ''));
  const whole = fc.bigInt({ min: -(2n ** 63n), max: 2n ** 63n - 1n }).map(String);
  const orNull = (value: fc.Arbitrary<string>): fc.Arbitrary<string | null> => fc.option(value, { freq: 5 });
  const rows = fc.array(fc.tuple(orNull(decimal), orNull(date), orNull(text), orNull(whole)), {
    minLength: 1,
    maxLength: 60,
  });
  const codecs = fc.constantFrom('uncompressed', 'snappy', 'gzip', 'zstd', 'lz4_raw', 'brotli');

  test('of DuckDB give the exact texts, in every compression and version of pages', async () => {
    const literal = (value: string | null, type: string): string =>
      value === null ? `NULL::${type}` : `'${value.replaceAll("'", "''")}'::${type}`;
    await fc.assert(
      fc.asyncProperty(rows, codecs, fc.constantFrom('V1', 'V2'), async (table, codec, version) => {
        const values = table.map(
          ([a, b, c, d]) =>
            `(${literal(a, 'DECIMAL(38,7)')}, ${literal(b, 'DATE')}, ${literal(c, 'VARCHAR')}, ${literal(d, 'BIGINT')})`,
        );
        const options = `, CODEC '${codec}', PARQUET_VERSION '${version}'`;
        const read = await readQuery(`SELECT * FROM (VALUES ${values.join(', ')}) AS t(a, b, c, d)`, options);
        expect(read).toMatchObject({ columns: ['a', 'b', 'c', 'd'] });
        expect(read.rows).toEqual(table.map((row) => row.map((value) => value ?? '')));
      }),
      runsOf(20, 120),
    );
  });

  test.each(['UNCOMPRESSED', 'SNAPPY'] as const)('of hyparquet-writer give the exact texts (%s)', async (codec) => {
    await fc.assert(
      fc.asyncProperty(rows, async (table) => {
        const columnData = [
          { name: 'text', data: table.map((row) => row[2]), type: 'STRING' as const },
          { name: 'nanos', data: table.map((_row, at) => BigInt(at) * 10n ** 17n), type: 'INT64' as const },
        ];
        const read = await readWritten({ columnData, codec, rowGroupSize: 7, pageSize: 30 });
        expect(read.rows).toEqual(table.map((row, at) => [row[2] ?? '', String(BigInt(at) * 10n ** 17n)]));
      }),
      { numRuns: 20 },
    );
  });
});

describe('a file', () => {
  test('of several row groups gives all its rows, in order and in batches', async () => {
    const query = 'SELECT i AS n, CASE WHEN i % 3 > 0 THEN i * 0.01 END AS amount FROM range(10000) r(i)';
    const whole = await readQuery(query, ', ROW_GROUP_SIZE 2048');
    expect(whole.batches).toBeGreaterThan(5);
    expect(whole.rows).toHaveLength(10_000);
    expect(whole.rows.slice(4097, 4100)).toEqual([
      ['4097', '40.97'],
      ['4098', ''],
      ['4099', '40.99'],
    ]);
  });

  test('with structs has a column for each of their fields', async () => {
    const query = `SELECT {'name': 'North', 'in': {'year': 2024}} AS region, CASE WHEN i = 1 THEN {'amount': 1.5} END AS sales
      FROM range(3) r(i)`;
    expect(await readQuery(query)).toMatchObject({
      columns: ['region.name', 'region.in.year', 'sales.amount'],
      rows: [
        ['North', '2024', ''],
        ['North', '2024', '1.5'],
        ['North', '2024', ''],
      ],
    });
  });

  test.each([
    ['[1, 2]', 'LIST'],
    ["MAP {'a': 1}", 'MAP'],
    ["INTERVAL '1 month'", 'INTERVAL'],
  ])('with a column of %s is read but for that column', async (value, type) => {
    const query = `SELECT i AS id, ${value} AS extra, 'x' || i AS name FROM range(2) r(i)`;
    expect(await readQuery(query)).toMatchObject({
      columns: ['id', 'extra', 'name'],
      rows: [
        ['0', `(${type})`, 'x0'],
        ['1', `(${type})`, 'x1'],
      ],
    });
    const reason = `column extra holds no single text or number (${type}): read the file by type: duckdb, with a query that makes one of it`;
    expect((await faultsOf(query)).faults).toEqual([`row 1 extra: ${reason}`, `row 2 extra: ${reason}`]);
  });

  test('with lists and maps among structs gives every other column its own values', async () => {
    const query = `SELECT MAP {'a': [1]} AS m, {'list': [{'x': 1, 'y': 2}], 'year': 2024} AS s, '\\xFF'::BLOB AS bad, 7 AS n`;
    expect(await readQuery(query, ', ROW_GROUP_SIZE 2048')).toMatchObject({
      columns: ['m', 's.list', 's.year', 'bad', 'n'],
      rows: [['(MAP)', '(LIST)', '2024', '0xff', '7']],
    });
    expect((await faultsOf(query)).faults.map((fault) => fault.replace(/ \(.*/, ''))).toEqual([
      'row 1 m: column m holds no single text or number',
      'row 1 s.list: column s.list holds no single text or number',
      'row 1 bad: column bad holds no text',
    ]);
  });

  test('with nothing but such columns is a failure that names them', async () => {
    await expect(readQuery("SELECT [1] AS a, INTERVAL '1 day' AS b")).rejects.toMatchObject(
      unreadable(/no column holds single texts or numbers: a \(LIST\), b \(INTERVAL\)/, /duckdb/),
    );
  });

  test('with two columns of one name is a failure', async () => {
    await expect(readQuery('SELECT 1 AS "a.b", {\'b\': 2} AS a')).rejects.toMatchObject(
      unreadable(/columns 1 and 2 are both called a\.b/),
    );
  });

  test('is read compressed once more', async () => {
    const dir = await tempDir();
    await writeFiles(dir, { 'books.parquet.gz': gzipSync(await copied('SELECT 1 AS a')) });
    expect((await readWhole(openSource('parquet', { files: ['*.gz'] }, dir))).rows).toEqual([['1']]);
  });

  test('that is not Parquet, or is cut short, is a failure', async () => {
    const good = await copied('SELECT i AS n, md5(i::VARCHAR) AS t FROM range(3000) r(i)', ', ROW_GROUP_SIZE 2048');
    await expect(readBytes(Buffer.from('a,b\n1,2\n3,4\n5,6\n'))).rejects.toMatchObject(
      unreadable(/is not a parquet file/),
    );
    await expect(readBytes(Buffer.alloc(0))).rejects.toMatchObject(unreadable(/is not a parquet file/));
    for (let end = 12; end < good.length; end += 4999) {
      await expect(readBytes(good.subarray(0, end))).rejects.toMatchObject(unreadable(/is cut short/, /to its end/));
    }
    const holed = Buffer.concat([good.subarray(0, 1000), good.subarray(2000)]);
    await expect(readBytes(holed)).rejects.toMatchObject(unreadable(/is damaged/));
    const footer = Buffer.from(good);
    footer.writeUInt32LE(0x7f_ff_ff_ff, good.length - 8);
    await expect(readBytes(footer)).rejects.toMatchObject(unreadable(/is damaged: its footer/));
    await expect(readBytes(Buffer.concat([good.subarray(0, -4), Buffer.from('PARE')]))).rejects.toMatchObject(
      unreadable(/encrypted/, /without encryption/),
    );
  });

  test('with any wrong byte in its footer is a failure or gives rows, and never ends the process', async () => {
    const good = await copied("SELECT i AS n, i * 0.01 AS amount, 'x' AS t FROM range(10) r(i)");
    const footerBytes = good.readUInt32LE(good.length - 8);
    const byte = fc.tuple(
      fc.integer({ min: good.length - 8 - footerBytes, max: good.length - 9 }),
      fc.integer({ min: 1, max: 255 }),
    );
    await fc.assert(
      fc.asyncProperty(byte, async ([at, change]) => {
        const bytes = Buffer.from(good);
        bytes[at] = bytes[at]! ^ change;
        const outcome = await readBytes(bytes).then(
          () => 'part.unreadable',
          (error: unknown) => (isAgentError(error) ? error.code : error),
        );
        expect(outcome).toBe('part.unreadable');
      }),
      runsOf(60, 400),
    );
  });

  test('that DuckDB encrypted is a failure', async () => {
    // The encryption that it can do without a download is good enough to be recognised.
    await duckdb.run("SET force_mbedtls_unsafe = 'true'");
    await duckdb.run("PRAGMA add_parquet_key('key', '0123456789012345')");
    const bytes = await copied('SELECT 1 AS a', ", ENCRYPTION_CONFIG {footer_key: 'key'}");
    await expect(readBytes(bytes)).rejects.toMatchObject(unreadable(/footer is encrypted/, /without encryption/));
  });
});
