/** Folds as they stand in the buffer: read in streams, checked, and merged across parts. */
import type { Database } from 'better-sqlite3';
import { AgentError } from '../../core/errors.ts';
import { mergeDrivers, placeOrder } from '../../core/series/fold.ts';
import { type PackedDriver, type PartOrigin, packDriver, unpackDriver } from '../../core/series/packing.ts';
import { type FoldRow, foldChecksum } from './buffer-rows.ts';
import { openDatabase, translated } from './sqlite.ts';
import type { Statements } from './statements.ts';

export class Folds {
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

  /** One driver of several folds. */
  merge(rows: readonly FoldRow[]): PackedDriver {
    const packed = rows.map((row) => this.packed(row));
    if (packed.length === 1) return packed[0] as PackedDriver;
    const order = placeOrder((id) => this.origin(id));
    return packDriver(mergeDrivers(packed.map(unpackDriver), order));
  }

  /** @throws AgentError `state.corrupt` where it is not what was written */
  packed(row: FoldRow): PackedDriver {
    const [id, rule, path, otherPath, pointsBytes, originsBytes, blobs, entry, checksum] = row;
    const originsEnd = pointsBytes + originsBytes;
    if (foldChecksum({ id, rule, path, otherPath: otherPath ?? undefined }, blobs) !== checksum) {
      throw new AgentError('state.corrupt', `${this.#tables.file} is damaged: driver "${id}" is not what was written`, {
        hint: 'the next run or sync rebuilds it',
      });
    }
    return {
      id,
      rule,
      path,
      otherPath: otherPath ?? undefined,
      points: blobs.subarray(0, pointsBytes),
      origins: blobs.subarray(pointsBytes, originsEnd),
      entry: entry ?? undefined,
      ties: originsEnd === blobs.length ? undefined : blobs.subarray(originsEnd),
    };
  }

  /** Streams folds: `sql` selects `foldColumns`, after whatever `Row` begins with. */
  rows<Row extends readonly unknown[] = FoldRow>(sql: string, ...values: unknown[]): Generator<Row> {
    return this.#stream<Row>(() =>
      this.#connection()
        .prepare(sql)
        .raw()
        .iterate(...values),
    );
  }

  /** Streams what is asked of folds. */
  iterate<Row>(sql: string, ...values: unknown[]): Generator<Row> {
    return this.#stream<Row>(() =>
      this.#connection()
        .prepare(sql)
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
    if (this.#tables.file === ':memory:') return this.#tables.db;
    this.#reader ??= openDatabase(this.#tables.file, { readonly: true, synchronous: 'NORMAL' });
    return this.#reader;
  }

  /** Lets go of what was cached. */
  close(): void {
    this.#reader?.close();
    this.#reader = undefined;
    this.#origins.clear();
  }
}
