/**
 * What a candidate carries: accepted parts that are gone, and accepted months that an export does not show any more. Only
 * what was accepted can be carried: a part that was never accepted leaves nothing behind when it goes.
 */
import { AgentError } from '../../core/errors.ts';
import { pairDrivers } from '../../core/series/diff.ts';
import { isAdding } from '../../core/series/rule.ts';
import type { Month, Rule } from '../../core/model.ts';
import { addDecimals, averageDecimal, negateDecimal } from '../../core/numbers/arithmetic.ts';
import {
  type Cell,
  type FoldedDriver,
  type PackedDriver,
  packDriver,
  unpackDriver,
} from '../../core/series/packing.ts';
import type { SourceSettings } from '../../core/settings.ts';
import type { ChosenPart, PartRead, ReadPart } from '../../core/buffer.ts';
import type { Dependencies } from '../dependencies.ts';
import type { AcceptedPart } from './accepted-parts.ts';
import { type ListedPart, mayHaveBeen } from './former-names.ts';

/** The versions of parts that were taken out of a snapshot: no file has one of these. */
export const takenOut = {
  /** Each point of the snapshot is one reading. */
  whole: 'taken out of a snapshot',
  /** Points of the snapshot left out readings, which may have been of this part. */
  hiding: 'taken out of a snapshot, without what did not count there',
  /** Points of the snapshot add readings up, and do not say which parts these came from. */
  inPart: 'taken out of a snapshot, without its share of sums',
} as const;

/** What a source showed and what was read of it. */
export interface Found {
  readonly present: readonly PartRead[];
  readonly listed: readonly ListedPart[];
  readonly newestOnly: boolean;
}

/** An accepted part of a source, or of a removed source that it takes over. */
export type PartToCarry = AcceptedPart & {
  /** Only these drivers of it; `undefined`: all. */
  readonly drivers?: ReadonlySet<string> | undefined;
};

export interface DatedPart {
  readonly name: string;
  readonly revisedAtMs: number;
}

/** Which of two parts is newer, where only the newest counts. */
export function isNewer(a: DatedPart, b: DatedPart): boolean {
  return a.revisedAtMs > b.revisedAtMs || (a.revisedAtMs === b.revisedAtMs && a.name > b.name);
}

export function wasCarried(part: AcceptedPart): boolean {
  return part.kind === 'read' && part.part.carried;
}

/** Accepted parts that the source does not show any more; one that was only renamed is not among them. */
export function goneParts<T extends AcceptedPart>(
  accepted: readonly T[],
  { present, listed }: Pick<Found, 'present' | 'listed'>,
): readonly T[] {
  // What is there under another name is not gone.
  const names = new Set(listed.flatMap(({ name, otherNames = [] }) => [name, ...otherNames]));
  const acceptedNames = new Set(accepted.map(({ name }) => name));
  const gone = accepted.filter(({ name }) => !names.has(name));
  // One new part is the new name of one old part only: first of those that were there until now.
  const added = present.filter(({ name }) => !acceptedNames.has(name));
  const taken = new Set<string>();
  const renamed = new Set<T>();
  for (const part of [...gone.filter((one) => !wasCarried(one)), ...gone.filter(wasCarried)]) {
    const now = added.find(({ name, hash }) => hash === part.hash && !taken.has(name));
    if (part.hash === undefined || now === undefined) continue;
    taken.add(now.name);
    renamed.add(part);
  }
  const left = gone.filter((part) => !renamed.has(part));
  const unknown = listed.filter(({ name }) => !acceptedNames.has(name) && !taken.has(name));
  return withoutFormer(left, unknown);
}

/**
 * The gone parts but those that another machine has accepted under a name of its own, as long as names were not the same on all. Only
 * where no other part can be meant.
 */
function withoutFormer<T extends AcceptedPart>(gone: readonly T[], unknown: readonly ListedPart[]): readonly T[] {
  const moved = unknown.filter(({ below }) => below !== undefined);
  if (moved.length === 0) return gone;
  return gone.filter(({ name }) => {
    const [now, ...others] = moved.filter((part) => mayHaveBeen(part, name));
    if (now === undefined || others.length > 0) return true;
    return gone.filter((part) => mayHaveBeen(now, part.name)).length > 1;
  });
}

