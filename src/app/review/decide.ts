/** Decides about one candidate: what it would change, what the guard says to that, and what was approved. */
import { type CountedTwice, accumulates, judge } from '../../core/guard/guard.ts';
import { type Regression, regression } from '../../core/guard/answer-version.ts';
import { compareRuns } from '../../core/series/compare.ts';
import type { DriverChange } from '../../core/series/diff.ts';
import type { SourceSettings } from '../../core/settings.ts';
import type { ReadKind, ReadPart } from '../../core/stores.ts';
import { formatMonth } from '../../core/time/month.ts';
import type { Dependencies } from '../dependencies.ts';
import { takenOut } from '../read/carried.ts';
import { inheritedFrom, withInherited } from '../read/removed-sources.ts';
import { isWithin, pendingApproval } from './approvals.ts';
import type { CandidateDecision, Reviewed } from './decision.ts';

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
  const comparison = compareRuns(
    withInherited(deps, source, removed),
    buffer.reads.drivers(source, 'candidate'),
    watch && ((change) => watch(source, change)),
  );
  const countedTwice = findCountedTwice(deps, settings, { accepted, candidate, removed });
  const reviewed: Reviewed = {
    source,
    settings,
    comparison,
    inheritedFrom: inheritedFrom(deps, source, removed),
    isFirst: buffer.reads.parts(source, 'accepted') === undefined && comparison.before.drivers === 0,
    scope: { deletes: comparison.deletes, carried: countedTwice.map(({ carried }) => carried) },
    approval: await pendingApproval(deps, source),
  };
  return withApproval(deps, reviewed, await judgeAll(deps, reviewed, { mayLag, accepted, candidate, countedTwice }));
}

async function judgeAll(
  deps: Dependencies,
  { settings, comparison, isFirst, inheritedFrom: gone }: Reviewed,
  found: {
    readonly mayLag: boolean;
    readonly accepted: readonly ReadPart[];
    readonly candidate: readonly ReadPart[];
    readonly countedTwice: readonly CountedTwice[];
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
      countedTwice: found.countedTwice,
      regression: findRegression(found.accepted, found.candidate),
    },
    { ...deps.settings.guard, mayBeEmpty },
  );
}

/** An approval lets a held candidate pass that does nothing which the approved one did not. */
async function withApproval(
  deps: Dependencies,
  reviewed: Reviewed,
  hold: ReturnType<typeof judge>,
): Promise<CandidateDecision> {
  const { approval, scope } = reviewed;
  if (approval !== undefined && isWithin(scope, await deps.ledger.holds.approvedScope(approval.id))) {
    return { ...reviewed, kind: 'accept', isApproved: hold !== undefined || scope.deletes.size > 0 };
  }
  if (hold === undefined) return { ...reviewed, kind: 'accept', isApproved: false };
  const whyDropped = 'a newer read of the source would delete more than the approved one, or count other parts twice';
  return { ...reviewed, ...hold, kind: 'hold', approvable: true, whyDropped };
}

/**
 * Carried parts whose rows may stand in another part too, in a source that adds up: a part that is new or changed since the
 * carried one went has a point of it. Also what was taken out of a snapshot, where points are summed up over all parts.
 */
function findCountedTwice(
  { buffer }: Dependencies,
  { name, mapping }: SourceSettings,
  found: { accepted: readonly ReadPart[]; candidate: readonly ReadPart[]; removed: readonly string[] },
): readonly CountedTwice[] {
  if (!accumulates(mapping)) return [];
  const carried = found.candidate.filter((part) => part.carried && !part.settled);
  const unsettled = carried.filter(({ version }) => version === takenOut);
  const known = knownParts(buffer, [
    ...found.accepted,
    ...found.removed.flatMap((gone) => buffer.reads.parts(gone, 'accepted') ?? []),
  ]);
  // A part that has taken over the content of a carried one is changed, though that content was accepted once.
  const moved = new Set(found.candidate.filter((part) => part.carried).map(({ hash }) => hash));
  const others = found.candidate.filter(
    ({ kind, id, hash, ...part }) =>
      kind === 'part' && !part.carried && !known.has(id) && (moved.has(hash) || !known.has(hash)),
  );
  const ids = carried.filter((part) => !unsettled.includes(part)).map(({ id }) => id);
  const shared =
    ids.length === 0 || others.length === 0
      ? []
      : buffer.parts.sharedPoints(
          name,
          ids,
          others.map(({ id }) => id),
        );
  const nameOf = (id: number): string => found.candidate.find((part) => part.id === id)?.name ?? '';
  return [
    ...unsettled.map((part) => ({ carried: part.name, other: undefined })),
    ...shared.map(({ part, other, driver, month }) => ({
      carried: nameOf(part),
      other: { part: nameOf(other), driver, month: formatMonth(month) },
    })),
  ];
}

/** Numbers and hashes of parts that were accepted beside the carried ones. */
function knownParts(buffer: Dependencies['buffer'], accepted: readonly ReadPart[]): ReadonlySet<number | string> {
  return new Set(
    accepted.flatMap(({ kind, id, hash }) =>
      kind === 'snapshot' ? buffer.parts.originsOf(id).map((origin) => origin.id) : kind === 'part' ? [id, hash] : [],
    ),
  );
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
