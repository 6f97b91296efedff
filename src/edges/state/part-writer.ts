/** Writes one read of one part into the buffer. Nothing of it counts before `commit`. */
import { type FoldedDriver, type PackedDriver, packDriver } from '../../core/series/packing.ts';
import type { Growth, PartRead, PartWriter } from '../../core/buffer.ts';
import { type PartReadRow, readPart } from './buffer-rows.ts';
import { openBundleWriter } from './bundle-store.ts';
import type { Statements } from './statements.ts';

export const insertOrigin = `INSERT INTO origin (id, source, name, revised_at_ms, hash, ends_with_line_end, rejects)
  VALUES (?, ?, ?, ?, ?, ?, ?)`;

export function openPartWriter(
  tables: Statements,
  source: string,
  part: { readonly name: string; readonly kind: PartRead['kind']; readonly fingerprint: string },
  base?: PartRead,
): PartWriter {
  const id = tables.write(() => insertPart(tables, source, part, base));
  const named = base?.origin ?? id;
  let chunk = 0;
  /** Whether they are parts of the read. */
  const origins = new Map<number, boolean>();
  const noteOrigin = (origin: number): void => {
    if (origin !== named && !origins.has(origin)) origins.set(origin, false);
  };
  const write = openBundleWriter(tables.db);
  const addChunk = (drivers: Iterable<PackedDriver>): void =>
    tables.write(() => {
      chunk++;
      write(drivers, { source, run: id, chunk });
    });
  function* packed(drivers: Iterable<FoldedDriver>): Generator<PackedDriver> {
    for (const driver of drivers) {
      if (driver.cells.length === 0) continue;
      for (const origin of originsOf(driver)) noteOrigin(origin);
      yield packDriver(driver);
    }
  }
  return {
    id: named,
    add: (drivers) => addChunk(packed(drivers)),
    addPacked: addChunk,
    commit: (content, counts, growth) =>
      tables.write(() => {
        const sql = `UPDATE part_read SET version = ?, hash = ?, revised_at_ms = ?, rows = ?, rejects = ?,
          ends_with_line_end = ?, files = ?, ready = 1 WHERE id = ?`;
        const { version, hash, revisedAtMs, endsWithLineEnd, files } = content;
        const lineEnd = endsWithLineEnd === undefined ? null : Number(endsWithLineEnd);
        const opened = files === undefined ? null : JSON.stringify(files);
        tables.run(sql, version, hash, revisedAtMs, counts.rows, counts.rejects, lineEnd, opened, id);
        if (part.kind === 'part' && base === undefined) {
          const facts = [revisedAtMs, hash || null, lineEnd, counts.rejects];
          tables.run(insertOrigin, id, source, part.name, ...facts);
        }
        for (const [origin, isPart] of origins) {
          tables.run(
            'INSERT INTO part_read_origin (part_read, origin, is_part) VALUES (?, ?, ?)',
            id,
            origin,
            Number(isPart),
          );
        }
        if (growth !== undefined) insertGrowth(tables, id, growth);
        const row = 'SELECT *, 0 AS carried, 0 AS settled FROM part_read WHERE id = ?';
        return readPart(tables.all<PartReadRow>(row, id)[0]!);
      }),
    addOrigin: (origin) => void origins.set(origin, true),
    discard: () => tables.write(() => dropUnready(tables, id, source)),
  };
}

function insertPart(
  tables: Statements,
  source: string,
  { name, kind, fingerprint }: { readonly name: string; readonly kind: string; readonly fingerprint: string },
  base: PartRead | undefined,
): number {
  const begin = `INSERT INTO part_read
    (source, name, kind, version, hash, fingerprint, revised_at_ms, rows, rejects, ready)
    VALUES (?, ?, ?, '', '', ?, 0, 0, 0, 0)`;
  const id = Number(tables.run(begin, source, name, kind, fingerprint).lastInsertRowid);
  tables.run('UPDATE part_read SET origin = ? WHERE id = ?', base?.origin ?? id, id);
  tables.run('INSERT INTO part_run (part_read, run) VALUES (?, ?)', id, id);
  if (base !== undefined) {
    tables.run('INSERT INTO part_run (part_read, run) SELECT ?, run FROM part_run WHERE part_read = ?', id, base.id);
  }
  return id;
}

function insertGrowth(tables: Statements, id: number, growth: Growth): void {
  const { bytes, blocks, format, passed, rejects, isProven } = growth;
  const sql = `INSERT INTO growth (part_read, bytes, blocks, format, passed, rejects, proven) VALUES (?, ?, ?, ?, ?, ?, ?)`;
  tables.run(sql, id, bytes, blocks, format, passed, JSON.stringify(rejects), Number(isProven));
}

/** The parts that a driver names. Its path may be of a reading whose month is not among the cells. */
function* originsOf({ pathPlace, cells }: FoldedDriver): Generator<number, void, void> {
  yield pathPlace.part;
  for (const { part, tie } of cells) {
    yield part;
    if (tie === undefined) continue;
    yield tie.left.part;
    yield tie.kept.part;
  }
}

function dropUnready(tables: Statements, id: number, source: string): void {
  const isUnready = tables.all('SELECT 1 FROM part_read WHERE id = ? AND ready = 0', id).length > 0;
  if (isUnready) dropPart(tables, id, source);
}

/** Drops a part, and the folds that no other part is made of. */
export function dropPart(tables: Statements, id: number, source: string): void {
  const runs = `SELECT run FROM part_run WHERE part_read = ?`;
  const own = tables.all<{ run: number }>(runs, id);
  tables.run('DELETE FROM part_run WHERE part_read = ?', id);
  for (const { run } of own) dropRun(tables, run, source);
  tables.run('DELETE FROM growth WHERE part_read = ?', id);
  tables.run('DELETE FROM part_read_origin WHERE part_read = ?', id);
  tables.run('DELETE FROM part_read WHERE id = ?', id);
}

/** Drops the folds of a run that no part is made of. */
export function dropRun(tables: Statements, run: number, source: string): void {
  if (tables.all('SELECT 1 FROM part_run WHERE run = ? LIMIT 1', run).length > 0) return;
  tables.run('DELETE FROM bundle WHERE source = ? AND part_read = ?', source, run);
}
