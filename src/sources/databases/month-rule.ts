/** The times whose month in the agent's zone is sure, in terms that need no zone rules in the database. */
import { daySeconds, monthOf, stampSeconds } from '../../core/time/month.ts';
import { utcOffsetSeconds } from '../../core/time/zone.ts';
import { type Years, everyYear } from './dialect.ts';

/** Whose offsets count. */
export interface Zones {
  /** The zone that times without one are of. */
  readonly source: string;
  /** The agent's zone, which decides the month. */
  readonly agent: string;
}

/**
 * A time in these years is moved by the least and by the most seconds. If both give one month, that is its month, unless its
 * day is one of the skipped days. The month of any other time is not sure.
 */
export interface MonthRule {
  readonly years: Years;
  readonly leastSeconds: number;
  readonly mostSeconds: number;
  /** Such as `2026-03-29`: clocks skip some of its times, so that a later one may mean an earlier moment. */
  readonly skippedDays: readonly string[];
}

/** Whether the month of every time that the agent reads is sure. */
export function isAlwaysSure({ years, leastSeconds, mostSeconds, skippedDays }: MonthRule): boolean {
  return years === everyYear && leastSeconds === mostSeconds && skippedDays.length === 0;
}

/** Half of all zones change their clocks twice a year for ever, and looking through a day costs about 2 µs. */
const followed: Years = { first: 1970, last: 2099 };

export function monthRule(kind: 'date' | 'wall' | 'instant', { source, agent }: Zones): MonthRule {
  if (agent === 'UTC' && (kind !== 'wall' || source === 'UTC')) {
    return { years: everyYear, leastSeconds: 0, mostSeconds: 0, skippedDays: [] };
  }
  switch (kind) {
    case 'date':
      // A date counts as its first moment. Two dates keep their order unless a whole day was skipped.
      return { years: everyYear, leastSeconds: 0, mostSeconds: 0, skippedDays: daysSkipped(movesOf(agent)) };
    case 'instant': {
      const ofAgent = offsetsOf(agent);
      return { years: followed, leastSeconds: ofAgent.least, mostSeconds: ofAgent.most, skippedDays: [] };
    }
    case 'wall': {
      const ofAgent = offsetsOf(agent);
      const ofSource = offsetsOf(source);
      const isSame = source === agent;
      return {
        years: followed,
        leastSeconds: isSame ? 0 : ofAgent.least - ofSource.most,
        mostSeconds: isSame ? 0 : ofAgent.most - ofSource.least,
        skippedDays: daysSkipped(changesOf(source)),
      };
    }
  }
}

/** The days of which clocks that are moved forward skip some times. */
function daysSkipped(changes: readonly Change[]): readonly string[] {
  const days = changes.flatMap(({ at, before, after }) => {
    if (after <= before) return [];
    const first = Math.floor((at + before) / daySeconds);
    const last = Math.floor((at + after - 1) / daySeconds);
    return Array.from({ length: last - first + 1 }, (_, day) => first + day);
  });
  return [...new Set(days)].map((day) => new Date(day * daySeconds * 1000).toISOString().slice(0, 10));
}

function offsetsOf(zone: string): { readonly least: number; readonly most: number } {
  const offsets = changesOf(zone).flatMap(({ before, after }) => [before, after]);
  const always = utcOffsetSeconds(zone, firstSecond);
  return { least: Math.min(always, ...offsets), most: Math.max(always, ...offsets) };
}

interface Change {
  /** The instant, UNIX seconds. */
  readonly at: number;
  /** Offsets in seconds. */
  readonly before: number;
  readonly after: number;
}

/** No clock is this far from UTC. */
const marginSeconds = 2 * daySeconds;
const firstSecond = stampSeconds(monthOf(followed.first, 1), 'start') - marginSeconds;
const endSecond = stampSeconds(monthOf(followed.last + 1, 1), 'start') + marginSeconds;

/** Looks for the changes of a zone once: a query is written anew for each read. */
function once(find: (zone: string) => readonly Change[]): (zone: string) => readonly Change[] {
  const known = new Map<string, readonly Change[]>();
  return (zone) => {
    const changes = known.get(zone) ?? find(zone);
    known.set(zone, changes);
    return changes;
  };
}

/** All changes of a zone's offset in the years that are followed. No zone changes twice within a day and back. */
const changesOf = once((zone) => {
  const found: Change[] = [];
  for (let day = firstSecond; day < endSecond; day += daySeconds) {
    const change = changeBetween(zone, day, day + daySeconds);
    if (change !== undefined) found.push(change);
  }
  return found;
});

/** Clocks that are moved by more have gone to the other side of the date line. */
const seasonSeconds = daySeconds / 2;

/**
 * The moves of a zone across the date line, whenever they were. They are for good, so that it is enough to look once a year, at a
 * fiftieth of the cost of all changes. What comes after the years that are followed repeats them.
 */
const movesOf = once((zone) => {
  const found: Change[] = [];
  for (let year = everyYear.first; year <= followed.last; year++) {
    const [from, to] = [year, year + 1].map((of) => stampSeconds(monthOf(of, 1), 'start')) as [number, number];
    const change = changeBetween(zone, from, to, seasonSeconds);
    if (change !== undefined) found.push(change);
  }
  return found;
});

/** The change of a zone's offset by more than so many seconds between two instants, where these differ by that; there is one at most. */
function changeBetween(zone: string, from: number, to: number, moreThan = 0): Change | undefined {
  const before = utcOffsetSeconds(zone, from);
  const isMoved = (second: number): boolean => Math.abs(utcOffsetSeconds(zone, second) - before) > moreThan;
  if (!isMoved(to)) return undefined;
  let [low, high] = [from, to];
  while (high - low > 1) {
    const middle = Math.floor((low + high) / 2);
    if (isMoved(middle)) high = middle;
    else low = middle;
  }
  return { at: high, before: utcOffsetSeconds(zone, low), after: utcOffsetSeconds(zone, high) };
}
