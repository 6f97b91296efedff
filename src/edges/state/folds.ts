/** Folds as they stand in the buffer: read in streams, checked, and merged across parts. */
import type { Database } from 'better-sqlite3';
import { AgentError } from '../../core/errors.ts';
import type { PartRead } from '../../core/buffer.ts';
import { type PlaceOrder, placeOrder } from '../../core/series/merge-folds.ts';
import { mergePacked } from '../../core/series/merge-packed.ts';
import type { PackedDriver, PartOrigin } from '../../core/series/packing.ts';
import { type FoldRow, foldChecksum, foldColumns } from './buffer-rows.ts';
import { KeptReads } from './kept-reads.ts';
import { release } from './release.ts';
import { openBeside, translated } from './sqlite.ts';
import type { Statements } from './statements.ts';

type Keep = (driver: PackedDriver) => boolean;

const keepNone: Keep = () => false;

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

  /** One driver of several folds. @param order see `orderIn` */
  merge(rows: readonly FoldRow[], order: PlaceOrder): PackedDriver {
    const packed = rows.map((row) => this.packed(row));
    if (packed.length === 1) return packed[0] as PackedDriver;
    return mergePacked(packed, order);
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
   * The drivers of rows in the order of ids, each once. The bytes of each go when the next one is asked for.
   * @param keep is shown each driver before: where it says so, its bytes stay
   */
  *merged(rows: Iterable<FoldRow>, order: PlaceOrder, keep: Keep = keepNone): Generator<PackedDriver> {
    let group: FoldRow[] = [];
    for (const row of rows) {
      if (group[0] !== undefined && group[0][0] !== row[0]) {
        const driver = this.merge(group, order);
        const isKept = keep(driver);
        yield driver;
        // What was merged has bytes of its own.
        if (!isKept || group.length > 1) for (const [, , , , , , blobs] of group) release(blobs);
        group = [];
      }
      group.push(row);
    }
    if (group.length === 0) return;
    const last = this.merge(group, order);
    keep(last);
    yield last;
  }

  /** Origins may have changed. */
  forgetOrigins(): void {
    this.#origins.clear();
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

  /** All that a part is made of, by driver. */
  ofPart(part: PartRead): Generator<FoldRow> {
    const sql = `SELECT ${foldColumns} FROM fold f WHERE f.source = ?
      AND f.part_read IN (SELECT run FROM part_run WHERE part_read = ?) ORDER BY f.driver, f.part_read, f.chunk`;
    return this.rows(sql, part.source, part.id);
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
