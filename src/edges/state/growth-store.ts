/** Reads of parts that may grow, and the runs that they are made of. */
import { pieceFrom } from '../../core/steps.ts';
import type { Reject } from '../../core/model.ts';
import type { Growth, GrowthStore, PartRead } from '../../core/buffer.ts';
import { type PartReadRow, readPart } from './buffer-rows.ts';
import type { Folds } from './folds.ts';
import { dropPart, dropRun, openPartWriter } from './part-writer.ts';
import { parseKept } from './sqlite.ts';
import type { Statements } from './statements.ts';

/** Drivers that are written in one transaction: the loop stands still for some 10 ms. */
const pieceDrivers = 250;

interface GrowthRow {
  readonly bytes: number;
  readonly blocks: Buffer;
  readonly format: string;
  readonly passed: number;
  readonly rejects: string;
  readonly proven: number;
}

const used = `SELECT p.*, 0 AS carried, 0 AS settled FROM part_read p
  WHERE p.id IN (SELECT part_read FROM read_part WHERE kind IN ('accepted', 'candidate'))`;

export class SqliteGrowths implements GrowthStore {
  readonly #tables: Statements;
  readonly #folds: Folds;

  constructor(tables: Statements, folds: Folds) {
    this.#tables = tables;
    this.#folds = folds;
  }

  of(part: number): Growth | undefined {
    const sql = 'SELECT bytes, blocks, format, passed, rejects, proven FROM growth WHERE part_read = ?';
    const [row] = this.#tables.all<GrowthRow>(sql, part);
    if (row === undefined) return undefined;
    const { rejects, proven, ...rest } = row;
    return { ...rest, rejects: parseKept<Reject[]>(this.#tables.file, rejects), isProven: proven === 1 };
  }

  unproven(): readonly PartRead[] {
    const sql = `${used} AND p.id IN (SELECT part_read FROM growth WHERE proven = 0) ORDER BY p.id`;
    return this.#tables.all<PartReadRow>(sql).map(readPart);
  }

  setProven(part: number): void {
    this.#tables.run('UPDATE growth SET proven = 1 WHERE part_read = ?', part);
  }

  disprove(part: number): void {
    this.#tables.write(() => {
      this.#tables.run('DELETE FROM growth WHERE part_read = ?', part);
      this.#tables.run(`UPDATE part_read SET version = '' WHERE id = ?`, part);
    });
  }

  continues(part: number, earlier: number): boolean {
    const sql = `SELECT 1 FROM part_read a JOIN part_read b ON b.origin = a.origin WHERE a.id = ? AND b.id = ?
      AND NOT EXISTS (SELECT run FROM part_run WHERE part_read = b.id EXCEPT SELECT run FROM part_run WHERE part_read = a.id)`;
    return this.#tables.all(sql, part, earlier).length > 0;
  }

  scattered(runsMax: number): readonly PartRead[] {
    const sql = `${used} AND (SELECT count(*) FROM part_run WHERE part_read = p.id) > ? ORDER BY p.id`;
    return this.#tables.all<PartReadRow>(sql, runsMax).map(readPart);
  }

  *compact(part: PartRead): Generator<void, void, void> {
    const tables = this.#tables;
    const before = tables.all<{ run: number }>('SELECT run FROM part_run WHERE part_read = ?', part.id);
    // A part that no read uses: where this ends early, pruning drops it.
    const { name, kind, fingerprint, source } = part;
    const writer = openPartWriter(tables, source, { name, kind, fingerprint });
    const drivers = this.#folds.merged(this.#folds.ofPart(part), this.#folds.orderIn([part]));
    try {
      for (let next = drivers.next(); next.done !== true; next = drivers.next()) {
        writer.addPacked(pieceFrom(next.value, drivers, pieceDrivers));
        yield;
      }
    } finally {
      drivers.return(undefined);
    }
    tables.write(() => {
      tables.run('DELETE FROM part_run WHERE part_read = ?', part.id);
      tables.run('INSERT INTO part_run (part_read, run) VALUES (?, ?)', part.id, writer.id);
      dropPart(tables, writer.id, source);
      for (const { run } of before) dropRun(tables, run, source);
    });
  }
}
