/** Finds drivers that have each other's values: by hashes of some blocks of months first, since only few pairs can be compared. */
import { Series, isSameValue } from './series.ts';

const pointsMin = 6;
const halfYear = 6;
const longBlock = 36;
/** Fewer points say little. */
const blockPoints = 3;
/** Blocks of a driver that are compared by hash. One that was corrected differs, so one alone would not do. */
const blocksMax = 4;
/** Beyond so many drivers that changed so much, no more are compared: their hashes take 1 kB each. */
const driversMax = 20_000;
const pairsMax = 2000;
/** Drivers with the same block. */
const alikeMax = 4;

interface Suspect {
  readonly id: string;
  readonly old: readonly number[];
  readonly now: readonly number[];
}

/** Two drivers, the ids in order. */
export type Pair = readonly [string, string];

export class ExchangeSearch {
  readonly #suspects: Suspect[] = [];

  /** Takes a driver whose values changed, at least half of them: two drivers may have been equal for years. */
  add(id: string, old: Series, now: Series): void {
    if (old.count < pointsMin || now.count < pointsMin || this.#suspects.length === driversMax) return;
    this.#suspects.push({ id, old: blockHashes(old), now: blockHashes(now) });
  }

  /** Pairs that seem to have exchanged their values; `isExchanged` says whether they did. */
  pairs(): readonly Pair[] {
    // Nearly no driver has what another one had: most hashes need no place in the map.
    const taken = new Set(this.#suspects.flatMap(({ now }) => now));
    const byOld = new Map<number, Suspect[]>();
    for (const suspect of this.#suspects) {
      for (const hash of suspect.old) {
        if (!taken.has(hash)) continue;
        const found = byOld.get(hash) ?? [];
        // Drivers that are alike in a block would all pair with all.
        if (found.length < alikeMax) found.push(suspect);
        byOld.set(hash, found);
      }
    }
    const pairs: Pair[] = [];
    const paired = new Set<string>();
    for (const one of this.#suspects) {
      if (paired.has(one.id) || pairs.length === pairsMax) continue;
      const owners = new Set(one.now.flatMap((hash) => byOld.get(hash) ?? []));
      const other = [...owners].find(
        (owner) => owner !== one && !paired.has(owner.id) && owner.now.some((hash) => one.old.includes(hash)),
      );
      if (other === undefined) continue;
      paired.add(one.id).add(other.id);
      pairs.push([one.id, other.id]);
    }
    return pairs;
  }
}

/** Hashes of blocks of months. Calendar and content alone choose them, so that both drivers of a pair choose the same. */
function blockHashes(series: Series): readonly number[] {
  const varied = hashesOf(series, halfYear, 'varied');
  if (varied.length > 0) return varied;
  // Quarterly and yearly values have too few points in a half year.
  const long = hashesOf(series, longBlock, 'varied');
  return long.length > 0 ? long : hashesOf(series, halfYear, 'constant');
}

/** The blocks of one driver that were chosen so far, in some order that spreads: drivers of one group may be alike for years on end. */
const chosen = {
  count: 0,
  orders: new Float64Array(blocksMax),
  starts: new Int32Array(blocksMax),
  ends: new Int32Array(blocksMax),
};

/** A constant block is that of many drivers: it is taken only where a driver has no other, and never where it is of zeros. */
function hashesOf(series: Series, months: number, kind: 'varied' | 'constant'): readonly number[] {
  const { orders, starts, ends } = chosen;
  chosen.count = 0;
  for (let start = 0, end = 0; start < series.count; start = end) {
    const block = Math.floor(series.month(start) / months);
    const after = (block + 1) * months;
    while (end < series.count && series.month(end) < after) end++;
    // The newest block may get a month with each read: of a long one only the first are compared.
    const to = months === longBlock ? Math.min(end, start + blockPoints) : end;
    if (to - start < blockPoints) continue;
    const order = Math.imul(block, 0xc2b2ae35) >>> 0;
    if (chosen.count === blocksMax && order > (orders[blocksMax - 1] as number)) continue;
    const isTaken = kind === 'constant' ? !series.isZero(start) : !isConstant(series, start, to);
    if (isTaken) choose(order, start, to);
  }
  return Array.from({ length: chosen.count }, (_, at) => hashOf(series, starts[at] as number, ends[at] as number));
}

/** Puts a block in its place, in front of those of a higher order. The last one goes where there are too many. */
function choose(order: number, start: number, end: number): void {
  const { orders, starts, ends } = chosen;
  if (chosen.count < blocksMax) chosen.count++;
  let at = chosen.count - 1;
  for (; at > 0 && (orders[at - 1] as number) > order; at--) {
    orders[at] = orders[at - 1] as number;
    starts[at] = starts[at - 1] as number;
    ends[at] = ends[at - 1] as number;
  }
  orders[at] = order;
  starts[at] = start;
  ends[at] = end;
}

function isConstant(series: Series, start: number, end: number): boolean {
  for (let at = start + 1; at < end; at++) if (!isSameValue(series, at - 1, series, at)) return false;
  return true;
}

/** 53 bits over the months, and of each text over its first and its last characters and its length: a pair is compared whole before it counts. */
function hashOf({ months, keys, starts, ends, bytes }: Series, start: number, end: number): number {
  let [one, two] = [0x9e3779b1, 0x85ebca6b];
  for (let at = start; at < end; at++) {
    const to = ends[at] as number;
    const length = to - (starts[at] as number);
    const last = (length << 16) | ((bytes[to - 1] as number) << 8) | (length > 1 ? (bytes[to - 2] as number) : 0);
    one = Math.imul(one ^ (keys[at] as number), 0x01000193) ^ (months[at] as number);
    one ^= one >>> 15;
    two = Math.imul(two + last, 0x27d4eb2f) ^ (keys[at] as number);
    two ^= two >>> 13;
  }
  return (one >>> 0) * 0x200000 + ((two >>> 0) & 0x1fffff);
}

/** Both reads of one driver of a pair. */
export interface BothReads {
  readonly old: Uint8Array;
  readonly now: Uint8Array;
}

/** In how many points two drivers have each other's values; `undefined`: they have not. */
export function exchangedPoints(one: BothReads, other: BothReads): { one: number; other: number } | undefined {
  const [mine, theirs] = [takenPoints(other.old, one), takenPoints(one.old, other)];
  return mine === undefined || theirs === undefined ? undefined : { one: mine, other: theirs };
}

/** How many values of another driver a driver took, where it took nearly all of them and had others before. */
function takenPoints(theirs: Uint8Array, { old, now }: BothReads): number | undefined {
  const [taken, before, after] = [new Series(), new Series(), new Series()];
  taken.load(theirs);
  before.load(old);
  after.load(now);
  let [same, own] = [0, 0];
  for (let at = 0; at < taken.count; at++) {
    const there = after.indexOf(taken.month(at));
    if (there < 0 || !isSameValue(taken, at, after, there)) continue;
    same++;
    const was = before.indexOf(taken.month(at));
    if (was >= 0 && isSameValue(before, was, after, there)) own++;
  }
  return same - own >= pointsMin - 1 && same * 10 >= taken.count * 9 ? same : undefined;
}
