/** What the next `sync` would do: the same steps as a pass, on a copy of the buffer and a ledger that keeps only holds. */
import {
  ChangeCounts,
  type Changes,
  type DriverChange,
  type RenamedId,
  effectAt,
  hasChanges,
  noChanges,
} from '../../core/series/diff.ts';
import { compareRuns } from '../../core/series/compare.ts';
import { LargestChanges, type PointChange } from '../../core/series/largest.ts';
import type { PackedPoints } from '../../core/series/packing.ts';
import { type PathTotal, PathTotals } from '../../core/series/totals.ts';
import type { SnapshotPoints } from '../../core/ledger.ts';
import type { Dependencies } from '../dependencies.ts';
import { prepare } from '../prepare/prepare.ts';
import type { PushReport } from '../push/push-report.ts';
import { acceptedDrivers, buildSnapshot, withNewest } from '../push/newest-snapshot.ts';
import { blockedReason, isFirstPush, rollbackBlock, snapshotBlock } from '../push/blocked.ts';
import { pushNeed } from '../push/push-need.ts';
import { isRepeatDue } from '../push/repeat.ts';
import { landsUntilMs, mayStillLand } from '../push/send.ts';
import { loopState } from '../loop-record.ts';
import { servedBefore } from '../push/served.ts';
import { readSources } from '../read-sources.ts';
import { passExit, sourceReport } from '../report.ts';
import type { SourceReport } from '../../core/report.ts';
import { review } from '../review/review.ts';
import type { Verdict } from '../review/verdict.ts';

export interface PlanReport {
  /** Against what the address holds, as far as is known. */
  readonly changes: Changes;
  readonly digest: string;
  readonly exit: number;
  readonly drivers: number;
  readonly points: number;
  readonly bytes: number;
  /** Why nothing may be pushed, as `status` says it: while a rollback holds, that it does. */
  readonly blocked?: Block | undefined;
  readonly rolledBackTo?: number;
  /** While a rollback holds: why the pass that goes on from the sources may push nothing either. */
  readonly blockedAfterwards?: Block | undefined;
  /** The first push to the address deletes every driver that is not among these. */
  readonly isFirstPush: boolean;
  /** From when on a pass that is asked for pushes: now, or where nothing changes, the moment from which it pushes all the same. */
  readonly nextPush?: string;
  readonly nextPushWhy?: string;
  /** The service has not this snapshot, or may have another one: it is pushed as soon as nothing keeps it from that. */
  readonly isPushDue?: boolean;
  /** The last acknowledged snapshot is pushed once more, though nothing changes. */
  readonly isRepeatDue: boolean;
  /** It is another snapshot, and changes nothing at the service: another `stamp` or `shouldDeleteMissing`, or only `keptPoints`. */
  readonly isSameData: boolean;
  /**
   * The last acknowledged push, where the snapshot is another one and that of the push cannot be read: then all points are shown as created, and
   * none as deleted.
   */
  readonly unreadablePush?: number;
  /** With `shouldDeleteMissing: false`: the points pushed last that are no longer in the snapshot, which the service keeps. */
  readonly keptPoints: number;
  /** Also those of held candidates, where a new id template is what holds them. */
  readonly renamed: readonly RenamedId[];
  readonly sources: readonly PlannedSource[];
}

interface Block {
  readonly reason: string;
  readonly hint?: string | undefined;
}

/** Why the pass that the plan is of may push nothing: it goes on from the sources after a rollback. */
export function blockOfPass(report: PlanReport): Block | undefined {
  return report.rolledBackTo === undefined ? report.blocked : report.blockedAfterwards;
}

export interface PlannedSource extends SourceReport {
  /**
   * The largest changes: of a held candidate against the accepted read, else of what would be pushed against the last
   * acknowledged snapshot.
   */
  readonly largest: readonly PointChange[];
  /** How many points change in all. */
  readonly changedPoints: number;
  /** What the values under each first element of a path that changes add up to, before and after. */
  readonly totals: readonly PathTotal[];
  /** The first of the drivers that get another path: two may exchange theirs, and no point changes. */
  readonly moved: readonly MovedDriver[];
  /** How many drivers get another path in all. */
  readonly movedDrivers: number;
}

