/** The drivers that the service holds. Nothing of a request is seen before all of it is. */
import type { Database, Statement } from 'better-sqlite3';
import type { Driver, Point } from '../../contract/driver-push.ts';
import { latestOfEachMonth, overlay, packPoints, unpackPoints } from './points.ts';
import type { PackedDriver } from './points.ts';

/** A row: `path` is JSON, `points` is packed. Small, since there may be a hundred thousand. */
interface DriverRow {
  readonly id: string;
  readonly path: string;
  readonly points: string;
}

// Text compares by its UTF-8 bytes, which is the order that drivers are shown in.
const columns = `(id TEXT NOT NULL PRIMARY KEY, path TEXT NOT NULL, points TEXT NOT NULL) STRICT`;

/** How many drivers are read in one go. */
const pageDrivers = 256;

export class DriverStore {
  readonly #database: Database;
  #temporaryTables = 0;

  constructor(database: Database) {
    this.#database = database;
    database.exec(`CREATE TABLE IF NOT EXISTS driver ${columns}`);
    // Within one request: of all updates of a month the latest. Between two: the later request, whatever its time.
    this.#define('latest_points', (staged, added) => latestOfEachMonth([...staged, ...added]));
    this.#define('overlay_points', overlay);
  }

  #define(name: string, merge: (first: readonly Point[], second: readonly Point[]) => readonly Point[]): void {
    this.#database.function(name, { deterministic: true }, (first, second) =>
      packPoints(merge(unpackPoints(String(first)), unpackPoints(String(second)))),
    );
  }

  /** A place for the drivers of one request, outside of everything that can be read. To be dropped in any case. */
  stage(): Stage {
    return new Stage(this.#database, this.#nextTable('stage'));
  }

  /** Takes a staged request over, in one transaction. `replace`: what it leaves out, drivers and points, is deleted. */
  apply(stage: Stage, mode: 'replace' | 'merge'): void {
    this.#database.transaction(() => {
      if (mode === 'replace') this.clear();
      this.#database.exec(`
        INSERT INTO driver SELECT id, path, points FROM temp.${stage.table} WHERE true
        ON CONFLICT (id) DO UPDATE SET path = excluded.path, points = overlay_points(points, excluded.points)`);
    })();
  }

  clear(): void {
    this.#database.exec('DELETE FROM driver');
  }

  /** All drivers as they are when the first is asked for, by the UTF-8 bytes of their ids; later requests change nothing. */
  *all(): Generator<Driver, void, void> {
    const table = this.#nextTable('read');
    this.#database.exec(`CREATE TEMP TABLE ${table} AS SELECT id, path, points FROM driver ORDER BY id`);
    try {
      const page: Statement<[number], DriverRow> = this.#database.prepare(
        `SELECT id, path, points FROM temp.${table} WHERE rowid > ? ORDER BY rowid LIMIT ${pageDrivers}`,
      );
      for (let first = 0; ; first += pageDrivers) {
        const rows = page.all(first);
        for (const { id, path, points } of rows) {
          yield { id, path: JSON.parse(path) as string[], timeSeries: unpackPoints(points) };
        }
        if (rows.length < pageDrivers) return;
      }
    } finally {
      dropTable(this.#database, table);
    }
  }

  #nextTable(purpose: string): string {
    this.#temporaryTables += 1;
    return `${purpose}_${this.#temporaryTables}`;
  }
}

/** The drivers of one request while it is received: on disk where they are many, and in nobody's sight. */
export class Stage {
  readonly table: string;
  readonly #database: Database;
  readonly #insertAll: (drivers: readonly PackedDriver[]) => void;

  constructor(database: Database, table: string) {
    this.table = table;
    this.#database = database;
    database.exec(`CREATE TEMP TABLE ${table} ${columns}`);
    const insert = database.prepare(
      `INSERT INTO temp.${table} VALUES (?, ?, ?)
       ON CONFLICT (id) DO UPDATE SET path = excluded.path, points = latest_points(points, excluded.points)`,
    );
    this.#insertAll = database.transaction((drivers: readonly PackedDriver[]) => {
      for (const { id, path, points } of drivers) insert.run(id, JSON.stringify(path), points);
    });
  }

  /** Adds drivers in the order of the request: the same id again is one more update of that driver. */
  add(drivers: readonly PackedDriver[]): void {
    if (drivers.length > 0) this.#insertAll(drivers);
  }

  drop(): void {
    dropTable(this.#database, this.table);
  }
}

function dropTable(database: Database, table: string): void {
  // A reader may be cancelled after the emulator was closed, which took the table with it.
  if (database.open) database.exec(`DROP TABLE IF EXISTS temp.${table}`);
}
