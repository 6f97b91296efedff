/**
 * Drivers that the service had and nobody has accepted any more. One that a candidate brings back, or that another source has by then, is
 * compared with what it was: a slip must not pass as new data because a pass lay in between.
 */
import { pairDrivers } from '../../core/series/diff.ts';
import type { PackedPoints } from '../../core/series/packing.ts';
import { compareUtf8 } from '../../core/series/snapshot.ts';
import type { Dependencies } from '../dependencies.ts';
import { driversIn, snapshotsWithDeparted } from '../push/retention.ts';
import type { Facts } from './decision.ts';

/** Those of a candidate's new drivers that have departed, as they were last, in the order of ids. */
export async function departedOf(
  deps: Dependencies,
  { source, comparison }: Pick<Facts, 'source' | 'comparison'>,
): Promise<readonly PackedPoints[]> {
  if (comparison.changes.drivers.create === 0) return [];
  const snapshots = await snapshotsWithDeparted(deps, [source], deps.clock.now().getTime());
  const wanted = snapshots.length === 0 ? new Set<string>() : newDrivers(deps, source);
  const found = await driversIn(deps, snapshots, wanted);
  return found.toSorted((a, b) => compareUtf8(a.id, b.id));
}

/** Drivers of a candidate that no source has accepted. */
function newDrivers({ buffer: { reads } }: Dependencies, source: string): Set<string> {
  const wanted = new Set<string>();
  for (const [old, now] of pairDrivers(reads.drivers(source, 'accepted'), reads.drivers(source, 'candidate')))
    if (old === undefined && now !== undefined) wanted.add(now.id);
  const others = reads.acceptedSources().filter((name) => name !== source);
  const all = [
    { source, kind: 'candidate' } as const,
    ...others.map((name) => ({ source: name, kind: 'accepted' }) as const),
  ];
  for (const { driver } of reads.sharedDrivers(all)) wanted.delete(driver);
  return wanted;
}
