/** Parts of one content in a source that adds up: a copy that somebody left, whose rows count once for each. */
import type { ReadKind, ReadPart } from '../../core/buffer.ts';
import { accumulates } from '../../core/guard/guard.ts';
import type { SourceSettings } from '../../core/settings.ts';
import type { Dependencies } from '../dependencies.ts';

const warningsMax = 20;

/** What people are told of it. Nothing is held: two equal files may be meant. */
export function sameContentWarnings(
  { buffer }: Pick<Dependencies, 'buffer'>,
  { name, mapping }: SourceSettings,
  kind: ReadKind,
): readonly string[] {
  if (!accumulates(mapping)) return [];
  const there = (buffer.reads.parts(name, kind) ?? []).filter((part) => part.kind === 'part' && !part.carried);
  const alike = [...Map.groupBy(there, ({ hash }) => hash).values()].filter((parts) => parts.length > 1);
  const counted = alike.filter(([first]) => buffer.parts.earliestMonth([first!.id]) !== undefined);
  const more = counted.length - warningsMax;
  const shown = counted.slice(0, warningsMax).map(warningOf);
  return more > 0 ? [...shown, `and ${more} more of files that are there twice`] : shown;
}

/** The shortest name is most likely that of the original: `a.csv` beside `a (1).csv` and `Copy of a.csv`. */
function warningOf(parts: readonly ReadPart[]): string {
  const [original = '', copy = '', ...others] = parts
    .map(({ name }) => name)
    .toSorted((a, b) => a.length - b.length || (a < b ? -1 : 1));
  if (others.length === 0) return `${copy} has the same content as ${original}: its rows count twice`;
  return `${copy} and ${others.length} more have the same content as ${original}: its rows count ${parts.length} times`;
}
