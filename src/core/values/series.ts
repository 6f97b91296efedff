/** The points of one packed driver, side by side with those of another: compared digit by digit, without a text for each value. */
import type { Month } from '../model.ts';
import { placePoints, pointCount } from '../series/packing.ts';

const minus = 0x2d;
const point = 0x2e;
const zero = 0x30;

const keyChars = 4;

export class Series {
  count = 0;
  bytes: Uint8Array = new Uint8Array(0);
  months = new Int32Array(256);
  starts = new Int32Array(256);
  ends = new Int32Array(256);
  /** The first four characters where they are digits from 1 on, else 0. Equal values have equal keys. */
  keys = new Int32Array(256);

  /** Takes the place of what was loaded before: one `Series` serves all drivers, so that a review makes no garbage. */
  load(points: Uint8Array | undefined): void {
    this.count = 0;
    if (points === undefined) return;
    const count = pointCount(points);
    while (count > this.months.length) this.#grow();
    const { months, starts, ends, keys } = this;
    placePoints(points, months, starts, ends);
    for (let at = 0; at < count; at++) keys[at] = keyOf(points, starts[at] as number, ends[at] as number);
    this.count = count;
    this.bytes = points;
  }

  #grow(): void {
    const enlarged = (array: Int32Array<ArrayBuffer>): Int32Array<ArrayBuffer> => {
      const larger = new Int32Array(array.length * 2);
      larger.set(array);
      return larger;
    };
    this.months = enlarged(this.months);
    this.starts = enlarged(this.starts);
    this.ends = enlarged(this.ends);
    this.keys = enlarged(this.keys);
  }

  month(at: number): Month {
    return this.months[at] as Month;
  }

  /** Where a month stands; -1 where it has no point. */
  indexOf(month: Month): number {
    let low = 0;
    let high = this.count - 1;
    while (low <= high) {
      const middle = (low + high) >> 1;
      const found = this.months[middle] as Month;
      if (found === month) return middle;
      if (found < month) low = middle + 1;
      else high = middle - 1;
    }
    return -1;
  }

  isZero(at: number): boolean {
    return this.keys[at] === 0 && this.firstDigit(at) === 0;
  }

  /** The first digit that is not 0; 0 where there is none. */
  firstDigit(at: number): number {
    const key = this.keys[at] as number;
    if (key !== 0) return ((key >>> ((31 - Math.clz32(key & -key)) & ~7)) & 0xff) - zero;
    for (let i = (this.starts[at] as number) + keyChars; i < (this.ends[at] as number); i++) {
      const code = this.bytes[i] as number;
      if (code > zero) return code - zero;
    }
    return 0;
  }

  isNegative(at: number): boolean {
    return this.bytes[this.starts[at] as number] === minus;
  }

  text(at: number): string {
    const { bytes } = this;
    const buffer = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
    return buffer.toString('latin1', this.starts[at], this.ends[at]);
  }

  /** For factors and sizes only. Equality is decided by digits. */
  approximate(at: number): number {
    const { bytes } = this;
    const end = this.ends[at] as number;
    let [mantissa, scale, mark] = [0, 0, 0];
    for (let i = this.starts[at] as number; i < end; i++) {
      const code = bytes[i] as number;
      if (code === point) mark = 1;
      else if (code !== minus) {
        mantissa = mantissa * 10 + (code - zero);
        scale += mark;
      }
    }
    const size = scale === 0 ? mantissa : mantissa / powerOfTen(scale);
    return this.isNegative(at) ? -size : size;
  }

  /** How many decimals are written. */
  decimals(at: number): number {
    const end = this.ends[at] as number;
    for (let i = this.starts[at] as number; i < end; i++) if (this.bytes[i] === point) return end - i - 1;
    return 0;
  }
}

/** All four characters at once: a sign, a point and 0 have codes below those of the other digits. */
function keyOf(bytes: Uint8Array, start: number, end: number): number {
  let word = bytes[start] as number;
  if (end - start > 3) {
    word |=
      ((bytes[start + 1] as number) << 8) | ((bytes[start + 2] as number) << 16) | ((bytes[start + 3] as number) << 24);
  } else {
    for (let i = start + 1, shift = 8; i < end; i++, shift += 8) word |= (bytes[i] as number) << shift;
  }
  const isDigit = ((word + 0x4f4f4f4f) & 0x80808080) >>> 7;
  return word & (isDigit * 0xff);
}

