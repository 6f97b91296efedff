/** The drivers that the service holds. A request becomes visible as a whole. */
import type { Database, Statement } from 'better-sqlite3';
import type { Driver } from '../../contract/driver-push.ts';
import { heldIn } from './layers.ts';
import type { Frozen, Layers, LayerTables } from './layers.ts';
import { overlay, packPoints, unpackPoints } from './points.ts';
import { dropTable, Stage } from './stage.ts';

/** A row: `path` is JSON, `points` is packed. There may be a hundred thousand of them. */
interface DriverRow {
  readonly id: string;
  readonly path: string;
  readonly points: string;
}

/** A driver without its points. */
export type DriverPath = Pick<Driver, 'id' | 'path'>;

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

/** Temporary tables of all stores of a process, which may share a database. */
let temporaryTables = 0;

export class DriverStore {
  readonly #database: Database;
  readonly #tables: LayerTables;
  /** Where this store writes: a fork leaves nothing behind. */
  readonly #schema: 'main' | 'temp';
  readonly #endUse: () => void;
  #layers: Layers;
  /** Kept until drivers change: reading a hundred thousand takes longer than a page of them. */
  #paths: readonly DriverPath[] | undefined;

  /** @param from the frozen tables of another store that this one begins with; default: what the database has kept. */
  constructor(database: Database, tables: LayerTables, from?: Frozen) {
    this.#database = database;
    this.#tables = tables;
    this.#schema = from === undefined ? 'main' : 'temp';
    this.#layers = from === undefined ? tables.kept() : { own: tables.create('temp'), frozen: from };
    this.#endUse = tables.use(() => [this.#layers.own, ...this.#layers.frozen]);
    // Between two requests the later one counts, whatever its times; within one request the stage knows what counts.
    database.function('overlay_points', { deterministic: true }, (first, second) =>
      packPoints(overlay(unpackPoints(String(first)), unpackPoints(String(second)))),
    );
    tables.collect();
  }

  /** Gives its tables free. */
  close(): void {
    this.#endUse();
  }

  /** Freezes what there is, and returns the tables that hold it. */
  freeze(): Frozen {
    const { own, frozen } = this.#layers;
    if (this.#tables.isEmpty(own)) return frozen;
    this.#begin(() => this.#tables.flattened([own, ...frozen]));
    return this.#layers.frozen;
  }

  /** Goes back to what `freeze` returned. */
  restore(frozen: Frozen): void {
    this.#begin(() => frozen);
  }

  /** Begins an empty table above these: if that fails, the table that was written stays. */
  #begin(freeze: () => Frozen): void {
    this.#layers = this.#database.transaction(() => {
      const layers = { frozen: freeze(), own: this.#tables.create(this.#schema) };
      if (this.#schema === 'main') this.#tables.keep(layers);
      return layers;
    })();
    this.#paths = undefined;
    this.#tables.collect();
  }

  /** The result takes back what was begun since, where the transaction around it failed. */
  hold(): () => void {
    const layers = this.#layers;
    return () => {
      this.#layers = layers;
      this.#paths = undefined;
    };
  }

