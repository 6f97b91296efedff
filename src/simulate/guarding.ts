/** What the guard has to stop, in its shortest form: judged when a candidate was accepted that nobody had approved. */
import type { Settings, SourceSettings } from '../core/settings.ts';
import { foldedOf } from './folded.ts';
import { type HeldPart, type Points, deletesBetween, sizeOf } from './model.ts';
import { type Accepted, joined, onlyOf, slippedDriver, unitsOf } from './moving.ts';
import { Violation } from './promises.ts';

/** One acceptance without approval that took points away. */
export interface LetThrough {
  readonly atMs: number;
  readonly drivers: number;
  readonly points: number;
}

export interface Accepting {
  readonly settings: Settings;
  readonly source: SourceSettings;
  readonly before: Accepted;
  readonly after: Accepted;
  /** What other sources had of its drivers, which have moved to it. */
  readonly moved: Points;
  /** What the service had of its drivers that nobody has had since. */
  readonly departed: Points;
  /** Of the last 24 hours, where no clock was set in them. */
  readonly lately: readonly LetThrough[];
  /** Months up to this one are closed for sure. */
  readonly closedUpTo: number | undefined;
  /** Months up to this one are over for sure. */
  readonly overUpTo: number;
  /** Its parts are text, whose end tells whether it was written to its end. */
  readonly isText: boolean;
  /** It may show an older state of itself, as a replica does. */
  readonly mayLag: boolean;
}

/** A candidate that became an accepted read, before it is known what it is judged by. */
export interface Judged extends Pick<Accepting, 'after' | 'moved' | 'departed'> {
  readonly before: Accepted | undefined;
  readonly nowMs: number;
}

/** @throws Violation */
export function judgeAccepted(accepting: Accepting): void {
  const { before, moved } = accepting;
  judgeEnds(accepting);
  judgeClosed({ ...accepting, before: { ...before, points: joined(before.points, moved) } });
  judgeSlip(accepting);
  judgeMoved(accepting);
  judgeDeletes(accepting);
  judgeBeginning(accepting);
  judgeThinned(accepting);
}

/** The first read of a source. @throws Violation */
export function judgeFirst(accepting: Accepting, isApproved: boolean): void {
  const { settings, source, after } = accepting;
  judgeStale(source, after);
  if (isApproved) return;
  if (after.points.size === 0 && !source.mayBeEmpty && settings.shouldDeleteMissing)
    throw new Violation('evidence', `${source.name}: its first read had no readings`);
  judgeMoved(accepting);
}

function judgeEnds({ source, before, after, isText }: Accepting): void {
  const cut = after.parts.find(
    ({ name, sheet, isCarried }) =>
      !isCarried &&
      !sheet.endsWithLineEnd &&
      before.parts.some((one) => one.name === name && one.sheet.endsWithLineEnd),
  );
  if (cut !== undefined && isText)
    throw new Violation('cut', `${source.name}: ${cut.name} ends without a line end and was accepted`);
}

/** What may delete does not rest on rows that were only believed to be there still. @throws Violation */
function judgeStale({ name }: SourceSettings, { parts }: Accepted): void {
  const stale = parts.find(({ sheet, isCarried }) => !isCarried && sheet.isStale === true);
  if (stale !== undefined)
    throw new Violation(
      'evidence',
      `${name}: ${stale.name} was changed above its new rows, and what it was is believed`,
    );
}

/** No part has more rows that nobody can read than it may. @throws Violation */
export function judgeRejects({ name, mapping }: SourceSettings, { guard }: Settings, { parts }: Accepted): void {
  // A row of a wide table is as many rejects as it has columns.
  if (mapping.unpivot !== undefined) return;
  const adds = mapping.drivers.some(({ rule }) => adding.has(rule));
  const limit = guard.maxRejects ?? (adds ? ({ kind: 'count', count: 0 } as const) : onePercent);
  for (const part of parts) {
    const [rejects, rows] = [rejectsIn([part]), part.sheet.rows.length];
    const allowed = limit.kind === 'count' ? limit.count : (rows * limit.millionths) / 1_000_000;
    if (!part.isCarried && rejects > allowed)
      throw new Violation(
        'unread',
        `${name}: ${rejects} of ${rows} rows of ${part.name} cannot be read, and it was accepted`,
      );
  }
}

