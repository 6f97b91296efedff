/** Folds as they stand in the buffer, in bundles: read in streams, checked, and merged across parts. */
import type { Database } from 'better-sqlite3';
import { AgentError } from '../../core/errors.ts';
import type { PartRead } from '../../core/buffer.ts';
import { type PlaceOrder, placeOrder } from '../../core/series/merge-folds.ts';
import { mergePacked } from '../../core/series/merge-packed.ts';
import type { PackedDriver, PartOrigin } from '../../core/series/packing.ts';
import { BundleCursor, type BundleRow, bundleColumns, byDriver, inOrder, nameColumns } from './bundle-order.ts';
import { removeFromBundles } from './bundle-store.ts';
import { KeptReads } from './kept-reads.ts';
import { damagedDatabase, openBeside, translated } from './sqlite.ts';
import type { Statements } from './statements.ts';

type Keep = (driver: PackedDriver) => boolean;

const keepNone: Keep = () => false;

function openedFrom(file: string, row: BundleRow): BundleCursor {
  try {
    return new BundleCursor(row);
  } catch (error) {
    throw damagedDatabase(file, error as Error);
  }
}

export class Folds {
  readonly kept = new KeptReads();
  readonly #tables: Statements;
  /** Iterating blocks its connection for writing, so reads that stream have one of their own. */
  #reader: Database | undefined;
  #origins = new Map<number, PartOrigin>();

  constructor(tables: Statements) {
    this.#tables = tables;
  }

  origin(id: number): PartOrigin {
    let origin = this.#origins.get(id);
    if (origin === undefined) {
      const sql = 'SELECT id, source, name, revised_at_ms AS revisedAtMs FROM origin WHERE id = ?';
      origin = this.#tables.all<PartOrigin>(sql, id)[0];
      if (origin === undefined) {
        throw new AgentError(
          'state.corrupt',
          `${this.#tables.file} is damaged: a point names part ${id}, which is not there`,
          {
            hint: 'the next run or sync rebuilds it',
          },
        );
      }
      this.#origins.set(id, origin);
    }
    return origin;
  }

  /**
   * Orders the cells of a read. Earlier reads that one of these parts goes on from had its number too: here it means the part as
   * it is in this read.
   */
  orderIn(parts: readonly PartRead[]): PlaceOrder {
    const named = new Map(parts.map((part) => [part.origin, part]));
    return placeOrder((id) => named.get(id) ?? this.origin(id));
  }

  /**
   * The drivers of bundles in the order of ids, each once, see `inOrder`. The bytes of each are valid until the next one is asked for.
   * @param keep is shown each driver before: where it says so, its bytes stay
   */
  *merged(bundles: Iterable<BundleRow>, order: PlaceOrder, keep: Keep = keepNone): Generator<PackedDriver> {
    let last: BundleCursor | undefined;
    const passed: BundleCursor[] = [];
    const cursors = this.inOrder(bundles, (bundle) => passed.push(bundle));
    const take = (cursor: BundleCursor): PackedDriver => {
      last = cursor;
      return cursor.driver();
    };
    for (const { folds } of byDriver(cursors, take)) {
      // What was merged has bytes of its own.
      const isMerged = folds.length > 1;
      const driver = isMerged ? mergePacked(folds, order) : (folds[0] as PackedDriver);
      if (keep(driver) && !isMerged) (last as BundleCursor).isKept = true;
      yield driver;
      for (const bundle of passed.splice(0)) bundle.release();
    }
  }

  /** As `inOrder`. @throws AgentError `state.corrupt` where a bundle is not what was written */
  *inOrder(bundles: Iterable<BundleRow>, passed?: (bundle: BundleCursor) => void): Generator<BundleCursor> {
    yield* inOrder(bundles, (row) => openedFrom(this.#tables.file, row), passed);
  }

  /** Takes drivers out of all parts of a source. To be called in a transaction. */
  remove(source: string, ids: Iterable<string>): void {
    const { db, file } = this.#tables;
    removeFromBundles(db, source, ids, (row) => openedFrom(file, row));
    this.kept.clear();
  }

  /** Origins may have changed. */
  forgetOrigins(): void {
    this.#origins.clear();
  }

  /** All that a part is made of. */
  ofPart(part: PartRead): Generator<BundleRow> {
    const sql = `SELECT ${bundleColumns} FROM bundle b WHERE b.source = ?
      AND b.part_read IN (SELECT run FROM part_run WHERE part_read = ?) ORDER BY b.first`;
    return this.rows(sql, part.source, part.id);
  }

  /** The ids of some runs of a source. @param runs SQL that selects them @param values its parameters */
  *named(owner: string, runs: string, source: string, ...values: unknown[]): Generator<{ id: string; owner: string }> {
    const sql = `SELECT ${nameColumns} FROM bundle b WHERE b.source = ? AND b.part_read IN (${runs}) ORDER BY b.first`;
    for (const { id } of this.inOrder(this.rows(sql, source, ...values))) yield { id, owner };
  }

  /** Streams bundles: `sql` selects `bundleColumns` or `nameColumns`. */
  rows(sql: string, ...values: unknown[]): Generator<BundleRow> {
    return this.#stream(() =>
      this.#connection()
        .prepare(sql)
        .raw()
        .iterate(...values),
    );
  }

  /** What SQLite says on the way is translated too. */
  *#stream<Row>(begin: () => IterableIterator<unknown>): Generator<Row> {
    try {
      yield* begin() as IterableIterator<Row>;
    } catch (error) {
      throw translated(this.#tables.file, error);
    }
  }

  #connection(): Database {
    if (this.#tables.db.memory) return this.#tables.db;
    this.#reader ??= openBeside(this.#tables.file);
    return this.#reader;
  }

  /** Lets go of what was cached. */
  close(): void {
    this.#reader?.close();
    this.#reader = undefined;
    this.#origins.clear();
    this.kept.clear();
  }
}
