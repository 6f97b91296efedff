/** The largest changes of a comparison, with the old and the new value, for a person to look at. */
import type { Month } from '../model.ts';
import { addDecimals, compareDecimals, negateDecimal } from '../numbers/arithmetic.ts';
import { formatMonth } from '../time/month.ts';
import { type DriverChange, valuesByMonth } from './diff.ts';

/** One point that changes; `old` is missing where it is created, `new` where it is deleted. */
export interface PointChange {
  readonly driver: string;
  readonly path: readonly string[];
  /** Such as `2026-03`. */
  readonly month: string;
  readonly old?: string;
  readonly new?: string;
}

export class LargestChanges {
  readonly #max: number;
  #kept: { readonly size: string; readonly change: PointChange }[] = [];
  /** Points that change, shown or not. */
  count = 0;

  /** @param max how many are kept; Infinity: all of them */
  constructor(max: number) {
    this.#max = max;
  }

  add({ id, before, after, created, updated, deleted }: DriverChange): void {
    const months = [...created, ...updated, ...deleted];
    if (months.length === 0) return;
    this.count += months.length;
    const path = JSON.parse((after ?? before)?.path ?? '[]') as string[];
    const old = before === undefined ? new Map<Month, string>() : valuesByMonth(before.points);
    const now = after === undefined ? new Map<Month, string>() : valuesByMonth(after.points);
    for (const month of months) {
      const [was, is] = [old.get(month), now.get(month)];
      const change = {
        driver: id,
        path,
        month: formatMonth(month),
        ...(was === undefined ? {} : { old: was }),
        ...(is === undefined ? {} : { new: is }),
      };
      this.#kept.push({ size: sizeOf(change), change });
    }
    if (this.#kept.length > 2 * this.#max + 1000) this.#cut();
  }

  /** The largest first; among equal ones by driver and month. */
  shown(): readonly PointChange[] {
    this.#cut();
    return this.#kept.map(({ change }) => change);
  }

  #cut(): void {
    this.#kept.sort(
      (a, b) =>
        compareDecimals(b.size, a.size) ||
        compareTexts(a.change.driver, b.change.driver) ||
        compareTexts(a.change.month, b.change.month),
    );
    if (this.#kept.length > this.#max) this.#kept = this.#kept.slice(0, this.#max);
  }
}

/** By how much a value changes; what is not there counts as 0. */
export function differenceOf({ old = '0', new: now = '0' }: Pick<PointChange, 'old' | 'new'>): string {
  return addDecimals(now, negateDecimal(old));
}

function sizeOf(change: PointChange): string {
  const difference = differenceOf(change);
  return difference.startsWith('-') ? negateDecimal(difference) : difference;
}

function compareTexts(a: string, b: string): number {
  return a < b ? -1 : a > b ? 1 : 0;
}
