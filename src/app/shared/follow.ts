/** One pass of an agent that follows: it reads and judges as the one that leads does, writes nothing to the ledger, and pushes nothing. */
import type { AgentSaid } from '../../core/election/lead.ts';
import { type AgentError, isAgentError } from '../../core/errors.ts';
import type { PushRecord } from '../../core/ledger.ts';
import type { SourceReport } from '../../core/report.ts';
import type { Dependencies } from '../dependencies.ts';
import { prepare } from '../prepare/prepare.ts';
import { restoreSnapshot } from '../prepare/restore.ts';
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
  let verdicts = await readAndReview(deps, options, signal);
  if (await goOnFromPushed(deps)) verdicts = await readAndReview(deps, options, signal);
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
 * Where another agent's push was acknowledged that is not what this one has accepted, its snapshot becomes what every source
 * has accepted, as after a rollback: whoever leads next judges its own reads against what the service holds. Once for each
 * push. Returns whether that was done.
 */
export async function goOnFromPushed(deps: Dependencies): Promise<boolean> {
  const { buffer, ledger, log } = deps;
  const last = await ledger.pushes.lastAcknowledged(deps.address);
  if (last === undefined || buffer.state().follows === nameOf(last)) return false;
  const { digest } = (await wouldPush(deps, [])).would ?? {};
  const snapshot = digest === last.digest ? undefined : await openReadable(deps, last.digest);
  if (snapshot !== undefined) {
    restoreSnapshot(deps, snapshot);
    log.info('goes on from what another agent has pushed', { push: last.id });
  } else if (digest !== last.digest) {
    log.error('what another agent has pushed cannot be read: every source has to be read first', { push: last.id });
    buffer.setState({ isBare: true });
  }
  buffer.setState({ follows: nameOf(last) });
  return snapshot !== undefined;
}

/** Notes that the accepted reads are those of the last push, which was this agent's own. */
export async function noteOwnPush({ buffer, ledger, address }: Dependencies): Promise<void> {
  const last = await ledger.pushes.lastAcknowledged(address);
  if (last !== undefined && buffer.state().follows !== nameOf(last)) buffer.setState({ follows: nameOf(last) });
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
