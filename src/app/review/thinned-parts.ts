/**
 * Parts that have far fewer readings than they had. Among other parts of the same drivers, or beside drivers that others have, the source as a
 * whole does not show it.
 */
import type { FindingKind } from '../../core/values/finding.ts';
import type { SourceSettings } from '../../core/settings.ts';
import type { Dependencies } from '../dependencies.ts';
import { type ValueFindings, findingsOf, joinFindings, lookAtValues, noFindings } from './values.ts';

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
    const runs = {
      before: () => reads.driversOf(name, [earlier]),
      after: () => reads.driversOf(name, [part]),
    };
    const guard = await lookAtValues(deps, settings, runs, { closed: 'none', part: part.name });
    found = joinFindings(found, findingsOf(guard, runs));
  }
  return found;
}

export function isLoss(kind: FindingKind): boolean {
  return kind === 'fewer-readings';
}