const powersOfTen: readonly number[] = Array.from({ length: 23 }, (_, exponent) => 10 ** exponent);

export function powerOfTen(exponent: number): number {
  return powersOfTen[exponent] ?? 10 ** exponent;
}

/** The digits of a value between its first and its last that is not 0. */
class Digits {
  isNegative = false;
  first = 0;
  last = 0;
  /** The power of ten of the last one. */
  exponent = 0;
  bytes: Uint8Array = new Uint8Array(0);

  set(series: Series, at: number): void {
    const { bytes } = series;
    const start = series.starts[at] as number;
    const end = series.ends[at] as number;
    this.bytes = bytes;
    this.isNegative = bytes[start] === minus;
    this.first = -1;
    this.last = end;
    let mark = -1;
    for (let i = this.isNegative ? start + 1 : start; i < end; i++) {
      const code = bytes[i] as number;
      if (code === point) mark = i;
      else if (code !== zero) {
        if (this.first < 0) this.first = i;
        this.last = i + 1;
      }
    }
    if (mark < 0) this.exponent = end - this.last;
    else this.exponent = this.last <= mark ? mark - this.last : mark + 1 - this.last;
  }

  hasDigitsOf(other: Digits): boolean {
    let mine = this.first;
    let theirs = other.first;
    for (;;) {
      if (this.bytes[mine] === point) mine++;
      if (other.bytes[theirs] === point) theirs++;
      if (mine >= this.last || theirs >= other.last) return mine >= this.last && theirs >= other.last;
      if (this.bytes[mine++] !== other.bytes[theirs++]) return false;
    }
  }
}

const left = new Digits();
const right = new Digits();

/** Beyond so many powers of ten it is no unit that was mistaken. */
export const exponentMax = 100;

/** A power of ten with a sign, as a whole number: twice the exponent, and 1 more where the sign changes. */
export type ExactFactor = number;

/** The power of ten, with a sign, by which one value became another; `undefined`: no power of ten. The old value is not 0. */
export function exactFactor(before: Series, i: number, after: Series, j: number): ExactFactor | undefined {
  // Nearly all changes show in the first digit.
  if (before.firstDigit(i) !== after.firstDigit(j)) return undefined;
  left.set(before, i);
  right.set(after, j);
  if (left.first < 0 || right.first < 0 || !left.hasDigitsOf(right)) return undefined;
  if (Math.abs(right.exponent - left.exponent) > exponentMax) return undefined;
  return (right.exponent - left.exponent) * 2 + (left.isNegative === right.isNegative ? 0 : 1);
}

export function exactFactorText(factor: ExactFactor): string {
  const isNegative = factor % 2 !== 0;
  const exponent = Math.floor(factor / 2);
  const size = exponent >= 0 ? `1${'0'.repeat(exponent)}` : `0.${'0'.repeat(-exponent - 1)}1`;
  return isNegative ? `-${size}` : size;
}

/** Whether two values are equal, as 1.50 and 1.5 are: canonical texts of equal values differ only by zeros behind the point. */
export function isSameValue(before: Series, i: number, after: Series, j: number): boolean {
  if (before.keys[i] !== after.keys[j]) return false;
  const [mine, theirs] = [before.starts[i] as number, after.starts[j] as number];
  const [length, other] = [(before.ends[i] as number) - mine, (after.ends[j] as number) - theirs];
  const shared = Math.min(length, other);
  let hasPoint = false;
  for (let k = 0; k < shared; k++) {
    const code = before.bytes[mine + k];
    if (code !== after.bytes[theirs + k]) return false;
    hasPoint ||= code === point;
  }
  if (length === other) return true;
  const longer = length > other ? before : after;
  let at = (length > other ? mine : theirs) + shared;
  const end = (length > other ? before.ends[i] : after.ends[j]) as number;
  if (!hasPoint && longer.bytes[at++] !== point) return false;
  while (at < end) if (longer.bytes[at++] !== zero) return false;
  return true;
}
