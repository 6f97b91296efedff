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
} from '../core/diff.ts';
import { adoptAfterLoss, adoptRollback } from './adopt.ts';
import { judgeAll } from './judge.ts';
import { type PushReport, acceptedDrivers, blockedReason, buildSnapshot, isFirstPush, snapshotBlock } from './push.ts';
import { openReadable } from './kept.ts';
import { readSource } from './read-source.ts';
import { type SourceReport, passExit, sourceReport } from './report.ts';
import { forgetRequested } from './requests.ts';
import type { Ledger } from '../core/stores.ts';
import type { World } from './world.ts';

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

/** `world` is a scratch one: its buffer is a copy and it keeps no more than held digests. */
export async function plan(world: World, signal: AbortSignal): Promise<PlanReport> {
  const { ledger, address, settings } = world;
  adoptAfterLoss(world);
  adoptRollback(world);
  // A sync goes on from the sources after a rollback, so its plan does too.
  ledger.setFact('frozen', undefined);
  forgetRequested(world);
  const reads = await Promise.all(settings.sources.map((source) => readSource(world, source, signal)));
  const verdicts = judgeAll(world, reads);
  const snapshot = buildSnapshot(world);
  const last = ledger.lastAcknowledged(address);
  const before = last === undefined ? undefined : openReadable(world, last.digest);
  const diff = (): Iterable<DriverChange> => diffDrivers(before?.readPoints() ?? [], acceptedDrivers(world));
  const all = countChanges(diff());
  const changes = settings.shouldDeleteMissing ? all : withoutDeletes(all);
  const renamed = [...findRenames(diff()), ...verdicts.flatMap((verdict) => verdict.renamed ?? [])];
  const push: PushReport = blockedPush(world) ?? snapshotBlock(world, snapshot) ?? { outcome: 'unchanged' };
  const exit = passExit(push, verdicts, reads, world);
  return {
    changes,
    digest: snapshot.digest,
    exit: exit === 0 && last?.digest !== snapshot.digest ? 2 : exit,
    drivers: snapshot.drivers,
    points: snapshot.points,
    bytes: snapshot.bytes,
    ...(push.outcome === 'blocked' ? { blocked: { reason: push.reason ?? '', hint: push.hint } } : {}),
    isFirstPush: isFirstPush(world),
    isSameData: !hasChanges(changes) && last !== undefined && last.digest !== snapshot.digest,
    renamed,
    sources: verdicts.map((verdict) => sourceReport(world, verdict)),
  };
}

function blockedPush(world: World): PushReport | undefined {
  const blocked = blockedReason(world);
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
