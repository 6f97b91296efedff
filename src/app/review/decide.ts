/** Decides about one candidate: what it would change, what the guard says to that, and what was approved. */
import {
  type CarriedDoubt,
  judge,
  judgeBeginning,
  judgeDoubts,
  nameOfBeginning,
  nameOfDoubt,
} from '../../core/guard/guard.ts';
import { type Regression, regression } from '../../core/guard/answer-version.ts';
import { type Comparison, comparing } from '../../core/series/compare.ts';
import { type DriverChange, hasChanges } from '../../core/series/diff.ts';
import { mergeDriverRuns } from '../../core/series/merge.ts';
import type { PackedDriver, PackedPoints } from '../../core/series/packing.ts';
import type { SourceSettings } from '../../core/settings.ts';
import type { ReadPart } from '../../core/buffer.ts';
import type { DeletedPoints } from '../../core/ledger.ts';
import type { Dependencies } from '../dependencies.ts';
import { acceptedRejects } from '../read/accepted-parts.ts';
import { inheritedFrom, withInherited } from '../read/removed-sources.ts';
import { inTurns } from '../turns.ts';
import { furtherThan, pendingApproval } from './approvals.ts';
import { findCarriedDoubts } from './carried-doubts.ts';
import { BeginningReview } from './beginning.ts';
import type { CandidateDecision, Facts, Reviewed } from './decision.ts';
import { dayMs, letThroughIn, letThroughInMonth } from './let-through.ts';
import type { PartsToForget } from './forgotten.ts';
import { goneFileDoubts } from './gone-file-doubts.ts';
import type { Move } from './moves.ts';
import { findThinnedParts, isLoss } from './thinned-parts.ts';
import { carriedPathsNote, findOtherwise, otherwiseDoubts } from './read-otherwise.ts';
import {
  type Runs,
  type ValueFindings,
  ValueGuardReview,
  findingsOf,
  joinFindings,
  lookAtValues,
  noFindings,
} from './values.ts';

interface Circumstances {
  /** Sources that left the config. */
  readonly removed: readonly string[];
  readonly watch: WatchChanges | undefined;
  readonly forgotten: PartsToForget;
}

/** Is told of every change that a candidate makes, and that a removed source's leaving makes. */
export type WatchChanges = (source: string, change: DriverChange) => void;

/** A candidate whose values were looked at. */
export interface Looked {
  readonly facts: Facts;
  readonly guard: ValueGuardReview;
}

/** Looks at a candidate beside what its source, and the removed ones that it takes over, have accepted. */
export async function look(
  deps: Dependencies,
  { settings, mayLag, goneFiles, readBy }: Pick<Facts, 'settings' | 'mayLag' | 'goneFiles' | 'readBy'>,
  { removed, watch, forgotten }: Circumstances,
): Promise<Looked> {
  const source = settings.name;
  const left = forgotten.names.get(source);
  const runs = {
    before: () => withInherited(deps, source, removed, left),
    after: () => deps.buffer.reads.drivers(source, 'candidate'),
  };
  const gone = inheritedFrom(deps, source, removed);
  const begins = new BeginningReview(deps, settings);
  const compared = await compare(deps, settings, runs, (name, change) => {
    begins.see(change);
    watch?.(name, change);
  });
  const { comparison } = compared;
  // What takes the place of forgotten parts is held against what they had.
  const isReplaced = left !== undefined && hasChanges(comparison.changes);
  const valued = isReplaced ? { ...runs, before: () => withInherited(deps, source, removed) } : runs;
  const guard = isReplaced ? await lookAtValues(deps, settings, valued, { readings: 'none' }) : compared.guard;
  const beginning = await begins.find(runs);
  const isFirst = deps.buffer.reads.parts(source, 'accepted') === undefined && comparison.before.drivers === 0;
  let values = isFirst ? noFindings : findingsOf(guard, valued);
  // What is forgotten takes its own readings with it, and no others.
  if (isReplaced && !isFirst) values = joinFindings(values, findingsOf(compared.guard, runs, isLoss));
  if (!isFirst) values = await withThinnedParts(deps, settings, { guard: compared.guard, values });
  const found = { comparison, beginning, inheritedFrom: gone, forgotten: left, isFirst, values };
  return { facts: { source, settings, ...found, mayLag, goneFiles, readBy }, guard };
}

