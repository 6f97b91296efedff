/** The loop's state in the ledger, one record. */
import { isDeepStrictEqual } from 'node:util';
import type { Dependencies } from './dependencies.ts';
import { type LoopState, recall } from '../core/loop/state.ts';

/** As of now. What was kept about another address is of no use. */
export async function loopState(deps: Dependencies): Promise<LoopState> {
  const { address, clock, ledger } = deps;
  const nowMs = clock.now().getTime();
  const kept = (await ledger.state()).loop;
  return recall(kept?.address === address ? kept : await newState(deps, nowMs), nowMs);
}

/** Writes nothing where only time has passed: a daemon that polls every minute would wear out a disk. */
export async function keepLoopState({ ledger }: Dependencies, state: LoopState): Promise<void> {
  const kept = (await ledger.state()).loop;
  const next = JSON.parse(JSON.stringify(lasting(state))) as LoopState;
  const isSame = kept !== undefined && isDeepStrictEqual({ ...kept, notedMs: next.notedMs }, next);
  if (!isSame || kept.notedMs > next.notedMs) await ledger.setState({ loop: next });
}

/** What of a state outlives the process. */
export function lasting(state: LoopState): LoopState {
  return { ...state, broken: undefined };
}

async function newState({ address, ledger }: Dependencies, nowMs: number): Promise<LoopState> {
  const isAsked =
    (await ledger.requests.pending()).length > 0 ||
    (await ledger.holds.approvals()).some(({ state }) => state === 'pending');
  return {
    address,
    notedMs: nowMs,
    servedMs: (await ledger.pushes.lastAcknowledged(address))?.endedAtMs,
    unread: { now: [], atPush: [] },
    repeatsMs: [],
    asked: isAsked ? '' : await ledger.requests.asked(),
  };
}