export interface MovedDriver {
  readonly driver: string;
  readonly from: readonly string[];
  readonly to: readonly string[];
}

const notRecorded = 'no pass holds this yet: "driver-sync status" says what is held and can be approved';

/** @param shownMax how many changes of each source are listed; Infinity: all of them */
export async function plan(
  deps: Dependencies,
  { shownMax }: { readonly shownMax: number },
  signal: AbortSignal,
): Promise<PlanReport> {
  const { ledger, address, settings } = deps;
  const { rolledBack } = await ledger.state();
  // A sync goes on from the sources after a rollback, so its plan does too.
  await prepare(deps, { resume: true });
  const read = await readSources(deps, {}, signal);
  const held = new ChangesBySource(shownMax);
  const reviewed = await review(deps, read, (source, change) => held.of(source).note(change));
  const snapshot = await buildSnapshot(deps);
  const last = await ledger.pushes.lastAcknowledged(address);
  const pushed = new ChangesBySource(shownMax);
  const counts = new ChangeCounts();
  const effect = effectAt(settings);
  let keptPoints = 0;
  // Equal bytes need no comparison, and their file may be damaged.
  const isOther = last?.digest !== snapshot.digest;
  const before = isOther && last !== undefined ? await servedBefore(deps, settings, last) : undefined;
  const compared = compareRuns(before?.readPoints() ?? [], isOther ? acceptedDrivers(deps) : [], (change) => {
    const { source } = (change.after ?? change.before) as SnapshotPoints;
    const seen = effect(change);
    keptPoints += change.deleted.length - (seen?.deleted.length ?? 0);
    if (seen === undefined) return;
    pushed.of(source).note(seen);
    counts.add(seen);
  });
  const changes = counts.sum();
  const blocked = await blockedPush(deps);
  const waiting =
    blocked === undefined ? await withNewest(deps, snapshot, (newest) => snapshotBlock(deps, newest)) : undefined;
  // Where another agent leads, or the disk is full, what is held here may not be recorded, and nobody can approve it.
  const recorded = new Set((await ledger.holds.held()).map((one) => one.digest));
  const verdicts = reviewed.map((verdict) =>
    verdict.approvable !== true || recorded.has(verdict.digest ?? '')
      ? verdict
      : { ...verdict, approvable: false, hint: notRecorded },
  );
  const isUnrecorded = waiting?.hint !== undefined && !recorded.has(snapshot.digest);
  const push: PushReport = blocked ??
    (isUnrecorded ? { ...waiting, hint: notRecorded } : waiting) ?? { outcome: 'unchanged' };
  const stopped = push.outcome === 'blocked' ? { reason: push.reason ?? '', hint: push.hint } : undefined;
  const exit = passExit(push, verdicts, read.reads, deps);
  return {
    changes,
    digest: snapshot.digest,
    exit: exit === 0 && isOther ? 2 : exit,
    drivers: snapshot.drivers,
    points: snapshot.points,
    bytes: snapshot.bytes,
    ...blocksOf(stopped, rolledBack?.push),
    ...(rolledBack === undefined && push.outcome !== 'blocked' ? await nextPushOf(deps, snapshot.digest) : {}),
    isFirstPush: await isFirstPush(deps),
    isRepeatDue: !isOther && (await isRepeatDue(deps)),
    isSameData: !hasChanges(changes) && last !== undefined && isOther,
    ...(isOther && last !== undefined && before === undefined ? { unreadablePush: last.id } : {}),
    keptPoints,
    renamed: [...compared.renamed, ...verdicts.flatMap((verdict) => verdict.renamed ?? [])],
    sources: [...verdicts, ...leftBefore(verdicts, pushed)].map((verdict) => {
      const isHeld = verdict.state === 'held';
      const found = (isHeld ? held : pushed).of(verdict.source);
      const totals = found.totals(() => deps.buffer.reads.drivers(verdict.source, isHeld ? 'candidate' : 'accepted'));
      const { largest, moved, movedDrivers } = found;
      const points = { largest: largest.shown(), changedPoints: largest.count, totals };
      return { ...sourceReport(deps, verdict), ...points, moved, movedDrivers };
    }),
  };
}

