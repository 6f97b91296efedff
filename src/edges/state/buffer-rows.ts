/** The rows of the buffer's tables, and what they mean. */
import { crc32 } from 'node:zlib';
import type { Rule } from '../../core/model.ts';
import type { OriginFacts, PackedDriver } from '../../core/series/packing.ts';
import type { PartRead, ReadPart } from '../../core/buffer.ts';

/** A fold as `foldColumns` has it. The three blobs come as one: a `Buffer` for each costs as much as the rest of the row. */
export type FoldRow = readonly [
  driver: string,
  rule: Rule,
  path: string,
  otherPath: string | null,
  pointsBytes: number,
  originsBytes: number,
  blobs: Buffer,
  entry: number | null,
  checksum: number,
];

export const foldColumns = `f.driver, f.rule, f.path, f.other_path, length(f.points), length(f.origins),
  CAST(f.points || f.origins || coalesce(f.ties, x'') AS BLOB), f.entry, f.checksum`;

/** The runs of parts whose ids are a JSON list. @param parts the parameter */
export function runsOf(parts: string): string {
  return `SELECT run FROM part_run WHERE part_read IN (SELECT value FROM json_each(${parts}))`;
}

export interface PartReadRow {
  id: number;
  source: string;
  name: string;
  kind: PartRead['kind'];
  version: string;
  hash: string;
  fingerprint: string;
  revised_at_ms: number;
  rows: number;
  rejects: number;
  ends_with_line_end: number | null;
  origin: number;
  carried: number;
  settled: number;
}

export interface OriginRow {
  id: number;
  source: string;
  name: string;
  revised_at_ms: number;
  hash: string | null;
  ends_with_line_end: number | null;
  is_part: number;
}

/** A checksum over everything of a driver that is pushed or shown. */
export function checksum(driver: PackedDriver): number {
  const { points, origins, ties } = driver;
  return foldChecksum(driver, points, origins, ...(ties === undefined ? [] : [ties]));
}

/** The same of blobs that may come as one. */
export function foldChecksum(
  { id, rule, path, otherPath }: Pick<PackedDriver, 'id' | 'rule' | 'path' | 'otherPath'>,
  ...blobs: readonly Uint8Array[]
): number {
  const names = crc32(JSON.stringify([id, rule, path, otherPath ?? null]));
  return blobs.reduce((sum, blob) => crc32(blob, sum), names);
}

export function readPart(row: PartReadRow): ReadPart {
  return {
    id: row.id,
    source: row.source,
    name: row.name,
    kind: row.kind,
    version: row.version,
    hash: row.hash,
    fingerprint: row.fingerprint,
    revisedAtMs: row.revised_at_ms,
    rows: row.rows,
    rejects: row.rejects,
    endsWithLineEnd: row.ends_with_line_end === null ? undefined : row.ends_with_line_end === 1,
    origin: row.origin,
    carried: row.carried === 1,
    settled: row.settled === 1,
  };
}

export function readOrigin(row: OriginRow): OriginFacts {
  return {
    id: row.id,
    source: row.source,
    name: row.name,
    revisedAtMs: row.revised_at_ms,
    hash: row.hash ?? undefined,
    endsWithLineEnd: row.ends_with_line_end === null ? undefined : row.ends_with_line_end === 1,
    isPart: row.is_part === 1,
  };
}
