/**
 * Parts that have far fewer readings than they had. Among other parts of the same drivers, or beside drivers that others have, the source as a
 * whole does not show it.
 */
import { comparing } from '../../core/series/compare.ts';
import { pairDrivers } from '../../core/series/diff.ts';
import type { PackedDriver } from '../../core/series/packing.ts';
import type { FindingKind } from '../../core/values/finding.ts';
import type { SourceSettings } from '../../core/settings.ts';
import type { Dependencies } from '../dependencies.ts';
import { inTurns } from '../turns.ts';
import { type ValueFindings, ValueGuardReview, joinFindings, noFindings } from './values.ts';

/** Looks at each part of a candidate that was accepted with another content. A source of one part shows itself what that has lost. */
export async function findThinnedParts(deps: Dependencies, settings: SourceSettings): Promise<ValueFindings> {
  const { reads } = deps.buffer;
  const { name } = settings;
  const candidate = (reads.parts(name, 'candidate') ?? []).filter(({ kind }) => kind === 'part');
  const accepted = new Map((reads.parts(name, 'accepted') ?? []).map((part) => [part.name, part]));
  let found = noFindings;
  if (candidate.length < 2) return found;
  for (const part of candidate) {
    const earlier = accepted.get(part.name);
    if (earlier === undefined || earlier.kind !== 'part' || earlier.id === part.id) continue;
    const guard = new ValueGuardReview(deps, settings, { closed: 'none', part: part.name });
    const before = (): Iterable<PackedDriver> => reads.driversOf(name, [earlier]);
    const after = (): Iterable<PackedDriver> => reads.driversOf(name, [part]);
    await inTurns(comparing(before(), after(), (change) => guard.see(change)));
    found = joinFindings(
      found,
      guard.findings(() => pairDrivers(before(), after()), isLoss),
    );
  }
  return found;
}

export function isLoss(kind: FindingKind): boolean {
  return kind === 'fewer-readings';
}
