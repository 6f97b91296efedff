/** Writes one read of one part into the buffer. Nothing of it counts before `commit`. */
import type { Month } from '../../core/model.ts';
import { type FoldedDriver, type PackedDriver, firstMonth, packDriver } from '../../core/series/packing.ts';
import type { PartRead, PartWriter } from '../../core/buffer.ts';
import { type PartReadRow, checksum, readPart } from './buffer-rows.ts';
import type { Statements } from './statements.ts';

export const insertOrigin = `INSERT INTO origin (id, source, name, revised_at_ms, hash, ends_with_line_end)
  VALUES (?, ?, ?, ?, ?, ?)`;

export function openPartWriter(
  tables: Statements,
  source: string,
  part: { readonly name: string; readonly kind: PartRead['kind']; readonly fingerprint: string },
): PartWriter {
  const begin = `INSERT INTO part_read
    (source, name, kind, version, hash, fingerprint, revised_at_ms, rows, rejects, ready)
    VALUES (?, ?, ?, '', '', ?, 0, 0, 0, 0)`;
  const id = Number(tables.run(begin, source, part.name, part.kind, part.fingerprint).lastInsertRowid);
  let chunk = 0;
  /** Whether they are parts of the read. */
  const origins = new Map<number, boolean>();
  const noteOrigin = (origin: number): void => {
    if (origin !== id && !origins.has(origin)) origins.set(origin, false);
  };
  const addFold = tables.db.prepare(`INSERT INTO fold
    (source, driver, part_read, chunk, rule, path, other_path, earliest, points, origins, entry, ties, checksum)
    VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`);
  const insert = (packed: PackedDriver, earliest: Month): void => {
    const { id: driver, rule, path, otherPath = null, points, origins: blob, entry = null, ties = null } = packed;
    const crc = checksum(packed);
    addFold.run(source, driver, id, chunk, rule, path, otherPath, earliest, points, blob, entry, ties, crc);
  };
  return {
    id,
    add: (drivers) =>
      tables.write(() => {
        chunk++;
        for (const driver of drivers) {
          const first = driver.cells[0];
          if (first === undefined) continue;
          for (const origin of originsOf(driver)) noteOrigin(origin);
          insert(packDriver(driver), first.month);
        }
      }),
    addPacked: (drivers) =>
      tables.write(() => {
        chunk++;
        for (const packed of drivers) insert(packed, firstMonth(packed.points));
      }),
    commit: (content, counts) =>
      tables.write(() => {
        const sql = `UPDATE part_read SET version = ?, hash = ?, revised_at_ms = ?, rows = ?, rejects = ?,
          ends_with_line_end = ?, ready = 1 WHERE id = ?`;
        const lineEnd = content.endsWithLineEnd === undefined ? null : Number(content.endsWithLineEnd);
        tables.run(sql, content.version, content.hash, content.revisedAtMs, counts.rows, counts.rejects, lineEnd, id);
        if (part.kind === 'part') {
          tables.run(insertOrigin, id, source, part.name, content.revisedAtMs, content.hash || null, lineEnd);
        }
        for (const [origin, isPart] of origins) {
          tables.run(
            'INSERT INTO part_read_origin (part_read, origin, is_part) VALUES (?, ?, ?)',
            id,
            origin,
            Number(isPart),
          );
        }
        const row = 'SELECT *, 0 AS carried, 0 AS settled FROM part_read WHERE id = ?';
        return readPart(tables.all<PartReadRow>(row, id)[0]!);
      }),
    addOrigin: (origin) => void origins.set(origin, true),
    discard: () => tables.write(() => dropUnready(tables, id, source)),
  };
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

export function dropPart(tables: Statements, id: number, source: string): void {
  tables.run('DELETE FROM fold WHERE source = ? AND part_read = ?', source, id);
  tables.run('DELETE FROM part_read_origin WHERE part_read = ?', id);
  tables.run('DELETE FROM part_read WHERE id = ?', id);
}
