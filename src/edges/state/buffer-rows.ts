/** The rows of the buffer's tables, and what they mean. */
import type { OriginFacts } from '../../core/series/packing.ts';
import type { PartRead, ReadPart } from '../../core/buffer.ts';

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
  files: string | null;
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
  rejects: number | null;
  is_part: number;
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
    ...(row.files !== null && { files: JSON.parse(row.files) as string[] }),
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
    rejects: row.rejects ?? undefined,
    isPart: row.is_part === 1,
  };
}
