/** What `history` says: all pushes, and what people decided, newest first. */
import type { PushRecord } from '../../core/ledger.ts';
import type { Changes } from '../../core/series/diff.ts';
import type { Dependencies } from '../dependencies.ts';
import { type Decision, allDecisions } from './decisions.ts';

export interface ReportedPush {
  readonly id: number;
  /** ISO 8601, UTC. */
  readonly at: string;
  readonly outcome: string;
  readonly digest: string;
  readonly drivers: number;
  readonly points: number;
  readonly bytes: number;
  /** Against the last acknowledged snapshot before it. */
  readonly changes: Changes;
  readonly address: string;
  readonly rollbackOf: number | undefined;
  readonly status: number | undefined;
  readonly detail: string | undefined;
}

export interface HistoryReport {
  readonly pushes: readonly ReportedPush[];
  readonly decisions: readonly Decision[];
}

/** @param page so many pushes, from before one on; all of them where it is left out */
export async function historyReport(
  { ledger }: Dependencies,
  page?: { readonly limit: number; readonly before?: number | undefined },
): Promise<HistoryReport> {
  const pushes = page === undefined ? await ledger.pushes.all() : await ledger.pushes.newest(page.limit, page.before);
  return { pushes: pushes.map(reportedPush), decisions: await allDecisions(ledger) };
}

/** Why a push came out as it did. */
export function detailOf({ outcome, detail }: PushRecord): string | undefined {
  return outcome === undefined ? 'no answer yet' : detail;
}

export function reportedPush(push: PushRecord): ReportedPush {
  const { id, atMs, outcome, digest, drivers, points, bytes, changes, address, rollbackOf, status } = push;
  const at = new Date(atMs).toISOString();
  const size = { drivers, points, bytes };
  const detail = detailOf(push);
  return { id, at, outcome: outcome ?? 'unknown', digest, ...size, changes, address, rollbackOf, status, detail };
}