/** Makes an accepted part that is gone a part of a source's candidate. */
export function carryPart(deps: Dependencies, source: string, gone: PartToCarry): ChosenPart {
  if (gone.kind === 'inSnapshot') return { id: takeOut(deps, source, gone), carried: true, settled: false };
  const { part, drivers } = gone;
  const isOwn = part.source === source && drivers === undefined;
  // The rows that could not be used come along with the part.
  if (part.source !== source) deps.buffer.rejects.copy(part.name, part.source, source);
  return { id: isOwn ? part.id : copyPart(deps, source, part, drivers), carried: true, settled: part.settled };
}

/** The number of a part that holds these drivers of another one. */
export function copyPart(
  { buffer }: Pick<Dependencies, 'buffer'>,
  source: string,
  part: ReadPart,
  drivers: ReadonlySet<string> | undefined,
): number {
  const writer = buffer.parts.begin(source, { name: part.name, kind: 'part' }, part.fingerprint);
  writer.add(only(buffer.parts.drivers(part), drivers));
  return writer.commit(part, part).id;
}

function* only<T extends { readonly id: string }>(
  all: Iterable<T>,
  drivers: ReadonlySet<string> | undefined,
): Generator<T> {
  for (const driver of all) if (drivers === undefined || drivers.has(driver.id)) yield driver;
}

/**
 * Makes a part of what a snapshot holds of it, which may be nothing: where others were read later, those have its months.
 * @throws AgentError `source.unreadable` where sums would lose its share and no guard holds them
 */
function takeOut(
  { buffer, settings }: Dependencies,
  source: string,
  {
    snapshot,
    name,
    hash = '',
    revisedAtMs,
    endsWithLineEnd,
    rejects = 0,
    drivers,
  }: Extract<PartToCarry, { kind: 'inSnapshot' }>,
): number {
  const writer = buffer.parts.begin(source, { name, kind: 'part' }, snapshot.fingerprint);
  const all = only(buffer.parts.drivers(snapshot), drivers);
  const names = new Set([name]);
  let version: string = takenOut.whole;
  const ofPart = function* (): Generator<FoldedDriver> {
    for (const driver of all) {
      if (version !== takenOut.inPart && driver.cells.some(({ count }) => count > 1)) {
        version = isAdding(driver.rule) ? takenOut.inPart : takenOut.hiding;
      }
      const cells = driver.cells.filter((cell) => isCellOf({ buffer }, driver, { cell, names }));
      if (cells.length > 0) yield withCells(driver, cells);
    }
  };
  writer.add(ofPart());
  if (version === takenOut.inPart && !settings.shouldDeleteMissing) {
    writer.discard();
    throw new AgentError('source.unreadable', `${name} is gone, and its share of what adds up is not known any more`, {
      hint: 'the buffer was lost or rolled back: put it back, or go on without it with "driver-sync forget"',
    });
  }
  const content = { version, hash, revisedAtMs, endsWithLineEnd };
  return writer.commit(content, { rows: 0, rejects }).id;
}

/** Whether a point of a snapshot is wholly of the part that it names, and no other part has a share in it. */
function isOfOnePart({ rule }: Pick<FoldedDriver, 'rule'>, { count }: Cell): boolean {
  return count === 1 || !isAdding(rule);
}

/** Whether a point of a snapshot is of one part, and that is one of these. */
export function isCellOf(
  { buffer }: Pick<Dependencies, 'buffer'>,
  driver: Pick<FoldedDriver, 'rule'>,
  { cell, names }: { readonly cell: Cell; readonly names: ReadonlySet<string> },
): boolean {
  return isOfOnePart(driver, cell) && names.has(buffer.parts.origin(cell.part).name);
}

/**
 * What a source has accepted, without parts that are forgotten: of a snapshot without the points that are of one of them alone. What they
 * added to sums stays in these.
 */
export function* acceptedWithout(
  { buffer }: Pick<Dependencies, 'buffer'>,
  source: string,
  names: ReadonlySet<string>,
): Generator<PackedDriver> {
  const accepted = buffer.reads.parts(source, 'accepted') ?? [];
  const kept = accepted.filter(({ kind, name }) => kind !== 'part' || !names.has(name));
  const isOfSnapshot = kept.some(({ kind }) => kind === 'snapshot');
  for (const packed of buffer.reads.driversOf(source, kept)) {
    const driver = isOfSnapshot ? unpackDriver(packed) : undefined;
    const cells = driver?.cells.filter((cell) => !isCellOf({ buffer }, driver, { cell, names })) ?? [];
    if (driver === undefined || cells.length === driver.cells.length) yield packed;
    else if (cells.length > 0) yield packDriver({ ...driver, cells });
  }
}

