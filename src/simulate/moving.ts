/** What the rules say of drivers that move from one source to another: what they are compared with, and what goes with them. */
import type { SourceSettings } from '../core/settings.ts';
import type { Collapse, HeldPart, Points } from './model.ts';
import type { Place, Sheet } from './world/place.ts';

/** What a source has accepted, and what it is made of. */
export interface Accepted {
  readonly parts: readonly HeldPart[];
  readonly points: Points;
  /** Somebody approved to go on without readings that nobody knows any more: its digits are the agent's word. */
  readonly isBlurred: boolean;
}

/** A driver that a source gave up whole, with what it was. */
export interface Given {
  readonly owner: string;
  /** Another source showed it then. What shows later on, after a pass that did not end, nobody could wait for. */
  readonly isShown: boolean;
  readonly months: ReadonlyMap<number, readonly string[]>;
}

/** The rules by which one reading counts, and the others not at all. */
const picking: ReadonlySet<Collapse> = new Set(['last', 'first', 'min', 'max']);

export const nothing: Accepted = { parts: [], points: new Map(), isBlurred: false };

/** Only these drivers. */
export function onlyOf(points: Points, isWanted: (driver: string) => boolean): Points {
  return new Map([...points].filter(([driver]) => isWanted(driver)));
}

/** Of two sources, a driver is the first one's. */
export function joined(one: Points, other: Points): Points {
  return other.size === 0 ? one : new Map([...other, ...one]);
}

/** Of each sheet: the same one is asked for again and again. */
const inSheets = new WeakMap<Sheet, ReadonlySet<string>>();

function driversOf(sheet: Sheet): ReadonlySet<string> {
  let drivers = inSheets.get(sheet);
  if (drivers === undefined) {
    drivers = new Set(sheet.rows.flatMap(({ means = [] }) => means.map(({ driver }) => driver)));
    inSheets.set(sheet, drivers);
  }
  return drivers;
}

/** A sheet without the readings of drivers that another source has now. */
function without(sheet: Sheet, gone: ReadonlySet<string>): Sheet {
  const drivers = driversOf(sheet);
  if (![...gone].some((driver) => drivers.has(driver))) return sheet;
  const rows = sheet.rows.map(({ fields, means }) => ({
    fields,
    means: means?.filter(({ driver }) => !gone.has(driver)),
  }));
  return { ...sheet, rows };
}

/** What a source has accepted, once other ones have these drivers. */
export function yielding(accepted: Accepted, gone: ReadonlySet<string>): Accepted {
  const parts = accepted.parts.map((part) => ({ ...part, sheet: without(part.sheet, gone) }));
  return { ...accepted, parts, points: onlyOf(accepted.points, (driver) => !gone.has(driver)) };
}

function driversIn(parts: readonly HeldPart[]): ReadonlySet<string> {
  return new Set(parts.flatMap(({ sheet }) => [...driversOf(sheet)]));
}

/** What a source does not show any more and other ones do: it has moved there, and nothing of it is carried. */
export function movedAway(present: readonly HeldPart[], elsewhere: readonly HeldPart[]): ReadonlySet<string> {
  const here = driversIn(present);
  return new Set([...driversIn(elsewhere)].filter((driver) => !here.has(driver)));
}

/** What places showed when they were read last. */
export function shownBy(places: readonly Place[]): readonly HeldPart[] {
  return places.flatMap(({ read }) => [...read].map(([name, { sheet }]) => ({ name, sheet, isCarried: false })));
}

/** Whether parts have a driver that a source has accepted. */
export function hasAnyOf(parts: readonly HeldPart[], { points }: Accepted): boolean {
  return [...driversIn(parts)].some((driver) => points.has(driver));
}

/** The place shows a driver, as it was read last: a whole read of a sheet without a fault. */
export function showsDriver({ listed, read, files }: Place, driver: string): boolean {
  return listed.some((name) => {
    const sheet = read.get(name)?.sheet;
    if (sheet === undefined || !files.has(name) || sheet.isStale === true || !sheet.endsWithLineEnd) return false;
    return driversOf(sheet).has(driver) && sheet.rows.every(({ means }) => means !== undefined);
  });
}

/** The same of any driver that a source has accepted. */
export function showsAny(place: Place | undefined, { points }: Accepted): boolean {
  return place !== undefined && [...points.keys()].some((driver) => showsDriver(place, driver));
}

/**
 * What a source has accepted, as a snapshot says it: not which of its parts were carried, nor a reading beside the one that
 * counted.
 * @param dropped parts that were forgotten since: what they added to numbers of others stays until the next read
 */
export function restored(
  accepted: Accepted,
  settings: SourceSettings | undefined,
  dropped: readonly string[] = [],
): Accepted {
  const kept = accepted.parts.filter(({ name }) => !dropped.includes(name));
  const isUnknown =
    kept.length < accepted.parts.length || (settings !== undefined && hidesReadings(accepted, settings));
  const parts = kept.map((part) => ({ ...part, isCarried: false, isInSnapshot: true }));
  return { ...accepted, parts, isBlurred: accepted.isBlurred || isUnknown };
}

/** Whether a reading does not count beside another part's: a snapshot has one of them, also where both are alike. */
function hidesReadings({ parts }: Accepted, settings: SourceSettings): boolean {
  const isPicking = settings.mapping.drivers.map(({ rule }) => picking.has(rule));
  if (parts.length < 2 || !isPicking.includes(true)) return false;
  const known = new Set<string>();
  return parts.some(({ sheet }) => {
    const own = sheet.rows.flatMap(({ means = [] }) =>
      means.flatMap(({ driver, month, entry }) => (isPicking[entry] === true ? [`${month} ${driver}`] : [])),
    );
    const isHidden = own.some((one) => known.has(one));
    for (const one of own) known.add(one);
    return isHidden;
  });
}

/** Points of a driver that have to be there for a slip in it to be plain. */
const pointsMin = 6;

/** The first driver of which all numbers are a thousand times, or the negative of, what they were. */
export function slippedDriver(before: Points, after: Points): string | undefined {
  return [...before.keys()].find((driver) => {
    const [was, is] = [before.get(driver), after.get(driver)];
    if (was === undefined || is === undefined || was.size < pointsMin || is.size !== was.size) return false;
    return [1000n, -1n].some((factor) => [...was].every(([month, texts]) => isTimes(texts, is.get(month), factor)));
  });
}

function isTimes([was, ...others]: readonly string[], is: readonly string[] = [], factor: bigint): boolean {
  const [now, ...more] = is;
  if (was === undefined || now === undefined || others.length + more.length > 0) return false;
  const [one, other] = [unitsOf(was), unitsOf(now)];
  return one !== 0n && one * factor === other;
}

/** In millionths. */
export function unitsOf(text: string): bigint {
  const [whole = '', decimals = ''] = text.split('.');
  return BigInt(whole + decimals.padEnd(6, '0').slice(0, 6));
}
