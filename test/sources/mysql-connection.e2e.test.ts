import { expect, test } from 'vitest';
import { type Engine, connectionTests } from '../support/connection-tests.ts';
import { expectNoSecret, failureOf, rowsAfter } from '../support/database-world.ts';
import { type TestServer, cannotMariadb, mariadbName, mariadbServer } from '../support/servers.ts';
import { calm, queryPart } from '../support/source-world.ts';

const long = "SELECT seq AS n, repeat('x', 100) AS text FROM seq_1_to_100000";

/** The ids of the agent's sessions, as it is the only one to come by TCP. */
async function sessions(server: TestServer, like = '%'): Promise<readonly string[]> {
  const found = await server.run(
    `SELECT id FROM information_schema.processlist WHERE host LIKE '%:%' AND coalesce(info, '') LIKE '${like}'`,
  );
  return found.map(({ id }) => String(id));
}

const engine: Engine = {
  type: 'mysql',
  name: mariadbName,
  cannot: cannotMariadb,
  async serve(tls) {
    if (tls === 'bare') return await mariadbServer();
    const server = await mariadbServer({ tls: true });
    await server.run(`CREATE TABLE open_to_all (a INT);
      CREATE USER reader IDENTIFIED BY 'reader-pass'; GRANT SELECT ON books.open_to_all TO reader;
      CREATE USER careful IDENTIFIED BY 'careful-pass' REQUIRE SSL; GRANT SELECT ON books.* TO careful;
      CREATE USER crowded IDENTIFIED BY 'crowded-pass' WITH MAX_USER_CONNECTIONS 1; GRANT SELECT ON books.* TO crowded`);
    return server;
  },
  queries: {
    long,
    sleep: 'SELECT SLEEP(600), 1 AS a',
    isEncrypted: `SELECT variable_value <> '' AS is_encrypted FROM information_schema.session_status
      WHERE variable_name = 'Ssl_cipher'`,
  },
  yes: '1',
  no: '0',
  sessions: async (server, like) => (await sessions(server, like)).length,
  async lock(server) {
    await server.run('CREATE TABLE locked (a INT)');
    const { default: mysql } = await import('mysql2/promise');
    const { socket: socketPath, user, password } = server;
    const other = await mysql.createConnection({ socketPath, user, password, database: 'books' });
    await other.query('LOCK TABLE locked WRITE');
    return { release: () => other.end() };
  },
  socketUrl: (server) => server.url({ parameters: `host=${encodeURIComponent(server.socket)}` }),
  stopsBy: 'SIGKILL',
  words: {
    stopped: /was cut/,
    silent: /does not answer|no connection within 1 s/,
    unencrypted: { message: /Access denied for user 'careful'/, hint: /TLS/ },
  },
  refused: {
    'a wrong password': {
      url: { password: 'wr0ng/pass' },
      message: /Access denied for user 'admin'/,
      hint: /password in the url/,
    },
    'no password': {
      url: { password: '' },
      message: /Access denied for user 'admin'.*password: NO/,
      hint: /password in the url/,
    },
    'an unknown database': {
      url: { database: 'nowhere' },
      message: /Unknown database 'nowhere'/,
      hint: /name of the database/,
    },
    'a database of others': {
      url: { user: 'reader', password: 'reader-pass', database: 'mysql' },
      message: /Access denied.*'mysql'/,
      hint: /GRANT SELECT/,
    },
    'an unknown host': { url: { host: 'no-such-host.invalid' }, message: /no-such-host\.invalid/, hint: /name/ },
    'a missing socket': { url: { parameters: 'host=/nowhere' }, message: /no such socket/, hint: /running/ },
  },
};

connectionTests(engine, (at) => {
  test.each(['KILL', 'KILL QUERY'])('a connection that is cut by %s gives no half read', async (kill) => {
    const error = await rowsAfter(at.open(long), async () => {
      for (const id of await sessions(at.server)) await at.server.run(`${kill} ${id}`);
    });
    expect(error).toMatchObject({
      code: 'part.unreadable',
      message: expect.stringMatching(/was cut|killed|interrupted/),
      hint: expect.stringContaining('next look'),
    });
    expectNoSecret(error, at.server.password);
  });

  test('a server that has too many connections lets nobody in', async () => {
    const as = { user: 'crowded', password: 'crowded-pass' };
    const first = at.open(long, {}, as).rows(queryPart, calm);
    await first.next();
    expect(await failureOf(at.open('SELECT 1 AS a', {}, as), as)).toMatchObject({
      code: 'source.unreadable',
      message: expect.stringMatching(/max_user_connections/),
      hint: expect.stringMatching(/close some/),
    });
    await first.return({ hash: '', version: '', revisedAtMs: 0 });
  });
});
