/**
 * What the service may hold. This is all that the checks go by, and it knows nothing of the agent: parts of rows with their meaning, and
 * the rules of docs/RULES.md in their shortest form.
 */
import { type Decimal, showDecimal } from './rows/numbers.ts';
import type { Meaning, Sheet } from './world/place.ts';

export type Collapse = 'last' | 'first' | 'sum' | 'average' | 'min' | 'max' | 'count';

export interface HeldPart {
  readonly name: string;
  readonly sheet: Sheet;
  readonly isCarried: boolean;
}

/** By driver, then by month: the texts that are right. Several where two files tie, and which wins is not the model's to say. */
export type Points = ReadonlyMap<string, ReadonlyMap<number, readonly string[]>>;

/** What a sheet has alone: the same one is asked for again and again. The rules of a source never change. */
const folded = new WeakMap<Sheet, Points>();

/** The points that parts have together. */
export function foldParts(parts: readonly HeldPart[], rules: readonly Collapse[]): Points {
  const [only] = parts;
  if (only === undefined || parts.length > 1) return foldSheets(parts, rules);
  const points = folded.get(only.sheet) ?? foldSheets(parts, rules);
  folded.set(only.sheet, points);
  return points;
}

function foldSheets(parts: readonly HeldPart[], rules: readonly Collapse[]): Points {
  const readings = new Map<string, Map<number, Meaning[]>>();
  for (const { sheet } of parts) {
    for (const { means = [] } of sheet.rows) {
      for (const one of means) {
        let months = readings.get(one.driver);
        if (months === undefined) readings.set(one.driver, (months = new Map()));
        const others = months.get(one.month);
        if (others === undefined) months.set(one.month, [one]);
        else others.push(one);
      }
    }
  }
  const points = new Map<string, ReadonlyMap<number, readonly string[]>>();
  for (const [driver, months] of readings) {
    const texts = new Map<number, readonly string[]>();
    for (const [month, all] of months) texts.set(month, collapsed(all, rules));
    points.set(driver, texts);
  }
  return points;
}

function collapsed(all: readonly Meaning[], rules: readonly Collapse[]): readonly string[] {
  const rule = rules[all[0]?.entry ?? 0] ?? 'last';
  const scale = Math.max(...all.map((one) => one.scale));
  const units = (one: Decimal): bigint => one.units * 10n ** BigInt(scale - one.scale);
  const sum = all.reduce((total, one) => total + units(one), 0n);
  switch (rule) {
    case 'sum':
      return [showDecimal({ units: sum, scale })];
    case 'average':
      return [showDecimal(average(sum, BigInt(all.length), scale))];
    case 'count':
      return [String(all.length)];
    case 'min':
    case 'max': {
      const best = all.reduce((a, b) => ((rule === 'min') === units(b) < units(a) ? b : a));
      return textsOf(all.filter((one) => units(one) === units(best)));
    }
    case 'last':
    case 'first': {
      const times = all.map(({ at }) => at);
      const wanted = rule === 'last' ? Math.max(...times) : Math.min(...times);
      return textsOf(all.filter(({ at }) => at === wanted));
    }
  }
}

function textsOf(all: readonly Decimal[]): readonly string[] {
  return [...new Set(all.map(showDecimal))];
}

/** Half to even at six more decimals; zeros at the end go. */
function average(sum: bigint, count: bigint, scale: number): Decimal {
  const size = (sum < 0n ? -sum : sum) * 1_000_000n;
  const [whole, rest] = [size / count, (size % count) * 2n];
  const isUp = rest > count || (rest === count && whole % 2n === 1n);
  let [units, left] = [isUp ? whole + 1n : whole, scale + 6];
  for (; left > 0 && units % 10n === 0n; left--) units /= 10n;
  return { units: sum < 0n ? -units : units, scale: left };
}

/** A candidate: what is there, and what was accepted and is gone. A file that is there under another name is not gone. */
export function withCarried(
  accepted: readonly HeldPart[],
  present: readonly HeldPart[],
  removed: 'carry' | 'delete',
): readonly HeldPart[] {
  if (removed === 'delete') return present;
  const names = new Set(present.map(({ name }) => name));
  const isNew = ({ name }: HeldPart): boolean => accepted.every((one) => one.name !== name);
  const hashes = present.filter(isNew).map(({ sheet }) => sheet.hash);
  const gone = accepted
    .filter(({ name }) => !names.has(name))
    .toSorted((a, b) => Number(a.isCarried) - Number(b.isCarried));
  const carried = gone.filter(({ sheet }) => {
    const at = hashes.indexOf(sheet.hash);
    if (at >= 0) hashes.splice(at, 1);
    return at < 0;
  });
  return [...present, ...carried.map((part) => ({ ...part, isCarried: true }))];
}

export interface Deletes {
  readonly drivers: number;
  readonly points: number;
}

export function deletesBetween(before: Points, after: Points): Deletes {
  let points = 0;
  let drivers = 0;
  for (const [driver, months] of before) {
    const now = after.get(driver);
    if (now === undefined) drivers++;
    for (const month of months.keys()) if (now?.has(month) !== true) points++;
  }
  return { drivers, points };
}

export function sizeOf(points: Points): Deletes {
  return { drivers: points.size, points: [...points.values()].reduce((sum, months) => sum + months.size, 0) };
}

/** The months of an export that shows only recent ones, and before them what was accepted. */
export function withHistory(before: Points, after: Points): Points {
  const earliest = Math.min(...[...after.values()].flatMap((months) => [...months.keys()]));
  const points = new Map(after);
  for (const [driver, months] of before) {
    const earlier = [...months].filter(([month]) => month < earliest);
    if (earlier.length > 0) points.set(driver, new Map([...earlier, ...(after.get(driver) ?? [])]));
  }
  return points;
}
