import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { AgentError } from '../../src/core/errors.ts';
import type { Row } from '../../src/core/model.ts';
import type { Source } from '../../src/core/ports.ts';
import { kinds } from '../../src/sources/index.ts';
import { expectNoSecret, failureOf, failureWithout } from '../support/database-world.ts';
import { type TestServer, type UrlOptions, cannotMariadb, mariadbName, mariadbServer } from '../support/servers.ts';
import { germanColumns, readOf } from '../support/number-world.ts';
import { entry, mapping } from '../support/row-world.ts';
import { calm, openSource, openSourceIn, readWhole } from '../support/source-world.ts';
import { rowsOf as rowsOfBatch } from '../support/mapping.ts';

describe.skipIf(cannotMariadb)(`type mysql, on ${mariadbName}`, () => {
  let server: TestServer;
  beforeAll(async () => {
    server = await mariadbServer();
    await server.run(`CREATE TABLE revenue (date DATE, amount DECIMAL(20, 2));
      INSERT INTO revenue VALUES ('2026-01-31', 1.50), ('2026-02-28', 2.50);
      CREATE TABLE open_to_all (a INT);
      CREATE USER reader IDENTIFIED BY 'reader-pass'; GRANT SELECT ON books.open_to_all TO reader`);
  });
  afterAll(() => server[Symbol.asyncDispose]());

  function open(query: string, keys: object = {}, url: UrlOptions = {}): Source {
    return openSource('mysql', { url: server.url(url), query, ...keys }, '/');
  }

  async function rowsOf(query: string): Promise<readonly Row[]> {
    return (await readWhole(open(query))).rows;
  }

  describe('a value', () => {
    test.each([
      ['9223372036854775807', '9223372036854775807'],
      ['CAST(18446744073709551615 AS UNSIGNED)', '18446744073709551615'],
      ["CAST('12345678901234567890.1234567890' AS DECIMAL(30, 10))", '12345678901234567890.1234567890'],
      ['CAST(1.5 AS DECIMAL(10, 4))', '1.5000'],
      ['1e0 / 3', '0.3333333333333333'],
      ['1e300', '1e300'],
      ["CAST('2026-02-01' AS DATE)", '2026-02-01'],
      ["CAST('2026-01-31 23:30:00.123456' AS DATETIME(6))", '2026-01-31 23:30:00.123456'],
      ["TIME('10:15')", '10:15:00'],
      ["JSON_OBJECT('a', 1.10)", '{"a": 1.10}'],
      ['TRUE', '1'],
      ["'ünïcode 😀'", 'ünïcode 😀'],
      ["CONCAT(_utf8mb4 X'EFBBBF', 'N')", '\uFEFFN'],
      ["' 007 '", ' 007 '],
      ["'what?'", 'what?'],
      ["'a\\'b'", "a'b"],
      ['NULL', ''],
      ["''", ''],
    ])('%s comes as %s', async (sql, text) => {
      expect(await rowsOf(`SELECT ${sql} AS value`)).toEqual([[text]]);
    });

    test('that is a number is itself, whatever marks are declared for texts', async () => {
      await server.run(`CREATE TABLE marks (n DECIMAL(10, 3), filled DECIMAL(10, 3) ZEROFILL, fixed FLOAT(10, 3), text VARCHAR(20));
        INSERT INTO marks VALUES (7.125, 7.125, 7.125, '1.234,50')`);
      const query = "SELECT *, 7.125e0 AS real_, 1234 AS whole, '7.125' AS point FROM marks";
      const by = germanColumns('n', 'filled', 'fixed', 'real_', 'whole', 'text', 'point');
      const source = openSourceIn({ mapping: by }, 'mysql', { url: server.url(), query });
      expect(await readOf(source, by)).toEqual({
        n: '7.125',
        filled: expect.stringMatching(/^7\.125/),
        fixed: '7.125',
        real_: '7.125',
        whole: '1234',
        text: '1234.50 <- 1.234,50',
        point: '7125 <- 7.125',
      });
    });

    test('of a column comes as its text, a TIMESTAMP with its zone', async () => {
      await server.run(`CREATE TABLE kinds (
        tiny TINYINT(4) ZEROFILL, big BIGINT UNSIGNED, real_ FLOAT, year_ YEAR, day DATE, wall DATETIME,
        instant TIMESTAMP NULL, precise TIMESTAMP(3) NULL, padded CHAR(5), choice ENUM('a', 'b'), doc JSON, id UUID);
        SET time_zone = '+03:30', sql_mode = '';
        INSERT INTO kinds VALUES (7, 18446744073709551615, 0.1, 2026, '2026-02-01', '2026-02-01 01:30:00',
          '2026-02-01 01:30:00', '2026-02-01 01:30:00.250', 'a', 'b', '{"a": 1.10}', '00000000-0000-0000-0000-0000000000ff');
        INSERT INTO kinds (day, wall, instant) VALUES ('0000-00-00', '0000-00-00 00:00:00', '0000-00-00 00:00:00')`);
      const [first, second] = await rowsOf('SELECT * FROM kinds');
      expect(first).toEqual([
        '0007',
        '18446744073709551615',
        '0.1',
        '2026',
        '2026-02-01',
        '2026-02-01 01:30:00',
        '2026-01-31 22:00:00+00:00',
        '2026-01-31 22:00:00.250+00:00',
        'a',
        'b',
        '{"a": 1.10}',
        '00000000-0000-0000-0000-0000000000ff',
      ]);
      // Not a day of any calendar: rows that use one are rejects.
      expect(second!.slice(4, 8)).toEqual(['0000-00-00', '0000-00-00 00:00:00', '0000-00-00 00:00:00', '']);
    });

    test('does not depend on the settings of the server', async () => {
      await server.run(`CREATE TABLE odd (a TIMESTAMP NULL, b CHAR(5));
        SET time_zone = '+00:00'; INSERT INTO odd VALUES ('2001-09-09 01:46:40', 'é')`);
      await server.run(`SET GLOBAL time_zone = '-03:30', GLOBAL group_concat_max_len = 4,
        GLOBAL sql_mode = 'ANSI_QUOTES,NO_BACKSLASH_ESCAPES,PAD_CHAR_TO_FULL_LENGTH'`);
      try {
        const query = `SELECT a, b, "c\\n", GROUP_CONCAT(seq) AS d, '😀' AS e FROM odd, seq_1_to_5`;
        expect(await rowsOf(query)).toEqual([['2001-09-09 01:46:40+00:00', 'é', 'c\n', '1,2,3,4,5', '😀']]);
      } finally {
        const names = ['time_zone', 'group_concat_max_len', 'sql_mode'];
        await server.run(`SET ${names.map((name) => `GLOBAL ${name} = DEFAULT`).join(', ')}`);
      }
    });

    test.each([
      ["SELECT 1 AS a, UNHEX('00FF') AS b", /the column b is BINARY, not a text/],
      ["SELECT CAST('a' AS BINARY) AS b", /the column b is BINARY/],
      ["SELECT b'101' AS b", /the column b is (BIT|BINARY)/],
      ['SELECT POINT(1, 2) AS b', /the column b is GEOMETRY/],
    ])('%s is refused, since it has no text', async (query, message) => {
      expect(await failureOf(open(query), server)).toMatchObject({
        code: 'part.unreadable',
        message: expect.stringMatching(message),
        hint: expect.stringMatching(/HEX\(b\).*CAST\(b AS CHAR\)/),
      });
    });

    test('of a FLOAT, which the server writes with six digits, is refused where it is used', async () => {
      await server.run(`CREATE TABLE rough (id VARCHAR(9), day DATE, f FLOAT, cents FLOAT(12, 2));
        INSERT INTO rough VALUES ('a', '2026-01-01', 1234567.75, 1234567.75)`);
      const read = (query: string, { id = '{id}', changed }: { id?: string; changed?: string } = {}): Source =>
        openSourceIn({ mapping: mapping([entry({ path: [id], time: '{day}', value: '{v}' })]) }, 'mysql', {
          url: server.url(),
          query,
          ...(changed !== undefined && { changed }),
        });
      const refused = {
        code: 'part.unreadable',
        message: expect.stringContaining('is a FLOAT, of which not all digits are given'),
      };
      expect(await failureOf(read('SELECT id, day, f AS v FROM rough'), server)).toMatchObject({
        ...refused,
        message: expect.stringContaining('the column v is a FLOAT'),
        hint: 'write CAST(v AS DOUBLE) AS v in the query, or a cast to a DECIMAL with the digits that it has',
      });
      expect(await failureOf(read('SELECT f, day, 1 AS v FROM rough', { id: '{f}' }), server)).toMatchObject(refused);
      const changed = 'SELECT MAX(f) FROM rough';
      expect(await failureOf(read('SELECT id, day, 1 AS v FROM rough', { changed }), server)).toMatchObject({
        ...refused,
        message: expect.stringContaining('(asked by changed)'),
      });
      const { rows } = await readWhole(read('SELECT id, day, CAST(f AS DOUBLE) AS v, cents, f FROM rough'));
      expect(rows).toEqual([['a', '2026-01-01', '1234567.75', '1234567.75', '1234570']]);
    });

    test('is refused where its text holds a NUL', async () => {
      const source = open("SELECT 'a' AS x UNION ALL SELECT CONCAT('b', CHAR(0 USING utf8mb4))");
      expect(await failureOf(source, server)).toMatchObject({
        code: 'part.unreadable',
        message: expect.stringMatching(/row 2, column x: a text that is not utf-8 or holds a NUL/),
      });
    });
  });

  describe('changed', () => {
    test('says with its answer whether the query must run again', async () => {
      await server.run('CREATE TABLE versioned (version INT); INSERT INTO versioned VALUES (7)');
      const source = open('SELECT * FROM versioned', { changed: 'SELECT MAX(version) FROM versioned' });
      const [first] = await source.parts(calm);
      expect(await source.parts(calm)).toEqual([first]);
      await server.run('UPDATE versioned SET version = 8');
      expect((await source.parts(calm))[0]!.version).not.toBe(first!.version);
      // A replica that was behind, or a restored backup.
      await server.run('UPDATE versioned SET version = 7');
      expect((await source.parts(calm))[0]!.version).toBe(first!.version);
    });

    test('is asked in the transaction of the rows, so that its version is theirs', async () => {
      await server.run('CREATE TABLE moving (version INT); INSERT INTO moving VALUES (1)');
      const source = open('SELECT version, seq FROM moving, seq_1_to_50000', {
        changed: 'SELECT MAX(version) FROM moving',
      });
      const [before] = await source.parts(calm);
      const reading = source.rows(before!, calm);
      let next = await reading.next();
      await server.run('UPDATE moving SET version = 2');
      const versions = new Set<string>();
      for (; next.done !== true; next = await reading.next())
        for (const [version] of rowsOfBatch(next.value)) versions.add(version!);
      expect([...versions]).toEqual(['1']);
      expect(next.value.version).toBe(before!.version);
      expect((await source.parts(calm))[0]!.version).not.toBe(before!.version);
    });
  });

  describe('a query', () => {
    test('gives all its rows, also where the server gives others a few', async () => {
      await server.run('SET GLOBAL sql_select_limit = 1');
      try {
        expect(await rowsOf('SELECT 1 AS a UNION ALL SELECT 2')).toHaveLength(2);
      } finally {
        await server.run('SET GLOBAL sql_select_limit = 18446744073709551615');
      }
    });

    test.each([
      ['INSERT INTO revenue VALUES (now(), 1)', /is no SELECT/, /one SELECT/],
      ['WITH x AS (SELECT 1) DELETE FROM revenue', /syntax/, /one SELECT/],
      ["SELECT * FROM revenue INTO OUTFILE '/tmp/out'", /gives no rows/, /one SELECT/],
      ['CHECK TABLE revenue', /is no SELECT/, /one SELECT/],
      ['COMMIT', /is no SELECT/, /one SELECT/],
      ['/*! ANALYZE */ TABLE revenue', /is no SELECT/, /one SELECT/],
      ['SELECT 1 AS a; SELECT 2 AS b', /error in your SQL syntax/, /one SELECT/],
      ['-- nothing', /is no SELECT/, /one SELECT/],
      ['SELECT ? AS a', /syntax/, /./],
      ['SELECT 1 AS a, 2 AS ` a`', /two columns called a/, /AS/],
      ['SELECT amuont FROM revenue', /Unknown column 'amuont'/, /correct/],
      ['SELECT 1 AS a,\nFROM revenue', /error in your SQL syntax.*at line 2/, /syntax/],
      ['SELECT * FROM revenues', /'books.revenues' doesn't exist/, /database\.table/],
      ['SELECT EXP(IF(seq = 50001, 710, 1)) AS a FROM seq_1_to_60000', /DOUBLE value is out of range/, /correct/],
    ])('%s is refused', async (query, message, hint) => {
      const error = await failureOf(open(query), server);
      expect(error).toMatchObject({
        code: 'part.unreadable',
        message: expect.stringMatching(message),
        hint: expect.stringMatching(hint),
      });
      expect(error.message).toContain(`mysql://admin@127.0.0.1:${server.port}/books: `);
    });

    test.each([
      '# first\n SELECT 1 AS a;',
      '/* a */ (SELECT 1 AS a)',
      'WITH x AS (SELECT 1 AS a) SELECT a FROM x',
      '-- b\nVALUES (1)',
    ])('%s is one', async (query) => {
      expect(await rowsOf(query)).toEqual([['1']]);
    });

    test('without rows gives its columns', async () => {
      expect(await readWhole(open('SELECT * FROM revenue WHERE FALSE'))).toMatchObject({
        columns: ['date', 'amount'],
        rows: [],
      });
    });

    test('cannot write through a function', async () => {
      await server.run('CREATE FUNCTION sell() RETURNS INT BEGIN INSERT INTO revenue VALUES (now(), 1); RETURN 1; END');
      expect(await failureOf(open('SELECT sell() AS a'), server)).toMatchObject({
        code: 'part.unreadable',
        message: expect.stringContaining('READ ONLY transaction'),
      });
    });

    test('needs a permission, and its failure names the table', async () => {
      const source = open('SELECT * FROM revenue', {}, { user: 'reader', password: 'reader-pass' });
      expect(await failureOf(source, { password: 'reader-pass' })).toMatchObject({
        code: 'part.unreadable',
        message: expect.stringMatching(/SELECT command denied to user 'reader'.*revenue/),
        hint: expect.stringContaining('GRANT SELECT'),
      });
    });

    test('has bounds, so that a table that stays locked or an endless query fails', async () => {
      const query = 'SELECT @@lock_wait_timeout AS a, @@max_statement_time AS b, @@net_write_timeout AS c';
      expect(await rowsOf(query)).toEqual([['30', '86400.000000', '3600']]);
    });

    test('gives up on a table that somebody keeps locked', async () => {
      await server.run('CREATE TABLE locked (a INT)');
      const { default: mysql } = await import('mysql2/promise');
      const { socket: socketPath, user, password } = server;
      const client = await mysql.createConnection({ socketPath, user, password, database: 'books' });
      await client.query('LOCK TABLE locked WRITE');
      await server.run('SET GLOBAL lock_wait_timeout = 1');
      expect(await failureOf(open('SELECT * FROM locked'), server)).toMatchObject({
        code: 'part.unreadable',
        message: expect.stringMatching(/a table of the query is locked: Lock wait timeout/),
        hint: expect.stringContaining('SHOW PROCESSLIST'),
      });
      await server.run('SET GLOBAL lock_wait_timeout = DEFAULT');
      await client.end();
    });
  });
});

describe('type mysql', () => {
  test('says what to install where the driver is missing', async () => {
    expect(await failureWithout('mysql2', 'mysql', 'mysql://me:hidden@localhost/books')).toEqual({
      code: 'source.unreadable',
      message: 'install mysql2 to use type mysql',
      hint: 'npm install mysql2',
    });
  });

  test.each([
    ['postgres://me:s3cret@localhost/books', /begins with mysql:\/\/ or mariadb:\/\//],
    ['mysql://me:12/s3cret@localhost/books', /can be read/],
    ['mysql://me:s3cret@localhost/books?ssl=true', /unknown parameter/],
  ])('refuses the url %s without showing any of it', (url, message) => {
    const { error } = kinds['mysql']!.schema.safeParse({ url, query: 'SELECT 1' });
    expect(error!.issues[0]!.message).toMatch(message);
    expect(JSON.stringify(error!.issues)).not.toContain('s3cret');
  });

  test('never shows the password of its url', async () => {
    const source = openSource('mysql', { url: 'mariadb://me:a%40b@[::1]:6432/books', query: 'SELECT 1 AS a' }, '/');
    const error: AgentError = await source.parts(calm).then(
      () => expect.unreachable(),
      (failure: AgentError) => failure,
    );
    expect(error.message).toMatch(/^mysql:\/\/me@\[::1\]:6432\/books: /);
    expectNoSecret(error, 'a@b');
  });
});
