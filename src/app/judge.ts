/** Judges all candidates of a pass together: the guard for each, then that every driver has one source. */
import { createHash } from 'node:crypto';
import {
  type Changes,
  type RenamedId,
  countChanges,
  diffDrivers,
  findRenames,
  hasChanges,
  noChanges,
} from '../core/diff.ts';
import { type Hold, judge } from '../core/guard.ts';
import type { Month } from '../core/model.ts';
import { formatMonth } from '../core/month.ts';
import { type PackedDriver, pointCount, walkPoints } from '../core/packing.ts';
import type { SourceSettings } from '../core/settings.ts';
import { encodeBody } from '../core/snapshot.ts';
import type { Approval, DeletedPoints, ReadKind } from '../core/stores.ts';
import { departedSources, inheritCarried, withInherited } from './departed.ts';
import type { SourceRead } from './read-source.ts';
import type { World } from './world.ts';

const dayMs = 86_400_000;
/** Stands for the source where the first push to an address is what waits. No source can be called so. */
export const firstPush = '(first push)';

/** What became of one source in a pass. */
export interface Verdict {
  readonly source: string;
  readonly state: 'accepted' | 'unchanged' | 'held' | 'unread';
  readonly reason?: string | undefined;
  readonly hint?: string | undefined;
  /** Of a held candidate. */
  readonly digest?: string | undefined;
  /** Of the candidate against the accepted read. */
  readonly changes: Changes;
  /** Of a held candidate: what it would delete, the first hundred drivers. */
  readonly deletes?: readonly DriverDeletes[] | undefined;
  /** Of a held candidate: false where no approval helps. */
  readonly approvable?: boolean | undefined;
  /** Of a held candidate: ids that it changes under the same path. */
  readonly renamed?: readonly RenamedId[] | undefined;
}

export interface DriverDeletes {
  readonly driver: string;
  /** Such as `2026-03`. */
  readonly months: readonly string[];
}

interface Case {
  readonly source: string;
  readonly settings: SourceSettings | undefined;
  readonly changes: Changes;
  readonly candidate: { drivers: number; points: number };
  readonly isFirst: boolean;
  /** What accepting it deletes, of drivers that it takes over too. */
  readonly deletes: () => DeletedPoints;
  hold: (Hold & { readonly approvable: boolean }) | undefined;
  /** What waits for a read of this source. */
  approval: Approval | undefined;
  /** It would be held without the approval. */
  isApproved: boolean;
}

/** Accepts or holds every candidate, and records it. */
export function judgeAll(world: World, reads: readonly SourceRead[]): readonly Verdict[] {
  const departed = departedSources(world);
  const cases: Case[] = [];
  const verdicts = new Map<string, Verdict>();
  for (const read of reads) {
    const source = read.settings.name;
    if (read.state === 'unread') {
      dropApprovals(world, source, `the source was not read: ${read.reason}`);
      const { reason, hint } = read;
      verdicts.set(source, { source, state: 'unread', reason, hint, changes: noChanges });
    } else if (world.buffer.readParts(source, 'candidate') === undefined) {
      verdicts.set(source, { source, state: 'unchanged', changes: noChanges });
    } else {
      inheritCarried(world, read.settings, departed);
      cases.push(openCase(world, read.settings, { departed, mayCountTwice: read.mayCountTwice }));
    }
  }
  holdConflicts(world, cases);
  holdEmptySnapshot(world, cases);
  for (const one of cases) verdicts.set(one.source, settle(world, one));
  for (const gone of departed) {
    const verdict = settleDeparted(world, gone);
    if (verdict !== undefined) verdicts.set(gone, verdict);
  }
  for (const { state, source } of world.ledger.approvals()) {
    if (state !== 'pending' || source === undefined || source === firstPush) continue;
    dropApprovals(world, source, 'nothing of that source is held any more');
  }
  for (const { source } of world.ledger.held()) {
    if (source !== firstPush && verdicts.get(source)?.state !== 'held') world.ledger.release(source);
  }
  world.observe({ kind: 'read.judged' });
  const order = [...world.settings.sources.map(({ name }) => name), ...departed];
  return order.flatMap((name) => verdicts.get(name) ?? []);
}

