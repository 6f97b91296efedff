/** The drivers that the service holds. A request becomes visible as a whole. */
import type { Database, Statement } from 'better-sqlite3';
import type { Driver, Point } from '../../contract/driver-push.ts';
import { latestOfEachMonth, overlay, packPoints, unpackPoints } from './points.ts';
import type { PackedDriver } from './points.ts';

/** A row: `path` is JSON, `points` is packed. There may be a hundred thousand of them. */
interface DriverRow {
  readonly id: string;
  readonly path: string;
  readonly points: string;
}

// SQLite compares text by its UTF-8 bytes, the order in which drivers are shown.
const columns = `(id TEXT NOT NULL PRIMARY KEY, path TEXT NOT NULL, points TEXT NOT NULL) STRICT`;

/** Drivers read at once. */
const pageDrivers = 256;

/** Limits for the previous content that is kept of a request's changes: drivers of each kind, and packed text. */
const changesKeptMax = 500;
const changesCharactersMax = 2_000_000;

/** The changes of one request. */
export interface DriverChanges {
  readonly added: number;
  readonly changed: number;
  readonly removed: number;
  /**
   * Previous content of the first drivers of each kind, by id; undefined for a driver that is new. Drivers beyond the
   * limits above are only counted.
   */
  readonly before: ReadonlyMap<string, DriverRow | undefined>;
}

export class DriverStore {
  readonly #database: Database;
  #temporaryTables = 0;

  constructor(database: Database) {
    this.#database = database;
    database.exec(`CREATE TABLE IF NOT EXISTS driver ${columns}`);
    // Within one request the latest time of a month counts; between two requests the later request, whatever its times.
    this.#define('latest_points', (staged, added) => latestOfEachMonth([...staged, ...added]));
    this.#define('overlay_points', overlay);
  }

  #define(name: string, merge: (first: readonly Point[], second: readonly Point[]) => readonly Point[]): void {
    this.#database.function(name, { deterministic: true }, (first, second) =>
      packPoints(merge(unpackPoints(String(first)), unpackPoints(String(second)))),
    );
  }

  /** A place for the drivers of one request that nobody can read. The caller drops it in any case. */
  stage(): Stage {
    return new Stage(this.#database, this.#nextTable('stage'));
  }

  /**
   * Applies a staged request in one transaction and returns its changes. `replace` deletes drivers and points that the
   * request leaves out.
   */
  apply(stage: Stage, mode: 'replace' | 'merge'): DriverChanges {
    const staged = `temp.${stage.table}`;
    return this.#database.transaction(() => {
      if (mode === 'merge') {
        // Then the stage holds the new content of its drivers, as it does with `replace`.
        this.#database.exec(`
          UPDATE ${staged} AS staged
          SET points = (SELECT overlay_points(held.points, staged.points) FROM driver AS held WHERE held.id = staged.id)
          WHERE EXISTS (SELECT 1 FROM driver AS held WHERE held.id = staged.id)`);
      }
      const changes = this.#changesBy(staged, mode);
      if (changes.removed > 0) this.#database.exec(`DELETE FROM driver WHERE id NOT IN (SELECT id FROM ${staged})`);
      // Most drivers of a snapshot are unchanged.
      this.#database.exec(`
        INSERT INTO driver SELECT id, path, points FROM ${staged} WHERE true
        ON CONFLICT (id) DO UPDATE SET path = excluded.path, points = excluded.points
        WHERE driver.path <> excluded.path OR driver.points <> excluded.points`);
      return changes;
    })();
  }

  #changesBy(staged: string, mode: 'replace' | 'merge'): DriverChanges {
    const isAdded = 'held.id IS NULL';
    const isChanged = '(held.path <> staged.path OR held.points <> staged.points)';
    const both = `FROM ${staged} AS staged LEFT JOIN driver AS held ON held.id = staged.id`;
    const left = `FROM driver AS held WHERE held.id NOT IN (SELECT id FROM ${staged})`;
    const { added, changed } = this.#database
      .prepare<[], { added: number; changed: number }>(
        `SELECT count(*) FILTER (WHERE ${isAdded}) AS added, count(*) FILTER (WHERE ${isChanged}) AS changed ${both}`,
      )
      .get() ?? { added: 0, changed: 0 };
    const removed = mode === 'merge' ? 0 : (this.#database.prepare(`SELECT count(*) ${left}`).pluck().get() as number);
    const before = new Map<string, DriverRow | undefined>();
    if (added > 0) this.#note(before, `SELECT staged.id, NULL AS path, NULL AS points ${both} WHERE ${isAdded}`);
    if (changed > 0) this.#note(before, `SELECT held.id, held.path, held.points ${both} WHERE ${isChanged}`);
    if (removed > 0) this.#note(before, `SELECT held.id, held.path, held.points ${left}`);
    return { added, changed, removed, before };
  }

  #note(before: Map<string, DriverRow | undefined>, select: string): void {
    let characters = 0;
    const rows = this.#database.prepare<[], DriverRow | { id: string; path: null }>(
      `${select} ORDER BY 1 LIMIT ${changesKeptMax}`,
    );
    for (const row of rows.iterate()) {
      before.set(row.id, row.path === null ? undefined : row);
      characters += row.path === null ? 0 : row.path.length + row.points.length;
      if (characters > changesCharactersMax) return;
    }
  }

  clear(): void {
    this.#database.exec('DELETE FROM driver');
  }

  get(id: string): Driver | undefined {
    const row = this.#database.prepare<[string], DriverRow>('SELECT id, path, points FROM driver WHERE id = ?').get(id);
    return row && driverOf(row);
  }

  /** All drivers without their points, sorted by the UTF-8 bytes of their ids. */
  paths(): Pick<Driver, 'id' | 'path'>[] {
    const rows = this.#database.prepare<[], Pick<DriverRow, 'id' | 'path'>>('SELECT id, path FROM driver ORDER BY id');
    return rows.all().map(({ id, path }) => ({ id, path: JSON.parse(path) as string[] }));
  }

  /** All drivers as they are at the first step of the iterator, sorted by the UTF-8 bytes of their ids. */
  *all(): Generator<Driver, void, void> {
    const table = this.#nextTable('read');
    this.#database.exec(`CREATE TEMP TABLE ${table} AS SELECT id, path, points FROM driver ORDER BY id`);
    try {
      const page: Statement<[number], DriverRow> = this.#database.prepare(
        `SELECT id, path, points FROM temp.${table} WHERE rowid > ? ORDER BY rowid LIMIT ${pageDrivers}`,
      );
      for (let first = 0; ; first += pageDrivers) {
        const rows = page.all(first);
        for (const row of rows) yield driverOf(row);
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

export function driverOf({ id, path, points }: DriverRow): Driver {
  return { id, path: JSON.parse(path) as string[], timeSeries: unpackPoints(points) };
}

/** The drivers of one request while it is received: invisible, and on disk if they are many. */
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

  /** Adds drivers in the order of the request. The same id again is another update of that driver. */
  add(drivers: readonly PackedDriver[]): void {
    if (drivers.length > 0) this.#insertAll(drivers);
  }

  drop(): void {
    dropTable(this.#database, this.table);
  }
}

function dropTable(database: Database, table: string): void {
  // A reader may be cancelled after the emulator was closed; the table is gone then.
  if (database.open) database.exec(`DROP TABLE IF EXISTS temp.${table}`);
}
