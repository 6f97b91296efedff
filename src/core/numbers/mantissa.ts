/**
 * Decimals as an integer and a scale: `-12.50` is -1250 and 2. Only where that is exact, which a double is for integers of up
 * to 15 digits; everything else stays decimal text.
 */

export const digitsMax = 15;
const integerMax = 1e15;

/** Where a reader puts what it read. */
export interface Mantissas {
  readonly mantissas: Float64Array;
  readonly scales: Int8Array;
}

/**
 * Reads canonical decimal text (`-?(0|[1-9]\d*)(\.\d+)?`, no negative zero) of at most 15 digits into a place of two arrays. For any other text the
 * scale is -1.
 */
export function readMantissa(text: string, at: number, { mantissas, scales }: Mantissas): void {
  const end = text.length;
  const isNegative = text.charCodeAt(0) === 0x2d;
  const start = isNegative ? 1 : 0;
  let mantissa = 0;
  let point = -1;
  scales[at] = -1;
  for (let i = start; i < end; i++) {
    const digit = text.charCodeAt(i) - 0x30;
    if (digit >= 0 && digit <= 9) mantissa = mantissa * 10 + digit;
    else if (digit === -2 && point < 0 && i > start) point = i;
    else return;
  }
  const whole = (point < 0 ? end : point) - start;
  const digits = end - start - (point < 0 ? 0 : 1);
  if (whole === 0 || digits > digitsMax || point === end - 1) return;
  if (whole > 1 && text.charCodeAt(start) === 0x30) return;
  if (isNegative && mantissa === 0) return;
  mantissas[at] = isNegative ? -mantissa : mantissa;
  scales[at] = point < 0 ? 0 : end - point - 1;
}

/** The canonical text of an integer and its scale. */
export function mantissaText(mantissa: number, scale: number): string {
  if (scale === 0) return String(mantissa);
  const digits = String(Math.abs(mantissa)).padStart(scale + 1, '0');
  const point = digits.length - scale;
  return `${mantissa < 0 ? '-' : ''}${digits.slice(0, point)}.${digits.slice(point)}`;
}

const powers = Array.from({ length: digitsMax + 1 }, (_, scale) => 10 ** scale);

/** An integer at a larger scale; NaN where it has too many digits for that. */
export function rescaled(mantissa: number, from: number, to: number): number {
  if (from === to) return mantissa;
  const scaled = mantissa * (powers[to - from] as number);
  return Math.abs(scaled) < integerMax ? scaled : NaN;
}

/** Whether a sum of two such integers is exact and stays within 15 digits. */
export function isExact(sum: number): boolean {
  return Math.abs(sum) < integerMax;
}
