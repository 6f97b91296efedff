/**
 * Exact arithmetic on canonical decimal text (`-?(0|[1-9]\d*)(\.\d+)?`), as `parseDecimal` returns it. Every result is
 * canonical again. Mantissas are BigInt, so no digit is ever lost.
 */

interface Parts {
  readonly mantissa: bigint;
  /** Digits after the decimal point. */
  readonly scale: number;
}

/** How many more decimals an average has than its sum. */
const averageDigits = 6;

/** Negative, zero or positive, for sorting. 1.50 equals 1.5. */
export function compareDecimals(a: string, b: string): number {
  if (a === b) return 0;
  const aNegative = a.charCodeAt(0) === minus;
  const bNegative = b.charCodeAt(0) === minus;
  if (aNegative !== bNegative) return aNegative ? -1 : 1;
  return aNegative ? compareMagnitudes(b, a, 1) : compareMagnitudes(a, b, 0);
}

/** The exact sum, at the longer of the two scales: 1.50 + 2 is 3.50. */
export function addDecimals(a: string, b: string): string {
  const x = toParts(a);
  const y = toParts(b);
  if (x.scale === y.scale) return toText(x.mantissa + y.mantissa, x.scale);
  return x.scale > y.scale
    ? toText(x.mantissa + y.mantissa * powerOfTen(x.scale - y.scale), x.scale)
    : toText(x.mantissa * powerOfTen(y.scale - x.scale) + y.mantissa, y.scale);
}

/** Adds up many values: the sum has the longest scale of them. */
export class DecimalSum {
  #mantissa = 0n;
  #scale = 0;

  add(text: string): void {
    const { mantissa, scale } = toParts(text);
    if (scale > this.#scale) {
      this.#mantissa *= powerOfTen(scale - this.#scale);
      this.#scale = scale;
    }
    this.#mantissa += scale === this.#scale ? mantissa : mantissa * powerOfTen(this.#scale - scale);
  }

  get text(): string {
    return toText(this.#mantissa, this.#scale);
  }
}

/** The exact product; scales add: 1000 * 1.50 is 1500.00. */
export function multiplyDecimals(a: string, b: string): string {
  const x = toParts(a);
  const y = toParts(b);
  return toText(x.mantissa * y.mantissa, x.scale + y.scale);
}

/** `sum / count`, rounded half to even at the sum's scale plus 6, trailing zeros dropped. @param count 1 or more */
export function averageDecimal(sum: string, count: number): string {
  const { mantissa, scale } = toParts(sum);
  const divisor = BigInt(count);
  const dividend = (mantissa < 0n ? -mantissa : mantissa) * powerOfTen(averageDigits);
  const floor = dividend / divisor;
  const twiceRest = (dividend % divisor) * 2n;
  const isUp = twiceRest > divisor || (twiceRest === divisor && floor % 2n === 1n);
  const rounded = isUp ? floor + 1n : floor;
  return dropTrailingZeros(toText(mantissa < 0n ? -rounded : rounded, scale + averageDigits));
}

/** Rounds to `digits` decimals, halves away from zero, or adds zeros: with 2, 2.345 is 2.35 and 7 is 7.00. */
export function roundDecimal(text: string, digits: number): string {
  const { mantissa, scale } = toParts(text);
  if (scale <= digits) return toText(mantissa * powerOfTen(digits - scale), digits);
  const divisor = powerOfTen(scale - digits);
  const magnitude = mantissa < 0n ? -mantissa : mantissa;
  const rounded = (magnitude + divisor / 2n) / divisor;
  return toText(mantissa < 0n ? -rounded : rounded, digits);
}

/**
 * Equal shares that add up to exactly `text`. The last ones are larger by one unit of the last decimal where needed. They have 6 more
 * decimals than `text`, without trailing zeros (100 in three is 33.333333 twice and 33.333334), or as many as `text` where that is
 * `fixed`.
 */
export function divideDecimal(text: string, shares: number, scaleOf: 'fixed' | 'free'): readonly string[] {
  const { mantissa, scale } = toParts(text);
  const digits = scaleOf === 'fixed' ? 0 : averageDigits;
  const whole = mantissa * powerOfTen(digits);
  const share = whole / BigInt(shares);
  const left = whole - share * BigInt(shares);
  const unit = left < 0n ? -1n : 1n;
  const firstLarger = shares - Number(left * unit);
  return Array.from({ length: shares }, (_, at) => {
    const written = toText(at < firstLarger ? share : share + unit, scale + digits);
    return scaleOf === 'fixed' ? written : dropTrailingZeros(written);
  });
}

/** The same number with the other sign. Zero has no sign. */
export function negateDecimal(text: string): string {
  if (text.charCodeAt(0) === minus) return text.slice(1);
  return isZero(text) ? text : `-${text}`;
}

/** Whether canonical text is zero, with any number of decimals. */
export function isZero(text: string): boolean {
  for (let i = 0; i < text.length; i++) {
    const code = text.charCodeAt(i);
    if (code >= 0x31 && code <= 0x39) return false;
  }
  return true;
}

const minus = 0x2d;
const point = 0x2e;
const zero = 0x30;

/** Compares two texts of one sign from position `start` on. Canonical text has no leading zeros: longer is larger. */
function compareMagnitudes(a: string, b: string, start: number): number {
  const aPoint = pointOf(a);
  const bPoint = pointOf(b);
  if (aPoint !== bPoint) return aPoint - bPoint;
  const end = Math.max(a.length, b.length);
  for (let i = start; i < end; i++) {
    // The missing end of a shorter fraction counts as zeros, and so does a missing point.
    const aCode = i < a.length ? a.charCodeAt(i) : zero;
    const bCode = i < b.length ? b.charCodeAt(i) : zero;
    if (aCode !== bCode && i !== aPoint) return aCode - bCode;
  }
  return 0;
}

function pointOf(text: string): number {
  const index = text.indexOf('.');
  return index < 0 ? text.length : index;
}

function toParts(text: string): Parts {
  const index = text.indexOf('.');
  if (index < 0) return { mantissa: BigInt(text), scale: 0 };
  return { mantissa: BigInt(text.slice(0, index) + text.slice(index + 1)), scale: text.length - index - 1 };
}

function toText(mantissa: bigint, scale: number): string {
  if (scale === 0) return mantissa.toString();
  const sign = mantissa < 0n ? '-' : '';
  const digits = (mantissa < 0n ? -mantissa : mantissa).toString().padStart(scale + 1, '0');
  return `${sign}${digits.slice(0, -scale)}.${digits.slice(-scale)}`;
}

const powers: bigint[] = [];

function powerOfTen(exponent: number): bigint {
  // A sum needs the same few powers millions of times. Larger ones are rare and not worth their memory.
  if (exponent > 64) return 10n ** BigInt(exponent);
  return (powers[exponent] ??= 10n ** BigInt(exponent));
}

function dropTrailingZeros(text: string): string {
  let end = text.length;
  while (text.charCodeAt(end - 1) === zero) end--;
  return text.slice(0, text.charCodeAt(end - 1) === point ? end - 1 : end);
}
