/**
 * An attempt without an answer may still land long after it ended, and undo the snapshot that was acknowledged after it. So
 * that snapshot is pushed again, the same bytes, ten minutes and an hour after its acknowledgement: `loop/after.ts` says when.
 */
import type { PushRecord, Snapshot } from '../../core/ledger.ts';
import type { Dependencies } from '../dependencies.ts';
import { loopState } from '../loop-record.ts';
import { openReadable } from './retention.ts';

export const mayHaveLanded = 'an earlier push may have landed after the acknowledged one';

export async function isRepeatDue(deps: Dependencies): Promise<boolean> {
  if ((await rollbackOpenMs(deps)) !== undefined) return true;
  const [atMs] = (await loopState(deps)).repeatsMs;
  // Nobody knows then whether a newer snapshot came after it.
  if ((await deps.ledger.state()).doubt !== undefined) return false;
  return atMs !== undefined && atMs <= deps.clock.now().getTime() && !(await hasOpenPush(deps));
}

export async function whyRepeated(deps: Dependencies): Promise<string> {
  const isUndone = (await rollbackOpenMs(deps)) !== undefined;
  return isUndone ? 'another push may have been taken after the rollback' : mayHaveLanded;
}

/** Whether other bytes than the last acknowledged ones may have been taken after them. */
export async function hasOpenPush({ address, ledger }: Dependencies): Promise<boolean> {
  const last = await ledger.pushes.lastAcknowledged(address);
  return ledger.pushes.hasOpenSince(address, last?.id ?? 0, last?.digest);
}

/**
 * While a rollback holds nothing newer takes the place of a push that may have been taken after it: another rollback, mostly. So what was
 * acknowledged is pushed again, at once where nothing may land any more.
 * @returns when the last such push ended; `undefined`: there is none
 */
export async function rollbackOpenMs({ address, ledger }: Dependencies): Promise<number | undefined> {
  const { rolledBack, doubt } = await ledger.state();
  if (rolledBack === undefined || doubt !== undefined) return undefined;
  const last = await ledger.pushes.lastAcknowledged(address);
  // Another address, which the config named since, was not rolled back.
  if (last === undefined || (await ledger.pushes.get(rolledBack.push))?.digest !== last.digest) return undefined;
  // One that is still asked for is what comes next.
  if ((await ledger.requests.pending()).some(({ request }) => request.kind === 'rollback')) return undefined;
  const open = await ledger.pushes.maybeTaken(address, last.digest);
  return open && (open.endedAtMs ?? 0);
}

/** The snapshot to repeat; `undefined` where only the newest one can take its place: damaged, or it would now delete too much. */
export async function snapshotToRepeat(deps: Dependencies, last: PushRecord): Promise<Snapshot | undefined> {
  const snapshot = await openReadable(deps, last.digest);
  const isAllowed = deps.settings.shouldDeleteMissing || snapshot?.format.shouldDeleteMissing === false;
  return isAllowed ? snapshot : undefined;
}
