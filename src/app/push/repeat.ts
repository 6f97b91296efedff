/**
 * An attempt without an answer may still land long after it ended, and undo the snapshot that was acknowledged after it. So
 * that snapshot is pushed again, the same bytes, ten minutes and an hour after its acknowledgement.
 *
 * The moments are those of the last such acknowledgement: each acknowledged push undoes what landed before it, so one that
 * comes when a moment has passed is the repeat, whatever it was sent for. A repeat never makes further ones; only a
 * different snapshot that follows another attempt without an answer does.
 */
import type { PushRecord, Snapshot } from '../../core/stores.ts';
import type { Dependencies } from '../dependencies.ts';
import { openReadable } from './retention.ts';

const minuteMs = 60_000;
const repeatsAfterMs = [10 * minuteMs, 60 * minuteMs];

/** Kept in the ledger as `repeats`. */
interface Repeats {
  readonly address: string;
  /** In milliseconds since 1970, earliest first. */
  readonly dueMs: readonly number[];
}

/** What is still to be repeated once a push that began and ended then is acknowledged. */
export function repeatsAfterPush(
  deps: Dependencies,
  { digest, begunMs, endedMs }: { digest: string; begunMs: number; endedMs: number },
): Repeats | undefined {
  const { address, ledger, settings } = deps;
  // The embedded emulator holds no request back.
  if (settings.destination === 'emulator') return undefined;
  if (ledger.followsOpenPush(address, digest)) return { address, dueMs: repeatsAfterMs.map((ms) => endedMs + ms) };
  const latestMs = endedMs + Math.max(...repeatsAfterMs);
  // A moment beyond the latest one was noted by a clock that was ahead.
  const dueMs = repeatMoments(deps).filter((ms) => ms > begunMs && ms <= latestMs);
  return dueMs.length === 0 ? undefined : { address, dueMs };
}

/** When the last acknowledged snapshot is pushed again; `undefined`: it need not be. */
export function nextRepeatMs(deps: Dependencies): number | undefined {
  const [nextMs] = repeatMoments(deps);
  if (nextMs === undefined) return undefined;
  const { address, ledger } = deps;
  const last = ledger.lastAcknowledged(address);
  // What came after the acknowledged snapshot and may have been taken is not to be undone: the newest one goes instead.
  return last === undefined || ledger.hasOpenPushSince(address, last.id, last.digest) ? undefined : nextMs;
}

export function isRepeatDue(deps: Dependencies): boolean {
  const nextMs = nextRepeatMs(deps);
  return nextMs !== undefined && nextMs <= deps.clock.now().getTime();
}

/** The snapshot to repeat; `undefined` where only the newest one can take its place: damaged, or it would now delete too much. */
export function snapshotToRepeat(deps: Dependencies, last: PushRecord): Snapshot | undefined {
  const snapshot = openReadable(deps, last.digest);
  const isAllowed = deps.settings.shouldDeleteMissing || snapshot?.format.shouldDeleteMissing === false;
  return isAllowed ? snapshot : undefined;
}

/** A repeat that was refused would be refused again, so it waits for the next moment, and for whatever is pushed before. */
export function dropDueRepeats(deps: Dependencies): void {
  const { address, clock, ledger } = deps;
  const dueMs = repeatMoments(deps);
  const left = dueMs.filter((ms) => ms > clock.now().getTime());
  if (left.length < dueMs.length) ledger.setFact('repeats', left.length === 0 ? undefined : { address, dueMs: left });
}

function repeatMoments({ address, ledger }: Dependencies): readonly number[] {
  const repeats = ledger.fact<Repeats>('repeats');
  return repeats?.address === address ? repeats.dueMs : [];
}