/** Drivers that a candidate has and its source had not. */
export interface Arrivals {
  /** Those that other sources give up in this pass. */
  readonly moves: readonly Move[];
  /** Those that the service had before, as they were then, in the order of ids. */
  readonly departed: readonly PackedPoints[];
}

/**
 * Looks at the values of a candidate again, where drivers have come to it: each against what the source that gives it up had accepted, or
 * what the service had of it last. What the candidate deletes is as it was.
 */
export async function lookWithArrivals(
  deps: Dependencies,
  facts: Facts,
  { moves, departed }: Arrivals,
  removed: readonly string[],
): Promise<Looked> {
  const { source, settings, isFirst } = facts;
  const moved = new Set(moves.flatMap(({ drivers }) => [...drivers]));
  const { reads } = deps.buffer;
  const candidate = (): Iterable<PackedDriver> => reads.drivers(source, 'candidate');
  const runsWith = (earlier: readonly PackedPoints[]): Runs => {
    const compared = new Set([...moved, ...earlier.map(({ id }) => id)]);
    return {
      before: () =>
        mergeDriverRuns<PackedPoints>([
          withInherited(deps, source, removed),
          ...moves.map(({ from, drivers }) => only(reads.drivers(from, 'accepted'), drivers)),
          earlier,
        ]),
      // Nothing is known of the other drivers of a first read.
      after: () => (isFirst ? only(candidate(), compared) : candidate()),
    };
  };
  const guard = await lookAtValues(deps, settings, runsWith([]));
  let values: ValueFindings;
  if (departed.length === 0) {
    values = findingsOf(guard, runsWith([]));
  } else {
    // What a service has no longer is created anew, also in a closed month.
    const runs = runsWith(departed);
    const slips = await lookAtValues(deps, settings, runs, { closed: 'none' });
    values = joinFindings(
      findingsOf(guard, runsWith([]), (kind) => kind === 'closed'),
      findingsOf(slips, runs),
    );
  }
  values = await withThinnedParts(deps, settings, { guard, values });
  return { facts: { ...facts, values }, guard };
}

function* only(drivers: Iterable<PackedDriver>, ids: ReadonlySet<string>): Generator<PackedDriver> {
  for (const driver of drivers) if (ids.has(driver.id)) yield driver;
}

async function compare(
  deps: Dependencies,
  settings: SourceSettings,
  { before, after }: Runs,
  watch: WatchChanges,
): Promise<{ readonly comparison: Comparison; readonly guard: ValueGuardReview }> {
  const guard = new ValueGuardReview(deps, settings);
  const seen = (change: DriverChange): void => {
    guard.see(change);
    watch(settings.name, change);
  };
  return { comparison: await inTurns(comparing(before(), after(), seen)), guard };
}

/** With what single parts have lost, where the source as a whole does not show it. */
async function withThinnedParts(
  deps: Dependencies,
  settings: SourceSettings,
  { guard, values }: { readonly guard: ValueGuardReview; readonly values: ValueFindings },
): Promise<ValueFindings> {
  if (!guard.mayHaveLost || values.all.some(({ kind }) => isLoss(kind))) return values;
  return joinFindings(values, await findThinnedParts(deps, settings));
}

