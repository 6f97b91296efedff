/** What the service may hold: parts of rows with their meaning, and the rules of docs/RULES.md in short. It knows nothing of the agent. */
import { type Decimal, showDecimal } from './rows/numbers.ts';
import type { Meaning, Sheet } from './world/place.ts';

export type Collapse = 'last' | 'first' | 'sum' | 'average' | 'min' | 'max' | 'count';

export interface HeldPart {
  readonly name: string;
  readonly sheet: Sheet;
  readonly isCarried: boolean;
  /** Perhaps only a snapshot knows it: which of its months it had itself, nothing says then. */
  readonly isInSnapshot?: boolean;
}

/** By driver, then by month: the texts that are right. Several where two files tie, and which wins is not the model's to say. */
export type Points = ReadonlyMap<string, ReadonlyMap<number, readonly string[]>>;

/** The points that parts have together. */
export function foldParts(parts: readonly HeldPart[], rules: readonly Collapse[]): Points {
  const means = parts.flatMap(({ sheet }) => sheet.rows.flatMap((row) => row.means ?? []));
  const drivers = Map.groupBy(means, ({ driver }) => driver);
  const monthsOf = (all: readonly Meaning[]) => Map.groupBy(all, ({ month }) => month);
  return mapped(drivers, (all) => mapped(monthsOf(all), (same) => collapsed(same, rules)));
}

function mapped<Key, One, Other>(map: ReadonlyMap<Key, One>, to: (one: One) => Other): ReadonlyMap<Key, Other> {
  return new Map([...map].map(([key, one]) => [key, to(one)]));
}

/** The readings of one driver in one month. */
function collapsed(all: readonly Meaning[], rules: readonly Collapse[]): readonly string[] {
  const rule = rules[all[0]?.entry ?? 0] ?? 'last';
  if (rule === 'count') return [String(all.length)];
  const scale = Math.max(...all.map((one) => one.scale));
  const unitsOf = (one: Decimal): bigint => one.units * 10n ** BigInt(scale - one.scale);
  const sum = { units: all.reduce((total, one) => total + unitsOf(one), 0n), scale };
  if (rule === 'sum') return [showDecimal(sum)];
  if (rule === 'average') return [showDecimal(average(sum, BigInt(all.length)))];
  const rank = (one: Meaning): bigint => (rule === 'min' || rule === 'max' ? unitsOf(one) : BigInt(one.at));
  const isBefore = (one: bigint, other: bigint): boolean =>
    rule === 'min' || rule === 'first' ? one < other : one > other;
  const best = all.map(rank).reduce((one, other) => (isBefore(other, one) ? other : one));
  return [...new Set(all.filter((one) => rank(one) === best).map(showDecimal))];
}

/** Half to even at six more decimals; zeros at the end go. */
function average({ units: sum, scale }: Decimal, count: bigint): Decimal {
  const size = (sum < 0n ? -sum : sum) * 1_000_000n;
  const [whole, twice] = [size / count, (size % count) * 2n];
  const isUp = twice > count || (twice === count && whole % 2n === 1n);
  let [units, left] = [isUp ? whole + 1n : whole, scale + 6];
  for (; left > 0 && units % 10n === 0n; left--) units /= 10n;
  return { units: sum < 0n ? -units : units, scale: left };
}

/** A candidate: what is there, and what was accepted and is gone. A file that is there under another name is not gone. */
export function withCarried(accepted: readonly HeldPart[], present: readonly HeldPart[]): readonly HeldPart[] {
  const has = (parts: readonly HeldPart[], { name }: HeldPart): boolean => parts.some((one) => one.name === name);
  const renamed = present.filter((one) => !has(accepted, one)).map(({ sheet }) => sheet.hash);
  const gone = accepted.filter((one) => !has(present, one));
  const carried = gone
    .toSorted((a, b) => Number(a.isCarried) - Number(b.isCarried))
    .filter(({ sheet }) => {
      const at = renamed.indexOf(sheet.hash);
      if (at >= 0) renamed.splice(at, 1);
      return at < 0;
    });
  return [...present, ...carried.map((part) => ({ ...part, isCarried: true }))];
}

export function sizeOf(points: Points): { readonly drivers: number; readonly points: number } {
  return { drivers: points.size, points: [...points.values()].reduce((sum, months) => sum + months.size, 0) };
}

/** The points that go from one read to the next. */
export function goneBetween(before: Points, after: Points): Points {
  const isGone = (driver: string, month: number): boolean => after.get(driver)?.has(month) !== true;
  const left = [...before].map(
    ([driver, months]) => [driver, new Map([...months].filter(([month]) => isGone(driver, month)))] as const,
  );
  return new Map(left.filter(([, months]) => months.size > 0));
}

export function deletesBetween(before: Points, after: Points): ReturnType<typeof sizeOf> {
  const drivers = [...before.keys()].filter((driver) => !after.has(driver));
  return { drivers: drivers.length, points: sizeOf(goneBetween(before, after)).points };
}

/** The months of an export that shows only recent ones, and before them what was accepted. */
export function withHistory(before: Points, after: Points, shown: Points): Points {
  const earliest = Math.min(...[...shown.values()].flatMap((months) => [...months.keys()]));
  const points = new Map(after);
  for (const [driver, months] of before) {
    const earlier = [...months].filter(([month]) => month < earliest);
    if (earlier.length > 0) points.set(driver, new Map([...(after.get(driver) ?? []), ...earlier]));
  }
  return points;
}
