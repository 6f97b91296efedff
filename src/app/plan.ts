/** What the next `sync` would do, worked out in a scratch copy. */
import { type Changes, type DriverChange, diffDrivers } from '../core/diff.ts';
import { countChanges } from '../core/diff.ts';
import { adoptAfterLoss, adoptRollback } from './adopt.ts';
import { judgeAll } from './judge.ts';
import { type PushReport, acceptedDrivers, blockedReason, buildSnapshot, snapshotBlock } from './push.ts';
import { openReadable } from './kept.ts';
import { readSource } from './read-source.ts';
import { type SourceReport, passExit, sourceReport } from './report.ts';
import { forgetRequested } from './requests.ts';
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
  /** Ids that changed under the same path: the service sees a delete and a create. */
  readonly renamed: readonly { readonly from: string; readonly to: string }[];
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
  const renamed = new Renames();
  const changes = countChanges(
    diffDrivers(last === undefined ? [] : (openReadable(world, last.digest)?.read() ?? []), acceptedDrivers(world)),
    (change) => renamed.note(change),
  );
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
    isFirstPush: last === undefined && settings.shouldDeleteMissing,
    renamed: renamed.found(),
    sources: verdicts.map((verdict) => sourceReport(world, verdict)),
  };
}

function blockedPush(world: World): PushReport | undefined {
  const blocked = blockedReason(world);
  return blocked && { outcome: 'blocked', ...blocked };
}

/** Pairs deleted with created drivers of one path. */
class Renames {
  readonly #deleted = new Map<string, string>();
  readonly #created = new Map<string, string>();

  note({ kind, id, before, after }: DriverChange): void {
    if (kind === 'delete' && before !== undefined) this.#deleted.set(before.path, id);
    if (kind === 'create' && after !== undefined) this.#created.set(after.path, id);
  }

  found(): { from: string; to: string }[] {
    return [...this.#deleted].flatMap(([path, from]) => {
      const to = this.#created.get(path);
      return to === undefined ? [] : [{ from, to }];
    });
  }
}
