/**
 * Names that parts had before their agent shared a ledger, or while it did: a buffer or a snapshot of that time has them. The same file
 * must not count twice, once under each.
 */
import type { Source } from '../../core/ports.ts';
import type { Dependencies } from '../dependencies.ts';
import { acceptedParts } from './accepted-parts.ts';

/** Calls what the buffer has of a source's parts as the source calls them now. */
export function renameParts(
  { buffer }: Pick<Dependencies, 'buffer'>,
  name: string,
  { nowCalled }: Pick<Source, 'nowCalled'>,
): void {
  if (nowCalled === undefined) return;
  const read = (['candidate', 'partial'] as const).flatMap((kind) => buffer.reads.parts(name, kind) ?? []);
  const known = new Set([...acceptedParts(buffer, name), ...read].map((part) => part.name));
  for (const file of buffer.parts.seen(name).keys()) known.add(file);
  const names = new Map<string, string>();
  for (const former of known) {
    const now = nowCalled(former);
    if (now !== undefined && now !== former) names.set(former, now);
  }
  if (names.size > 0) buffer.parts.rename(name, names);
}

/** A part as its source shows it. */
export interface ListedPart {
  readonly name: string;
  /** See `Part.below`. */
  readonly below?: string;
  /** See `Part.otherNames`. */
  readonly otherNames?: readonly string[];
}

/**
 * Whether a file may be the one that another machine called by this name, before names were the same on all: by its path relative to a
 * config of which nobody knows where it lies.
 */
export function mayHaveBeen({ name, below }: ListedPart, former: string): boolean {
  if (below === undefined || former.includes('${')) return false;
  const end = former.replace(/^(?:\.\.\/)+/, '');
  // Of an absolute path more is known: where the config and the file part.
  return endsWith(end, below) && (!name.startsWith('/') || endsWith(name, end));
}

function endsWith(path: string, end: string): boolean {
  return path === end || path.endsWith(`/${end}`);
}
