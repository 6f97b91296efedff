/** The loop's state in the ledger: one record for each address, so that who comes back to one finds what it still owes. */
import { isDeepStrictEqual } from 'node:util';
import type { LedgerState } from '../core/ledger.ts';
import type { Dependencies } from './dependencies.ts';
import { type LoopState, recall } from '../core/loop/state.ts';

/** Addresses that are remembered. What one is still owed is mostly over within about an hour. */
const earlierMax = 10;

/** As of now. */
export async function loopState(deps: Dependencies): Promise<LoopState> {
  const { address, clock, ledger } = deps;
  const nowMs = clock.now().getTime();
  const { loop, earlierLoops = [] } = await ledger.state();
  const kept = [loop, ...earlierLoops].find((one) => one?.address === address);
  return recall(kept ?? (await newState(deps, nowMs)), nowMs);
}

/** Writes nothing where only time has passed: a daemon that polls every minute would wear out a disk. */
export async function keepLoopState({ ledger }: Dependencies, state: LoopState): Promise<void> {
  const record = await ledger.state();
  const kept = record.loop;
  const text = JSON.stringify(lasting(state));
  const isEqual = kept !== undefined && JSON.stringify({ ...kept, notedMs: state.notedMs }) === text;
  if (isEqual && kept.notedMs <= state.notedMs) return;
  const next = JSON.parse(text) as LoopState;
  const isSame = isEqual || (kept !== undefined && isDeepStrictEqual({ ...kept, notedMs: next.notedMs }, next));
  if (!isSame || kept.notedMs > next.notedMs) await ledger.setState(withLoop(record, next));
}

/** The fields of the record that change with the loop's state. */
export function withLoop({ loop, earlierLoops = [] }: LedgerState, state: LoopState): LedgerState {
  const earlier = [...(loop === undefined ? [] : [loop]), ...earlierLoops];
  return {
    loop: lasting(state),
    earlierLoops: earlier.filter(({ address }) => address !== state.address).slice(0, earlierMax),
  };
}

/** The part of a state that outlives the process. */
function lasting(state: LoopState): LoopState {
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
