/** The case of one candidate: what it would change, what the guard says of it, and what was approved. */
import { type Regression, regression } from '../../core/guard/answer-version.ts';
import { type Changes, type DriverChange, countChanges, diffDrivers } from '../../core/series/diff.ts';
import { type Hold, judge } from '../../core/guard/guard.ts';
import { type PackedDriver, PointWalk, pointCount } from '../../core/series/packing.ts';
import type { SourceSettings } from '../../core/settings.ts';
import type { Approval, ReadPart } from '../../core/stores.ts';
import { deletedPoints, dropApprovals, isWithin, pendingApproval } from './approvals.ts';
import { withInherited } from './removed-sources.ts';
import type { Dependencies } from '../dependencies.ts';

const dayMs = 86_400_000;

export interface Case {
  readonly source: string;
  readonly settings: SourceSettings | undefined;
  readonly changes: Changes;
  readonly candidate: { drivers: number; points: number };
  readonly isFirst: boolean;
  /** What accepting it changes, of drivers that it takes over too. */
  readonly diff: () => Iterable<DriverChange>;
  hold: (Hold & { readonly approvable: boolean }) | undefined;
  /** What waits for a read of this source. */
  approval: Approval | undefined;
  /** It would be held without the approval. */
  isApproved: boolean;
}

interface Circumstances {
  readonly departed: readonly string[];
  readonly mayCountTwice: boolean;
  readonly mayLag: boolean;
}

/** Hears a candidate, against what the source and the departed ones that it takes over have accepted. */
export function openCase(
  deps: Dependencies,
  settings: SourceSettings,
  { departed, mayCountTwice, mayLag }: Circumstances,
): Case {
  const { buffer, ledger, clock } = deps;
  const { guard, shouldDeleteMissing } = deps.settings;
  const source = settings.name;
  const acceptedParts = buffer.readParts(source, 'accepted');
  const candidateParts = buffer.readParts(source, 'candidate') ?? [];
  const accepted = { drivers: 0, points: 0, rejects: sumRejects(acceptedParts ?? []) };
  const candidate = { drivers: 0, points: 0, rejects: sumRejects(candidateParts) };
  const earliest = buffer.earliestMonth(candidateParts.map(({ id }) => id)) ?? Infinity;
  let dropsOnlyOldest = true;
  let firstDeleted = Infinity;
  const before = withInherited(deps, source, departed);
  const changes = countChanges(
    diffDrivers(counting(before, accepted), counting(buffer.drivers(source, 'candidate'), candidate)),
    ({ deleted }) => {
      if (deleted.some((month) => month >= earliest)) dropsOnlyOldest = false;
      firstDeleted = Math.min(firstDeleted, ...deleted);
    },
  );
  const isFirst = acceptedParts === undefined && accepted.drivers === 0;
  const hold = shouldDeleteMissing
    ? judge(
        {
          accepted: isFirst ? undefined : accepted,
          candidate,
          changes,
          dropsOnlyOldest,
          dropsOnlyNewest:
            mayLag &&
            changes.points.create === 0 &&
            changes.points.delete > 0 &&
            firstDeleted > latestMonth(buffer.drivers(source, 'candidate')),
          recentDeletes: ledger.deletesSince(source, clock.now().getTime() - dayMs, readKey(deps, source)),
          mayCountTwice,
          regression: findRegression(acceptedParts ?? [], candidateParts),
          departed: false,
        },
        { ...guard, mayBeEmpty: settings.mayBeEmpty },
      )
    : undefined;
  const one: Case = {
    source,
    settings,
    changes,
    candidate,
    isFirst,
    diff: () => diffDrivers(withInherited(deps, source, departed), buffer.drivers(source, 'candidate')),
    hold: hold && { ...hold, approvable: true },
    approval: undefined,
    isApproved: false,
  };
  applyApproval(deps, one);
  return one;
}

function findRegression(accepted: readonly ReadPart[], candidate: readonly ReadPart[]): Regression | undefined {
  for (const { name, version } of candidate) {
    const before = accepted.find((part) => part.name === name);
    const found = before && regression(before.version, version);
    if (found !== undefined) return found;
  }
  return undefined;
}

/** An approval lets a held candidate pass that deletes nothing which the approved one did not. */
function applyApproval(deps: Dependencies, one: Case): void {
  const approval = pendingApproval(deps, one.source);
  if (approval === undefined) return;
  const deletes = deletedPoints(one.diff());
  if (isWithin(deletes, deps.ledger.approvedDeletes(approval.id))) {
    one.isApproved = one.hold !== undefined || deletes.size > 0;
    one.hold = undefined;
    one.approval = approval;
  } else if (one.hold !== undefined) {
    dropApprovals(deps, one.source, 'a newer read of the source would delete more than the approved one');
  }
}

/** Names a source's candidate, in this buffer and no other. */
export function readKey({ buffer }: Dependencies, source: string): string {
  const ids = buffer.readParts(source, 'candidate')?.map(({ id }) => id);
  return `${buffer.fact('buffer')} ${ids?.join(' ')}`;
}

function latestMonth(drivers: Iterable<PackedDriver>): number {
  let latest = -Infinity;
  for (const { points } of drivers) {
    const walk = new PointWalk(points);
    while (walk.next()) latest = Math.max(latest, walk.month);
  }
  return latest;
}

function* counting(
  drivers: Iterable<PackedDriver>,
  counts: { drivers: number; points: number },
): Generator<PackedDriver> {
  for (const driver of drivers) {
    counts.drivers++;
    counts.points += pointCount(driver.points);
    yield driver;
  }
}

function sumRejects(parts: readonly { readonly rejects: number }[]): number {
  return parts.reduce((sum, part) => sum + part.rejects, 0);
}
