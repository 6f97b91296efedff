/**
 * By what a read came of its rows. What is carried cannot be read again, so that a change of this mixes two readings in one series.
 * The agent's own version is no part of it: the same settings mean the same in all of them.
 */
import { createHash } from 'node:crypto';
import type { LocalBuffer } from '../../core/buffer.ts';
import type { Lookups } from '../../core/ports.ts';
import type { MappingDigests, SourceSettings } from '../../core/settings.ts';
import { withLookups } from './part-rows.ts';

export interface ReadBy extends MappingDigests {
  /** A short hash of each entry of its maps and calendar; absent where they have too many to keep. */
  readonly tables?: readonly string[];
}

/** What a read was made from, as the buffer keeps it with the read. */
interface Basis {
  readonly readBy: ReadBy;
  /** Everything else, of a candidate. */
  readonly madeOf?: readonly unknown[];
}

const entriesMax = 20_000;

export function readByOf({ mapping, readBy }: SourceSettings, lookups: Lookups): ReadBy {
  const entries: unknown[] = [];
  for (const [map, texts] of Object.entries(withLookups(mapping, lookups).maps)) {
    for (const [from, to] of Object.entries(texts)) entries.push([map, from, to]);
  }
  for (const { name, start, end, month } of lookups.calendar?.periods ?? []) entries.push([name, start, end, month]);
  return { ...readBy, ...(entries.length > entriesMax ? {} : { tables: entries.map(shortHash) }) };
}

function shortHash(entry: unknown): string {
  return createHash('sha256').update(JSON.stringify(entry)).digest('hex').slice(0, 8);
}

/** What may come otherwise of the same rows, the most of it. `rules` concern points of several readings alone. */
export type Difference = 'readings' | 'rules' | 'paths';

/** A table that only got more entries reads what it read before in the same way. */
export function differenceOf(before: ReadBy, now: ReadBy): Difference | undefined {
  const entries = now.tables && new Set(now.tables);
  const isTableChanged = entries !== undefined && before.tables?.some((entry) => !entries.has(entry)) === true;
  if (before.readings !== now.readings || isTableChanged) return 'readings';
  if (before.rules !== now.rules) return 'rules';
  return before.paths === now.paths ? undefined : 'paths';
}

/** Names what decides numbers, short enough to stand in a list. */
export function nameOfNumbers({ readings, rules, tables = [] }: ReadBy): string {
  return createHash('sha256')
    .update(JSON.stringify([readings, rules, [...tables].sort()]))
    .digest('hex')
    .slice(0, 12);
}

export function writeBasis(basis: Basis): string {
  return JSON.stringify(basis);
}

/** `undefined` where it is not known: an older version accepted the read, or it was taken out of a snapshot. */
export function acceptedReadBy({ reads }: Pick<LocalBuffer, 'reads'>, source: string): ReadBy | undefined {
  const basis = reads.basis(source, 'accepted');
  return basis?.startsWith('{') === true ? (JSON.parse(basis) as Basis).readBy : undefined;
}
