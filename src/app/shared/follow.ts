/** One pass of an agent that follows: it reads and judges as the one that leads does, writes nothing to the ledger, and pushes nothing. */
import type { AgentSaid } from '../../core/election/lead.ts';
import { type AgentError, isAgentError } from '../../core/errors.ts';
import type { PushRecord } from '../../core/ledger.ts';
import type { SourceReport } from '../../core/report.ts';
import type { Dependencies } from '../dependencies.ts';
import { prepare } from '../prepare/prepare.ts';
import { restoreSnapshot } from '../prepare/restore.ts';
import { buildSnapshot } from '../push/newest-snapshot.ts';
import { openReadable } from '../push/retention.ts';
import { type ReadOptions, readAll } from '../read/read-all.ts';
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
  await prepare(deps, { resume: false });
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
  await readAll(deps, options, signal);
}

async function readAndReview(
  deps: Dependencies,
  options: ReadOptions,
  signal: AbortSignal,
): Promise<readonly Verdict[]> {
  const reads = await readAll(deps, options, signal);
  return (await deps.ledger.state()).rolledBack === undefined ? await review(deps, reads) : reads.map(unjudged);
}

/**
 * Where another agent has pushed what this one has not accepted, that snapshot becomes what every source has accepted, as after a
 * rollback: whoever leads next judges its own reads against what the service holds. Once for each push.
 * @returns whether that was done
 */
export async function goOnFromPushed(deps: Dependencies): Promise<boolean> {
  const pushed = await newestPushed(deps);
  if (pushed === undefined || deps.buffer.state().follows === nameOf(pushed)) return false;
  return goBackTo(deps, pushed, 'goes on from what another agent has pushed');
}

/**
 * The same for an agent that begins to lead, also where it has accepted more since that push: it did so by itself, without the approvals and
 * the deletes of the ledger, so its reads are judged again.
 */
export async function beginFromPushed(deps: Dependencies): Promise<void> {
  const pushed = await newestPushed(deps);
  if (pushed !== undefined) await goBackTo(deps, pushed, 'what was read since the last push is judged again');
}

/** The last push that was acknowledged, or a later one that may have been taken: it, too, was made of what a leader had accepted. */
async function newestPushed({ ledger, address }: Dependencies): Promise<PushRecord | undefined> {
  const last = await ledger.pushes.last(address);
  const isOpen = last?.maybeTaken === true && last.outcome !== undefined && last.rollbackOf === undefined;
  return isOpen ? last : ledger.pushes.lastAcknowledged(address);
}

async function goBackTo(deps: Dependencies, pushed: PushRecord, why: string): Promise<boolean> {
  const { buffer, ledger, log } = deps;
  const { digest } = await buildSnapshot(deps);
  const snapshot = digest === pushed.digest ? undefined : await openReadable(deps, pushed.digest);
  if (snapshot !== undefined) {
    restoreSnapshot(deps, snapshot);
    log.info(why, { push: pushed.id });
  } else if (digest !== pushed.digest) {
    log.error('what another agent has pushed cannot be read: every source has to be read first', { push: pushed.id });
    buffer.setState({ isBare: true });
  }
  noteFollowed(deps, pushed);
  await ledger.holds.forgetDeletes(pushed.atMs);
  return snapshot !== undefined;
}

/** Notes that the accepted reads are those of the last push, which was this agent's own. */
export async function noteOwnPush(deps: Dependencies): Promise<void> {
  const last = await deps.ledger.pushes.lastAcknowledged(deps.address);
  if (last !== undefined && deps.buffer.state().follows !== nameOf(last)) noteFollowed(deps, last);
}

function noteFollowed({ buffer }: Dependencies, push: PushRecord): void {
  buffer.setState({ follows: nameOf(push), followsFromMs: push.atMs });
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