function openCase(
  world: World,
  settings: SourceSettings,
  { departed, mayCountTwice }: { departed: readonly string[]; mayCountTwice: boolean },
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
  const before = withInherited(world, source, departed);
  const changes = countChanges(
    diffDrivers(counting(before, accepted), counting(buffer.drivers(source, 'candidate'), candidate)),
    ({ deleted }) => {
      if (deleted.some((month) => month >= earliest)) dropsOnlyOldest = false;
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
          recentDeletes: ledger.deletesSince(source, clock.now().getTime() - dayMs, readKey(world, source)),
          mayCountTwice,
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
    deletes: () =>
      deletedPoints(diffDrivers(withInherited(world, source, departed), buffer.drivers(source, 'candidate'))),
    hold: hold && { ...hold, approvable: true },
    approval: undefined,
    isApproved: false,
  };
  applyApproval(world, one);
  return one;
}

/** An approval lets a held candidate pass that deletes nothing which the approved one did not. */
function applyApproval(world: World, one: Case): void {
  const approval = pendingApproval(world, one.source);
  if (approval === undefined) return;
  const deletes = one.deletes();
  if (isWithin(deletes, world.ledger.approvedDeletes(approval.id))) {
    one.isApproved = one.hold !== undefined || deletes.size > 0;
    one.hold = undefined;
    one.approval = approval;
  } else if (one.hold !== undefined) {
    dropApprovals(world, one.source, 'a newer read of the source would delete more than the approved one');
  }
}

function isWithin(deletes: DeletedPoints, approved: DeletedPoints): boolean {
  for (const [driver, months] of deletes) {
    const allowed = new Set(approved.get(driver));
    if (months.some((month) => !allowed.has(month))) return false;
  }
  return true;
}

/**
 * One driver, one source: who has it accepted keeps it, between two first reads the order of the config decides. A held
 * candidate gives its accepted read back to the snapshot, which may conflict in turn: again until nothing moves.
 */
function holdConflicts(world: World, cases: readonly Case[]): void {
  const { buffer, settings } = world;
  for (let moved = true; moved;) {
    moved = false;
    const reads = settings.sources.flatMap(({ name }) => prospect(world, name, cases));
    if (reads.length < 2) return;
    for (const { driver, sources } of buffer.sharedDrivers(reads)) {
      const owner =
        sources.find((source) => buffer.driver(source, driver) !== undefined) ?? firstInConfig(world, sources);
      for (const one of cases) {
        if (one.source === owner || !sources.includes(one.source) || one.hold !== undefined) continue;
        const reason = `driver "${driver}" of source "${one.source}" belongs to source "${owner}"`;
        const hint = 'give one of them another id, or take the driver out of one source with "where"';
        one.hold = { reason, hint, approvable: false };
        moved = true;
      }
    }
  }
}

function firstInConfig(world: World, sources: readonly string[]): string {
  return world.settings.sources.find(({ name }) => sources.includes(name))?.name ?? (sources[0] as string);
}

/** The read that the snapshot would use of a source as things stand. */
function prospect(world: World, source: string, cases: readonly Case[]): { source: string; kind: ReadKind }[] {
  const one = cases.find((other) => other.source === source);
  if (one !== undefined && one.hold === undefined) return [{ source, kind: 'candidate' }];
  return world.buffer.readParts(source, 'accepted') === undefined ? [] : [{ source, kind: 'accepted' }];
}

/** `extDrivers: []` deletes everything: only an approved candidate may lead there. */
function holdEmptySnapshot(world: World, cases: readonly Case[]): void {
  const { settings, ledger, buffer } = world;
  if (!settings.shouldDeleteMissing || cases.length === 0) return;
  const names = new Set([...buffer.acceptedSources(), ...settings.sources.map(({ name }) => name)]);
  const isEmpty = [...names].every((name) => prospect(world, name, cases).every((read) => isEmptyRead(world, read)));
  const passing = cases.filter(({ hold }) => hold === undefined);
  if (!isEmpty || passing.length === 0) return;
  const approved = passing.filter(({ approval }) => approval !== undefined);
  if (approved.length > 0) {
    for (const one of approved) one.isApproved = true;
    ledger.setFact('emptyApproved', true);
    return;
  }
  for (const one of passing) {
    const reason = 'the snapshot would be empty, which deletes every driver of the service';
    one.hold = { reason, hint: 'approve it if that is meant', approvable: true };
  }
}

function isEmptyRead(world: World, { source, kind }: { source: string; kind: ReadKind }): boolean {
  for (const _driver of world.buffer.drivers(source, kind)) return false;
  return true;
}

/** Names a source's candidate, in this buffer and no other. */
function readKey({ buffer }: World, source: string): string {
  const ids = buffer.readParts(source, 'candidate')?.map(({ id }) => id);
  return `${buffer.fact('buffer')} ${ids?.join(' ')}`;
}

/** Carries a verdict out. */
function settle(world: World, one: Case): Verdict {
  const { buffer, ledger, clock } = world;
  const { source, changes, hold } = one;
  if (hold !== undefined) {
    const digest = candidateDigest(world, source);
    const { reason, hint, approvable } = hold;
    const deletes = one.deletes();
    const renamed = findRenames(diffDrivers(buffer.drivers(source, 'accepted'), buffer.drivers(source, 'candidate')));
    ledger.hold({ source, digest, reason, hint, approvable }, deletes, clock.now().getTime());
    if (one.approval !== undefined) dropApprovals(world, source, reason);
    return {
      source,
      state: 'held',
      reason,
      hint,
      digest,
      changes,
      approvable,
      deletes: shownDeletes(deletes),
      renamed,
    };
  }
  // Counted before it is done: a crash in between must not give the budget of the day back.
  if (!one.isApproved && changes.drivers.delete + changes.points.delete > 0) {
    const { drivers, points } = changes;
    const deletes = { atMs: clock.now().getTime(), drivers: drivers.delete, points: points.delete };
    ledger.recordDeletes(source, readKey(world, source), deletes);
  }
  buffer.accept(source);
  if (one.isApproved && one.approval !== undefined) ledger.closeApproval(one.approval.id, 'used');
  else dropApprovals(world, source, 'a newer read of the source did not need it');
  return { source, state: one.isFirst || hasChanges(changes) ? 'accepted' : 'unchanged', changes };
}

/** What happens to a source that left the config; nothing is left to say where others took all its drivers. */
function settleDeparted(world: World, source: string): Verdict | undefined {
  const { buffer, ledger, clock, settings } = world;
  const present = [...settings.sources.map(({ name }) => name), source].map(
    (name) => ({ source: name, kind: 'accepted' }) as const,
  );
  const taken = [...buffer.sharedDrivers(present)].filter(({ sources }) => sources.includes(source));
  if (taken.length > 0)
    buffer.yieldDrivers(
      source,
      taken.map(({ driver }) => driver),
    );
  const changes = countChanges(diffDrivers(buffer.drivers(source, 'accepted'), []));
  const approval = pendingApproval(world, source);
  const deletes = deletedPoints(diffDrivers(buffer.drivers(source, 'accepted'), []));
  const isApproved = approval !== undefined && isWithin(deletes, ledger.approvedDeletes(approval.id));
  if (!isApproved) dropApprovals(world, source, 'the source left the config, which would delete all that it has');
  if (changes.drivers.delete === 0 || isApproved || !settings.shouldDeleteMissing) {
    buffer.dropRead(source, 'accepted');
    buffer.dropRead(source, 'candidate');
    if (isApproved) {
      ledger.closeApproval(approval.id, 'used');
      if (buffer.acceptedSources().every((name) => isEmptyRead(world, { source: name, kind: 'accepted' }))) {
        ledger.setFact('emptyApproved', true);
      }
    }
    return undefined;
  }
  const none = { drivers: 0, points: 0 };
  const evidence = { accepted: undefined, candidate: { ...none, rejects: 0 }, changes, dropsOnlyOldest: false };
  const rules = { ...settings.guard, mayBeEmpty: false };
  const hold = judge({ ...evidence, recentDeletes: none, mayCountTwice: false, departed: true }, rules) as Hold;
  const digest = digestOf(source, []);
  ledger.hold({ source, digest, ...hold, hint: hold.hint, approvable: true }, deletes, clock.now().getTime());
  return { source, state: 'held', ...hold, digest, changes, approvable: true, deletes: shownDeletes(deletes) };
}

function pendingApproval(world: World, source: string): Approval | undefined {
  return world.ledger.approvals().find((approval) => approval.state === 'pending' && approval.source === source);
}

function dropApprovals(world: World, source: string, why: string): void {
  for (const approval of world.ledger.approvals()) {
    if (approval.state === 'pending' && approval.source === source)
      world.ledger.closeApproval(approval.id, 'dropped', why);
  }
}

function candidateDigest(world: World, source: string): string {
  return digestOf(source, world.buffer.drivers(source, 'candidate'));
}

/** sha256 over the source's name and the body that its drivers alone would make. */
function digestOf(source: string, drivers: Iterable<PackedDriver>): string {
  const hash = createHash('sha256').update(`${JSON.stringify(source)}\n`);
  for (const chunk of encodeBody(drivers, { shouldDeleteMissing: true, stamp: 'middle' })) hash.update(chunk);
  return hash.digest('hex');
}

function deletedPoints(changes: ReturnType<typeof diffDrivers>): DeletedPoints {
  const deletes = new Map<string, readonly Month[]>();
  for (const { id, deleted } of changes) if (deleted.length > 0) deletes.set(id, deleted);
  return deletes;
}

function shownDeletes(deletes: DeletedPoints): readonly DriverDeletes[] {
  return [...deletes].slice(0, 100).map(([driver, months]) => ({ driver, months: months.map(formatMonth) }));
}

/** All points of a run of drivers. */
export function allPoints(drivers: Iterable<PackedDriver>): DeletedPoints {
  const points = new Map<string, readonly Month[]>();
  for (const driver of drivers) {
    const list: Month[] = [];
    walkPoints(driver.points, (month) => list.push(month));
    points.set(driver.id, list);
  }
  return points;
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