const onePercent = { kind: 'share', millionths: 10_000 } as const;

/** @throws Violation */
export function judgeDeletes({ settings, source, before, after, lately, mayLag }: Accepting): void {
  // What a read leaves out stays at the service then.
  if (!settings.shouldDeleteMissing) return;
  const { name, mayBeEmpty, history, removed } = source;
  const had = sizeOf(before.points);
  const deletes = deletesBetween(before.points, after.points);
  if (deletes.points === 0) return;
  judgeStale(source, after);
  const isEmpty = after.points.size === 0;
  if (isEmpty && mayBeEmpty) return;
  if (isEmpty) throw new Violation('evidence', `${name}: it turned empty, and all ${had.drivers} drivers went`);
  if (rejectsIn(after.parts) > rejectsIn(before.parts))
    throw new Violation('evidence', `${name}: ${deletes.points} points went with a read that has more rejects`);
  if (history === 'replace' && goesOnlyBefore(before.points, after.points))
    throw new Violation(
      'evidence',
      `${name}: the oldest months went, as they do where an export shows only recent ones`,
    );
  if (mostBeginLater(before.points, after.points))
    throw new Violation('evidence', `${name}: the oldest months of most drivers went, as they do in a rolling export`);
  if (mayLag && goesOnlyBehind(before.points, after.points))
    throw new Violation('evidence', `${name}: the newest months went, as they do where a replica lags`);
  if (letsAllGo(settings)) return;
  if (removed !== 'delete' && mostLoseBetween(before.points, after.points, settings.guard.floor))
    throw new Violation('evidence', `${name}: a month of most drivers went, between months that stayed`);
  for (const unit of ['drivers', 'points'] as const) {
    const allowed = allowedOf(had[unit], settings);
    const day = lately.reduce((sum, one) => sum + one[unit], 0);
    if (deletes[unit] > 0 && deletes[unit] + day > allowed) {
      const earlier = day === 0 ? '' : ` after ${day} on the same day`;
      throw new Violation(
        'evidence',
        `${name}: ${deletes[unit]} of ${had[unit]} ${unit} went${earlier}, and ${allowed} may`,
      );
    }
  }
}

/** A limit of 100 % sets none to what goes in a day and a month either. */
export function letsAllGo({ guard: { maxDeletes } }: Settings): boolean {
  return maxDeletes.kind === 'share' && maxDeletes.millionths >= 1_000_000;
}

/** How many of a whole may go in a day. */
export function allowedOf(whole: number, { guard: { maxDeletes, floor } }: Settings): number {
  if (maxDeletes.kind === 'count') return maxDeletes.count;
  return Math.max(Math.floor((whole * maxDeletes.millionths) / 1_000_000), Math.min(floor, Math.floor(whole / 2)));
}

/** And in 30 days. */
export function allowedInMonthOf(whole: number, { guard: { maxDeletes, floor } }: Settings): number {
  if (maxDeletes.kind === 'count') return 3 * maxDeletes.count;
  const share = Math.floor((3 * whole * maxDeletes.millionths) / 1_000_000);
  return Math.max(share, Math.min(3 * floor, Math.floor(whole / 2)));
}

function rejectsIn(parts: readonly HeldPart[]): number {
  return parts.reduce((sum, { sheet }) => sum + sheet.rows.filter(({ means }) => means === undefined).length, 0);
}

function goesOnlyBefore(before: Points, after: Points): boolean {
  const earliest = Math.min(...[...after.values()].flatMap((months) => [...months.keys()]));
  for (const [driver, months] of before) {
    const now = after.get(driver);
    for (const month of months.keys()) if (now?.has(month) !== true && month >= earliest) return false;
  }
  return true;
}

