/** A state with a bit of everything that the chain records, and ways to alter it behind the agent's back. */
import { readdirSync } from 'node:fs';
import path from 'node:path';
import Database from 'better-sqlite3';
import { type CommandsWorld, commandsWorld, copyOfWorld, manyDrivers } from './commands-world.ts';
import { csv } from './process.ts';

/** What `verify --json` prints. */
export interface Verified {
  ok: boolean;
  head: string;
  records: number;
  snapshots: number;
  earlier: number;
  damaged?: { kind: 'record' | 'snapshot'; id: number | string; why: string };
  exit: number;
}

/** What the migration that brought the chain added to the ledger, taken out again. */
export const withoutChain = `DROP TABLE chain; DROP TABLE snapshot;
  ${['approval', 'request']
    .flatMap((table) => ['by_user', 'ran_as', 'reason'].map((column) => `ALTER TABLE ${table} DROP COLUMN ${column};`))
    .join('\n')}
  PRAGMA user_version = 5`;

export interface ChainWorld extends CommandsWorld {
  readonly ledger: string;
  readonly archive: string;
  readonly verify: (...args: readonly string[]) => Promise<Verified>;
  /** Digests, by name. */
  readonly snapshots: () => string[];
  readonly alter: (sql: string, ...values: readonly unknown[]) => void;
  /** The number of the newest record of that kind. */
  readonly newest: (kind: string) => number;
}

/** Two pushes, an approved delete between them, a rollback to the first, and what is carried to be forgotten once the read that waits is accepted. */
export async function livingChainWorld(): Promise<ChainWorld> {
  return withState(await pushedTwice());
}

/** The same, for what no push follows: see `copyOfWorld`. */
export async function chainWorld(): Promise<ChainWorld> {
  return withState(await copyOfWorld('chain', pushedTwice));
}

async function pushedTwice(): Promise<CommandsWorld> {
  const files = { 'a.csv': manyDrivers(20), 'b.csv': 'id,time,value\nB,2026-02,1.50\n' };
  const commands = await commandsWorld({ revenue: csv('*.csv') }, files);
  const { at, run, json } = commands;
  await run('sync');
  await at.write('a.csv', manyDrivers(9).replace('R0,2026-01,1', 'R0,2026-01,7.25'));
  const { sources } = await json<{ sources: { digest: string }[] }>('plan');
  await run('approve', sources[0]!.digest, '--reason', 'regions closed');
  await run('sync');
  await run('rollback', '1', '--reason', 'too early');
  await run('sync');
  await at.remove('b.csv');
  await run('sync');
  await run('forget', 'revenue', 'b.csv', '--yes', '--reason', 'it will not come back');
  await run('sync');
  return commands;
}

export function withState(commands: CommandsWorld): ChainWorld {
  const ledger = path.join(commands.at.state, 'ledger.db');
  const archive = path.join(commands.at.state, 'archive');
  const open = <T>(use: (db: Database.Database) => T): T => {
    const db = new Database(ledger);
    try {
      return use(db);
    } finally {
      db.close();
    }
  };
  return {
    ...commands,
    ledger,
    archive,
    verify: (...args) => commands.json<Verified>('verify', ...args),
    snapshots: () => readdirSync(archive).map((name) => name.replace(/\.snapshot$/, '')),
    alter: (sql, ...values) => open((db) => void (values.length === 0 ? db.exec(sql) : db.prepare(sql).run(...values))),
    newest: (kind) =>
      open((db) => db.prepare(`SELECT max(n) FROM chain WHERE content ->> 'kind' = ?`).pluck().get(kind)) as number,
  };
}
