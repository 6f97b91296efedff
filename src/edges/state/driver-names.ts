/** The names of accepted drivers, read in pieces: their points stay on the disk. */
import type { DriverNames } from '../../core/buffer.ts';
import { parseKept } from './sqlite.ts';
import type { Statements } from './statements.ts';

/** Of several parts that have a driver, the one that was read last names it. */
const sql = `SELECT f.driver, f.path, max(f.part_read) FROM fold f WHERE f.source = :source AND f.driver > :id AND f.part_read IN (
    SELECT run FROM read_part rp JOIN part_run USING (part_read) WHERE rp.source = :source AND rp.kind = 'accepted')
  GROUP BY f.driver ORDER BY f.driver LIMIT :limit`;

export function driverNames(tables: Statements): DriverNames {
  return {
    after: (source, id, limit) =>
      tables
        .all<{ driver: string; path: string }>(sql, { source, id, limit })
        .map(({ driver, path }) => ({ source, id: driver, path: parseKept<string[]>(tables.file, path) })),
  };
}
