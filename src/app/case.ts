/** The case of one candidate: what it would change, what the guard says of it, and what was approved. */
import { type WentBack, wentBack } from '../core/answer-stamp.ts';
import { type Changes, type DriverChange, countChanges, diffDrivers } from '../core/diff.ts';
import { type Hold, judge } from '../core/guard.ts';
import { type PackedDriver, PointWalk, pointCount } from '../core/packing.ts';
import type { SourceSettings } from '../core/settings.ts';
import type { Approval, ReadPart } from '../core/stores.ts';
import { deletedPoints, dropApprovals, isWithin, pendingApproval } from './approvals.ts';
import { withInherited } from './departed.ts';
import type { World } from './world.ts';

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
  world: World,
  settings: SourceSettings,
  { departed, mayCountTwice, mayLag }: Circumstances,
): Case {
  const { buffer, ledger, clock } = world;
  const { guard, shouldDeleteMissing } = world.settings;
  const source = settings.name;
  const acceptedParts = buffer.readParts(source, 'accepted');
  const candidateParts = buffer.readParts(source, 'candidate') ?? [];
  const accepted = { drivers: 0, points: 0, rejects: sumRejects(acceptedParts ?? []) };
  const candidate = { drivers: 0, points: 0, rejects: sumRejects(candidateParts) };
  const earliest = buffer.earliestMonth(candidateParts.map(({ id }) => id)) ?? Infinity;
  let dropsOnlyOldest = true;
  let firstDeleted = Infinity;
  const before = withInherited(world, source, departed);
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
          recentDeletes: ledger.deletesSince(source, clock.now().getTime() - dayMs, readKey(world, source)),
          mayCountTwice,
          wentBack: findWentBack(acceptedParts ?? [], candidateParts),
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
    diff: () => diffDrivers(withInherited(world, source, departed), buffer.drivers(source, 'candidate')),
    hold: hold && { ...hold, approvable: true },
    approval: undefined,
    isApproved: false,
  };
  applyApproval(world, one);
  return one;
}

function findWentBack(accepted: readonly ReadPart[], candidate: readonly ReadPart[]): WentBack | undefined {
  for (const { name, stamp } of candidate) {
    const before = accepted.find((part) => part.name === name);
    const found = before && wentBack(before.stamp, stamp);
    if (found !== undefined) return found;
  }
  return undefined;
}

/** An approval lets a held candidate pass that deletes nothing which the approved one did not. */
function applyApproval(world: World, one: Case): void {
  const approval = pendingApproval(world, one.source);
  if (approval === undefined) return;
  const deletes = deletedPoints(one.diff());
  if (isWithin(deletes, world.ledger.approvedDeletes(approval.id))) {
    one.isApproved = one.hold !== undefined || deletes.size > 0;
    one.hold = undefined;
    one.approval = approval;
  } else if (one.hold !== undefined) {
    dropApprovals(world, one.source, 'a newer read of the source would delete more than the approved one');
  }
}

/** Names a source's candidate, in this buffer and no other. */
export function readKey({ buffer }: World, source: string): string {
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
