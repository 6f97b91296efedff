/** Decides what no candidate can be judged for alone: that every driver has one source, and that the snapshot is not empty. */
import type { ReadKind, SharedDriver } from '../../core/buffer.ts';
import { unpackDriver } from '../../core/series/packing.ts';
import { shellWord } from '../../core/text.ts';
import type { Dependencies } from '../dependencies.ts';
import { removedSources } from '../read/removed-sources.ts';
import type { CandidateDecision, Holding } from './decision.ts';
import type { Move } from './moves.ts';

/**
 * Holds candidates with drivers of another source, and those that give drivers up to a source that is held or was not read. The source
 * that has a driver accepted keeps it; between two first reads the order of the config decides. A held candidate gives its accepted read
 * back to the snapshot, which may conflict in turn, so that this goes on until nothing changes.
 */
export function holdConflicts(
  deps: Dependencies,
  decisions: readonly CandidateDecision[],
  moves: readonly Move[],
): readonly CandidateDecision[] {
  const { buffer, settings } = deps;
  let decided = decisions;
  for (;;) {
    const reads = settings.sources.flatMap(({ name }) => prospect(deps, name, decided));
    const conflicts = new Map<string, Conflict[]>();
    for (const { driver, sources } of reads.length < 2 ? [] : buffer.reads.sharedDrivers(reads)) {
      const owner = acceptedBy(deps, driver, sources) ?? firstInConfig(deps, sources);
      for (const { kind, source } of decided) {
        if (kind === 'hold' || source === owner || !sources.includes(source)) continue;
        conflicts.set(source, [...(conflicts.get(source) ?? []), { driver, owner }]);
      }
    }
    const isPassing = (name: string): boolean =>
      decided.some(({ kind, source }) => source === name && kind === 'accept');
    const waiting = new Map(
      moves.filter(({ from, to }) => isPassing(from) && !isPassing(to)).map((move) => [move.from, move]),
    );
    if (conflicts.size === 0 && waiting.size === 0) return withLasting(deps, decided);
    const lasting = new Set(conflictsOfAllCandidates(deps, decided).map(({ driver }) => driver));
    decided = decided.map((one) => {
      const found = conflicts.get(one.source);
      if (found !== undefined) return holdFor(deps, one, { found, lasting });
      const move = waiting.get(one.source);
      if (move === undefined) return one;
      const isRead = decided.some(({ source }) => source === move.to);
      return holdForTaker(one, move, isRead ? 'held' : 'unread');
    });
  }
}

/** A driver that a candidate has and another source keeps. */
interface Conflict {
  readonly driver: string;
  readonly owner: string;
}

/** Drivers that two sources would have even if every candidate, held or not, were accepted. */
function conflictsOfAllCandidates(
  { buffer, settings }: Dependencies,
  decisions: readonly CandidateDecision[],
): readonly SharedDriver[] {
  const accepted = new Set(buffer.reads.acceptedSources());
  const reads = settings.sources.flatMap(({ name }): { source: string; kind: ReadKind }[] => {
    if (decisions.some(({ source }) => source === name)) return [{ source: name, kind: 'candidate' }];
    return accepted.has(name) ? [{ source: name, kind: 'accepted' }] : [];
  });
  return [...buffer.reads.sharedDrivers(reads)];
}

/** What the guard holds may have a conflict besides that no approval ends: whoever approved it would see it held again. */
function withLasting(deps: Dependencies, decided: readonly CandidateDecision[]): readonly CandidateDecision[] {
  if (!decided.some((one) => one.kind === 'hold' && one.approvable)) return decided;
  const isPassing = (source: string): boolean => decided.some((one) => one.source === source && one.kind === 'accept');
  const conflicts = conflictsOfAllCandidates(deps, decided).map(({ driver, sources }) => {
    return { driver, sources, owner: acceptedBy(deps, driver, sources) ?? sources.find(isPassing) };
  });
  return decided.map((one) => {
    if (one.kind !== 'hold' || !one.approvable) return one;
    const found = conflicts.flatMap(({ driver, sources, owner }) =>
      owner === undefined || owner === one.source || !sources.includes(one.source) ? [] : [{ driver, owner }],
    );
    if (found.length === 0) return one;
    const held = holdForever(deps, one, found);
    return { ...held, reason: `${held.reason}; ${one.reason}` };
  });
}

