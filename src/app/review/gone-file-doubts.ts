/** Files that a query read for the accepted read, and that are gone: what they had is missing in the candidate. */
import type { CarriedDoubt } from '../../core/guard/guard.ts';
import type { Dependencies } from '../dependencies.ts';
import { acceptedFiles } from '../read/gone-files.ts';
import type { Facts } from './decision.ts';

/** Where nothing that was accepted is changed or deleted, nothing of the files is missed: their rows are there under another name. */
export function goneFileDoubts(
  deps: Dependencies,
  {
    source,
    settings,
    comparison,
    inheritedFrom,
    goneFiles,
  }: Pick<Facts, 'source' | 'settings' | 'comparison' | 'inheritedFrom' | 'goneFiles'>,
): readonly CarriedDoubt[] {
  if (goneFiles.length === 0 || settings.removed === 'delete') return [];
  const { points } = comparison.changes;
  // What a read leaves out stays at a service that deletes nothing.
  if (points.update === 0 && (points.delete === 0 || !deps.settings.shouldDeleteMissing)) return [];
  const gone = new Set(goneFiles);
  const missed = acceptedFiles(deps, [source, ...inheritedFrom]).filter((file) => gone.has(file));
  return missed.map((file) => ({ kind: 'file', carried: file }));
}
