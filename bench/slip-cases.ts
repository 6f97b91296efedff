/** Slips to plant on top of ordinary updates. */
import { type Export, type NamedExport, type Random, pick, whole } from './slip-exports.ts';
import {
  type Update,
  acceptedOf,
  copyOf,
  corrections,
  decimalsOf,
  lastMonth,
  negated,
  newDrivers,
  rewritten,
  shifted,
} from './slip-updates.ts';

export interface Slip extends Update {
  readonly kind: string;
  /** `[]`: the source. */
  readonly group: readonly string[];
  readonly factor?: string;
  readonly months?: number;
  readonly closedUpTo?: number;
  /** The drivers that it is in, as paths in JSON. */
  readonly drivers: ReadonlySet<string>;
}

interface Scope {
  readonly group: readonly string[];
  readonly keys: readonly string[];
}

function scopeOf(random: Random, data: Export): Scope {
  const keys = [...data.keys()];
  const size = pick(random, ['source', 'subtree', 'driver']);
  if (size === 'source') return { group: [], keys };
  const path = JSON.parse(pick(random, keys)) as string[];
  const group = size === 'driver' ? path : path.slice(0, whole(random, 1, Math.max(1, path.length - 1)));
  return {
    group,
    keys: keys.filter((key) => group.every((element, at) => (JSON.parse(key) as string[])[at] === element)),
  };
}

const isNotZero = (text: string | undefined): boolean => text !== undefined && /[1-9]/.test(text);

type Planted = Omit<Slip, keyof Update | 'drivers' | 'group'> & {
  readonly group?: readonly string[];
  readonly keys?: readonly string[];
};
type Plant = (random: Random, update: Update, scope: Scope) => Planted | undefined;

/** Applies a change to every point of a scope. */
function rewrite({ after }: Update, { keys }: Scope, change: (text: string, month: number) => string): void {
  for (const key of keys) {
    const points = after.get(key);
    for (const [month, text] of points ?? []) points?.set(month, change(text, month));
  }
}

function valuedPoints({ before, after }: Update, keys: readonly string[]): number {
  let count = 0;
  for (const key of keys) {
    for (const [month, text] of before.get(key) ?? [])
      if (isNotZero(text) && after.get(key)?.has(month) === true) count++;
  }
  return count;
}

/** Drivers of a scope that the next read gives a month, after at least a year that was not 0. */
function gaining({ before, after }: Update, keys: readonly string[]): readonly string[] {
  const last = lastMonth(after);
  return keys.filter((key) => {
    const old = before.get(key);
    const isYear = Array.from({ length: 12 }, (_, at) => last - 1 - at).every((month) => isNotZero(old?.get(month)));
    return isYear && isNotZero(after.get(key)?.get(last)) && before.get(key)?.has(last) !== true;
  });
}