function acceptedBy({ buffer }: Dependencies, driver: string, sources: readonly string[]): string | undefined {
  return sources.find((source) => buffer.reads.driver(source, driver) !== undefined);
}

/**
 * Holds a candidate for its conflicts. Where all of them go once the owners' held candidates are accepted, it only waits: its
 * approval stays pending, or sources that exchange drivers could not be approved one after the other.
 */
function holdFor(
  deps: Dependencies,
  one: CandidateDecision,
  { found, lasting }: { readonly found: readonly Conflict[]; readonly lasting: ReadonlySet<string> },
): CandidateDecision {
  const forever = found.filter(({ driver }) => lasting.has(driver));
  if (forever.length > 0) return holdForever(deps, one, forever);
  const { driver, owner } = found[0]!;
  const reason = `driver "${driver}" of source "${one.source}" belongs to source "${owner}" until the held read of "${owner}" is accepted`;
  const hint = `if the driver has moved, approve "${owner}" too: both are then accepted together; else mend what holds "${owner}"`;
  return { ...one, kind: 'hold', approvable: false, conflictsWith: owner, reason, hint, whyDropped: undefined };
}

function holdForever(deps: Dependencies, one: CandidateDecision, found: readonly Conflict[]): Holding {
  /** By owner, where none of them has anything else of these drivers. */
  const gone = new Map<string, Set<string>>();
  let shown: Conflict | undefined;
  for (const conflict of found) {
    const parts = partsCarrying(deps, conflict);
    if (parts === undefined) shown = conflict;
    if (shown !== undefined) break;
    gone.set(conflict.owner, new Set([...(gone.get(conflict.owner) ?? []), ...(parts ?? [])]));
  }
  const { driver, owner } = shown ?? found[0]!;
  const reason = `driver "${driver}" of source "${one.source}" belongs to source "${owner}"`;
  const hint =
    shown === undefined
      ? hintToForget(gone)
      : 'give one of them another id, or take the driver out of one source with "where"';
  return { ...one, kind: 'hold', approvable: false, conflictsWith: owner, reason, hint, whyDropped: reason };
}

/** All parts of an owner go with one command: between two of them a pass would delete what waits for the second. */
function hintToForget(gone: ReadonlyMap<string, ReadonlySet<string>>): string {
  const ways = [...gone].map(([owner, [first = '', ...more]]) => {
    const [also, part] = more.length === 0 ? ['', ` ${shellWord(first)}`] : [` and ${more.length} more`, ''];
    return `"${owner}" carries it of ${first}${also}, gone by now: put that back, or let it go with "driver-sync forget ${owner}${part}"`;
  });
  return ways.join('; ');
}

/** The parts that are gone of which a source carries a driver; `undefined`: it shows the driver, or has it of something else. */
function partsCarrying({ buffer }: Dependencies, { owner, driver }: Conflict): readonly string[] | undefined {
  const parts = buffer.reads.parts(owner, 'candidate') ?? buffer.reads.parts(owner, 'accepted') ?? [];
  const accepted = buffer.reads.driver(owner, driver);
  if (accepted === undefined) return undefined;
  const names = [...new Set(unpackDriver(accepted).cells.map(({ part }) => buffer.parts.origin(part).name))];
  const isCarried = (name: string): boolean => parts.some((part) => part.name === name && part.carried);
  return names.every(isCarried) ? names : undefined;
}

/**
 * Holds a candidate without drivers that another source has which is held or was not read: accepted alone, it would delete them. Its
 * approval stays pending.
 */
