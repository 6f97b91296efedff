/** A standby of a PostgreSQL that follows it by streaming, without the primary's waiting for it. */
import path from 'node:path';
import { expect } from 'vitest';
import { installed, postgresOfDebian } from './server-programs.ts';
import { type TestServer, home, isChecked, postgresServer, run, startPostgres } from './servers.ts';

const basebackup = postgresOfDebian?.basebackup;

export const cannotStandBy = !isChecked && basebackup === undefined;
/** For the names of suites. */
export const standbyName = cannotStandBy ? 'PostgreSQL with pg_basebackup, which is not installed' : 'PostgreSQL';

export interface Pair extends AsyncDisposable {
  readonly primary: TestServer;
  readonly standby: TestServer;
  /** Resolves once the standby has all that the primary has. */
  caughtUp(): Promise<void>;
  /** Nothing reaches the standby any more; the primary goes on, and commits. */
  cutOff(): Promise<void>;
  /** The primary is gone at once, with all that it had not sent. */
  losePrimary(): Promise<void>;
  promote(): Promise<void>;
}

export async function primaryAndStandby(): Promise<Pair> {
  const { postgres } = installed(postgresOfDebian, 'PostgreSQL');
  const primary = await postgresServer({ programs: postgresOfDebian, access: ['local replication all trust'] });
  const { dir, tls, as } = home('postgres');
  const data = path.join(dir, 'data');
  const from = ['-h', primary.socket, '-p', String(primary.port), '-U', 'admin'];
  const how = ['-R', '--wal-method=stream', '--checkpoint=fast', '--no-sync'];
  await run(installed(basebackup, 'pg_basebackup'), [...from, '-D', data, ...how], as);
  const standby = await startPostgres(postgres, { dir, data, as, ca: tls.ca }, []);
  let sender: number | undefined;
  return {
    primary,
    standby,
    async caughtUp() {
      const [row] = await primary.run('SELECT pg_current_wal_lsn()::text AS lsn');
      const sql = `SELECT pg_last_wal_replay_lsn() >= '${String(row?.['lsn'])}' AS "isThere"`;
      await expect.poll(async () => (await standby.run(sql))[0]?.['isThere']).toBe(true);
    },
    async cutOff() {
      const [row] = await primary.run('SELECT pid FROM pg_stat_replication');
      sender = row?.['pid'] as number;
      process.kill(sender, 'SIGSTOP');
    },
    async losePrimary() {
      await primary.stop('SIGKILL');
      // While it slept it sent nothing, and its end is the primary's.
      if (sender !== undefined) process.kill(sender, 'SIGKILL');
    },
    promote: async () => void (await standby.run('SELECT pg_promote()')),
    async [Symbol.asyncDispose]() {
      await standby[Symbol.asyncDispose]();
      await primary[Symbol.asyncDispose]();
    },
  };
}
