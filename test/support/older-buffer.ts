/** Buffers as older agents wrote them. */
import { crc32 } from 'node:zlib';
import type { Database } from 'better-sqlite3';
import { monthsIn, type PackedDriver } from '../../src/core/series/packing.ts';
import { BundleCursor, type BundleRow, bundleColumns } from '../../src/edges/state/bundle-order.ts';

/** Version 8: a row for each driver instead of bundles of them, which this turns into such rows. */
export function unbundle(db: Database): void {
  db.exec(`CREATE TABLE fold (source TEXT NOT NULL, driver TEXT NOT NULL, part_read INTEGER NOT NULL, chunk INTEGER NOT NULL, rule TEXT NOT NULL,
      path TEXT NOT NULL, other_path TEXT, earliest INTEGER NOT NULL, points BLOB NOT NULL, origins BLOB NOT NULL,
      checksum INTEGER NOT NULL, entry INTEGER, ties BLOB) STRICT;
    CREATE UNIQUE INDEX fold_by_driver ON fold (source, driver, part_read, chunk)`);
  const rows = db.prepare(`SELECT ${bundleColumns} FROM bundle b WHERE rowid = ?`).raw();
  for (const { rowid, source } of db.prepare('SELECT rowid, source FROM bundle').all() as {
    rowid: number;
    source: string;
  }[]) {
    const cursor = new BundleCursor(rows.get(rowid) as BundleRow);
    do putFold(db, { source, run: cursor.run, chunk: cursor.chunk }, cursor.driver());
    while (cursor.next());
  }
  db.exec(`DROP TABLE bundle; ALTER TABLE origin DROP COLUMN rejects; ALTER TABLE part_read DROP COLUMN files;
    PRAGMA user_version = 8`);
}

/** Adds such a row. */
export function putFold(
  db: Database,
  { source, run, chunk }: { readonly source: string; readonly run: number; readonly chunk: number },
  { id, rule, path, otherPath, points, origins, entry, ties }: PackedDriver,
): void {
  const names = crc32(JSON.stringify([id, rule, path, otherPath ?? null]));
  const sum = [points, origins, ...(ties === undefined ? [] : [ties])].reduce(
    (before, blob) => crc32(blob, before),
    names,
  );
  db.prepare('INSERT INTO fold VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)').run(
    source,
    id,
    run,
    chunk,
    rule,
    path,
    otherPath ?? null,
    monthsIn(points)[0],
    points,
    origins,
    sum,
    entry ?? null,
    ties ?? null,
  );
}