function holdForTaker(
  one: CandidateDecision,
  { from, to, drivers }: Move,
  taker: 'held' | 'unread',
): CandidateDecision {
  const whole = [...drivers].filter((id) => one.comparison.deletedDrivers.has(id));
  const [first] = whole.length > 0 ? whole : drivers;
  const more = drivers.size > 1 ? ` and ${drivers.size - 1} more` : '';
  const state = taker === 'held' ? 'whose read is held' : 'which is not read';
  const reason =
    whole.length > 0
      ? `driver "${first}"${more} of source "${from}" moved to source "${to}", ${state}`
      : `months of driver "${first}"${more} that it would delete are in source "${to}", ${state}`;
  const hint =
    whole.length > 0
      ? `see to "${to}": once its read is accepted, this one is accepted with it`
      : `see to "${to}": this one is accepted once no other source has those months`;
  return { ...one, kind: 'hold', approvable: false, conflictsWith: to, reason, hint, whyDropped: undefined };
}

function firstInConfig(deps: Dependencies, sources: readonly string[]): string {
  return deps.settings.sources.find(({ name }) => sources.includes(name))?.name ?? (sources[0] as string);
}

/** The read that the snapshot would use of a source as things stand. */
function prospect(
  deps: Dependencies,
  source: string,
  decisions: readonly CandidateDecision[],
): { source: string; kind: ReadKind }[] {
  const accepting = decisions.some((one) => one.source === source && one.kind === 'accept');
  if (accepting) return [{ source, kind: 'candidate' }];
  return deps.buffer.reads.parts(source, 'accepted') === undefined ? [] : [{ source, kind: 'accepted' }];
}

/**
 * An empty snapshot deletes every driver of the service: only an approved candidate may lead there.
 * @returns the decisions, and whether an approval leads to an empty snapshot
 */
export async function holdEmptySnapshot(
  deps: Dependencies,
  decisions: readonly CandidateDecision[],
): Promise<{ readonly decisions: readonly CandidateDecision[]; readonly isEmptyApproved: boolean }> {
  const { settings, buffer, ledger } = deps;
  const unmoved = { decisions, isEmptyApproved: false };
  if (!settings.shouldDeleteMissing || decisions.length === 0) return unmoved;
  // A source that left the config goes too, once that is approved.
  const pending = (await ledger.holds.approvals()).filter(({ state }) => state === 'pending');
  const leaving = new Set(removedSources(deps).filter((name) => pending.some(({ source }) => source === name)));
  const names = new Set([...buffer.reads.acceptedSources(), ...settings.sources.map(({ name }) => name)]);
  const isEmpty = [...names].every(
    (name) => leaving.has(name) || prospect(deps, name, decisions).every((read) => isEmptyRead(deps, read)),
  );
  const passing = decisions.filter(({ kind }) => kind === 'accept');
  if (!isEmpty || passing.length === 0) return unmoved;
  const isApproved = passing.some(({ isCovered }) => isCovered);
  // Each source that has drivers to lose has to be approved itself; where none has, something has to be.
  const unapproved = new Set(
    passing
      .filter(({ isCovered, comparison }) => !isCovered && (!isApproved || comparison.before.drivers > 0))
      .map(({ source }) => source),
  );
  const reason = 'the snapshot would be empty, which deletes every driver of the service';
  const hint = 'approve it if that is meant';
  return {
    decisions: decisions.map((one) => {
      if (one.kind !== 'accept') return one;
      if (unapproved.has(one.source)) {
        return { ...one, kind: 'hold', reason, hint, approvable: true, whyDropped: reason };
      }
      return one.isCovered ? { ...one, isApproved: true } : one;
    }),
    isEmptyApproved: isApproved && unapproved.size === 0,
  };
}

export function isEmptyRead(deps: Dependencies, { source, kind }: { source: string; kind: ReadKind }): boolean {
  for (const _driver of deps.buffer.reads.drivers(source, kind)) return false;
  return true;
}
