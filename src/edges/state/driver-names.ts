/** The names of accepted drivers, read in pieces: their points stay on the disk. */
import { compareUtf8 } from '../../core/series/snapshot.ts';
import type { DriverNames, NamedDriver } from '../../core/buffer.ts';
import { byDriver, nameColumns } from './bundle-order.ts';
import type { Folds } from './folds.ts';
import { parseKept } from './sqlite.ts';
import type { Statements } from './statements.ts';

const sql = `SELECT ${nameColumns} FROM bundle b WHERE b.source = :source AND b.last > :id AND b.part_read IN (
    SELECT run FROM read_part rp JOIN part_run USING (part_read) WHERE rp.source = :source AND rp.kind = 'accepted')
  ORDER BY b.first`;

export function driverNames({ file }: Statements, folds: Folds): DriverNames {
  function* behind(source: string, id: string): Generator<{ id: string; path: string }> {
    for (const driver of byDriver(folds.inOrder(folds.rows(sql, { source, id })), (fold) => fold.path)) {
      // Of several parts that have a driver, the one that was read last names it.
      if (compareUtf8(driver.id, id) > 0) yield { id: driver.id, path: driver.folds.at(-1) as string };
    }
  }
  return {
    after(source, from, limit) {
      const names: NamedDriver[] = [];
      for (const { id, path } of behind(source, from)) {
        names.push({ source, id, path: parseKept<string[]>(file, path) });
        if (names.length === limit) break;
      }
      return names;
    },
    all: (source) => behind(source, ''),
  };
}
