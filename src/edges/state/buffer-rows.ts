/** The rows of the buffer's tables, and what they mean. */
import { crc32 } from 'node:zlib';
import type { Rule } from '../../core/model.ts';
import type { OriginFacts, PackedDriver } from '../../core/series/packing.ts';
import type { PartRead, ReadPart } from '../../core/buffer.ts';

export interface FoldRow {
  driver: string;
  rule: Rule;
  path: string;
  other_path: string | null;
  points: Uint8Array;
  origins: Uint8Array;
  entry: number | null;
  ties: Uint8Array | null;
  checksum: number;
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

/** Of all that is pushed or shown of a driver. */
export function checksum({ id, rule, path, otherPath, points, origins, ties }: PackedDriver): number {
  const names = crc32(JSON.stringify([id, rule, path, otherPath ?? null]));
  const sum = crc32(origins, crc32(points, names));
  return ties === undefined ? sum : crc32(ties, sum);
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
