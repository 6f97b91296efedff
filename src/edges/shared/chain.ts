/** The chain of a ledger on PostgreSQL: the records that `edges/state/chain.ts` describes. Part of the transaction that changes a row. */
import { type Recorded, beforeFirst, headOf, plainRow, recordSha256, recorded } from '../state/chain.ts';
import type { Statements } from './database.ts';

interface Head {
  readonly n: number;
  readonly sha256: string;
}

/** Records a row as it is now. */
export async function note(
  statements: Statements,
  { table, key, more = {} }: { readonly table: Recorded; readonly key: string | number; readonly more?: object },
): Promise<void> {
  const [row] = await statements.all<object>(`SELECT * FROM ~${table} WHERE ${recorded[table]} = $1`, key);
  await append(statements, { kind: table, row: plainRow(row!), ...more });
}

/** Begins where there are no rows yet. */
export async function beginChain(statements: Statements): Promise<void> {
  const earlier = Object.fromEntries(Object.keys(recorded).map((table) => [table, 0]));
  await append(statements, { kind: 'begin', earlier });
}

/** `N:SHA256` of the newest record. */
export async function head(statements: Statements): Promise<string> {
  const last = await lastOf(statements);
  return headOf(last?.n ?? 0, last?.sha256 ?? beforeFirst);
}

async function lastOf(statements: Statements): Promise<Head | undefined> {
  return (await statements.all<Head>('SELECT n, sha256 FROM ~chain ORDER BY n DESC LIMIT 1'))[0];
}

async function append(statements: Statements, content: object): Promise<void> {
  const { n, sha256 } = (await lastOf(statements)) ?? { n: 0, sha256: beforeFirst };
  const text = JSON.stringify(content);
  await statements.run('INSERT INTO ~chain VALUES ($1, $2, $3)', n + 1, text, recordSha256(sha256, text));
}
