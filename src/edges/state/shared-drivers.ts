/** Drivers and points that several reads or parts have: found by going through all of them at once, in the order of ids. */
import type { Month } from '../../core/model.ts';
import { mergeDriverRuns } from '../../core/series/merge.ts';
import { monthsIn } from '../../core/series/packing.ts';
import { isAdding } from '../../core/series/rule.ts';
import type { SharedPoint } from '../../core/buffer.ts';
import { type BundleCursor, byDriver } from './bundle-order.ts';

/** The ids that more than one of several owners have, with these owners. Each list is in the order of ids. */
export function* sharedIds(
  lists: readonly Iterable<{ readonly id: string; readonly owner: string }>[],
): Generator<{ readonly id: string; readonly owners: readonly string[] }> {
  let id: string | undefined;
  let owners = new Set<string>();
  for (const one of mergeDriverRuns(lists)) {
    if (one.id !== id) {
      if (id !== undefined && owners.size > 1) yield { id, owners: [...owners] };
      id = one.id;
      owners = new Set();
    }
    owners.add(one.owner);
  }
  if (id !== undefined && owners.size > 1) yield { id, owners: [...owners] };
}

/** By the number of a run, the parts that are made of it. */
export type PartsByRun = ReadonlyMap<number, readonly number[]>;

interface Months {
  readonly run: number;
  readonly isAdding: boolean;
  readonly months: readonly Month[];
}

/**
 * For each of some parts, the first point that one of the others has too, of drivers whose readings add up.
 * @param folds of all of them, in the order of ids
 */
export function firstShared(
  folds: Iterable<BundleCursor>,
  parts: PartsByRun,
  others: PartsByRun,
): readonly SharedPoint[] {
  const wanted = new Set([...parts.values()].flat());
  const found: SharedPoint[] = [];
  const monthsOf = (cursor: BundleCursor): Months => ({
    run: cursor.run,
    isAdding: isAdding(cursor.rule),
    months: monthsIn(cursor.driver().points),
  });
  for (const { id: driver, folds: all } of byDriver(folds, monthsOf)) {
    for (const fold of all) {
      for (const part of parts.get(fold.run) ?? []) {
        if (!fold.isAdding || !wanted.has(part)) continue;
        const shared = sharedMonth(fold, all, others);
        if (shared === undefined) continue;
        wanted.delete(part);
        found.push({ part, driver, ...shared });
      }
    }
    if (wanted.size === 0) break;
  }
  return found;
}

function sharedMonth(
  { months }: Months,
  folds: readonly Months[],
  others: PartsByRun,
): { readonly other: number; readonly month: Month } | undefined {
  const own = new Set(months);
  for (const fold of folds) {
    const [other] = others.get(fold.run) ?? [];
    const month = other === undefined ? undefined : fold.months.find((one) => own.has(one));
    if (other !== undefined && month !== undefined) return { other, month };
  }
  return undefined;
}
