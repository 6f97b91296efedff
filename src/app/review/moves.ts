/** Drivers, and points of drivers, that one source of the config gives up in a pass and another one has, or had when it was last read. */
import type { ReadKind } from '../../core/buffer.ts';
import type { DeletedPoints } from '../../core/ledger.ts';
import type { Month } from '../../core/model.ts';
import { monthsIn } from '../../core/series/packing.ts';
import type { Dependencies } from '../dependencies.ts';
import type { Facts } from './decision.ts';

export interface Move {
  readonly from: string;
  readonly to: string;
  /** Those that it gives up whole, and those that it keeps without some months which the other one has. */
  readonly drivers: ReadonlySet<string>;
  /** Where the other source has them. */
  readonly reads: readonly SourceReadKind[];
}

interface SourceReadKind {
  readonly source: string;
  readonly kind: ReadKind;
}

/** What may have the drivers though it has no candidate. */
export interface Unseen {
  /** Sources that were not read: what was last read of them. */
  readonly unread: readonly string[];
  /**
   * Sources that left the config, also those of which nothing was ever accepted. While another one is not read it may be one of these under
   * another key.
   */
  readonly former: readonly string[];
}

/** The moves among the candidates of a pass, whatever becomes of them, and those to sources of which nothing is seen. */
export function findMoves(
  { buffer }: Dependencies,
  candidates: readonly Pick<Facts, 'source' | 'comparison'>[],
  { unread, former }: Unseen,
): readonly Move[] {
  const gone = unread.length === 0 ? [] : former;
  const lastRead: SourceReadKind[] = [
    ...candidates.map(({ source }) => ({ source, kind: 'candidate' }) as const),
    ...[...unread, ...gone].map((source) => ({ source, kind: 'partial' }) as const),
    ...gone.map((source) => ({ source, kind: 'candidate' }) as const),
  ];
  return candidates.flatMap(({ source: from, comparison: { deletes, deletedDrivers } }) => {
    const takers = lastRead.filter(({ source }) => source !== from);
    if (deletes.size === 0 || takers.length === 0) return [];
    const taken = new Map<string, Set<string>>();
    for (const { driver, sources } of buffer.reads.sharedDrivers([{ source: from, kind: 'accepted' }, ...takers])) {
      if (!deletes.has(driver)) continue;
      for (const to of sources) if (to !== from) taken.set(to, (taken.get(to) ?? new Set()).add(driver));
    }
    return [...taken].flatMap(([to, drivers]): readonly Move[] => {
      const reads = takers.filter(({ source }) => source === to);
      const partly = [...drivers].filter((id) => !deletedDrivers.has(id));
      const also = { drivers: new Set(partly), reads };
      const moved = partly.length === 0 ? undefined : movedPoints({ buffer }, [also], deletes);
      const given = new Set([...drivers].filter((id) => deletedDrivers.has(id) || moved?.has(id) === true));
      return given.size === 0 ? [] : [{ from, to, drivers: given, reads }];
    });
  });
}

/** The points of what a source gives up that others have. @param deletes all that it gives up */
export function movedPoints(
  { buffer }: Pick<Dependencies, 'buffer'>,
  moves: readonly Pick<Move, 'drivers' | 'reads'>[],
  deletes: DeletedPoints,
): DeletedPoints {
  const moved = new Map<string, readonly Month[]>();
  for (const { drivers, reads } of moves) {
    for (const { source, kind } of reads) {
      for (const { id, points } of buffer.reads.drivers(source, kind)) {
        if (!drivers.has(id)) continue;
        const has = new Set([...monthsIn(points), ...(moved.get(id) ?? [])]);
        const both = deletes.get(id)?.filter((month) => has.has(month)) ?? [];
        if (both.length > 0) moved.set(id, both);
      }
    }
  }
  return moved;
}
