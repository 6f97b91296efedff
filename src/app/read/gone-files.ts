/** Files that an accepted read was made of, where a query names them itself: they are no parts, and nothing of them is carried. */
import type { PartRead } from '../../core/buffer.ts';
import type { Source } from '../../core/ports.ts';
import type { Dependencies } from '../dependencies.ts';
import { acceptedParts } from './accepted-parts.ts';
import { removedSources } from './removed-sources.ts';

/** The files of the accepted reads of some sources, each once. After a rollback or a loss of the buffer they are not known. */
export function acceptedFiles({ buffer }: Pick<Dependencies, 'buffer'>, sources: readonly string[]): readonly string[] {
  const parts = sources.flatMap((source) => acceptedParts(buffer, source));
  return [...new Set(parts.flatMap((one) => (one.kind === 'read' ? (one.part.files ?? []) : [])))];
}

/** Those that a source, or a removed one that it may take over, was read from, and that are not there any more. */
export async function goneFilesOf(
  deps: Dependencies,
  name: string,
  { source, present }: { readonly source: Source; readonly present: readonly PartRead[] },
  signal: AbortSignal,
): Promise<readonly string[]> {
  if (source.goneFiles === undefined) return [];
  const read = new Set(present.flatMap(({ files = [] }) => files));
  const missing = acceptedFiles(deps, [name, ...removedSources(deps)]).filter((file) => !read.has(file));
  return missing.length === 0 ? [] : await source.goneFiles(missing, signal);
}
