/** Throw-away PostgreSQL and MariaDB servers, each with its own files, port and process. */
import { type ChildProcess, execFile, execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { chownSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { rm } from 'node:fs/promises';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { promisify } from 'node:util';
import mysql from 'mysql2/promise';
import pg from 'pg';
import { preparedFolder } from './prepared-files.ts';
import { within } from './receiver.ts';
import {
  type Identity,
  type PostgresPrograms,
  identityOf,
  installed,
  mariadb,
  postgresOfDebian,
  oldestPostgresOfNpm,
  postgresOfNpm,
} from './server-programs.ts';

const usualPostgres = postgresOfDebian ?? postgresOfNpm;

/** Skipped with their name where they are missing, and a failure where everything is checked. */
export const isChecked = process.env['CI'] !== undefined;
export const cannotPostgres = !isChecked && usualPostgres === undefined;
export const cannotMariadb = !isChecked && mariadb === undefined;
/** For the names of suites. */
export const postgresName = cannotPostgres ? 'PostgreSQL, which is not installed' : 'PostgreSQL';
export const mariadbName = cannotMariadb ? 'MariaDB, which is not installed' : 'MariaDB';

/** Every release of PostgreSQL that is at hand: at least one, or it is missing. */
export const postgresReleases = [
  { name: postgresName, isMissing: cannotPostgres, programs: usualPostgres },
  ...(usualPostgres === postgresOfNpm
    ? []
    : [
        {
          name: postgresOfNpm === undefined ? 'a newer PostgreSQL, which is not installed' : 'a newer PostgreSQL',
          isMissing: postgresOfNpm === undefined,
          programs: postgresOfNpm,
        },
      ]),
  {
    name: oldestPostgresOfNpm === undefined ? 'PostgreSQL 12, which is not installed' : 'PostgreSQL 12',
    isMissing: !isChecked && oldestPostgresOfNpm === undefined,
    programs: oldestPostgresOfNpm,
  },
];

/** The administrator's password: one that a url has to encode. */
export const password = 'se/cr?et #1%@';

export interface ServerOptions {
  /** Settings of the server, as its command line has them after `-c` or `--`. */
  readonly settings?: readonly string[];
  /** Whether it has TLS, with the certificate that `caFile` vouches for. */
  readonly tls?: boolean;
  /** PostgreSQL: lines of pg_hba.conf that come before the usual ones. */
  readonly access?: readonly string[];
  /** PostgreSQL: the packages that its programs are from. */
  readonly programs?: PostgresPrograms | undefined;
  /** PostgreSQL: whether it is a cluster of its own, with a system identifier that no other server has. Usual ones are copies of one. */
  readonly isOwnCluster?: boolean;
}

export interface TestServer extends AsyncDisposable {
  readonly port: number;
  /** PostgreSQL: the directory of its unix socket; MariaDB: the socket. */
  readonly socket: string;
  /** The administrator's. */
  readonly user: string;
  readonly password: string;
  /** Vouches for its certificate, which is of `localhost`. */
  readonly caFile: string;
  /** The administrator's url of a database, or another user's. */
  url(options?: UrlOptions): string;
  /** Runs statements as the administrator, and gives the rows of the last. */
  run(sql: string, database?: string): Promise<readonly Readonly<Record<string, unknown>>[]>;
  /** Tells it to end, and waits until it has. */
  stop(signal?: NodeJS.Signals): Promise<void>;
  /** Starts it again, on the same port and files. */
  start(): Promise<void>;
}

export interface UrlOptions {
  readonly database?: string;
  readonly user?: string;
  readonly password?: string;
  readonly host?: string;
  readonly port?: number;
  /** After the question mark. */
  readonly parameters?: string;
}

export async function postgresServer(options: ServerOptions = {}): Promise<TestServer> {
  const { initdb, postgres } = installed(options.programs ?? usualPostgres, 'PostgreSQL');
  const { dir, tls, own, as } = home('postgres');
  const data = path.join(dir, 'data');
  const init = ['-U', 'admin', '--encoding=UTF8', '--locale=C.UTF-8', '--no-sync'];
  const access = ['--auth-local=trust', '--auth-host=scram-sha-256', '--pwfile', own('password', password)];
  const args = (to: string): readonly string[] => ['-D', to, ...init, ...access];
  if (options.isOwnCluster === true) await run(initdb, args(data), as);
  else await fill(data, { by: initdb, as }, args);
  const usual = ['local all all trust', 'host all all all scram-sha-256'];
  own('data/pg_hba.conf', [...(options.access ?? []), ...usual, ''].join('\n'));
  const more = options.tls === true ? ['ssl=on', `ssl_cert_file=${tls.cert}`, `ssl_key_file=${tls.key}`] : [];
  return startPostgres(postgres, { dir, data, as, ca: tls.ca }, [...more, ...(options.settings ?? [])]);
}

/** The files of a PostgreSQL that are there. */
interface Cluster {
  readonly dir: string;
  readonly data: string;
  readonly as: Identity | undefined;
  /** Vouches for its certificate. */
  readonly ca: string;
}

/** @param more settings beside the usual ones */
export async function startPostgres(
  postgres: string,
  { dir, data, as, ca }: Cluster,
  more: readonly string[],
): Promise<TestServer> {
  const settings = [
    ['listen_addresses=127.0.0.1', `unix_socket_directories=${dir}`, 'fsync=off'],
    ['synchronous_commit=off', 'full_page_writes=off', 'autovacuum=off', 'shared_buffers=32MB'],
    // In its own files, which go with them also where a server is killed.
    ['dynamic_shared_memory_type=mmap'],
    more,
  ].flat();
  const args = ['-D', data, ...settings.flatMap((setting) => ['-c', setting])];
  const ready = /database system is ready to accept (read-only )?connections/;
  const { server, port } = await startOnFreePort((free) =>
    supervise(postgres, [...args, '-c', `port=${free}`], { as, ready, polite: 'SIGINT' }),
  );
  return {
    ...server,
    port,
    socket: dir,
    user: 'admin',
    password,
    caFile: ca,
    url: (of = {}) => urlOf('postgres', { user: 'admin', password, port, database: 'postgres', ...of }),
    async run(sql, database = 'postgres') {
      const client = new pg.Client({ host: dir, port, user: 'admin', database });
      // A server that ends fails the query as well.
      client.on('error', () => undefined);
      await client.connect();
      try {
        const results: unknown = await client.query(sql);
        return (Array.isArray(results) ? results : [results]).at(-1).rows;
      } finally {
        await client.end();
      }
    },
    [Symbol.asyncDispose]: () => leave(dir, server, 'SIGQUIT'),
  };
}

export async function mariadbServer(options: ServerOptions = {}): Promise<TestServer> {
  const { mariadbd, install } = installed(mariadb, 'MariaDB');
  const { dir, tls, own, as } = home('mysql');
  const data = path.join(dir, 'data');
  // Two installs at once would trip over each other's temporary tables in the machine's own directory.
  const init = ['--no-defaults', `--tmpdir=${dir}`, '--skip-test-db', '--skip-name-resolve'];
  const more = ['--innodb-log-file-size=16M', '--auth-root-authentication-method=normal'];
  await fill(data, { by: install, as }, (to) => [...init, `--datadir=${to}`, ...more]);
  const socket = path.join(dir, 'socket');
  const secure = options.tls === true ? [`--ssl-cert=${tls.cert}`, `--ssl-key=${tls.key}`] : ['--disable-ssl'];
  const args = [
    ['--no-defaults', `--datadir=${data}`, `--socket=${socket}`, '--bind-address=127.0.0.1'],
    // A server that starts takes the temporary tables of others away.
    [`--tmpdir=${data}`],
    ['--innodb-log-file-size=16M', '--innodb-flush-log-at-trx-commit=0', '--innodb-buffer-pool-size=32M'],
    ['--character-set-server=utf8mb4', '--skip-log-bin', `--init-file=${own('init.sql', firstStatements.join('\n'))}`],
    secure,
    options.settings ?? [],
  ].flat();
  const { server, port } = await startOnFreePort((free) =>
    supervise(mariadbd, [...args, `--port=${free}`], { as, ready: /ready for connections/, polite: 'SIGTERM' }),
  );
  return {
    ...server,
    port,
    socket,
    user: 'admin',
    password,
    caFile: tls.ca,
    url: (of = {}) => urlOf('mysql', { user: 'admin', password, port, database: 'books', ...of }),
    async run(sql, database = 'books') {
      const settings = { socketPath: socket, user: 'admin', password, database, multipleStatements: true };
      const client = await mysql.createConnection(settings);
      try {
        const [results] = await client.query(sql);
        const last: unknown = Array.isArray(results) ? results.at(-1) : undefined;
        return (Array.isArray(last) ? last : results) as Readonly<Record<string, unknown>>[];
      } finally {
        await client.end();
      }
    },
    [Symbol.asyncDispose]: () => leave(dir, server, 'SIGKILL'),
  };
}

/** Removes the anonymous user, who would take precedence over users who may come from everywhere. */
const firstStatements = [
  "DELETE FROM mysql.global_priv WHERE User IN ('', 'root');",
  'FLUSH PRIVILEGES;',
  `CREATE USER IF NOT EXISTS admin@'%' IDENTIFIED BY '${password}';`,
  "GRANT ALL ON *.* TO admin@'%' WITH GRANT OPTION;",
  'CREATE DATABASE IF NOT EXISTS books;',
];

/** Makes the files of a new server: a copy of those that the first one of the run has made. */
async function fill(
  data: string,
  { by, as }: { readonly by: string; readonly as: Identity | undefined },
  args: (to: string) => readonly string[],
): Promise<void> {
  const prepared = await preparedFolder([by], (to) => run(by, args(to), as));
  if (prepared === undefined) await run(by, args(data), as);
  else await run('cp', ['-a', prepared, data], as);
}

interface Home {
  readonly dir: string;
  readonly tls: { readonly cert: string; readonly key: string; readonly ca: string };
  readonly as: Identity | undefined;
  /** Writes a file that the server may read, and gives its path. */
  readonly own: (name: string, text: string) => string;
}

/** MariaDB's script takes no path with blanks or quotes, and the path of a socket has 107 bytes. */
const homes = /^[\w./-]{1,60}$/.test(tmpdir()) ? tmpdir() : '/tmp';

/** A directory of the server's own. No server runs as root: there it is an unprivileged user's. */
export function home(user: string): Home {
  const dir = mkdtempSync(path.join(homes, `driver-sync-${user}-`));
  process.once('exit', () => rmSync(dir, { recursive: true, force: true }));
  const as = identityOf(user);
  const give = (file: string): void => {
    if (as !== undefined) chownSync(file, as.uid, as.gid);
  };
  const own = (name: string, text: string): string => {
    const file = path.join(dir, name);
    writeFileSync(file, text, { mode: 0o600 });
    give(file);
    return file;
  };
  const tls = certify(dir);
  for (const file of [dir, tls.key, tls.cert]) give(file);
  return { dir, tls, as, own };
}

/** An authority, and a certificate of `localhost` that it vouches for. */
function certify(dir: string): Home['tls'] {
  const [caKey, ca, key, cert] = ['ca.key', 'ca.pem', 'server.key', 'server.pem'].map((name) => path.join(dir, name));
  const made = ['req', '-x509', '-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:prime256v1', '-nodes', '-days', '2'];
  const vouched = ['-CA', `${ca}`, '-CAkey', `${caKey}`, '-addext', 'subjectAltName=DNS:localhost'];
  execFileSync('openssl', [...made, '-subj', '/CN=authority', '-keyout', `${caKey}`, '-out', `${ca}`], {
    stdio: 'ignore',
  });
  const leaf = ['-subj', '/CN=localhost', '-addext', 'basicConstraints=critical,CA:FALSE', ...vouched];
  execFileSync('openssl', [...made, ...leaf, '-keyout', `${key}`, '-out', `${cert}`], { stdio: 'ignore' });
  return { cert: `${cert}`, key: `${key}`, ca: `${ca}` };
}

export async function run(program: string, args: readonly string[], as: Identity | undefined): Promise<void> {
  await promisify(execFile)(program, args, { ...as, cwd: '/' });
}

export interface Process {
  start(): Promise<void>;
  stop(signal?: NodeJS.Signals): Promise<void>;
}

interface Manners {
  readonly as: Identity | undefined;
  /** Printed once it takes connections. */
  readonly ready: RegExp;
  /** Ends it soon and properly. */
  readonly polite: NodeJS.Signals;
}

export function supervise(program: string, args: readonly string[], { as, ready, polite }: Manners): Process {
  let running: { readonly child: ChildProcess; readonly exited: Promise<unknown> } | undefined;
  return {
    async start() {
      const child = spawn(program, args, { ...as, cwd: '/', stdio: ['ignore', 'ignore', 'pipe'] });
      running = { child, exited: once(child, 'exit') };
      // Whatever becomes of the tests, no server outlives them.
      const end = (): void => void child.kill('SIGKILL');
      process.once('exit', end);
      child.once('exit', () => process.off('exit', end));
      let log = '';
      const isReady = new Promise<void>((resolve) => {
        child.stderr.setEncoding('utf8').on('data', (text: string) => {
          log += text;
          if (ready.test(log)) resolve();
        });
      });
      const failed = running.exited.then(() => {
        throw new Error(`${program} ended before it was ready:\n${log}`);
      });
      await Promise.race([isReady, failed]);
      failed.catch(() => undefined);
    },
    async stop(signal = polite) {
      running?.child.kill(signal);
      await within(Promise.resolve(running?.exited), () => `${program} has not ended after ${signal}`);
      running = undefined;
    },
  };
}

/** Ends a server at once, its data being of no more use. */
export async function leave(dir: string, server: Process, signal: NodeJS.Signals): Promise<void> {
  await server.stop(signal);
  await rm(dir, { recursive: true, force: true });
}

/** Neither server takes port 0. Another program may take a port that was free a moment ago: then the next one is tried. */
export async function startOnFreePort(serverAt: (port: number) => Process): Promise<{ server: Process; port: number }> {
  for (let triesLeft = 10; ; triesLeft -= 1) {
    const port = await freePort();
    const server = serverAt(port);
    try {
      await server.start();
      return { server, port };
    } catch (error) {
      if (triesLeft === 1 || !/address already in use/i.test(String(error))) throw error;
    }
  }
}

async function freePort(): Promise<number> {
  const server = createServer();
  await once(server.listen(0, '127.0.0.1'), 'listening');
  const address = server.address();
  server.close();
  await once(server, 'close');
  return typeof address === 'object' && address !== null ? address.port : 0;
}

export function urlOf(scheme: string, options: UrlOptions): string {
  const { user = '', password: secret = '', host = '127.0.0.1', port = 0, database = '', parameters = '' } = options;
  const query = parameters === '' ? '' : `?${parameters}`;
  return `${scheme}://${user}:${encodeURIComponent(secret)}@${host}:${port}/${database}${query}`;
}
