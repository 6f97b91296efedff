/** The drivers of one request while it is received: invisible, and on disk if they are many. */
import type { Database, Statement } from 'better-sqlite3';
import { latestOfEachMonth, packPoints, unpackPoints } from './points.ts';
import type { PackedDriver } from './points.ts';

/** The columns of drivers. */
const columns = '(id TEXT NOT NULL PRIMARY KEY, path TEXT NOT NULL, points TEXT NOT NULL) STRICT';

/** An update of a driver that the request has named before. */
interface Again {
  readonly path: string;
  readonly points: string;
}

export class Stage {
  /** Has each id once, after `gather` with all that the request says of it. */
  readonly table: string;
  readonly #database: Database;
  readonly #insertAll: (drivers: readonly PackedDriver[]) => void;
  /** Writes an update of a driver that the request has named before, once there is one. */
  #again: Statement<[string, string, string]> | undefined;

  constructor(database: Database, table: string) {
    this.table = table;
    this.#database = database;
    database.exec(`CREATE TEMP TABLE ${table} ${columns}`);
    const insert = database.prepare(`INSERT INTO temp.${table} VALUES (?, ?, ?) ON CONFLICT DO NOTHING`);
    this.#insertAll = database.transaction((drivers: readonly PackedDriver[]) => {
      for (const { id, path, points } of drivers) {
        const row: [string, string, string] = [id, JSON.stringify(path), points];
        if (insert.run(...row).changes === 0) this.#insertAgain(...row);
      }
    });
  }

  /** Adds drivers in the order of the request. The same id again is another update of that driver. */
  add(drivers: readonly PackedDriver[]): void {
    if (drivers.length > 0) this.#insertAll(drivers);
  }

  /**
   * Puts the updates of one driver together: the last path, and of each month the point with the latest time. Done once and not
   * with each update, which for ten thousand updates of one driver took eight seconds.
   */
  gather(): void {
    if (this.#again === undefined) return;
    const repeats = this.#repeats;
    this.#database.exec(`CREATE INDEX temp.${this.table}_by_id ON ${this.table}_repeats (id)`);
    const ids = this.#database.prepare<[], string>(`SELECT DISTINCT id FROM ${repeats}`).pluck().all();
    const first = this.#database
      .prepare<[string], string>(`SELECT points FROM temp.${this.table} WHERE id = ?`)
      .pluck();
    const again = this.#database.prepare<[string], Again>(
      `SELECT path, points FROM ${repeats} WHERE id = ? ORDER BY rowid`,
    );
    const write = this.#database.prepare(`UPDATE temp.${this.table} SET path = ?, points = ? WHERE id = ?`);
    for (const id of ids) {
      const updates = again.all(id);
      const points = [first.get(id) ?? '', ...updates.map((update) => update.points)].flatMap(unpackPoints);
      write.run(updates.at(-1)?.path, packPoints(latestOfEachMonth(points)), id);
    }
  }

  drop(): void {
    dropTable(this.#database, this.table);
    dropTable(this.#database, `${this.table}_repeats`);
  }

  get #repeats(): string {
    return `temp.${this.table}_repeats`;
  }

  #insertAgain(...row: [id: string, path: string, points: string]): void {
    this.#again ??= this.#beginRepeats();
    this.#again.run(...row);
  }

  #beginRepeats(): Statement<[string, string, string]> {
    this.#database.exec(`CREATE TEMP TABLE ${this.table}_repeats (id TEXT, path TEXT, points TEXT) STRICT`);
    return this.#database.prepare(`INSERT INTO ${this.#repeats} VALUES (?, ?, ?)`);
  }
}

export function dropTable(database: Database, table: string): void {
  // A reader may be cancelled after the emulator was closed; the table is gone then.
  if (database.open) database.exec(`DROP TABLE IF EXISTS temp.${table}`);
}