/**
 * The first month that a read shows; `undefined` where there is no part, or none has a month. What is carried was not read, and shows
 * none. Where all that was accepted lies before what is shown: Infinity.
 */
export function firstShown(
  { buffer }: Pick<Dependencies, 'buffer'>,
  { mayBeEmpty }: Pick<SourceSettings, 'mayBeEmpty'>,
  parts: readonly ReadPart[],
): Month | undefined {
  const earliestOf = (of: readonly ReadPart[]): Month | undefined => buffer.parts.earliestMonth(of.map(({ id }) => id));
  if (parts.length === 0) return undefined;
  const present = parts.filter(({ carried }) => !carried);
  if (present.length === 0) return Infinity;
  // Parts that turned empty show an empty window of months where they may be empty. Elsewhere what they had is not older months.
  return earliestOf(present) ?? (mayBeEmpty ? Infinity : earliestOf(parts));
}

/**
 * The accepted months before the first one that a candidate's parts show, for every accepted driver, as a part of it. `read`: what these parts hold.
 */
export function carryHistory(
  { buffer }: Dependencies,
  source: SourceSettings,
  {
    parts,
    accepted,
    read,
  }: { parts: readonly ReadPart[]; accepted: Iterable<PackedDriver>; read: Iterable<PackedDriver> },
): readonly ChosenPart[] {
  const earliest = firstShown({ buffer }, source, parts);
  if (earliest === undefined) return [];
  // Only what is carried has months before those that the read shows.
  const isBeside = parts.some(({ carried }) => carried);
  const writer = buffer.parts.begin(source.name, { name: '', kind: 'history' }, '');
  let count = 0;
  let batch: FoldedDriver[] = [];
  for (const [packed, now] of pairDrivers(accepted, read)) {
    if (packed === undefined) continue;
    const carried = isBeside && now !== undefined ? unpackDriver(now).cells : [];
    const driver = earlierThan(unpackDriver(packed), { month: earliest, now, carried });
    if (driver.cells.length === 0) continue;
    count++;
    batch.push(driver);
    if (batch.length >= 1000) {
      writer.add(batch);
      batch = [];
    }
  }
  writer.add(batch);
  if (count === 0) {
    writer.discard();
    return [];
  }
  const { id } = writer.commit({ version: '', hash: '', revisedAtMs: 0 }, { rows: 0, rejects: 0 });
  return [{ id, carried: false, settled: false }];
}

interface Read {
  /** The first month that it shows. */
  readonly month: Month;
  /** What it has of the driver, whose path that has then: no reading that is gone decides that. */
  readonly now: PackedDriver | undefined;
  /** What parts that are carried have of the driver. */
  readonly carried: readonly Cell[];
}

function earlierThan(driver: FoldedDriver, { month, now, carried }: Read): FoldedDriver {
  const beside = new Map(carried.map((cell) => [cell.month, cell]));
  const earlier = withCells(
    driver,
    driver.cells.flatMap((cell) =>
      cell.month < month ? (restOf(driver.rule, cell, beside.get(cell.month)) ?? []) : [],
    ),
  );
  return now === undefined ? earlier : { ...earlier, path: JSON.parse(now.path) as string[], otherPath: undefined };
}

/** What an accepted point has beside the share of it that is carried with a part: both together are the point again. */
function restOf(rule: Rule, accepted: Cell, carried: Cell | undefined): Cell | undefined {
  if (carried === undefined) return accepted;
  const count = accepted.count - carried.count;
  if (count <= 0) return undefined;
  const without = (all: string, share: string): string => addDecimals(all, negateDecimal(share));
  switch (rule) {
    case 'sum':
      return { ...accepted, count, value: without(accepted.value, carried.value) };
    case 'average': {
      const sum = without(accepted.sum ?? accepted.value, carried.sum ?? carried.value);
      return { ...accepted, count, sum, value: averageDecimal(sum, count) };
    }
    case 'count':
      return { ...accepted, count, value: String(count) };
    default:
      // One reading counts. Where it is the carried part's own, the others need not be known.
      return accepted.part === carried.part && accepted.row === carried.row ? undefined : { ...accepted, count };
  }
}

/** A driver of which only these cells are left. The latest of them is where its path is from. */
function withCells(driver: FoldedDriver, cells: readonly Cell[]): FoldedDriver {
  const { seconds, nanos, row, part } = cells.at(-1) ?? driver.pathPlace;
  return { ...driver, pathPlace: { seconds, nanos, row, part }, cells };
}