function blocksOf(
  stopped: Block | undefined,
  push: number | undefined,
): Pick<PlanReport, 'blocked' | 'rolledBackTo' | 'blockedAfterwards'> {
  if (push === undefined) return stopped === undefined ? {} : { blocked: stopped };
  const afterwards = stopped === undefined ? {} : { blockedAfterwards: stopped };
  return { blocked: rollbackBlock(push), rolledBackTo: push, ...afterwards };
}

/** By the rule that a pass goes by, with what it would wait for. */
async function nextPushOf(
  deps: Dependencies,
  digest: string,
): Promise<Required<Pick<PlanReport, 'nextPush' | 'nextPushWhy' | 'isPushDue'>>> {
  const need = await pushNeed(deps, digest);
  const due = { why: need.why, atMs: Math.max(need.atMs, deps.clock.now().getTime()) };
  const landsMs = (await landsUntilMs(deps, digest)) ?? -Infinity;
  const askedMs = (await loopState(deps)).retry?.askedUntilMs ?? -Infinity;
  const waits = [
    { atMs: landsMs, why: mayStillLand },
    { atMs: askedMs, why: 'the service asked for it with Retry-After' },
  ];
  const { atMs, why } = waits.reduce((latest, wait) => (wait.atMs > latest.atMs ? wait : latest), due);
  return { nextPush: new Date(atMs).toISOString(), nextPushWhy: why, isPushDue: need.isDue };
}

/** Sources that an earlier pass dropped, while the service still has drivers of them. */
function leftBefore(verdicts: readonly Verdict[], pushed: ChangesBySource): readonly Verdict[] {
  const judged = new Set(verdicts.map(({ source }) => source));
  return pushed
    .names()
    .filter((source) => !judged.has(source))
    .map((source) => {
      const reason = 'it left the config, and the service still has drivers of it';
      return { source, state: 'unchanged', reason, changes: noChanges };
    });
}

class SourceChanges {
  readonly largest: LargestChanges;
  readonly moved: MovedDriver[] = [];
  movedDrivers = 0;
  readonly #totals = new PathTotals();
  readonly #max: number;

  constructor(max: number) {
    this.#max = max;
    this.largest = new LargestChanges(max);
  }

  note(change: DriverChange): void {
    this.largest.add(change);
    // Adding up every value takes time, and whoever wants to see no changes sees no totals.
    if (this.#max > 0) this.#totals.note(change);
    this.#noteMoved(change);
  }

  #noteMoved({ id, before, after }: DriverChange): void {
    if (before === undefined || after === undefined || before.path === after.path) return;
    this.movedDrivers++;
    if (this.moved.length >= this.#max) return;
    const [from, to] = [JSON.parse(before.path) as string[], JSON.parse(after.path) as string[]];
    this.moved.push({ driver: id, from, to });
  }

  /** @param after all drivers as they are after the changes */
  totals(after: () => Iterable<PackedPoints>): readonly PathTotal[] {
    if (!this.#totals.hasChanges) return [];
    for (const driver of after()) this.#totals.count(driver);
    return this.#totals.list();
  }
}

class ChangesBySource {
  readonly #max: number;
  readonly #sources = new Map<string, SourceChanges>();

  constructor(max: number) {
    this.#max = max;
  }

  names(): readonly string[] {
    return [...this.#sources.keys()].sort();
  }

  of(source: string): SourceChanges {
    const known = this.#sources.get(source) ?? new SourceChanges(this.#max);
    this.#sources.set(source, known);
    return known;
  }
}

async function blockedPush(deps: Dependencies): Promise<PushReport | undefined> {
  const blocked = await blockedReason(deps);
  return blocked && { outcome: 'blocked', ...blocked };
}