type Months = ReadonlyMap<string, { keys(): Iterable<number> }>;

/** The months of the drivers that both have, before and after. */
function keptIn(before: Months, after: Months): readonly (readonly [had: Iterable<number>, has: Iterable<number>])[] {
  return [...before].flatMap(([driver, months]) => {
    const now = after.get(driver);
    return now === undefined ? [] : [[months.keys(), now.keys()] as const];
  });
}

/** Whether most of the drivers that both have lose their first months. */
export function mostBeginLater(before: Months, after: Months): boolean {
  const kept = keptIn(before, after);
  return kept.filter(([had, has]) => Math.min(...had) < Math.min(...has)).length * 2 > kept.length;
}

/** Whether more than `floor` drivers, and most that both have, lose one month between the first and the last one that is left. */
export function mostLoseBetween(before: Months, after: Months, floor: number): boolean {
  const left = [...after.values()].flatMap((months) => [...months.keys()]);
  const [first, last] = [Math.min(...left), Math.max(...left)];
  const kept = keptIn(before, after);
  const lost = kept.flatMap(([had, has]) => {
    const stays = new Set(has);
    return [...had].filter((month) => !stays.has(month));
  });
  return [...Map.groupBy(lost, (month) => month)].some(
    ([month, { length }]) => month > first && month < last && length > floor && length * 2 > kept.length,
  );
}

/** Whether more than `floor` drivers, and most that had it, lose the first month that is left, and most keep the next one. */
export function mostLoseFirst(before: Months, after: Months, floor: number): boolean {
  const [first, next] = [...new Set([...after.values()].flatMap((months) => [...months.keys()]))].sort((a, b) => a - b);
  const kept = keptIn(before, after).map(([had, has]) => [new Set(had), new Set(has)] as const);
  const losing = (month: number): { readonly lost: number; readonly of: number } => {
    const had = kept.filter(([months]) => months.has(month));
    return { lost: had.filter(([, months]) => !months.has(month)).length, of: had.length };
  };
  if (first === undefined || next === undefined) return false;
  const [{ lost, of }, later] = [losing(first), losing(next)];
  return lost > floor && lost * 2 > of && later.lost * 2 <= later.of;
}

/** Most drivers have fewer readings of the oldest month that is shown, and not of the next: what is shown begins within that month. */
function judgeBeginning({ settings, source, before, after, overUpTo }: Accepting): void {
  const { name, mapping, removed } = source;
  if (removed === 'delete' || letsAllGo(settings) || mapping.drivers.every(({ rule }) => rule === 'last')) return;
  const present = after.parts.filter(({ isCarried }) => !isCarried);
  const month = Math.min(...[...foldedOf(present, source).values()].flatMap((months) => [...months.keys()]));
  if (month > overUpTo || !changesIn(month, { before, after, settings })) return;
  const [had, has] = [before, after].map(({ parts }) => readingsOf(parts, mapping));
  const next = Math.min(...[...has!.values()].flatMap((months) => [...months.keys()].filter((one) => one > month)));
  const isCounted = (driver: string): boolean => had!.has(driver) || has!.has(driver);
  const drivers = [...before.points.keys()].filter((driver) => after.points.has(driver) && isCounted(driver));
  // Of a point that an earlier read had alone nothing says how many readings it has.
  if (drivers.some((driver) => before.points.get(driver)?.has(month) === true && !had!.get(driver)?.has(month))) return;
  const [oldest, later] = [month, next].map((one) => {
    const known = drivers.filter((driver) => had!.get(driver)?.has(one) === true);
    const isFewer = (driver: string): boolean => (has!.get(driver)?.get(one) ?? 0) < had!.get(driver)!.get(one)!;
    return { fewer: known.filter(isFewer).length, of: known.length };
  });
  const isMost = ({ fewer, of }: NonNullable<typeof oldest>): boolean => fewer * 2 > of;
  if (next < Infinity && oldest!.fewer > settings.guard.floor && isMost(oldest!) && !isMost(later!))
    throw new Violation('evidence', `${name}: ${oldest!.fewer} drivers have fewer readings of the oldest month shown`);
}

