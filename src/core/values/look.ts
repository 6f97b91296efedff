/** What the two reads of one driver show, before anything is known of its group. */
import type { PackedPoints } from '../series/packing.ts';
import { type FactorRange, densest, factorRange, overlapAnywhere } from './factor-range.ts';
import { type Move, canMove, findMove } from './moved.ts';
import { type ExactFactor, Series, exactFactor, isSameValue } from './series.ts';
import { type Tail, lookAtGap, lookAtTail, tailStart } from './tail.ts';

/** Both reads of each driver, in the order of ids. */
export type DriverPairs = Iterable<readonly [PackedPoints | undefined, PackedPoints | undefined]>;

/** So many pairs of values are enough to find a factor. How many have it is counted afterwards. */
const rangesMax = 255;
const triedFirst = 16;

/** Used again for every driver: `load` takes the next one. */
export class DriverLook {
  readonly old = new Series();
  readonly now = new Series();
  /** Points of both reads whose old value is not 0. */
  valued = 0;
  /** How many of them have another value now. */
  changed = 0;
  /** How many of them are 0 now. */
  zeroed = 0;
  /** How many of them changed by each power of ten. */
  readonly exact = new Map<ExactFactor, number>();
  move: Move | undefined;
  /** The newest months. */
  tail: Tail | undefined;
  /** Months that are new or restated before others that stayed as they were. */
  late: Tail | undefined;

  load(before: PackedPoints | undefined, after: PackedPoints | undefined): void {
    const { old, now, exact } = this;
    old.load(before?.points);
    now.load(after?.points);
    this.valued = 0;
    this.changed = 0;
    this.zeroed = 0;
    exact.clear();
    let [common, i, j] = [0, 0, 0];
    /** Of months that are new or restated: the newest one so far, and the newest one before a month that stayed as it was. */
    let [other, gap] = [-1, -1];
    while (i < old.count && j < now.count) {
      const order = old.month(i) - now.month(j);
      if (order > 0) other = j;
      if (order === 0) {
        common++;
        if (this.#compare(i, j)) gap = other;
        else other = j;
      }
      if (order <= 0) i++;
      if (order >= 0) j++;
    }
    const isMovable = this.changed + (old.count - common) >= 3 && canMove(old);
    this.move = isMovable ? findMove(old, now) : undefined;
    const first = tailStart(old, now);
    this.tail = lookAtTail(old, now, first);
    this.late = gap < 0 || gap >= first ? undefined : lookAtGap(old, now, gap);
  }

  /** Takes a driver that only gains months behind those that it had. Most changes of a day are such, and need less work. */
  loadGain(after: PackedPoints, months: number): void {
    const { old, now, exact } = this;
    old.load(undefined);
    now.load(after.points);
    this.valued = 0;
    this.changed = 0;
    this.zeroed = 0;
    exact.clear();
    this.move = undefined;
    this.late = undefined;
    this.tail = lookAtTail(old, now, now.count - months);
  }

  /** @returns whether the value stayed as it was */
  #compare(i: number, j: number): boolean {
    const { old, now, exact } = this;
    const isSame = isSameValue(old, i, now, j);
    if (old.isZero(i)) return isSame;
    this.valued++;
    if (isSame) return true;
    this.changed++;
    if (now.isZero(j)) this.zeroed++;
    const factor = exactFactor(old, i, now, j);
    if (factor !== undefined) exact.set(factor, (exact.get(factor) ?? 0) + 1);
    return false;
  }

  /** Nearly all of its values changed, and no power of ten and no move says why. */
  get isUnexplained(): boolean {
    if (this.move !== undefined || this.changed * 2 < this.valued || this.changed === 0) return false;
    for (const count of this.exact.values()) if (count * 10 >= this.changed * 9) return false;
    return true;
  }

  /** The factors that nearly all values allow; `undefined`: there is none, or it may be 1. */
  factorRange(): FactorRange | undefined {
    return this.#commonRange(triedFirst, 3 / 4) && this.#commonRange(rangesMax, 9 / 10);
  }

  /** @param share how many of the values must allow it */
  #commonRange(max: number, share: number): FactorRange | undefined {
    const { old, now, valued } = this;
    const step = Math.ceil(valued / max);
    const missesMax = Math.ceil(Math.ceil(valued / step) * (1 - share));
    const ranges: FactorRange[] = [];
    let [i, j, at, judged] = [0, 0, 0, 0];
    while (i < old.count && j < now.count) {
      const order = old.month(i) - now.month(j);
      if (order === 0 && !old.isZero(i) && at++ % step === 0) {
        judged++;
        const range = factorRange(old, i, now, j);
        if (range !== undefined) ranges.push(range);
        // Values that changed each in its own way show it in the first few pairs.
        if (judged === missesMax + 2 && !overlapAnywhere(ranges)) return undefined;
      }
      if (order <= 0) i++;
      if (order >= 0) j++;
    }
    const { range, count } = densest(ranges);
    const says = (factor: number): boolean => range.from <= factor && range.to >= factor;
    return count >= judged * share && !says(1) && !says(0) ? range : undefined;
  }

  /** The range of each pair whose old value is not 0; `undefined`: the pair allows no factor. */
  *valuedRanges(): Generator<FactorRange | undefined> {
    for (const [i, j] of commonPoints(this.old, this.now)) {
      if (this.old.isZero(i)) continue;
      yield factorRange(this.old, i, this.now, j);
    }
  }
}

/** Pairs of indexes: points that have the same month in both. */
export function* commonPoints(old: Series, now: Series): Generator<readonly [number, number]> {
  let [i, j] = [0, 0];
  while (i < old.count && j < now.count) {
    const order = old.month(i) - now.month(j);
    if (order === 0) yield [i, j];
    if (order <= 0) i++;
    if (order >= 0) j++;
  }
}
