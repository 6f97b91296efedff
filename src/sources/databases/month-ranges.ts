/** Which month the ISO text of a time belongs to, as ranges of texts: databases need no zone rules of their own. */
import { daySeconds, formatMonth, monthOf, monthOfWallSeconds, stampSeconds } from '../../core/time/month.ts';
import { localToEpoch, utcOffsetSeconds } from '../../core/time/zone.ts';

/** From a text (`2026-03-29 01:00:00`, bytewise) up to the next range's. */
export interface MonthRange {
  readonly from: string;
  /**
   * `2026-03`; `written`: the month that the text begins with; `each`: nothing can be said, so that texts that differ must
   * not be taken together.
   */
  readonly month: string;
}

/** Whose offsets count. */
export interface Zones {
  /** The zone that times without one are of. */
  readonly source: string;
  /** The zone whose months count. */
  readonly agent: string;
}

/**
 * Zones are followed in these years; a time outside is a group of its own. Half of all zones have changes twice a year
 * for ever, and a scan of a day costs about 2 µs.
 */
const firstSecond = yearStart(1970);
const lastSecond = yearStart(2100);
/** What a clock shows is never as far as this from UTC, so that whoever converts times needs these days too. */
const marginSeconds = 2 * daySeconds;

/** Texts that are not written as ISO dates and date-times are, begin with this: it comes after every digit. */
export const oddMark = '~';

/** All ranges, the first one from `''`. */
export function monthRanges(kind: 'date' | 'wall' | 'instant', { source, agent }: Zones): readonly MonthRange[] {
  const others: MonthRange = { from: oddMark, month: 'each' };
  if (agent === 'UTC' && (kind !== 'wall' || source === 'UTC')) return [{ from: '', month: 'written' }, others];
  const pieces =
    kind === 'instant'
      ? instantPieces(agent)
      : kind === 'wall' && source !== agent
        ? convertedPieces(source, agent)
        : writtenPieces(agent);
  const isDate = kind === 'date';
  const ranges: MonthRange[] = [{ from: '', month: 'each' }];
  for (const { from, month } of pieces) {
    const text = isDate ? dayText(from) : secondText(from);
    const before = ranges.at(-1) as MonthRange;
    // What lies between two midnights is no range of dates.
    if (before.from === text) ranges.pop();
    if (ranges.at(-1)?.month !== month) ranges.push({ from: text, month });
  }
  return [...ranges, others];
}

/**
 * The hours of a day that are ever left out by clocks whose other times are of the month as written, where there are such
 * hours: `undefined` also where whole days are left out, or months are not as written.
 * @param ranges of wall times, the first and the last of them without a month
 */
export function skippedHours(
  ranges: readonly MonthRange[],
): { readonly first: number; readonly last: number } | undefined {
  const hours: number[] = [];
  for (const [at, { from, month }] of ranges.entries()) {
    const next = ranges[at + 1];
    if (at === 0 || next === undefined || month === 'written') continue;
    if (month !== 'each' || from.slice(0, 10) !== next.from.slice(0, 10)) return undefined;
    hours.push(Number(from.slice(11, 13)), Number(next.from.slice(11, 13)));
  }
  if (hours.length === 0) return undefined;
  return { first: Math.min(...hours), last: Math.max(...hours) };
}

/** A range that begins at a wall time or an instant, as seconds. */
interface Piece {
  readonly from: number;
  readonly month: string;
}

/** Times of the zone's own clocks belong to the month as written; what the clocks skipped lies among later times. */
function writtenPieces(zone: string): readonly Piece[] {
  const pieces: Piece[] = [{ from: firstSecond, month: 'written' }];
  for (const { at, before, after } of changesOf(zone)) {
    if (after < before || at < firstSecond || at >= lastSecond) continue;
    pieces.push({ from: at + before, month: 'each' }, { from: at + after, month: 'written' });
  }
  return [...pieces, { from: lastSecond, month: 'each' }];
}

function instantPieces(zone: string): readonly Piece[] {
  const pieces: Piece[] = [];
  const end = lastSecond + marginSeconds;
  let from = firstSecond - marginSeconds;
  let offset = utcOffsetSeconds(zone, from);
  for (const { at, after } of [...changesOf(zone), { at: end, after: 0 }]) {
    pieces.push({ from, month: formatMonth(monthOfWallSeconds(from + offset)) });
    for (let month = monthOfWallSeconds(from + offset) + 1; ; month++) {
      const start = stampSeconds(month, 'start') - offset;
      if (start >= at) break;
      pieces.push({ from: start, month: formatMonth(month) });
    }
    from = at;
    offset = after;
  }
  return [...pieces, { from: end, month: 'each' }];
}

/** Times of one zone's clocks, by the months of another. */
function convertedPieces(source: string, agent: string): readonly Piece[] {
  const instants = instantPieces(agent);
  const pieces: Piece[] = [];
  const add = (from: number, to: number, offset: number): void => {
    const inside = instants.filter((piece) => piece.from > from - offset && piece.from < to - offset);
    const first = instants.findLast((piece) => piece.from <= from - offset);
    pieces.push({ from, month: first?.month ?? 'each' });
    for (const piece of inside) pieces.push({ from: piece.from + offset, month: piece.month });
  };
  let from = firstSecond;
  let offset = from - localToEpoch(source, from);
  for (const { at, before, after } of changesOf(source)) {
    const end = at + before;
    if (at < firstSecond || at >= lastSecond) continue;
    if (end > from) add(from, end, offset);
    if (after > before) pieces.push({ from: end, month: 'each' });
    from = Math.max(end, at + after);
    offset = after;
  }
  add(from, lastSecond, offset);
  return [...pieces, { from: lastSecond, month: 'each' }];
}

interface Change {
  /** The instant, UNIX seconds. */
  readonly at: number;
  /** Offsets in seconds. */
  readonly before: number;
  readonly after: number;
}

const known = new Map<string, readonly Change[]>();

/** All changes of a zone's offset. No zone changes twice within a day and back (core/zone.ts). */
function changesOf(zone: string): readonly Change[] {
  let changes = known.get(zone);
  if (changes !== undefined) return changes;
  const found: Change[] = [];
  const first = firstSecond - marginSeconds;
  let before = utcOffsetSeconds(zone, first);
  for (let day = first; day < lastSecond + marginSeconds; day += daySeconds) {
    const after = utcOffsetSeconds(zone, day + daySeconds);
    if (after === before) continue;
    let [low, high] = [day, day + daySeconds];
    while (high - low > 1) {
      const middle = Math.floor((low + high) / 2);
      if (utcOffsetSeconds(zone, middle) === before) low = middle;
      else high = middle;
    }
    found.push({ at: high, before, after });
    before = after;
  }
  changes = found;
  known.set(zone, changes);
  return changes;
}

function yearStart(year: number): number {
  return stampSeconds(monthOf(year, 1), 'start');
}

function secondText(seconds: number): string {
  return new Date(seconds * 1000).toISOString().slice(0, 19).replace('T', ' ');
}

/** The first midnight from there on. */
function dayText(seconds: number): string {
  return secondText(Math.ceil(seconds / daySeconds) * daySeconds).slice(0, 10);
}
