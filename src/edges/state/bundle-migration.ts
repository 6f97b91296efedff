/** The folds that an older agent wrote, a row for each driver, as bundles. */
import { crc32 } from 'node:zlib';
import type { Database } from 'better-sqlite3';
import type { Rule } from '../../core/model.ts';
import type { PackedDriver } from '../../core/series/packing.ts';
import { type BundlePlace, openBundleWriter } from './bundle-store.ts';
import { damagedDatabase } from './sqlite.ts';

/** Rows in memory at a time. */
const pageRows = 500;

interface FoldRow {
  readonly driver: string;
  readonly rule: Rule;
  readonly path: string;
  readonly other_path: string | null;
  readonly points: Buffer;
  readonly origins: Buffer;
  readonly entry: number | null;
  readonly ties: Buffer | null;
  readonly checksum: number;
}

/** Fills the table `bundle` with what stands in `fold`. @throws AgentError `state.corrupt` where a row is not what was written */
export function bundleFolds(db: Database, file: string): void {
  db.exec('CREATE INDEX fold_by_chunk ON fold (source, part_read, chunk, driver)');
  const write = openBundleWriter(db);
  const chunks = db.prepare('SELECT DISTINCT source, part_read AS run, chunk FROM fold').all() as BundlePlace[];
  for (const place of chunks) write(driversIn(db, file, place), place);
}

function* driversIn(db: Database, file: string, place: BundlePlace): Generator<PackedDriver> {
  const page = db.prepare(`SELECT driver, rule, path, other_path, points, origins, entry, ties, checksum FROM fold
    WHERE source = @source AND part_read = @run AND chunk = @chunk AND (@after IS NULL OR driver > @after)
    ORDER BY driver LIMIT ${pageRows}`);
  for (let after: string | null = null; ;) {
    const rows = page.all({ ...place, after }) as FoldRow[];
    for (const row of rows) yield driverOf(row, file);
    if (rows.length < pageRows) return;
    after = (rows.at(-1) as FoldRow).driver;
  }
}

function driverOf(row: FoldRow, file: string): PackedDriver {
  const { driver: id, rule, path, points, origins, entry, ties } = row;
  const names = crc32(JSON.stringify([id, rule, path, row.other_path]));
  const sum = [points, origins, ...(ties === null ? [] : [ties])].reduce((before, blob) => crc32(blob, before), names);
  if (sum !== row.checksum) throw damagedDatabase(file, new Error(`driver "${id}" is not what was written`));
  return {
    id,
    rule,
    path,
    otherPath: row.other_path ?? undefined,
    points,
    origins,
    entry: entry ?? undefined,
    ties: ties ?? undefined,
  };
}
