/**
 * Where the drivers stand: in a table that is written, above tables that are frozen. A snapshot freezes the table that was
 * written and begins an empty one, so that it takes no longer for six million points than for six; emulators that were made
 * of one snapshot share its tables. A driver's row in a newer table hides the older ones; a row without a path says that it is
 * deleted.
 */
import { randomBytes } from 'node:crypto';
import type { Database } from 'better-sqlite3';
import { isStorageTrouble } from '../database.ts';

/** Names of frozen tables, newest first. They are never written again. */
export type Frozen = readonly string[];

export interface Layers {
  readonly own: string;
  readonly frozen: Frozen;
}

const base = 'main.driver';

const columns = '(id TEXT NOT NULL PRIMARY KEY, path TEXT, points TEXT NOT NULL) STRICT';

/** Looking through more tables than this would be slower than putting them together once. */
const frozenMax = 6;

/** Says which frozen tables are still in use. */
type Uses = () => Frozen;

/** The tables of one database, and who uses them. */
export class LayerTables {
  readonly #database: Database;
  readonly #users = new Set<Uses>();
  #isCollecting = false;

  constructor(database: Database) {
    this.#database = database;
    // SQLite compares text by its UTF-8 bytes, the order in which drivers are shown.
    database.exec(`
      CREATE TABLE IF NOT EXISTS ${base} (id TEXT NOT NULL PRIMARY KEY, path TEXT NOT NULL, points TEXT NOT NULL) STRICT;
      CREATE TABLE IF NOT EXISTS driver_layers (only_row INTEGER PRIMARY KEY CHECK (only_row = 1), layers TEXT NOT NULL) STRICT`);
  }

  /** The layers of the last time, or the only table of a new database. */
  kept(): Layers {
    const row = this.#database.prepare<[], { layers: string }>('SELECT layers FROM driver_layers').get();
    return row === undefined ? { own: base, frozen: [] } : (JSON.parse(row.layers) as Layers);
  }

  keep(layers: Layers): void {
    this.#database
      .prepare<[string]>('INSERT INTO driver_layers VALUES (1, ?) ON CONFLICT DO UPDATE SET layers = excluded.layers')
      .run(JSON.stringify(layers));
  }

  /** An empty table; a temporary one is gone with the process. */
  create(schema: 'main' | 'temp'): string {
    const name = `${schema}.driver_${randomBytes(8).toString('hex')}`;
    this.#database.exec(`CREATE TABLE ${name} ${columns}`);
    return name;
  }

  isEmpty(table: string): boolean {
    return this.#database.prepare(`SELECT 1 FROM ${table} LIMIT 1`).get() === undefined;
  }

  /** One table in the place of many, where there are too many. */
  flattened(frozen: Frozen): Frozen {
    if (frozen.length <= frozenMax) return frozen;
    const whole = this.create('main');
    this.#database.exec(
      `INSERT INTO ${whole} SELECT id, path, points FROM ${heldIn(frozen)} AS held WHERE true ORDER BY id`,
    );
    return [whole];
  }

  /** Registers a user of tables; the result ends the use. */
  use(uses: Uses): () => void {
    this.#users.add(uses);
    return () => {
      this.#users.delete(uses);
      this.collect();
    };
  }

  /** Drops the tables that nobody uses, a little later: it takes longer the more they hold. */
  collect(): void {
    if (this.#isCollecting) return;
    this.#isCollecting = true;
    setImmediate(() => {
      this.#isCollecting = false;
      if (!this.#database.open) return;
      try {
        this.#dropUnused();
      } catch (error) {
        // Dropping takes room too: on a full disk they stay until the next time, or the next start.
        if (!isStorageTrouble(error)) throw error;
      }
    });
  }

  #dropUnused(): void {
    const used = new Set([...this.#users].flatMap((uses) => uses()));
    // The first table of a database stays, so that it can be told from one of an earlier version.
    if (!used.has(base)) this.#database.exec(`DELETE FROM ${base}`);
    for (const schema of ['main', 'temp']) {
      const names = this.#database
        .prepare<[], string>(
          `SELECT name FROM ${schema}.sqlite_schema WHERE type = 'table' AND name GLOB 'driver_[0-9a-f]*' AND length(name) = 23`,
        )
        .pluck()
        .all();
      for (const name of names) {
        if (!used.has(`${schema}.${name}`)) this.#database.exec(`DROP TABLE ${schema}.${name}`);
      }
    }
  }
}

/** SQL for the rows that these tables hold together, the newest table first. */
export function heldIn(tables: readonly string[]): string {
  const [only] = tables;
  if (tables.length === 1 && only === base) return base;
  const arms = tables.map((table, index) => {
    const unseen = tables
      .slice(0, index)
      .map((newer) => ` AND NOT EXISTS (SELECT 1 FROM ${newer} AS newer WHERE newer.id = layer.id)`);
    return `SELECT id, path, points FROM ${table} AS layer WHERE path IS NOT NULL${unseen.join('')}`;
  });
  return `(${arms.join(' UNION ALL ')})`;
}
