/** What a candidate carries and was read by other settings than the rest of it. It cannot be read again. */
import type { CarriedDoubt } from '../../core/guard/guard.ts';
import type { ReadPart } from '../../core/buffer.ts';
import { formatMonth } from '../../core/time/month.ts';
import type { Dependencies } from '../dependencies.ts';
import { acceptedParts } from '../read/accepted-parts.ts';
import { type Difference, acceptedReadBy, differenceOf, nameOfNumbers } from '../read/read-by.ts';
import { changedSince } from './carried-doubts.ts';
import type { Facts } from './decision.ts';

export interface Otherwise {
  readonly parts: readonly ReadPart[];
  readonly difference: Difference;
  /** One reading is the same point by every rule but `count`: whether that is one of today's. */
  readonly isCounting: boolean;
  /** Names today's settings. */
  readonly settings: string;
}

const differences = ['readings', 'rules', 'paths'] as const;

/**
 * What is carried of accepted reads of other settings, their source's own and those of removed ones that it takes over. Once such a read was
 * accepted, its settings are those that are compared.
 */
export function findOtherwise(
  { buffer }: Dependencies,
  { source, settings, inheritedFrom, readBy }: Pick<Facts, 'source' | 'settings' | 'inheritedFrom' | 'readBy'>,
): Otherwise | undefined {
  const candidate = buffer.reads.parts(source, 'candidate') ?? [];
  const present = candidate.filter((part) => part.kind === 'part' && !part.carried);
  // What is there was read by today's settings, whichever were accepted in between.
  const today = new Set(present.map(({ fingerprint }) => fingerprint));
  const kept = candidate.filter((part) => part.kind === 'history' || (part.carried && !today.has(part.fingerprint)));
  if (kept.length === 0) return undefined;
  const now = readBy();
  const before = [source, ...inheritedFrom].map((name) => {
    const by = acceptedReadBy(buffer, name);
    return { parts: acceptedParts(buffer, name), difference: by && differenceOf(by, now) };
  });
  const difference = differences.find((one) => before.some((read) => read.difference === one));
  if (difference === undefined) return undefined;
  const accepted = before.flatMap(({ parts }) => parts);
  if (difference === 'readings' && comesToTheSame({ buffer }, accepted, present)) return undefined;
  const owned = before.filter((read) => read.difference === difference).flatMap(({ parts }) => parts);
  const names = new Set(owned.map(({ name }) => name));
  const parts = kept.filter(({ kind, name }) => kind === 'history' || names.has(name));
  const isCounting = settings.mapping.drivers.some(({ rule }) => rule === 'count');
  return { parts, difference, isCounting, settings: nameOfNumbers(now) };
}

/** Whether content that was read by both settings has the same points, which is evidence that they do not differ. */
function comesToTheSame(
  { buffer }: Pick<Dependencies, 'buffer'>,
  accepted: ReturnType<typeof acceptedParts>,
  present: readonly ReadPart[],
): boolean {
  const hashes = new Set(accepted.map(({ hash }) => hash));
  const same = present.filter(({ hash }) => hashes.has(hash));
  return same.length > 0 && !same.some(changedSince(buffer, accepted));
}

export function otherwiseDoubts({ buffer }: Dependencies, otherwise: Otherwise | undefined): readonly CarriedDoubt[] {
  if (otherwise === undefined || otherwise.difference === 'paths') return [];
  const { parts, difference, isCounting, settings } = otherwise;
  const isAll = difference === 'readings' || isCounting;
  return parts.flatMap((part): readonly CarriedDoubt[] => {
    let points = 0;
    let [first, last] = [Infinity, -Infinity];
    for (const driver of buffer.parts.drivers(part)) {
      const cells = isAll || driver.rule === 'count' ? driver.cells : driver.cells.filter(({ count }) => count > 1);
      points += cells.length;
      first = Math.min(first, cells[0]?.month ?? first);
      last = Math.max(last, cells.at(-1)?.month ?? last);
    }
    if (points === 0) return [];
    const what = { points, from: formatMonth(first), to: formatMonth(last), settings };
    return [{ kind: 'otherwise', carried: part.kind === 'history' ? undefined : part.name, what }];
  });
}

/** What is worth a word though it holds nothing: only paths have changed. */
export function carriedPathsNote(otherwise: Otherwise | undefined): string | undefined {
  if (otherwise?.difference !== 'paths' || otherwise.parts.length === 0) return undefined;
  const [part, ...others] = otherwise.parts.map(({ kind, name }) => (kind === 'history' ? 'older months' : name));
  const more = others.length === 0 ? '' : ` and ${others.length} more`;
  return `the config gives other paths now, and what is carried may keep those that it was read with: ${part}${more}`;
}
