/** The loop's state in the ledger, one record. */
import { isDeepStrictEqual } from 'node:util';
import type { Dependencies } from './dependencies.ts';
import { type LoopState, recall } from '../core/loop/state.ts';

const key = 'loop';

/** As of now. What was kept about another address is of no use. */
export function loopState(deps: Dependencies): LoopState {
  const { address, clock, ledger } = deps;
  const nowMs = clock.now().getTime();
  const kept = ledger.fact<LoopState>(key);
  return recall(kept?.address === address ? kept : newState(deps, nowMs), nowMs);
}

/** Writes nothing where only time has passed: a daemon that polls every minute would wear out a disk. */
export function keepLoopState({ ledger }: Dependencies, state: LoopState): void {
  const kept = ledger.fact<LoopState>(key);
  const next = JSON.parse(JSON.stringify(lasting(state))) as LoopState;
  const isSame = kept !== undefined && isDeepStrictEqual({ ...kept, notedMs: next.notedMs }, next);
  if (!isSame || kept.notedMs > next.notedMs) ledger.setFact(key, next);
}

/** For what the ledger writes together with an acknowledgement. */
export function loopFact(state: LoopState): Readonly<Record<string, unknown>> {
  return { [key]: lasting(state) };
}

function lasting(state: LoopState): LoopState {
  return { ...state, broken: undefined };
}

function newState({ address, ledger }: Dependencies, nowMs: number): LoopState {
  const isAsked = ledger.pendingRequests().length > 0 || ledger.approvals().some(({ state }) => state === 'pending');
  return {
    address,
    notedMs: nowMs,
    servedMs: ledger.lastAcknowledged(address)?.endedAtMs,
    unread: { now: [], atPush: [] },
    repeatsMs: [],
    asked: isAsked ? '' : ledger.asked(),
  };
}
