/** What `status` says of the next push, by the same rule as the daemon goes by. */
import type { Dependencies } from '../dependencies.ts';
import { builtDigest, hasUnpushed } from '../push/newest-snapshot.ts';
import { landsUntilMs, mayStillLand } from '../push/send.ts';
import { after } from '../../core/loop/after.ts';
import { type NextPush, nextPush } from '../../core/loop/decide.ts';
import { loopFacts } from './facts.ts';
import { loopState } from '../loop-record.ts';
import { hasOpenPush, rollbackOpenMs } from '../push/repeat.ts';

/**
 * The next push of a daemon that runs on this state. It alone knows when its next poll and its token file are due; neither
 * makes a push come later.
 * @param brokenAtMs when its last pass broke
 */
export async function nextPushOf(deps: Dependencies, brokenAtMs?: number): Promise<NextPush | undefined> {
  const facts = await loopFacts(deps, { pollMs: Infinity, hasNewToken: false });
  const pass = { push: 'no', resume: false, polls: 'all' } as const;
  const kept = await loopState(deps);
  const state =
    brokenAtMs === undefined
      ? kept
      : after(kept, { kind: 'broke', pass, asked: kept.asked, atMs: brokenAtMs, hasUnpushed: hasUnpushed(deps) });
  const next = nextPush(state, facts);
  if (next === undefined) return undefined;
  const atMs = Math.max(next.atMs, facts.nowMs);
  const untilMs = (await waitsUntilMs(deps, next)) ?? -Infinity;
  return untilMs > atMs ? { ...next, atMs: untilMs, why: mayStillLand } : { ...next, atMs };
}

/** From when on the last snapshot is to be pushed once more, by whichever pass comes then. */
export async function repeatFromMs(deps: Dependencies): Promise<number | undefined> {
  const openMs = await rollbackOpenMs(deps);
  if (openMs !== undefined) return (await waitsUntilMs(deps, { push: 'repeat' })) ?? openMs;
  const [atMs] = (await loopState(deps)).repeatsMs;
  return atMs === undefined || (await hasOpenPush(deps)) ? undefined : atMs;
}

/** Until when a push waits for an earlier one that may still land. */
export async function waitsUntilMs(deps: Dependencies, { push }: Pick<NextPush, 'push'>): Promise<number | undefined> {
  const repeated = (await deps.ledger.pushes.lastAcknowledged(deps.address))?.digest;
  // Bytes that are not known yet count as different ones.
  return landsUntilMs(deps, (push === 'repeat' ? repeated : builtDigest(deps)) ?? '');
}
