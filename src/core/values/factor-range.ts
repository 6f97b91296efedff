/**
 * Factors that are no power of ten (a currency), as far as rounded values tell them: a pair of values gives a range, and a
 * factor is found where ranges overlap.
 */
import { type Series, powerOfTen } from './series.ts';

/** Both ends have the sign of the factor; `from` is the one nearer to minus infinity. */
export interface FactorRange {
  readonly from: number;
  readonly to: number;
}

/** Room for what a double rounds. */
const slack = 1e-12;

/** All factors that a pair of values allows when both are rounded to the decimals that they show; the old one is not 0. */
export function factorRange(before: Series, i: number, after: Series, j: number): FactorRange | undefined {
  const [old, now] = [Math.abs(before.approximate(i)), Math.abs(after.approximate(j))];
  const [oldHalf, nowHalf] = [0.5 / powerOfTen(before.decimals(i)), 0.5 / powerOfTen(after.decimals(j))];
  // Room for their quotient, too.
  if (!(old > oldHalf) || old < 1e-100 || old > 1e100 || now > 1e100) return undefined;
  // What is 0 now, or rounds to it, may have been made so small by any factor.
  const smallest = nowHalf / (old - oldHalf);
  if (now === 0) return { from: -smallest, to: smallest };
  if (!(now > nowHalf)) return undefined;
  const least = ((now - nowHalf) / (old + oldHalf)) * (1 - slack);
  const most = ((now + nowHalf) / (old - oldHalf)) * (1 + slack);
  return before.isNegative(i) === after.isNegative(j) ? { from: least, to: most } : { from: -most, to: -least };
}

export function isInRange(factor: number, { from, to }: FactorRange): boolean {
  return factor >= from && factor <= to;
}

/** How much a range says for a factor, in bits: 0 where the values are too short to tell it from 1. */
export function evidence(factor: number, { from, to }: FactorRange): number {
  if (from <= 0 && to >= 0) return 0;
  const distance = factor < 0 ? Math.max(Math.abs(Math.log(-factor)), Math.LN2) : Math.abs(Math.log(factor));
  const width = Math.abs(Math.log(to / from));
  return Math.min(20, Math.max(0, Math.log2(distance / width)));
}

/** Whether any two ranges overlap. For few of them. */
export function overlapAnywhere(ranges: readonly FactorRange[]): boolean {
  return ranges.some((one, at) => ranges.some((other, to) => to > at && one.from <= other.to && other.from <= one.to));
}

/** Where most ranges overlap, and how many. */
export function densest(ranges: readonly FactorRange[]): { readonly range: FactorRange; readonly count: number } {
  const ends = ranges.flatMap(({ from, to }) => [
    { at: from, step: 1 },
    { at: to, step: -1 },
  ]);
  ends.sort((a, b) => a.at - b.at || b.step - a.step);
  let [open, most] = [0, 0];
  let range: FactorRange = { from: 1, to: 1 };
  for (const [index, { at, step }] of ends.entries()) {
    open += step;
    if (step < 0 || open <= most) continue;
    most = open;
    range = { from: at, to: (ends[index + 1] as { at: number }).at };
  }
  return { range, count: most };
}

/** How far a factor may be from the middle of its range for the sake of fewer digits. */
const roundingMax = 0.0005;

/** The factor of a range as decimal text: a power of ten where one is in it, else the shortest near its middle. */
function shortestFactor({ from, to }: FactorRange): string {
  const middle = (from + to) / 2;
  const power = Math.sign(middle) * 10 ** Math.round(Math.log10(Math.abs(middle)));
  if (power >= from && power <= to) return plainText(power, 1);
  for (let digits = 1; digits < 17; digits++) {
    const rounded = Number(middle.toPrecision(digits));
    const isNear = Math.abs(rounded / middle - 1) <= roundingMax;
    if (isNear && rounded >= from && rounded <= to) return plainText(rounded, digits);
  }
  return plainText(middle, 17);
}

function plainText(value: number, digits: number): string {
  const [mantissa = '', power = '0'] = value.toExponential(digits - 1).split('e');
  const exponent = Number(power);
  const sign = mantissa.startsWith('-') ? '-' : '';
  const all = mantissa.replace(/[-.]/g, '').replace(/0+$/, '') || '0';
  if (exponent < 0) return `${sign}0.${'0'.repeat(-exponent - 1)}${all}`;
  if (all.length <= exponent + 1) return sign + all.padEnd(exponent + 1, '0');
  return `${sign}${all.slice(0, exponent + 1)}.${all.slice(exponent + 1)}`;
}

const clustersMax = 64;

/** Ranges of many drivers, put together where they overlap; of bounded size. */
export class FactorClusters {
  #clusters: { range: FactorRange; points: number }[] = [];

  add(range: FactorRange, points: number): void {
    const found = this.#clusters.find((one) => one.range.from <= range.to && range.from <= one.range.to);
    if (found !== undefined) {
      found.range = {
        from: Math.max(found.range.from, range.from),
        to: Math.min(found.range.to, range.to),
      };
      found.points += points;
      return;
    }
    this.#clusters.push({ range, points });
    if (this.#clusters.length > clustersMax) {
      this.#clusters.sort((a, b) => b.points - a.points || a.range.from - b.range.from);
      this.#clusters.pop();
    }
  }

  /** The factors of at least so many points, those of most points first. */
  factors(pointsMin: number, max: number): readonly string[] {
    return this.#clusters
      .filter(({ points }) => points >= pointsMin)
      .sort((a, b) => b.points - a.points || a.range.from - b.range.from)
      .slice(0, max)
      .map(({ range }) => shortestFactor(range));
  }
}
