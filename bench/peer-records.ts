/**
 * JSON lines by JSON.parse, or a query of SQLite, into one Map: the latest value of each driver and month.
 *
 *   node bench/peer-records.ts FILE [QUERY]
 */
import { createReadStream } from 'node:fs';
import { createInterface } from 'node:readline';
import Database from 'better-sqlite3';

interface Row {
  readonly date: string;
  readonly region: string;
  readonly product: string;
  readonly amount: string | number;
}

const [file = '', query] = process.argv.slice(2);
const latest = new Map<string, Row>();
const keep = (row: Row): void => {
  const key = `${row.region}\t${row.product}\t${row.date.slice(0, 7)}`;
  const before = latest.get(key);
  if (before === undefined || before.date <= row.date) latest.set(key, row);
};
if (query === undefined) {
  for await (const line of createInterface({ input: createReadStream(file) })) keep(JSON.parse(line) as Row);
} else {
  const database = new Database(file, { readonly: true });
  for (const row of database.prepare<[], Row>(query).iterate()) keep(row);
}
console.log(JSON.stringify({ points: latest.size }));
