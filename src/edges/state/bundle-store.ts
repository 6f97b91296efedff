/** Bundles in their table: how they are written, and how drivers are taken out of them. */
import type { Database } from 'better-sqlite3';
import type { PackedDriver } from '../../core/series/packing.ts';
import { compareUtf8 } from '../../core/series/snapshot.ts';
import { type BundleCursor, type BundleRow, bundleColumns } from './bundle-order.ts';
import { bundlesOf } from './bundle.ts';

/** Where a bundle belongs. */
export interface BundlePlace {
  readonly source: string;
  readonly run: number;
  readonly chunk: number;
}

/** Writes drivers, each id once. To be called in a transaction. */
export function openBundleWriter(db: Database): (drivers: Iterable<PackedDriver>, place: BundlePlace) => void {
  const insert = db.prepare(`INSERT INTO bundle (source, part_read, chunk, first, last, drivers, earliest, rules,
      names, heads, names_checksum, points, origins, checksum)
    VALUES (@source, @run, @chunk, @first, @last, @drivers, @earliest, @rules,
      @names, @heads, @namesChecksum, @points, @origins, @checksum)`);
  return (drivers, place) => {
    for (const bundle of bundlesOf(drivers)) insert.run({ ...bundle, ...place });
  };
}

/** Takes drivers out of all parts of a source. To be called in a transaction. */
export function removeFromBundles(
  db: Database,
  source: string,
  ids: Iterable<string>,
  open: (row: BundleRow) => BundleCursor,
): void {
  const gone = new Set(ids);
  const sorted = [...gone].sort(compareUtf8);
  const write = openBundleWriter(db);
  const read = db.prepare(`SELECT ${bundleColumns} FROM bundle b WHERE b.rowid = ?`).raw();
  const drop = db.prepare('DELETE FROM bundle WHERE rowid = ?');
  const all = db.prepare('SELECT rowid, first, last FROM bundle WHERE source = ?').all(source);
  for (const { rowid, first, last } of all as { rowid: number; first: string; last: string }[]) {
    const next = sorted[firstFrom(sorted, first)];
    if (next === undefined || compareUtf8(next, last) > 0) continue;
    const cursor = open(read.get(rowid) as BundleRow);
    drop.run(rowid);
    write(
      driversOf(cursor, (id) => !gone.has(id)),
      { source, run: cursor.run, chunk: cursor.chunk },
    );
  }
}

function* driversOf(cursor: BundleCursor, isWanted: (id: string) => boolean): Generator<PackedDriver> {
  do if (isWanted(cursor.id)) yield cursor.driver();
  while (cursor.next());
}

/** The index of the first of sorted ids that is not before one. */
function firstFrom(ids: readonly string[], one: string): number {
  let [low, high] = [0, ids.length];
  while (low < high) {
    const middle = (low + high) >> 1;
    if (compareUtf8(ids[middle] as string, one) < 0) low = middle + 1;
    else high = middle;
  }
  return low;
}
