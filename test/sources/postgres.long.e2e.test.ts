import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { AgentError } from '../../src/core/errors.ts';
import type { Row } from '../../src/core/model.ts';
import type { Source } from '../../src/core/ports.ts';
import { kinds } from '../../src/sources/index.ts';
import { expectNoSecret, failureOf, failureWithout } from '../support/database-world.ts';
import { type TestServer, type UrlOptions, postgresReleases, postgresServer } from '../support/servers.ts';
import { germanColumns, readOf } from '../support/number-world.ts';
import { calm, openSource, openSourceIn, readWhole } from '../support/source-world.ts';
import { rowsOf as rowsOfBatch } from '../support/mapping.ts';

for (const postgres of postgresReleases)
  describe.skipIf(postgres.isMissing)(`type postgres, on ${postgres.name}`, () => {
    let server: TestServer;
    beforeAll(async () => {
      server = await postgresServer({ programs: postgres.programs });
      await server.run(`CREATE TABLE revenue (date date, amount numeric);
      INSERT INTO revenue VALUES ('2026-01-31', 1.50), ('2026-02-28', 2.50);
      CREATE ROLE reader LOGIN PASSWORD 'reader-pass';
      CREATE ROLE hasty LOGIN PASSWORD 'hasty-pass' SUPERUSER;
      ALTER ROLE hasty SET lock_timeout = '50ms'; ALTER ROLE hasty SET statement_timeout = '500ms'`);
    });
    afterAll(() => server[Symbol.asyncDispose]());

    function open(query: string, keys: object = {}, url: UrlOptions = {}): Source {
      return openSource('postgres', { url: server.url(url), query, ...keys }, '/');
    }

    async function rowsOf(query: string): Promise<readonly Row[]> {
      return (await readWhole(open(query))).rows;
    }

    describe('a value', () => {
      test.each([
        ['9223372036854775807::int8', '9223372036854775807'],
        ['12345678901234567890.1234567890::numeric', '12345678901234567890.1234567890'],
        ['1.50::numeric(10, 4)', '1.5000'],
        ['0.1::float8 + 0.2', '0.30000000000000004'],
        ['0.1::float4', '0.1'],
        ['1e300::float8', '1e+300'],
        ["'NaN'::float8", 'NaN'],
        ["'-Infinity'::float8", '-Infinity'],
        ["'NaN'::numeric", 'NaN'],
        ['1234.5::numeric::money', '$1,234.50'],
        ["date '2026-02-01'", '2026-02-01'],
        ["timestamp '2026-01-31 23:30:00.123456'", '2026-01-31 23:30:00.123456'],
        ["timestamptz '2026-01-31 23:30:00+01:30'", '2026-01-31 22:00:00+00'],
        ["time '10:15'", '10:15:00'],
        ["interval '1 year 2 days 3 hours'", 'P1Y2DT3H'],
        ["'\\x00ff'::bytea", '\\x00ff'],
        ['\'{"a": 1.10}\'::json', '{"a": 1.10}'],
        ['ARRAY[1, 2]', '{1,2}'],
        ['true', 't'],
        ["'ünïcode 😀'::text", 'ünïcode 😀'],
        ["' 007 '::text", ' 007 '],
        ["chr(65279) || 'N'", '\uFEFFN'],
        ['NULL::int', ''],
        ["''::text", ''],
      ])('%s comes as %s', async (sql, text) => {
        expect(await rowsOf(`SELECT ${sql} AS value`)).toEqual([[text]]);
      });

      test('that is a number is itself, whatever marks are declared for texts', async () => {
        const query = `SELECT 7.125 AS n, 7.125::numeric(10, 3) AS short, -7.125::float8 AS double, 7.5::float4 AS float,
          '7.125'::json AS json, '7.125'::jsonb AS jsonb, 1234 AS whole, '1.234,50' AS text, '7.125' AS point`;
        const by = germanColumns('n', 'short', 'double', 'float', 'json', 'jsonb', 'whole', 'text', 'point');
        const source = openSourceIn({ mapping: by }, 'postgres', { url: server.url(), query });
        expect(await readOf(source, by)).toEqual({
          n: '7.125',
          short: '7.125',
          double: '-7.125',
          float: '7.5',
          json: '7.125',
          jsonb: '7.125',
          whole: '1234',
          text: '1234.50 <- 1.234,50',
          point: '7125 <- 7.125',
        });
        const texts = openSourceIn({ mapping: by }, 'postgres', {
          url: server.url(),
          query: query.replace('7.125 AS n', "'7.125' AS n"),
        });
        expect((await readWhole(texts)).content.hash).not.toBe((await readWhole(source)).content.hash);
      });

      test('does not depend on the settings of the role and the database', async () => {
        const settings = {
          datestyle: 'German, DMY',
          intervalstyle: 'postgres_verbose',
          timezone: 'America/St_Johns',
          extra_float_digits: '-10',
          bytea_output: 'escape',
          client_encoding: 'LATIN1',
        };
        const alter = Object.entries(settings).map(([name, value]) => `ALTER ROLE odd SET ${name} = '${value}'`);
        await server.run(`CREATE ROLE odd LOGIN PASSWORD 'odd-pass'; ${alter.join('; ')}`);
        const query = `SELECT date '2026-01-31' AS a, timestamptz '2026-01-31 23:30:00+00' AS b, interval '1 day' AS c,
        0.1::float8 + 0.2 AS d, '\\x00'::bytea AS e, '😀' AS f`;
        const { rows } = await readWhole(open(query, {}, { user: 'odd', password: 'odd-pass' }));
        expect(rows).toEqual([['2026-01-31', '2026-01-31 23:30:00+00', 'P1D', '0.30000000000000004', '\\x00', '😀']]);
      });

      test('is refused where it is not valid text', async () => {
        await server.run(`CREATE DATABASE ascii ENCODING 'SQL_ASCII' LC_COLLATE 'C' LC_CTYPE 'C' TEMPLATE template0`);
        const invalid = open("SELECT 'a' AS x UNION ALL SELECT chr(233)", {}, { database: 'ascii' });
        expect(await failureOf(invalid, server)).toMatchObject({
          code: 'part.unreadable',
          message: expect.stringContaining('invalid byte sequence'),
        });
        // Programs put this where they could not read a character.
        const replaced = open("SELECT 'a' AS x UNION ALL SELECT chr(65533)");
        expect(await failureOf(replaced, server)).toMatchObject({
          code: 'part.unreadable',
          message: expect.stringMatching(/row 2, column x: a text that is not utf-8/),
        });
      });
    });

    describe('changed', () => {
      test('says with its answer whether the query must run again', async () => {
        await server.run('CREATE TABLE versioned (version int); INSERT INTO versioned VALUES (7)');
        const source = open('SELECT * FROM versioned', { changed: 'SELECT max(version) FROM versioned' });
        const [first] = await source.parts(calm);
        expect(await source.parts(calm)).toEqual([first]);
        await server.run('UPDATE versioned SET version = 8');
        const [second] = await source.parts(calm);
        expect(second!.version).not.toBe(first!.version);
        // A replica that was behind, or a restored backup.
        await server.run('UPDATE versioned SET version = 7');
        expect((await source.parts(calm))[0]!.version).toBe(first!.version);
      });

      test('is asked in the transaction of the rows, so that its version is theirs', async () => {
        await server.run('CREATE TABLE moving (version int); INSERT INTO moving VALUES (1)');
        const source = open('SELECT version, n FROM moving, generate_series(1, 50000) AS n', {
          changed: 'SELECT max(version) FROM moving',
        });
        const [before] = await source.parts(calm);
        const reading = source.rows(before!, calm);
        const first = await reading.next();
        await server.run('UPDATE moving SET version = 2');
        let next = first;
        const versions = new Set<string>();
        for (; next.done !== true; next = await reading.next())
          for (const [version] of rowsOfBatch(next.value)) versions.add(version!);
        expect([...versions]).toEqual(['1']);
        expect(next.value.version).toBe(before!.version);
        expect((await source.parts(calm))[0]!.version).not.toBe(before!.version);
      });

      test('must not ask for the rows themselves', async () => {
        const source = open('SELECT 1 AS a', { changed: 'SELECT n FROM generate_series(1, 5000) AS n' });
        expect(await failureOf(source, server)).toMatchObject({
          message: expect.stringContaining('gives over 1000 rows (asked by changed)'),
        });
      });

      test('must not be long', async () => {
        const source = open('SELECT 1 AS a', { changed: "SELECT repeat('a', 1000001) AS a" });
        expect(await failureOf(source, server)).toMatchObject({
          message: expect.stringContaining('gives over 1 MB (asked by changed)'),
        });
      });

      test('is named where it fails', async () => {
        const source = open('SELECT 1 AS a', { changed: 'SELECT max(version) FROM nowhere' });
        expect(await failureOf(source, server)).toMatchObject({
          message: expect.stringMatching(/relation "nowhere" does not exist.*asked by changed/),
        });
      });

      test('left out, the query runs each time and its rows are compared', async () => {
        const source = open('SELECT * FROM revenue ORDER BY date');
        const [one] = await source.parts(calm);
        const [other] = await source.parts(calm);
        expect(other!.version).not.toBe(one!.version);
        const [read, again] = [await readWhole(source), await readWhole(source)];
        expect(again.content.hash).toBe(read.content.hash);
      });
    });

    describe('a query', () => {
      test.each([
        ['INSERT INTO revenue VALUES (now(), 1)', /gives no rows/, /one SELECT/],
        ['INSERT INTO revenue VALUES (now(), 1) RETURNING amount', /read-only transaction/, /one SELECT/],
        ["SELECT nextval('pg_catalog.pg_class_oid')", /does not exist/, /./],
        ['COMMIT', /gives no rows/, /one SELECT/],
        ["COPY revenue TO '/tmp/out'", /gives no rows/, /one SELECT/],
        ['SELECT 1 AS a; SELECT 2 AS b', /multiple commands/, /correct the query/],
        ['-- nothing', /gives no rows/, /one SELECT/],
        ['SELECT $1::int AS a', /parameter/, /without parameters/],
        ['SELECT 1 AS a, 2 AS " a "', /two columns called a/, /AS/],
        ['SELECT amuont FROM revenue', /column "amuont" does not exist \(line 1, column 8 of the query\)/, /correct/],
        [
          "SELECT 'ü😀' AS a,\n  FROM revenue",
          /syntax error at or near "FROM" \(line 2, column 3 of the query\)/,
          /correct/,
        ],
        ['SELECT * FROM revenues', /relation "revenues" does not exist/, /schema\.table/],
        [
          'SELECT 1 / (n - 50001) AS a FROM generate_series(1, 60000) AS n',
          /division by zero/,
          /rows it stumbles over/,
        ],
      ])('%s is refused', async (query, message, hint) => {
        const error = await failureOf(open(query), server);
        expect(error).toMatchObject({
          code: 'part.unreadable',
          message: expect.stringMatching(message),
          hint: expect.stringMatching(hint),
        });
        expect(error.message).toContain(`postgres://admin@127.0.0.1:${server.port}/postgres: `);
      });

      test('may end with a semicolon', async () => {
        expect(await rowsOf('SELECT 1 AS a;')).toEqual([['1']]);
      });

      test('without rows gives its columns', async () => {
        expect(await readWhole(open('SELECT * FROM revenue WHERE false'))).toMatchObject({
          columns: ['date', 'amount'],
          rows: [],
        });
      });

      test('leaves nothing of what its functions write in spite of the transaction', async () => {
        // Newer releases refuse it.
        await rowsOf('SELECT lo_create(70000) AS a').catch(() => undefined);
        expect(await server.run('SELECT oid FROM pg_largeobject_metadata')).toEqual([]);
      });

      test('needs a permission, and its failure names the table', async () => {
        const source = open('SELECT * FROM revenue', {}, { user: 'reader', password: 'reader-pass' });
        expect(await failureOf(source, { password: 'reader-pass' })).toMatchObject({
          code: 'part.unreadable',
          message: expect.stringContaining('permission denied for table revenue'),
          hint: expect.stringContaining('GRANT SELECT'),
        });
      });

      test('gives up on a table that somebody keeps locked', async () => {
        await server.run('CREATE TABLE locked (a int)');
        const release = await lock('locked');
        const source = open('SELECT * FROM locked', {}, { user: 'hasty', password: 'hasty-pass' });
        expect(await failureOf(source, { password: 'hasty-pass' })).toMatchObject({
          code: 'part.unreadable',
          message: expect.stringMatching(/a table of the query is locked: .*lock timeout/),
          hint: expect.stringContaining('pg_locks'),
        });
        await release();
      });

      test('has the bounds of the role, and some where the role has none', async () => {
        const query =
          "SELECT current_setting('lock_timeout') AS lock, current_setting('statement_timeout') AS statement";
        expect(await rowsOf(query)).toEqual([['30s', '1d']]);
        const { rows } = await readWhole(open(query, {}, { user: 'hasty', password: 'hasty-pass' }));
        expect(rows).toEqual([['50ms', '500ms']]);
      });

      test('that the server ends for taking too long has failed', async () => {
        const source = open('SELECT pg_sleep(20)', {}, { user: 'hasty', password: 'hasty-pass' });
        expect(await failureOf(source, { password: 'hasty-pass' })).toMatchObject({
          code: 'part.unreadable',
          message: expect.stringContaining('statement timeout'),
        });
      });
    });

    /** Another session that keeps a table locked until it is told not to. */
    async function lock(table: string): Promise<() => Promise<void>> {
      const { default: pg } = await import('pg');
      const client = new pg.Client({ host: server.socket, port: server.port, user: 'admin', database: 'postgres' });
      await client.connect();
      await client.query(`BEGIN; LOCK TABLE ${table} IN ACCESS EXCLUSIVE MODE`);
      return () => client.end();
    }
  });