/** Decides about a candidate. @param moved what it deletes and other sources have */
export async function decide(
  deps: Dependencies,
  { facts, guard }: Looked,
  { removed, moved }: { readonly removed: readonly string[]; readonly moved: DeletedPoints },
): Promise<CandidateDecision> {
  const { source, comparison } = facts;
  const otherwise = findOtherwise(deps, facts);
  const doubts = [
    ...findCarriedDoubts(deps, facts.settings, { removed, forgotten: facts.forgotten }),
    ...otherwiseDoubts(deps, otherwise),
    ...goneFileDoubts(deps, facts),
  ];
  const note = carriedPathsNote(otherwise);
  const values = note === undefined ? facts.values : { ...facts.values, warnings: [...facts.values.warnings, note] };
  // A slip that is found says why months have other readings.
  const beginning = values.holding.some(({ kind }) => kind === 'moved') ? undefined : facts.beginning;
  const isShort = beginning !== undefined && judgeBeginning(beginning, deps.settings.guard) !== undefined;
  const scope = {
    deletes: comparison.deletes,
    moved,
    carried: [...doubts.map(nameOfDoubt), ...(isShort ? [nameOfBeginning(beginning)] : [])],
    findings: values.holding,
    isEnd: false,
  };
  const approval = await pendingApproval(deps, source);
  const approved = approval && (await deps.ledger.holds.approvedScope(approval.id));
  const further = approved && furtherThan(scope, approved);
  const found = { ...facts, values, beginning };
  const reviewed = { ...found, scope, approval, isCovered: approved !== undefined && further === undefined };
  const hold = await judgeAll(deps, reviewed, doubts);
  return withApproval(reviewed, guard.hold(hold, values), further);
}

async function judgeAll(
  deps: Dependencies,
  { settings, comparison, beginning, values, isFirst, inheritedFrom: gone, mayLag }: Reviewed,
  doubts: readonly CarriedDoubt[],
): Promise<ReturnType<typeof judge>> {
  const { buffer } = deps;
  // A lost share changes a sum, also where nothing is deleted. Such a part was taken out before the settings said so: see `takeOut`.
  if (!deps.settings.shouldDeleteMissing) {
    const doubtful = judgeDoubts(doubts.filter(({ kind }) => kind !== 'twice' && kind !== 'hidden'));
    return doubtful ?? judgeBeginning(beginning, deps.settings.guard);
  }
  const { changes, before, after, dropsOnlyOldest, losingOldest, losingBetween, dropsOnlyNewest } = comparison;
  const { name, mayBeEmpty, removed } = settings;
  const accepted = buffer.reads.parts(name, 'accepted') ?? [];
  const candidate = buffer.reads.parts(name, 'candidate') ?? [];
  return judge(
    {
      accepted: isFirst
        ? undefined
        : { ...before, rejects: acceptedRejects(buffer, { source: name, gone, candidate }) },
      candidate: { ...after, rejects: sumRejects(candidate) },
      changes,
      dropsOnlyOldest,
      // A slip that is found says why months went.
      losingOldest: values.holding.length > 0 ? { ...losingOldest, drivers: 0 } : losingOldest,
      // With `removed: delete` a month goes with its file.
      losingBetween: values.holding.length > 0 || removed === 'delete' ? undefined : losingBetween,
      dropsOnlyNewest: mayLag && dropsOnlyNewest,
      beginning,
      letThrough: {
        day: await letThroughIn(deps, dayMs, name, gone),
        month: await letThroughInMonth(deps, name, gone, before),
      },
      doubts,
      regression: findRegression(accepted, candidate),
    },
    { ...deps.settings.guard, mayBeEmpty },
  );
}

/** An approval lets a held candidate pass that does nothing which the approved one did not. @param further what else this one does */
function withApproval(
  reviewed: Reviewed,
  hold: ReturnType<typeof judge>,
  further: string | undefined,
): CandidateDecision {
  if (reviewed.isCovered) {
    return { ...reviewed, kind: 'accept', isApproved: hold !== undefined || reviewed.scope.deletes.size > 0 };
  }
  if (hold === undefined) return { ...reviewed, kind: 'accept', isApproved: false };
  return { ...reviewed, ...hold, kind: 'hold', approvable: true, whyDropped: further };
}

function findRegression(accepted: readonly ReadPart[], candidate: readonly ReadPart[]): Regression | undefined {
  for (const { name, version } of candidate) {
    const before = accepted.find((part) => part.name === name);
    const found = before && regression(before.version, version);
    if (found !== undefined) return found;
  }
  return undefined;
}

function sumRejects(parts: readonly { readonly rejects: number }[]): number {
  return parts.reduce((sum, part) => sum + part.rejects, 0);
}