/** So many of ten readings behind points that change may not go unseen, where every driver loses some and all of its points stay. */
const lostInTenMax = 4;

/** Every number of a part is there, and nearly every one is made of fewer readings: rows are missing. */
function judgeThinned({ settings, source, before, after, overUpTo }: Accepting): void {
  const { mapping, removed, values = settings.guard.values } = source;
  if (values !== 'hold' || removed === 'delete' || before.parts.length !== 1 || after.parts.length !== 1) return;
  if (before.parts[0]!.name !== after.parts[0]!.name || mapping.drivers.some(({ rule }) => !adding.has(rule))) return;
  const [had, has] = [before, after].map(({ parts }) => readingsOf(parts, mapping));
  let [lost, all] = [0, 0];
  for (const [driver, months] of had!) {
    const now = has!.get(driver);
    if (now === undefined) return;
    const oldest = Math.min(...now.keys());
    let [fewer, of] = [0, 0];
    for (const [month, readings] of months) {
      const left = now.get(month);
      if (left === undefined || left > readings) return;
      if (month > overUpTo || month === oldest) continue;
      if (!changesAt(driver, month, before.points, after.points)) continue;
      of += readings;
      fewer += readings - left;
    }
    if (fewer === 0) return;
    lost += fewer;
    all += of;
  }
  if (had!.size >= slipDriversMin && lost >= slipPointsMin && lost * 10 > all * lostInTenMax)
    throw new Violation('slip', `${source.name}: ${lost} of ${all} readings were missing, and it was accepted`);
}

/** Rules by which each reading counts. */
const adding = new Set<string>(['sum', 'average', 'count']);

function changesAt(driver: string, month: number, before: Points, after: Points): boolean {
  const [was, is] = [before, after].map((points) => points.get(driver)?.get(month));
  return was !== undefined && is !== undefined && !was.some((text) => is.some((one) => isSame(text, one)));
}

function changesIn(
  month: number,
  { before, after, settings }: Pick<Accepting, 'before' | 'after' | 'settings'>,
): boolean {
  return [...before.points].some(([driver, months]) => {
    const [was, now] = [months.get(month), after.points.get(driver)];
    if (was === undefined || now === undefined) return false;
    const is = now.get(month);
    return is === undefined ? settings.shouldDeleteMissing : !was.some((text) => is.some((one) => isSame(text, one)));
  });
}

/** How many readings each driver has in each month, where not only the last of them counts. */
function readingsOf(
  parts: readonly HeldPart[],
  { drivers }: SourceSettings['mapping'],
): ReadonlyMap<string, ReadonlyMap<number, number>> {
  const readings = new Map<string, Map<number, number>>();
  for (const { sheet } of parts)
    for (const { means = [] } of sheet.rows)
      for (const { driver, month, entry } of means) {
        if (drivers[entry]?.rule === 'last') continue;
        const months = readings.get(driver) ?? new Map<number, number>();
        readings.set(driver, months.set(month, (months.get(month) ?? 0) + 1));
      }
  return readings;
}

/** Nothing is new, and all that goes lies behind the last month that is left. */
function goesOnlyBehind(before: Points, after: Points): boolean {
  const latest = Math.max(...[...after.values()].flatMap((months) => [...months.keys()]));
  for (const [driver, months] of before) {
    const now = after.get(driver);
    for (const month of months.keys()) if (now?.has(month) !== true && month <= latest) return false;
  }
  return deletesBetween(after, before).points === 0;
}

