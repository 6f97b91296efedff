/**
 * Writes numbers the way that a column of the user writes them, and says what they mean. None of it is the agent's code: what the agent
 * reads is compared with this.
 */
import type { DecimalFormat } from '../../core/numbers/decimal.ts';

/** A whole number of units of 10^-scale. */
export interface Decimal {
  readonly units: bigint;
  readonly scale: number;
}

/** How a text is dressed up: 0 is plain, and each other number is one of the ways that the format allows. */
export function writeNumber(
  { units, scale }: Decimal,
  { decimal, group, accounting }: DecimalFormat,
  dress: number,
): string {
  const digits = String(units < 0n ? -units : units).padStart(scale + 1, '0');
  const whole = digits.slice(0, digits.length - scale);
  const grouped = group !== undefined && dress % 3 !== 0 ? withGroups(whole, group) : whole;
  const text = scale === 0 ? grouped : `${grouped}${decimal}${digits.slice(-scale)}`;
  if (units >= 0n) return accounting && dress % 5 === 4 ? `$${text}` : text;
  if (accounting && dress % 2 === 1) return `(${text})`;
  return dress % 7 === 6 ? `\u2212${text}` : `-${text}`;
}

function withGroups(
  whole: string,
  { mark, sizes }: { readonly mark: string; readonly sizes: readonly number[] },
): string {
  const groups: string[] = [];
  let end = whole.length;
  for (let at = 0; end > 0; at++) {
    const size = sizes[Math.min(at, sizes.length - 1)] ?? 3;
    groups.unshift(whole.slice(Math.max(0, end - size), end));
    end -= size;
  }
  return groups.join(mark);
}

/** What a number of a column means: its scale, sign and rounding applied. */
export function meaningOf(written: Decimal, { scale, negate, round }: DecimalFormat): Decimal {
  const factor = scale === undefined ? { units: 1n, scale: 0 } : decimalOf(scale);
  const units = written.units * factor.units * (negate ? -1n : 1n);
  return rounded({ units, scale: written.scale + factor.scale }, round);
}

/** Halves away from zero; with fewer decimals zeros are added. */
function rounded({ units, scale }: Decimal, round: number | undefined): Decimal {
  if (round === undefined) return { units, scale };
  if (round >= scale) return { units: units * 10n ** BigInt(round - scale), scale: round };
  const unit = 10n ** BigInt(scale - round);
  const size = units < 0n ? -units : units;
  const whole = (2n * size + unit) / (2n * unit);
  return { units: units < 0n ? -whole : whole, scale: round };
}

/** Equal shares that add up: with six decimals more, of which zeros at the end go, or as they are. What is left over goes to the last ones. */
export function dividedBy({ units, scale }: Decimal, shares: number, { round }: DecimalFormat): readonly Decimal[] {
  const more = round === undefined ? 6 : 0;
  const size = (units < 0n ? -units : units) * 10n ** BigInt(more);
  const left = Number(size % BigInt(shares));
  return Array.from({ length: shares }, (_, at) => {
    const share = size / BigInt(shares) + (at >= shares - left ? 1n : 0n);
    const [whole, decimals] = more === 0 ? [share, scale] : withoutZeros(share, scale + more);
    return { units: units < 0n ? -whole : whole, scale: decimals };
  });
}

function withoutZeros(size: bigint, scale: number): readonly [bigint, number] {
  return scale > 0 && size % 10n === 0n ? withoutZeros(size / 10n, scale - 1) : [size, scale];
}

/** @param text canonical decimal text */
function decimalOf(text: string): Decimal {
  const [whole = '0', fraction = ''] = text.split('.');
  return { units: BigInt(whole + fraction), scale: fraction.length };
}

/** Canonical decimal text: what the service has to hold. */
export function showDecimal({ units, scale }: Decimal): string {
  const digits = String(units < 0n ? -units : units).padStart(scale + 1, '0');
  const sign = units < 0n ? '-' : '';
  return scale === 0 ? `${sign}${digits}` : `${sign}${digits.slice(0, -scale)}.${digits.slice(-scale)}`;
}