const plants: Readonly<Record<string, Plant>> = {
  unit: (random, update, scope) => {
    if (valuedPoints(update, scope.keys) < 6) return undefined;
    const power = pick(random, [3, -3, 2, -2, 6, 1, -1]);
    rewrite(update, scope, (text) => shifted(text, power));
    return { kind: 'factor', factor: shifted('1', power) };
  },
  sign: (random, update, scope) => {
    if (valuedPoints(update, scope.keys) < 6) return undefined;
    const power = pick(random, [0, 0, 3]);
    rewrite(update, scope, (text) => negated(shifted(text, power)));
    return { kind: 'factor', factor: `-${shifted('1', power)}` };
  },
  currency: (random, update, scope) => {
    // A currency shows in the values only where they have digits to show it.
    const precise = scope.keys.filter((key) =>
      [...(update.before.get(key)?.values() ?? [])].every(
        (text) => Math.abs(Number(text)) * 10 ** decimalsOf(text) > 50,
      ),
    );
    if (precise.length * 10 < scope.keys.length * 9 || valuedPoints(update, precise) < 24) return undefined;
    const factor = pick(random, ['1.0837', '0.8512', '1.2645', '7.4604', '0.0064', '19.47', '1.95583', '0.9441']);
    rewrite(update, scope, (text) => rewritten(text, (value) => value * Number(factor)));
    return { kind: 'factor', factor };
  },
  'unit, new month': (random, update, scope) => {
    const keys = gaining(update, scope.keys);
    if (keys.length < 6) return undefined;
    const power = pick(random, [3, -3, 2, 6]);
    const last = lastMonth(update.after);
    rewrite(update, { ...scope, keys: scope.keys }, (text, month) => (month === last ? shifted(text, power) : text));
    return { kind: 'new-scale', factor: shifted('1', power) };
  },
  'sign, new month': (_random, update, scope) => {
    const last = lastMonth(update.after);
    const keys = gaining(update, scope.keys).filter((key) => {
      const signs = new Set(
        [...(update.after.get(key) ?? [])]
          .filter(([month]) => month >= last - 12)
          .map(([, text]) => text.startsWith('-')),
      );
      return signs.size === 1;
    });
    if (keys.length < 6 || keys.length < gaining(update, scope.keys).length) return undefined;
    rewrite(update, scope, (text, month) => (month === last ? negated(text) : text));
    return { kind: 'new-sign' };
  },
  'month shift': (random, update, scope) => {
    const isSteady = ([, points]: readonly [string, Map<number, string>]): boolean =>
      points.size < 20 || new Set(points.values()).size < 6;
    const keys = new Set(scope.keys);
    if ([...update.before].some((entry) => keys.has(entry[0]) && isSteady(entry))) return undefined;
    if (scope.keys.some((key) => !update.before.has(key))) return undefined;
    const by = pick(random, [1, -1, 2, -2, 3, 12, -12]);
    for (const key of scope.keys) {
      const points = update.after.get(key) as Map<number, string>;
      const source = [...points];
      const months = new Set(points.keys());
      const isTranslated = random() < 0.5;
      points.clear();
      // Either the file keeps its months and the values move in it, or the months themselves are other ones.
      for (const [month, text] of source) if (isTranslated || months.has(month + by)) points.set(month + by, text);
    }
    return { kind: 'moved', months: by };
  },
  swap: (random, update) => {
    const keys = [...update.before]
      .filter(([key, points]) => update.after.has(key) && points.size >= 12 && new Set(points.values()).size >= 6)
      .map(([key]) => key);
    if (keys.length < 2) return undefined;
    const one = pick(random, keys);
    const other = pick(
      random,
      keys.filter((key) => key !== one),
    );
    const [mine, theirs] = [
      update.after.get(one) as Map<number, string>,
      update.after.get(other) as Map<number, string>,
    ];
    update.after.set(one, theirs).set(other, mine);
    return { kind: 'exchanged', group: JSON.parse(one) as string[], keys: [one, other] };
  },
  copy: (_random, update, scope) => {
    const last = lastMonth(update.after);
    const keys = scope.keys.filter(
      (key) => update.before.get(key)?.has(last - 1) === true && (update.before.get(key)?.size ?? 0) > 13,
    );
    if (keys.length < 10 || keys.length < scope.keys.length || update.before.get(keys[0] as string)?.has(last) === true)
      return undefined;
    const repeats = Array.from(
      { length: 12 },
      (_, at) =>
        keys.filter((key) => update.before.get(key)?.get(last - 1 - at) === update.before.get(key)?.get(last - 2 - at))
          .length,
    );
    if (repeats.some((count) => count * 2 >= keys.length)) return undefined;
    for (const key of keys) {
      const points = update.after.get(key);
      points?.set(last, points.get(last - 1) as string);
    }
    return { kind: 'copied' };
  },
  zeros: (_random, update, scope) => {
    if (valuedPoints(update, scope.keys) < 10) return undefined;
    rewrite(update, scope, () => '0');
    return { kind: 'zeros' };
  },
  'closed month': (random, update, scope) => {
    const last = lastMonth(update.before);
    const month = last - whole(random, 1, 6);
    const keys = scope.keys.filter((key) => isNotZero(update.before.get(key)?.get(month)));
    if (keys.length === 0) return undefined;
    for (const key of keys) {
      const text = update.before.get(key)?.get(month) as string;
      update.after.get(key)?.set(
        month,
        rewritten(text, (value) => value * 1.1 + 1),
      );
    }
    return { kind: 'closed', closedUpTo: last - 1, keys };
  },
};

export const slipNames = Object.keys(plants);

/** A slip of one kind on top of an ordinary update; `undefined` where the export has no room for one. */
export function planted(random: Random, from: NamedExport, name: string): Slip | undefined {
  const before = acceptedOf(from);
  const after = copyOf(from.data);
  const isQuiet = name === 'closed month' || random() < 0.5;
  if (!isQuiet) {
    if (random() < 0.7) corrections(random, after, before);
    if (random() < 0.3) newDrivers(random, after, before);
    if (after.size > 1 && random() < 0.3) after.delete(pick(random, [...after.keys()]));
  }
  const update = { name, before, after };
  const scope = scopeOf(random, after);
  const slip = plants[name]?.(random, update, scope);
  if (slip === undefined) return undefined;
  const { keys = scope.keys, group = scope.group, ...said } = slip;
  return { ...update, ...said, group, drivers: new Set(keys) };
}
