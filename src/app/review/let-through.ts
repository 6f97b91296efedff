/** Deletes that the guard let through without approval, and what there was before them. */
import type { ReadKind } from '../../core/buffer.ts';
import { type LetThrough, type ReadCounts, atMost } from '../../core/ledger.ts';
import type { Dependencies } from '../dependencies.ts';

export const dayMs = 86_400_000;

/** Those of the last milliseconds, of a source and of the removed ones that it takes drivers over from. */
export function letThroughIn(
  deps: Dependencies,
  ms: number,
  source: string,
  gone: readonly string[],
): Promise<LetThrough> {
  const { id, followsFromMs } = deps.buffer.state();
  const sinceMs = deps.clock.now().getTime() - ms;
  const others = followsFromMs === undefined ? undefined : { own: `${id} `, untilMs: followsFromMs };
  return deps.ledger.holds.deletesSince([source, ...gone], sinceMs, readKey(deps, source), others);
}

/**
 * Those of the last 30 days, of a source and of the removed ones that it takes drivers over from.
 * @param gone the removed ones
 * @param before what the source has now, with what it takes over
 */
export async function letThroughInMonth(
  deps: Dependencies,
  source: string,
  gone: readonly string[],
  before: ReadCounts,
): Promise<LetThrough> {
  const counted = await letThroughIn(deps, 30 * dayMs, source, gone);
  if (gone.length === 0 || counted.had === undefined) return counted;
  return { ...counted, had: atMost(counted.had, mostBefore(before, counted)) };
}

/** Writes down for a source what was let through for those that it takes drivers over from. */
export async function inheritDeletes(
  deps: Dependencies,
  source: string,
  gone: readonly string[],
  before: ReadCounts,
): Promise<void> {
  if (gone.length === 0) return;
  const most = mostBefore(before, await letThroughInMonth(deps, source, gone, before));
  for (const from of gone) await deps.ledger.holds.inheritDeletes(from, source, most);
}

/** A source that takes a part of another one over never had the whole: a share of the whole could be all of the part. */
function mostBefore(now: ReadCounts, deleted: ReadCounts): ReadCounts {
  return { drivers: now.drivers + deleted.drivers, points: now.points + deleted.points };
}

/** Names a source's candidate and what it would replace, in this buffer and no other. */
export function readKey({ buffer }: Dependencies, source: string): string {
  const idsOf = (kind: ReadKind): string => (buffer.reads.parts(source, kind) ?? []).map(({ id }) => id).join(' ');
  return `${buffer.state().id} ${idsOf('accepted')} > ${idsOf('candidate')}`;
}