/** A driver that comes from another source is compared with what it was there, also by a source that had nothing before. */
function judgeMoved(accepting: Accepting): void {
  const { settings, source, after, moved, departed } = accepting;
  if (moved.size + departed.size === 0) return;
  const now = onlyOf(after.points, (driver) => moved.has(driver));
  const asMoved = (points: Points): Accepted => ({ parts: [], points, isBlurred: false });
  judgeClosed({ ...accepting, before: asMoved(moved), after: asMoved(now) });
  if (!showsSlips(source) || (source.values ?? settings.guard.values) !== 'hold') return;
  const slipped = slippedDriver(joined(moved, departed), after.points);
  if (slipped !== undefined)
    throw new Violation('slip', `${source.name}: all numbers of "${slipped}" slipped on their way, and were accepted`);
}

function judgeClosed({ settings, source, before, after, closedUpTo }: Accepting): void {
  if (closedUpTo === undefined) return;
  for (const [one, other] of [
    [before.points, after.points],
    [after.points, before.points],
  ] as const) {
    for (const [driver, months] of one) {
      for (const [month, texts] of months) {
        if (month > closedUpTo) continue;
        const now = other.get(driver)?.get(month);
        // Where nothing is deleted, what a read leaves out stays at the service.
        if (now === undefined && other === after.points && !settings.shouldDeleteMissing) continue;
        if (now === undefined || !now.some((text) => texts.some((was) => isSame(was, text))))
          throw new Violation('closed', `${source.name}: "${driver}" changed in a month that is closed`);
      }
    }
  }
}

/** More zeros at the end are no change. */
function isSame(one: string, other: string): boolean {
  const plain = (text: string): string => (text.includes('.') ? text.replace(/\.?0+$/, '') : text);
  return plain(one) === plain(other);
}

/** How many points, and drivers, the smallest slip has that has to be found whatever it is. */
const slipPointsMin = 24;
const slipDriversMin = 10;

/** What all values are multiplied by. */
const wholeSlips: Readonly<Record<string, bigint>> = { thousandfold: 1000n, sign: -1n, zeros: 0n };

function isAllTimes(before: Points, after: Points, factor: bigint): boolean {
  const fits = (was: readonly string[], is: readonly string[] = []): boolean =>
    was.some((one) => is.some((other) => unitsOf(one) * factor === unitsOf(other)));
  return [...before].every(([driver, months]) =>
    [...months].every(([month, texts]) => fits(texts, after.get(driver)?.get(month))),
  );
}

/** Of the smallest of two bookings, or of their number, a slip makes something else, and of a share that was rounded something near to it. */
function showsSlips({ mapping }: Accepting['source']): boolean {
  return mapping.drivers.every(
    ({ rule, spread }) => (rule === 'last' || rule === 'first' || rule === 'sum') && spread !== 'divide',
  );
}

/** The whole of one part slipped, and nothing else changed: as plain as a slip can be. */
function judgeSlip({ settings, source, before, after }: Accepting): void {
  if ((source.values ?? settings.guard.values) !== 'hold' || after.parts.length !== 1) return;
  const [now] = after.parts;
  const was = before.parts.length === 1 ? before.parts[0]?.sheet : undefined;
  const slip = now?.sheet.slip;
  if (
    slip === undefined ||
    was === undefined ||
    was.slip !== undefined ||
    was.columns.length !== now?.sheet.columns.length
  )
    return;
  const size = sizeOf(after.points);
  const isSameShape =
    deletesBetween(before.points, after.points).points === 0 && sizeOf(before.points).points === size.points;
  if (!isSameShape || !showsSlips(source) || size.points < slipPointsMin || size.drivers < slipDriversMin) return;
  // Of what slipped in part before, or was another state, not all is that many times what it was.
  const factor = wholeSlips[slip];
  if (factor !== undefined && isAllTimes(before.points, after.points, factor))
    throw new Violation('slip', `${source.name}: ${size.points} numbers slipped (${slip}) and were accepted`);
}