  /** SQL for all rows that the store holds. */
  get #held(): string {
    const { own, frozen } = this.#layers;
    return heldIn([own, ...frozen]);
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
    this.#paths = undefined;
    const staged = `temp.${stage.table}`;
    return this.#database.transaction(() => {
      stage.gather();
      if (mode === 'merge') {
        // Then the stage holds the new content of its drivers, as it does with `replace`.
        this.#database.exec(`
          UPDATE ${staged} AS staged
          SET points = (SELECT overlay_points(held.points, staged.points) FROM ${this.#held} AS held WHERE held.id = staged.id)
          WHERE EXISTS (SELECT 1 FROM ${this.#held} AS held WHERE held.id = staged.id)`);
      }
      const changes = this.#changesBy(staged, mode);
      if (changes.removed > 0) this.#deleteMissing(staged);
      this.#write(staged);
      return changes;
    })();
  }

  #deleteMissing(staged: string): void {
    const { own, frozen } = this.#layers;
    const missing = `id NOT IN (SELECT id FROM ${staged})`;
    if (frozen.length === 0) this.#database.exec(`DELETE FROM ${own} WHERE ${missing}`);
    else {
      // A row without a path hides what is frozen.
      this.#database.exec(`
        INSERT INTO ${own} SELECT id, NULL, '' FROM ${this.#held} AS held WHERE ${missing}
        ON CONFLICT (id) DO UPDATE SET path = NULL, points = ''`);
    }
  }

  /** Most drivers of a snapshot are unchanged, and are not written. */
  #write(staged: string): void {
    const { own, frozen } = this.#layers;
    const isNews = frozen.length === 0 ? 'true' : `${this.#differenceOf()} IS NOT 0`;
    this.#database.exec(`
      INSERT INTO ${own} SELECT id, path, points FROM ${staged} AS staged WHERE ${isNews}
      ON CONFLICT (id) DO UPDATE SET path = excluded.path, points = excluded.points
      WHERE path IS NOT excluded.path OR points <> excluded.points`);
  }

  /** SQL: 1 where the staged driver is another than the one that is held, 0 where it is the same, NULL where there is none. */
  #differenceOf(): string {
    return `(SELECT held.path <> staged.path OR held.points <> staged.points FROM ${this.#held} AS held WHERE held.id = staged.id)`;
  }

  #changesBy(staged: string, mode: 'replace' | 'merge'): DriverChanges {
    const difference = this.#differenceOf();
    const left = `FROM ${this.#held} AS held WHERE held.id NOT IN (SELECT id FROM ${staged})`;
    const { added, changed } = this.#database
      .prepare<[], { added: number; changed: number }>(
        `SELECT count(*) FILTER (WHERE differs IS NULL) AS added, count(*) FILTER (WHERE differs = 1) AS changed
         FROM (SELECT ${difference} AS differs FROM ${staged} AS staged)`,
      )
      .get() ?? { added: 0, changed: 0 };
    const removed = mode === 'merge' ? 0 : (this.#database.prepare(`SELECT count(*) ${left}`).pluck().get() as number);
    const before = new Map<string, DriverRow | undefined>();
    if (added > 0) this.#note(before, `SELECT id FROM ${staged} AS staged WHERE ${difference} IS NULL`);
    if (changed > 0) this.#note(before, `SELECT id FROM ${staged} AS staged WHERE ${difference} = 1`);
    if (removed > 0) this.#note(before, `SELECT held.id ${left}`);
    return { added, changed, removed, before };
  }

  /** Notes what is held of the first drivers that the query names. */
  #note(before: Map<string, DriverRow | undefined>, select: string): void {
    let characters = 0;
    const ids = this.#database.prepare<[], string>(`${select} ORDER BY 1 LIMIT ${changesKeptMax}`).pluck().all();
    const held = this.#rowById();
    for (const id of ids) {
      const row = held.get(id);
      before.set(id, row);
      characters += row === undefined ? 0 : row.path.length + row.points.length;
      if (characters > changesCharactersMax) return;
    }
  }

  #rowById(): Statement<[string], DriverRow> {
    return this.#database.prepare<[string], DriverRow>(
      `SELECT id, path, points FROM ${this.#held} AS held WHERE id = ?`,
    );
  }

  clear(): void {
    // Snapshots may share the tables, and dropping one later is faster than emptying it now.
    this.#begin(() => []);
  }

  get(id: string): Driver | undefined {
    const row = this.#rowById().get(id);
    return row && driverOf(row);
  }

  count(): number {
    const { own, frozen } = this.#layers;
    return this.countIn([own, ...frozen]);
  }

  /** How many drivers these tables hold together. */
  countIn(tables: readonly string[]): number {
    if (tables.length === 0) return 0;
    return this.#database
      .prepare(`SELECT count(*) FROM ${heldIn(tables)}`)
      .pluck()
      .get() as number;
  }

  /** All drivers without their points, sorted by the UTF-8 bytes of their ids. The same list until one of them changes. */
  paths(): readonly DriverPath[] {
    this.#paths ??= this.#database
      .prepare<[], Pick<DriverRow, 'id' | 'path'>>(`SELECT id, path FROM ${this.#held} AS held ORDER BY id`)
      .all()
      .map(({ id, path }) => ({ id, path: JSON.parse(path) as string[] }));
    return this.#paths;
  }

  /** All drivers as they are at the first step of the iterator, sorted by the UTF-8 bytes of their ids. */
  *all(): Generator<Driver, void, void> {
    const table = this.#nextTable('read');
    this.#database.exec(`CREATE TEMP TABLE ${table} AS SELECT id, path, points FROM ${this.#held} AS held ORDER BY id`);
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
    temporaryTables += 1;
    return `${purpose}_${temporaryTables}`;
  }
}

export function driverOf({ id, path, points }: DriverRow): Driver {
  return { id, path: JSON.parse(path) as string[], timeSeries: unpackPoints(points) };
}
