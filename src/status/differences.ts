/** Differences between pushes, worked out once: what a push was never changes, and of large snapshots one takes seconds. */
import { type Difference, difference } from '../app/ask/difference.ts';
import { acknowledgedPush, keptSnapshot } from '../app/push/retention.ts';
import type { Dependencies } from '../app/dependencies.ts';
import type { Watched } from './watched.ts';

export type ShownDifference = Omit<Difference, 'drivers'>;

const changesShown = 100;
/** One takes up to 50 kB. */
const keptMax = 20;
/** A total for each first element of a path. More than that is not kept. */
const totalsMax = 200;

const keptOf = new WeakMap<Watched, Map<string, Promise<ShownDifference>>>();

/** @throws AgentError as `difference` */
export async function shownDifference(
  agent: Watched,
  deps: Dependencies,
  { from, to }: { readonly from: string; readonly to: string },
): Promise<ShownDifference> {
  const ends = [await acknowledgedPush(deps, from), await acknowledgedPush(deps, to)];
  // One that is not kept any more is not shown either.
  for (const end of ends) await keptSnapshot(deps, end);
  const kept = keptOf.get(agent) ?? new Map<string, Promise<ShownDifference>>();
  keptOf.set(agent, kept);
  const key = ends.map(({ id, digest }) => `${id} ${digest}`).join(' ');
  const found = kept.get(key) ?? workOut(deps, { from, to });
  // The last one that was asked for stands last.
  kept.delete(key);
  kept.set(key, found);
  for (const oldest of kept.keys()) if (kept.size > keptMax) kept.delete(oldest);
  try {
    const shown = await found;
    if (shown.totals.length > totalsMax) kept.delete(key);
    return shown;
  } catch (error) {
    kept.delete(key);
    throw error;
  }
}

async function workOut(deps: Dependencies, range: { from: string; to: string }): Promise<ShownDifference> {
  const { drivers: _drivers, ...found } = await difference(deps, {
    ...range,
    shownMax: changesShown,
    listsDrivers: false,
  });
  return found;
}
