/** Decides about one candidate: what it would change, what the guard says to that, and what was approved. */
import { type CarriedDoubt, judge } from '../../core/guard/guard.ts';
import { type Regression, regression } from '../../core/guard/answer-version.ts';
import { comparing } from '../../core/series/compare.ts';
import { type DriverChange, pairDrivers } from '../../core/series/diff.ts';
import type { PackedDriver, PackedPoints } from '../../core/series/packing.ts';
import type { SourceSettings } from '../../core/settings.ts';
import type { ReadKind, ReadPart } from '../../core/buffer.ts';
import type { ApprovalScope } from '../../core/ledger.ts';
import type { Dependencies } from '../dependencies.ts';
import { inheritedFrom, withInherited } from '../read/removed-sources.ts';
import { inTurns } from '../turns.ts';
import { isWithin, pendingApproval } from './approvals.ts';
import { findCarriedDoubts } from './carried-doubts.ts';
import type { CandidateDecision, Reviewed } from './decision.ts';
import { ValueGuardReview, noFindings } from './values.ts';

const dayMs = 86_400_000;

interface Circumstances {
  /** Sources that left the config. */
  readonly removed: readonly string[];
  /** See `Source.mayLag`. */
  readonly mayLag: boolean;
  readonly watch: WatchChanges | undefined;
}

/** Is told of every change that a candidate makes, and that a removed source's leaving makes. */
export type WatchChanges = (source: string, change: DriverChange) => void;

/** Judges a candidate against what its source, and the removed ones that it takes over, have accepted. */
export async function decide(
  deps: Dependencies,
  settings: SourceSettings,
  { removed, mayLag, watch }: Circumstances,
): Promise<CandidateDecision> {
  const { buffer } = deps;
  const source = settings.name;
  const accepted = buffer.reads.parts(source, 'accepted') ?? [];
  const candidate = buffer.reads.parts(source, 'candidate') ?? [];
  const before = (): Iterable<PackedPoints> => withInherited(deps, source, removed);
  const after = (): Iterable<PackedDriver> => buffer.reads.drivers(source, 'candidate');
  const gone = inheritedFrom(deps, source, removed);
  const guard = new ValueGuardReview(deps, settings);
  const seen = (change: DriverChange): void => {
    guard.see(change);
    watch?.(source, change);
  };
  const comparison = await inTurns(comparing(before(), after(), seen));
  const isFirst = buffer.reads.parts(source, 'accepted') === undefined && comparison.before.drivers === 0;
  const values = isFirst ? noFindings : guard.findings(() => pairDrivers(before(), after()));
  const doubts = findCarriedDoubts(deps, settings, removed);
  const scope = {
    deletes: comparison.deletes,
    carried: doubts.map(({ carried }) => carried),
    findings: values.holding,
    isEnd: false,
  };
  const approval = await pendingApproval(deps, source);
  const approved = approval && (await deps.ledger.holds.approvedScope(approval.id));
  const reviewed: Reviewed = {
    source,
    settings,
    comparison,
    values,
    inheritedFrom: gone,
    isFirst,
    scope,
    approval,
    isCovered: approved !== undefined && isWithin(scope, approved),
  };
  const hold = await judgeAll(deps, reviewed, { mayLag, accepted, candidate, doubts });
  return withApproval(reviewed, guard.hold(hold, values), approved);
}

async function judgeAll(
  deps: Dependencies,
  { settings, comparison, isFirst, inheritedFrom: gone }: Reviewed,
  found: {
    readonly mayLag: boolean;
    readonly accepted: readonly ReadPart[];
    readonly candidate: readonly ReadPart[];
    readonly doubts: readonly CarriedDoubt[];
  },
): Promise<ReturnType<typeof judge>> {
  const { ledger, clock } = deps;
  if (!deps.settings.shouldDeleteMissing) return undefined;
  const { changes, before, after, dropsOnlyOldest, dropsOnlyNewest } = comparison;
  const { name, mayBeEmpty } = settings;
  const nowMs = clock.now().getTime();
  const key = readKey(deps, name);
  return judge(
    {
      accepted: isFirst ? undefined : { ...before, rejects: sumRejects(found.accepted) },
      candidate: { ...after, rejects: sumRejects(found.candidate) },
      changes,
      dropsOnlyOldest,
      dropsOnlyNewest: found.mayLag && dropsOnlyNewest,
      letThrough: {
        day: await ledger.holds.deletesSince([name, ...gone], nowMs - dayMs, key),
        month: await ledger.holds.deletesSince([name, ...gone], nowMs - 30 * dayMs, key),
      },
      doubts: found.doubts,
      regression: findRegression(found.accepted, found.candidate),
    },
    { ...deps.settings.guard, mayBeEmpty },
  );
}

/** An approval lets a held candidate pass that does nothing which the approved one did not. */
function withApproval(
  reviewed: Reviewed,
  hold: ReturnType<typeof judge>,
  approved: ApprovalScope | undefined,
): CandidateDecision {
  if (reviewed.isCovered) {
    return { ...reviewed, kind: 'accept', isApproved: hold !== undefined || reviewed.scope.deletes.size > 0 };
  }
  if (hold === undefined) return { ...reviewed, kind: 'accept', isApproved: false };
  const whyDropped =
    approved?.isEnd === true
      ? 'the source is back in the config, and that it left was what was approved'
      : reviewed.values.holding.length > 0
        ? `a newer read of the source is held for more than was approved: ${hold.reason}`
        : 'a newer read of the source would delete more than the approved one, or count other parts twice';
  return { ...reviewed, ...hold, kind: 'hold', approvable: true, whyDropped };
}

function findRegression(accepted: readonly ReadPart[], candidate: readonly ReadPart[]): Regression | undefined {
  for (const { name, version } of candidate) {
    const before = accepted.find((part) => part.name === name);
    const found = before && regression(before.version, version);
    if (found !== undefined) return found;
  }
  return undefined;
}

/** Names a source's candidate and what it would replace, in this buffer and no other. */
export function readKey({ buffer }: Dependencies, source: string): string {
  const idsOf = (kind: ReadKind): string => (buffer.reads.parts(source, kind) ?? []).map(({ id }) => id).join(' ');
  return `${buffer.state().id} ${idsOf('accepted')} > ${idsOf('candidate')}`;
}

function sumRejects(parts: readonly { readonly rejects: number }[]): number {
  return parts.reduce((sum, part) => sum + part.rejects, 0);
}