describe('type postgres', () => {
  test('says what to install where the driver is missing', async () => {
    expect(await failureWithout('pg', 'postgres', 'postgres://me:hidden@localhost/books')).toEqual({
      code: 'source.unreadable',
      message: 'install pg to use type postgres',
      hint: 'npm install pg',
    });
  });

  test.each([
    ['mysql://me:s3cret@localhost/books', /begins with postgres:\/\/ or postgresql:\/\//],
    ['s3cret', /begins with/],
    ['postgres://me:s3cret', /cannot be read|can be read/],
    ['postgres://me:1234/s3cret@localhost/books', /can be read/],
    ['postgres://me:12#s3cret@localhost/books', /can be read/],
    ['postgres://me:12?s3cret@localhost/books', /can be read/],
    ['postgres://me:s3cret%zz@localhost/books', /% that stands for no character/],
    ['postgres://:s3cret@localhost/books', /names no user/],
    ['postgres://me:s3cret@localhost:99999/books', /can be read/],
    ['postgres://me:s3cret@localhost/books?sslmode=s3cret', /unknown sslmode/],
    ['postgres://me@localhost/books?pasword=s3cret', /unknown parameter/],
    ['postgres://me:s3cret@localhost/books?connect_timeout=never', /connect_timeout/],
  ])('refuses the url %s without showing any of it', (url, message) => {
    const { error } = kinds['postgres']!.schema.safeParse({ url, query: 'SELECT 1' });
    expect(error!.issues).toHaveLength(1);
    expect(error!.issues[0]!.message).toMatch(message);
    expect(JSON.stringify(error!.issues)).not.toMatch(/s3cret|pasword|1234/);
  });

  test.each([
    ['postgres://me:a%40b@localhost/books'],
    ['postgresql://me@[::1]:6432/books?password=a%40b'],
    ['postgres://me:a%40b@/books?host=/run/postgresql'],
    ['postgres://localhost/?user=me&password=a%40b&dbname=books'],
  ])('accepts the url %s, and never shows its password', async (url) => {
    const source = openSource('postgres', { url, query: 'SELECT 1 AS a' }, '/');
    const error: AgentError = await source.parts(AbortSignal.timeout(5000)).then(
      () => expect.unreachable(),
      (failure: AgentError) => failure,
    );
    expect(error.message).toMatch(/^postgres:\/\/me@.*\/books: /);
    expectNoSecret(error, 'a@b');
  });
});
