/** The loop's state in the ledger, one record. */
import { isDeepStrictEqual } from 'node:util';
import type { Dependencies } from './dependencies.ts';
import { type LoopState, recall } from '../core/loop/state.ts';

/** As of now. What was kept about another address is of no use. */
export function loopState(deps: Dependencies): LoopState {
  const { address, clock, ledger } = deps;
  const nowMs = clock.now().getTime();
  const kept = ledger.state().loop;
  return recall(kept?.address === address ? kept : newState(deps, nowMs), nowMs);
}

/** Writes nothing where only time has passed: a daemon that polls every minute would wear out a disk. */
export function keepLoopState({ ledger }: Dependencies, state: LoopState): void {
  const kept = ledger.state().loop;
  const next = JSON.parse(JSON.stringify(lasting(state))) as LoopState;
  const isSame = kept !== undefined && isDeepStrictEqual({ ...kept, notedMs: next.notedMs }, next);
  if (!isSame || kept.notedMs > next.notedMs) ledger.setState({ loop: next });
}

/** What of a state outlives the process. */
export function lasting(state: LoopState): LoopState {
  return { ...state, broken: undefined };
}

function newState({ address, ledger }: Dependencies, nowMs: number): LoopState {
  const isAsked =
    ledger.requests.pending().length > 0 || ledger.holds.approvals().some(({ state }) => state === 'pending');
  return {
    address,
    notedMs: nowMs,
    servedMs: ledger.pushes.lastAcknowledged(address)?.endedAtMs,
    unread: { now: [], atPush: [] },
    repeatsMs: [],
    asked: isAsked ? '' : ledger.requests.asked(),
  };
}
