/** Reads of a few parts in a buffer in memory, for what is decided about candidates. */
import type { LocalBuffer, ReadKind, ReadPart } from '../../src/core/buffer.ts';
import type { Rule } from '../../src/core/model.ts';
import type { FoldedDriver } from '../../src/core/series/packing.ts';
import { parseMonth } from '../../src/core/time/month.ts';
import { openBuffer } from '../../src/edges/state/buffer.ts';

/** A part of a read. What is left out is as it is of a file that is there and was read once. */
export interface KeptPart extends Partial<
  Pick<ReadPart, 'kind' | 'hash' | 'version' | 'fingerprint' | 'rejects' | 'carried' | 'settled'>
> {
  /** `{ A: { '2026-01': '1.50' } }`. */
  readonly points?: Readonly<Record<string, Readonly<Record<string, string>>>>;
  readonly rule?: Rule;
  /** How many readings each point is made of. */
  readonly count?: number;
  /** The second at which each point was read. */
  readonly seconds?: number;
  readonly pathOf?: (id: string) => readonly string[];
}

/** Parts of reads by `source kind`, and then by name. */
export type KeptReads = Readonly<Record<string, Readonly<Record<string, KeptPart>>>>;

export function keptReads(reads: KeptReads): LocalBuffer {
  const buffer = openBuffer(':memory:', 'write');
  for (const [read, parts] of Object.entries(reads)) {
    const [source = '', kind = ''] = read.split(' ');
    keepRead(buffer, { source, kind: kind as ReadKind }, parts);
  }
  return buffer;
}

/** @param basis what the read was made from */
export function keepRead(
  buffer: LocalBuffer,
  { source, kind: of, basis }: { readonly source: string; readonly kind: ReadKind; readonly basis?: string },
  parts: Readonly<Record<string, KeptPart>>,
): void {
  const chosen = Object.entries(parts).map(([name, part]) => {
    const { kind = 'part', hash = `content of ${name}`, version = '1', fingerprint = '' } = part;
    const writer = buffer.parts.begin(source, { name, kind }, fingerprint);
    writer.add(driversOf(part, writer.id));
    const { id } = writer.commit({ version, hash, revisedAtMs: 0 }, { rows: 1, rejects: part.rejects ?? 0 });
    return { id, carried: part.carried ?? false, settled: part.settled ?? false };
  });
  buffer.reads.set(source, of, chosen, basis);
}

function driversOf(
  { points = {}, rule = 'last', count = 1, seconds = 0, pathOf = (id) => [id] }: KeptPart,
  part: number,
): readonly FoldedDriver[] {
  const place = { seconds, nanos: 0, row: 1, part };
  return Object.entries(points).map(([id, values]) => ({
    id,
    path: pathOf(id),
    rule,
    pathPlace: place,
    cells: Object.entries(values).map(([month, value]) => {
      return { month: parseMonth(month)!, value, text: value, count, sum: value, ...place };
    }),
  }));
}
