/** Drivers that one source of the config gives up in a pass and another one has from then on. */
import type { ReadKind } from '../../core/buffer.ts';
import type { Dependencies } from '../dependencies.ts';
import type { CandidateDecision } from './decision.ts';

export interface Move {
  readonly from: string;
  readonly to: string;
  readonly drivers: ReadonlySet<string>;
}

/** The moves among the candidates of a pass, whatever becomes of them. */
export function findMoves({ buffer }: Dependencies, decisions: readonly CandidateDecision[]): readonly Move[] {
  return decisions.flatMap(({ source: from, comparison: { deletedDrivers } }) => {
    const others = decisions.filter(({ source }) => source !== from);
    if (deletedDrivers.size === 0 || others.length === 0) return [];
    const takers = others.map(({ source }): { source: string; kind: ReadKind } => ({ source, kind: 'candidate' }));
    const taken = new Map<string, Set<string>>();
    for (const { driver, sources } of buffer.reads.sharedDrivers([{ source: from, kind: 'accepted' }, ...takers])) {
      if (!deletedDrivers.has(driver)) continue;
      for (const to of sources) if (to !== from) taken.set(to, (taken.get(to) ?? new Set()).add(driver));
    }
    return [...taken].map(([to, drivers]) => ({ from, to, drivers }));
  });
}
