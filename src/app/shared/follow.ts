/** One pass of an agent that follows: it reads and judges as the one that leads does, writes nothing to the ledger, and pushes nothing. */
import type { AgentSaid } from '../../core/election/lead.ts';
import { type AgentError, isAgentError } from '../../core/errors.ts';
import type { PushRecord } from '../../core/ledger.ts';
import type { SourceReport } from '../../core/report.ts';
import type { Dependencies } from '../dependencies.ts';
import { restoreAfterLoss, restoreSnapshot } from '../prepare/restore.ts';
import { buildSnapshot } from '../push/newest-snapshot.ts';
import { openReadable } from '../push/retention.ts';
import { reopenUnpushed } from '../push/unpushed.ts';
import { type ReadOptions, lookAtAll } from '../read/look-at-all.ts';
import { assembleCandidates } from '../read/candidate.ts';
import { readSources } from '../read-sources.ts';
import { sourceReport, unjudged } from '../report.ts';
import { review } from '../review/review.ts';
import type { Verdict } from '../review/verdict.ts';
import { wouldPush } from './would-push.ts';

/** @param deps with the ledger and the archive of an agent that follows */
export async function followingPass(
  deps: Dependencies,
  options: ReadOptions,
  signal: AbortSignal,
): Promise<{ readonly said: AgentSaid; readonly sources: readonly SourceReport[] }> {
  const { buffer, ledger } = deps;
  await restoreAfterLoss(deps);
  if (buffer.state().ledIn !== undefined) buffer.setState({ ledIn: undefined });
  let verdicts = await readAndReview(deps, options, signal);
  if (await goOnFromPushed(deps)) {
    // What it read before that push may be older than what was pushed.
    options.due?.forget();
    verdicts = await readAndReview(deps, options, signal);
  }
  buffer.parts.prune();
  const sources = verdicts.map((verdict) => sourceReport(deps, verdict));
  const said = await wouldPush(deps, sources);
  const last = await ledger.pushes.lastAcknowledged(deps.address);
  const kept = [said.would?.digest, last?.digest].filter((digest) => digest !== undefined);
  await deps.archive.keepOnly(new Set(kept));
  return { said, sources };
}

/** What is read while the ledger cannot be reached: it is judged later. */
export async function readOnly(deps: Dependencies, options: ReadOptions, signal: AbortSignal): Promise<void> {
  assembleCandidates(deps, await lookAtAll(deps, options, signal));
}

async function readAndReview(
  deps: Dependencies,
  options: ReadOptions,
  signal: AbortSignal,
): Promise<readonly Verdict[]> {
  const read = await readSources(deps, options, signal);
  const isJudged = (await deps.ledger.state()).rolledBack === undefined;
  return isJudged ? await review(deps, read) : read.reads.map(unjudged);
}

/**
 * Where another agent has pushed what this one has not accepted, a rollback too, that snapshot becomes what every source has accepted, as after a
 * rollback of its own: whoever leads next judges its own reads against what was pushed. Once for each push.
 * @returns whether that was done
 */
export async function goOnFromPushed(deps: Dependencies): Promise<boolean> {
  const [newest, ...older] = await lastPushes(deps);
  if (newest === undefined || deps.buffer.state().follows === nameOf(newest)) return false;
  return goBackTo(deps, [newest, ...older], 'goes on from what another agent has pushed');
}

/**
 * The same for an agent that begins to lead, also where it has accepted more since that push: it did so by itself, without the approvals and
 * the deletes of the ledger, so its reads are judged again.
 */
export async function beginFromPushed(deps: Dependencies): Promise<void> {
  const [newest, ...older] = await lastPushes(deps);
  if (newest === undefined) return;
  await goBackTo(deps, [newest, ...older], 'what was read since the last push is judged again');
}

/**
 * The last push that was tried, and the last one that was acknowledged. A snapshot that did not arrive was made of what a leader had accepted,
 * with approvals that nobody should be asked for again; a rollback that did not is tried again by itself.
 */
async function lastPushes({ ledger, address }: Dependencies): Promise<readonly PushRecord[]> {
  const acknowledged = await ledger.pushes.lastAcknowledged(address);
  const last = await ledger.pushes.last(address);
  const isTried = last?.outcome !== undefined && last.rollbackOf === undefined && last.id !== acknowledged?.id;
  return [isTried ? last : undefined, acknowledged].filter((push) => push !== undefined);
}

/** @param pushes the newest one first; the snapshot of one that was not acknowledged may be gone */
async function goBackTo(
  deps: Dependencies,
  pushes: readonly [PushRecord, ...PushRecord[]],
  why: string,
): Promise<boolean> {
  const { buffer, ledger, log } = deps;
  // First: a crash in between goes back once more.
  await reopenUnpushed(deps);
  const { digest } = await buildSnapshot(deps);
  for (const push of pushes) {
    const snapshot = digest === push.digest ? undefined : await openReadable(deps, push.digest);
    if (snapshot === undefined && digest !== push.digest) continue;
    if (snapshot !== undefined) {
      await restoreSnapshot(deps, snapshot);
      log.info(why, { push: push.id });
    }
    buffer.setState({ follows: nameOf(pushes[0]), followsFromMs: push.atMs, isBare: undefined });
    await ledger.holds.forgetDeletes(push.atMs);
    return snapshot !== undefined;
  }
  log.error('what another agent has pushed cannot be read: every source has to be read first', { push: pushes[0].id });
  buffer.setState({ isBare: true, follows: nameOf(pushes[0]), followsFromMs: undefined });
  return false;
}

/** Notes that the accepted reads are those of the last push, which was this agent's own. */
export async function noteOwnPush(deps: Dependencies): Promise<void> {
  const [newest] = await lastPushes(deps);
  if (newest === undefined || deps.buffer.state().follows === nameOf(newest)) return;
  deps.buffer.setState({ follows: nameOf(newest), followsFromMs: newest.atMs });
}

function nameOf({ id, digest }: PushRecord): string {
  return `${id}:${digest}`;
}

const turnEnds = [
  'ledger.unreachable',
  'ledger.refused',
  'ledger.led',
  'state.full',
  'state.newer',
  'state.older',
] as const;

/** Failures of the ledger, a disk that is full, and that another agent leads: they end a turn, and no agent. */
export function endsTurn(error: unknown): error is AgentError {
  return turnEnds.some((code) => isAgentError(error, code));
}
