/** What the next `sync` would do, worked out in a scratch copy. */
import {
  type Changes,
  type DriverChange,
  type RenamedId,
  countChanges,
  diffDrivers,
  findRenames,
  hasChanges,
  withoutDeletes,
} from '../../core/series/diff.ts';
import { restoreAfterLoss, restoreRollback } from '../prepare/restore.ts';
import { review } from '../review/review.ts';
import {
  type PushReport,
  acceptedDrivers,
  blockedReason,
  buildSnapshot,
  isFirstPush,
  snapshotBlock,
} from '../push/push.ts';
import { openReadable } from '../push/retention.ts';
import { readSource } from '../read/read-source.ts';
import { type SourceReport, passExit, sourceReport } from '../report.ts';
import { forgetRequested } from '../prepare/requests.ts';
import type { Ledger } from '../../core/stores.ts';
import type { Dependencies } from '../dependencies.ts';

export interface PlanReport {
  /** Against the last acknowledged snapshot of the address. */
  readonly changes: Changes;
  readonly digest: string;
  readonly exit: number;
  readonly drivers: number;
  readonly points: number;
  readonly bytes: number;
  /** Why nothing may be pushed. */
  readonly blocked?: { readonly reason: string; readonly hint?: string | undefined } | undefined;
  /** The first push to the address deletes every driver that is not among these. */
  readonly isFirstPush: boolean;
  /** Nothing changes but how it is sent: another `stamp` or `shouldDeleteMissing`. */
  readonly isSameData: boolean;
  /** Also those of held candidates, where a new id template is what holds them. */
  readonly renamed: readonly RenamedId[];
  readonly sources: readonly SourceReport[];
}

/** `deps` are scratch ones: the buffer is a copy and the ledger keeps no more than held digests. */
export async function plan(deps: Dependencies, signal: AbortSignal): Promise<PlanReport> {
  const { ledger, address, settings } = deps;
  restoreAfterLoss(deps);
  restoreRollback(deps);
  // A sync goes on from the sources after a rollback, so its plan does too.
  ledger.setFact('frozen', undefined);
  forgetRequested(deps);
  const reads = await Promise.all(settings.sources.map((source) => readSource(deps, source, signal)));
  const verdicts = review(deps, reads);
  const snapshot = buildSnapshot(deps);
  const last = ledger.lastAcknowledged(address);
  const before = last === undefined ? undefined : openReadable(deps, last.digest);
  const diff = (): Iterable<DriverChange> => diffDrivers(before?.readPoints() ?? [], acceptedDrivers(deps));
  const all = countChanges(diff());
  const changes = settings.shouldDeleteMissing ? all : withoutDeletes(all);
  const renamed = [...findRenames(diff()), ...verdicts.flatMap((verdict) => verdict.renamed ?? [])];
  const push: PushReport = blockedPush(deps) ?? snapshotBlock(deps, snapshot) ?? { outcome: 'unchanged' };
  const exit = passExit(push, verdicts, reads, deps);
  return {
    changes,
    digest: snapshot.digest,
    exit: exit === 0 && last?.digest !== snapshot.digest ? 2 : exit,
    drivers: snapshot.drivers,
    points: snapshot.points,
    bytes: snapshot.bytes,
    ...(push.outcome === 'blocked' ? { blocked: { reason: push.reason ?? '', hint: push.hint } } : {}),
    isFirstPush: isFirstPush(deps),
    isSameData: !hasChanges(changes) && last !== undefined && last.digest !== snapshot.digest,
    renamed,
    sources: verdicts.map((verdict) => sourceReport(deps, verdict)),
  };
}

function blockedPush(deps: Dependencies): PushReport | undefined {
  const blocked = blockedReason(deps);
  return blocked && { outcome: 'blocked', ...blocked };
}

/** What a plan may write to the ledger: the digests of held candidates, and nothing else. */
export function holdingOnly(ledger: Ledger): Ledger {
  const facts = new Map<string, unknown>();
  const nothing = (): void => undefined;
  const mute = { release: nothing, closeApproval: nothing, recordDeletes: nothing, finishRequest: nothing };
  const factual: Pick<Ledger, 'fact' | 'setFact'> = {
    fact: <T>(key: string) => (facts.has(key) ? facts.get(key) : ledger.fact(key)) as T | undefined,
    setFact: (key, value) => void facts.set(key, value),
  };
  const own: Partial<Ledger> = { ...mute, ...factual };
  return new Proxy(ledger, {
    get(target, key: keyof Ledger) {
      const member = own[key] ?? target[key];
      return typeof member === 'function' ? member.bind(target) : member;
    },
  });
}
