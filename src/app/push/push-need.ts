/** Whether the newest snapshot is pushed, and why: the rule of every pass, and what `plan` says of the next one. */
import type { Dependencies } from '../dependencies.ts';
import { loopState } from '../loop-record.ts';
import { mayHaveLanded } from './repeat.ts';

export interface PushNeed {
  readonly atMs: number;
  /** That moment has come. By one look at the clock: where it goes back between two of them, now would lie ahead. */
  readonly isDue: boolean;
  readonly why: string;
}

/** From when on a pass pushes the newest snapshot, which has this digest: from now on where it is needed. */
export async function pushNeed(deps: Dependencies, digest: string): Promise<PushNeed> {
  const nowMs = deps.clock.now().getTime();
  const need = await earliestNeed(deps, { digest, nowMs });
  return { ...need, isDue: need.atMs <= nowMs };
}

async function earliestNeed(
  deps: Dependencies,
  { digest, nowMs: atMs }: { readonly digest: string; readonly nowMs: number },
): Promise<Omit<PushNeed, 'isDue'>> {
  const { ledger, address, settings } = deps;
  const last = await ledger.pushes.lastAcknowledged(address);
  if (last === undefined) return { atMs, why: 'nothing was acknowledged by this address yet' };
  if (last.digest !== digest) return { atMs, why: 'it is not what was acknowledged last' };
  if (await ledger.pushes.hasOpenSince(address, last.id)) return { atMs, why: 'the last push was not answered' };
  const { doubt } = await ledger.state();
  if (doubt !== undefined) return { atMs, why: doubt.why };
  const acknowledgedMs = last.endedAtMs ?? last.atMs;
  // One push too many sets that right.
  if (acknowledgedMs > atMs) return { atMs, why: 'the clock was set back since the last push' };
  const refresh = {
    atMs: acknowledgedMs + settings.refreshMs,
    why: 'an equal snapshot is pushed again after "refresh"',
  };
  const [repeatMs = Infinity] = (await loopState(deps)).repeatsMs;
  return repeatMs < refresh.atMs ? { atMs: repeatMs, why: mayHaveLanded } : refresh;
}
