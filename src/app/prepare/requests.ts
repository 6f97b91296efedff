/** What `rollback` asked for, carried out by the pass: it alone writes the buffer. */
import { createHash } from 'node:crypto';
import { AgentError, isAgentError } from '../../core/errors.ts';
import type { PushRecord, Request, Snapshot } from '../../core/ledger.ts';
import { pointCount } from '../../core/series/packing.ts';
import { retrying, waitThatWasAsked } from '../push/retrying.ts';
import { pushSummary } from '../report.ts';
import { restoreRollback } from './restore.ts';
import { acknowledgedPush, keptSnapshot } from '../push/retention.ts';
import type { PushReport } from '../push/push-report.ts';
import { pushSnapshot, waitForOlder } from '../push/send.ts';
import { unsureRollback } from '../push/unsure-rollback.ts';
import type { Dependencies } from '../dependencies.ts';

/**
 * The acknowledged push that a rollback names, and its snapshot.
 * @throws AgentError `usage` where there is none, or its snapshot is not kept.
 */
export async function findRollback(
  deps: Dependencies,
  push: number | string,
): Promise<{ record: PushRecord; snapshot: Snapshot }> {
  const { address, settings } = deps;
  const record = await acknowledgedPush(deps, push);
  if (record.address !== address) {
    const isPushedTo = (await deps.ledger.pushes.lastAcknowledged(address)) !== undefined;
    throw new AgentError('usage', `push ${push} went to another address, ${record.address}`, {
      hint: isPushedTo
        ? `name a push of the address in the config, ${address}: "driver-sync history" shows the address of each`
        : `nothing was acknowledged by the address in the config yet, ${address}: there is no push of it to go back to`,
    });
  }
  const snapshot = await keptSnapshot(deps, record);
  if (snapshot.format.shouldDeleteMissing && !settings.shouldDeleteMissing) {
    throw new AgentError(
      'usage',
      `the snapshot of push ${push} deletes what it leaves out, and the config says shouldDeleteMissing: false`,
      {
        hint: 'set shouldDeleteMissing: true for the rollback if that is meant',
      },
    );
  }
  return { record, snapshot };
}

/** Carries out the newest rollback that was asked for, which supersedes older ones. `undefined`: there is none. */
export async function rollBackRequested(
  deps: Dependencies,
  retryForMs: number,
  signal: AbortSignal,
): Promise<PushReport | undefined> {
  const { ledger } = deps;
  const asked = await newestAsked(deps);
  if (asked === undefined) return undefined;
  let newest = asked;
  const attempt = async (): Promise<PushReport> => {
    for (;;) {
      const { id, request } = newest;
      const isStillMeant = async (): Promise<boolean> => {
        newest = (await newestAsked(deps)) ?? newest;
        return newest.id === id;
      };
      const report = await rollBack(deps, request, signal, isStillMeant);
      if (report !== undefined) return report;
    }
  };
  let report: PushReport;
  try {
    report = await retrying(deps, retryForMs, attempt, signal);
  } catch (error) {
    if (!isAgentError(error, 'usage') && !isAgentError(error, 'snapshot.damaged')) throw error;
    // It cannot be carried out, now or later: say so and go on from the sources.
    deps.log.error('the rollback is given up', { push: newest.request.push, reason: error.message, hint: error.hint });
    const { code, message: reason, hint } = error;
    await ledger.requests.finish(newest.id, JSON.stringify({ outcome: 'refused', code, reason, hint }));
    return undefined;
  }
  // The daemon goes on trying, in its own time; a command has tried for as long as it does.
  if (report.retry !== undefined && retryForMs === 0) return report;
  const hint = await hintFor(deps, report, newest.request.push);
  const summary = report.push === undefined ? {} : { push: pushSummary(report.push) };
  await ledger.requests.finish(
    newest.id,
    JSON.stringify({ outcome: report.outcome, reason: report.reason, hint, ...summary }),
  );
  return { ...report, hint };
}

/** Nothing tries it again from here on. Where nothing was sent, the report says until when. */
async function hintFor(deps: Dependencies, report: PushReport, push: number): Promise<string | undefined> {
  if (report.outcome === 'acknowledged' || report.push === undefined) return report.hint;
  return unsureRollback(deps, { push, outcome: report.outcome });
}

interface AskedRollback {
  readonly id: number;
  readonly request: Extract<Request, { kind: 'rollback' }>;
}

/** Older ones are over. */
async function newestAsked({ ledger }: Dependencies): Promise<AskedRollback | undefined> {
  const asked = (await ledger.requests.pending()).flatMap(({ id, request }): readonly AskedRollback[] =>
    request.kind === 'rollback' ? [{ id, request }] : [],
  );
  const newest = asked.pop();
  for (const { id } of asked) await ledger.requests.finish(id, JSON.stringify({ outcome: 'superseded' }));
  return newest;
}

/**
 * Pushes an acknowledged snapshot again, byte for byte; once acknowledged, nothing else is pushed. One attempt.
 * @param isStillMeant is asked once it has waited for an earlier push
 * @returns `undefined`: it is not meant any more, and nothing was sent
 */
export async function rollBack(
  deps: Dependencies,
  { push, isForced = false }: Pick<AskedRollback['request'], 'push' | 'isForced'>,
  signal: AbortSignal,
  isStillMeant: () => Promise<boolean> = async () => true,
): Promise<PushReport | undefined> {
  const { ledger, address } = deps;
  const { snapshot } = await findRollback(deps, push);
  await verifyBytes(snapshot);
  const asked = isForced ? undefined : await waitThatWasAsked(deps, `driver-sync rollback ${push} --force`);
  if (asked !== undefined) return asked;
  await waitForOlder(deps, snapshot.digest, signal);
  if (!(await isStillMeant())) return undefined;
  const last = await ledger.pushes.lastAcknowledged(address);
  const report = await pushSnapshot(deps, { snapshot, last, rollbackOf: push }, signal);
  if (report.outcome === 'acknowledged') await restoreRollback(deps);
  return report;
}

/**
 * The body is made anew from the snapshot's file, and only the bytes that were acknowledged may be sent. The file also says
 * where its points came from; that is restored after the push, so it has to be readable before.
 */
async function verifyBytes(snapshot: Snapshot): Promise<void> {
  let points = 0;
  for (const driver of snapshot.read()) points += pointCount(driver.points);
  const hash = createHash('sha256');
  let bytes = 0;
  for await (const chunk of snapshot.body().chunks()) {
    hash.update(chunk);
    bytes += chunk.length;
  }
  // The counts are recorded with the push.
  const isCounted = points === snapshot.points && bytes === snapshot.bytes;
  if (isCounted && hash.digest('hex') === snapshot.digest) return;
  throw new AgentError(
    'snapshot.damaged',
    `the snapshot ${snapshot.digest.slice(0, 12)} does not give its bytes any more`,
    {
      hint: 'restore the state directory from a backup, or roll back to another push',
    },
  );
}
