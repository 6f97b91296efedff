/**
 * The records of model routing: read from memory, and written through to SQLite if there is a state directory. A dry run
 * changes nothing and so never waits for a disk.
 */
import type { Database, Statement } from 'better-sqlite3';

/** `seq` rises with every new record of any kind and is never used twice. */
export interface Kept {
  readonly id: string;
  readonly seq: number;
}

type Write = (value: string | undefined, kind: string, id: string) => void;

/** Records of one kind by id, oldest first. A record is replaced, never changed in place. */
export class Shelf<Row extends Kept> {
  #rows = new Map<string, Row>();
  readonly #note: (id: string, before: Row | undefined, after: Row | undefined) => void;

  constructor(rows: readonly Row[], note: (id: string, before: Row | undefined, after: Row | undefined) => void) {
    for (const row of rows) this.#rows.set(row.id, row);
    this.#note = note;
  }

  get size(): number {
    return this.#rows.size;
  }

  get(id: string): Row | undefined {
    return this.#rows.get(id);
  }

  values(): IterableIterator<Row> {
    return this.#rows.values();
  }

  set(row: Row): void {
    this.#note(row.id, this.#rows.get(row.id), row);
    this.#rows.set(row.id, row);
  }

  delete(id: string): void {
    this.#note(id, this.#rows.get(id), undefined);
    this.#rows.delete(id);
  }

  /** Takes a deletion back: the record is in its old place again. */
  putBack(row: Row): void {
    this.#note(row.id, this.#rows.get(row.id), row);
    this.restore(row.id, row);
  }

  /** For the store: holds these records and no others. Most of them are those that it has, and are not written. */
  replaceAll(rows: readonly Row[]): void {
    const wanted = new Map(rows.map((row) => [row.id, row]));
    for (const id of this.#rows.keys()) if (!wanted.has(id)) this.delete(id);
    for (const row of rows) if (this.#rows.get(row.id) !== row) this.set(row);
    this.#rows = wanted;
  }

  /** For the store: restores the records from before a change that failed. */
  restore(id: string, before: Row | undefined): void {
    if (before === undefined) this.#rows.delete(id);
    else this.#rows.set(id, before);
    this.#rows = new Map([...this.#rows.values()].sort((a, b) => a.seq - b.seq).map((row) => [row.id, row]));
  }
}

/** The records of every kind. Records are never changed in place, so that lists of them are enough. */
export type RoutingState = ReadonlyMap<string, readonly Kept[]>;

export class RoutingStore {
  readonly #database: Database | undefined;
  readonly #write: Write;
  readonly #rebuilds: (() => void)[] = [];
  readonly #shelves = new Map<string, Shelf<Kept>>();
  /** Has one row: the last `seq`. */
  readonly #meta: Shelf<Kept>;
  #undo: (() => void)[] | undefined;
  #seq: number;

  /** Without a database nothing outlives the process. */
  constructor(database: Database | undefined) {
    this.#database = database;
    this.#write = database === undefined ? () => {} : writerTo(database);
    this.#meta = this.shelf<Kept>('meta');
    this.#seq = this.#meta.get('meta')?.seq ?? 0;
  }

  shelf<Row extends Kept>(kind: string): Shelf<Row> {
    const shelf: Shelf<Row> = new Shelf<Row>(this.#read<Row>(kind), (id, before, after) => {
      if (this.#undo === undefined) throw new Error(`${kind} ${id} is written outside of a change`);
      this.#undo.push(() => shelf.restore(id, before));
      this.#write(after && JSON.stringify(after), kind, id);
    });
    this.#shelves.set(kind, shelf as unknown as Shelf<Kept>);
    return shelf;
  }

  /** Within a change: what to do besides, should it fail. */
  onFailure(takeBack: () => void): void {
    this.#undo?.push(takeBack);
  }

  /** Called after a change failed and was rolled back: values that were derived from the shelves must be computed again. */
  onRollback(rebuild: () => void): void {
    this.#rebuilds.push(rebuild);
  }

  dump(): RoutingState {
    return new Map([...this.#shelves].map(([kind, shelf]) => [kind, [...shelf.values()]]));
  }

  /** Puts these records in the place of all. */
  load(state: RoutingState): void {
    this.change(() => {
      for (const [kind, shelf] of this.#shelves) shelf.replaceAll(state.get(kind) ?? []);
      // Every `seq` that was given stays given.
      this.#seq = Math.max(this.#seq, this.#meta.get('meta')?.seq ?? 0);
    });
    for (const rebuild of this.#rebuilds) rebuild();
  }

  nextSeq(): number {
    this.#seq += 1;
    return this.#seq;
  }

  /** Makes the writes of `act` one transaction, in memory and on disk. Inside another change it is part of that one. */
  change<Result>(act: () => Result): Result {
    if (this.#undo !== undefined) return act();
    const undo: (() => void)[] = [];
    this.#undo = undo;
    const actAndNote = (): Result => {
      const result = act();
      // Nothing was written.
      if (undo.length > 0) this.#meta.set({ id: 'meta', seq: this.#seq });
      return result;
    };
    try {
      return this.#database === undefined ? actAndNote() : this.#database.transaction(actAndNote)();
    } catch (error) {
      for (const takeBack of undo.reverse()) takeBack();
      for (const rebuild of this.#rebuilds) rebuild();
      throw error;
    } finally {
      this.#undo = undefined;
    }
  }

  #read<Row extends Kept>(kind: string): Row[] {
    const rows = this.#database
      ?.prepare<[string], { value: string }>('SELECT value FROM routing WHERE kind = ?')
      .all(kind)
      .map(({ value }) => JSON.parse(value) as Row);
    return (rows ?? []).sort((a, b) => a.seq - b.seq);
  }
}

function writerTo(database: Database): Write {
  database.exec(
    'CREATE TABLE IF NOT EXISTS routing (kind TEXT NOT NULL, id TEXT NOT NULL, value TEXT NOT NULL, PRIMARY KEY (kind, id)) STRICT, WITHOUT ROWID',
  );
  const put: Statement<[string, string, string]> = database.prepare(
    'INSERT INTO routing (value, kind, id) VALUES (?, ?, ?) ON CONFLICT DO UPDATE SET value = excluded.value',
  );
  const remove: Statement<[string, string]> = database.prepare('DELETE FROM routing WHERE kind = ? AND id = ?');
  return (value, kind, id) => {
    if (value === undefined) remove.run(kind, id);
    else put.run(value, kind, id);
  };
}
