/** What a state directory holds, row by row: to see that a command changes nothing in it. */
import { readFile, readdir } from 'node:fs/promises';
import path from 'node:path';
import Database from 'better-sqlite3';

/** All rows by table, and all other files by name. What only SQLite keeps beside its files is left out. */
export async function recordsOf(state: string): Promise<Record<string, unknown>> {
  const records: Record<string, unknown> = {};
  for (const entry of await readdir(state, { withFileTypes: true, recursive: true })) {
    const file = path.join(entry.parentPath, entry.name);
    const name = path.relative(state, file);
    if (name.endsWith('.db')) Object.assign(records, rowsOf(file));
    else if (entry.isFile() && !/-(wal|shm)$/.test(name)) records[name] = (await readFile(file)).toString('base64');
    else if (entry.isDirectory()) records[name] = 'a directory';
  }
  return records;
}

function rowsOf(file: string): Record<string, unknown> {
  using db = new DisposableDatabase(file);
  const tables = db.all<{ name: string }>(
    "SELECT name FROM sqlite_schema WHERE type = 'table' AND name NOT LIKE 'sqlite_%'",
  );
  return Object.fromEntries(tables.map(({ name }) => [name, db.all(`SELECT * FROM "${name}"`)]));
}

/** A second held candidate whose digest begins as that of another one does, which only chance would give. */
export function holdTwin(state: string, digest: string): void {
  using db = new DisposableDatabase(path.join(state, 'ledger.db'));
  const twin = digest.slice(0, 8) + digest.slice(9) + (digest.endsWith('0') ? '1' : '0');
  db.run(
    `INSERT INTO held (source, digest, reason, hint, since_ms, approvable, deletes)
     SELECT 'twin', ?, reason, hint, since_ms, approvable, deletes FROM held WHERE digest = ?`,
    twin,
    digest,
  );
}

class DisposableDatabase implements Disposable {
  readonly #db: Database.Database;

  constructor(file: string) {
    this.#db = new Database(file);
  }

  all<Row>(sql: string): Row[] {
    return this.#db.prepare<[], Row>(sql).all();
  }

  run(sql: string, ...values: readonly string[]): void {
    this.#db.prepare(sql).run(...values);
  }

  [Symbol.dispose](): void {
    this.#db.close();
  }
}
