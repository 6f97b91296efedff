/** Exports to plant slips in: made from a seed in the shapes that companies have, or read from a folder. */
import { readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';

/** Values by month index (counted as in the agent), by the driver's path as JSON. */
export type Export = Map<string, Map<number, string>>;

export interface NamedExport {
  readonly name: string;
  readonly data: Export;
}

export type Random = () => number;

/** mulberry32: small, seeded, and good enough to draw cases. */
export function seeded(seed: number): Random {
  let state = seed >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}

export function between(random: Random, low: number, high: number): number {
  return low + random() * (high - low);
}

export function whole(random: Random, low: number, high: number): number {
  return Math.floor(between(random, low, high + 1));
}

export function pick<T>(random: Random, items: readonly T[]): T {
  return items[Math.min(items.length - 1, Math.floor(random() * items.length))] as T;
}

/** A normal draw by twelve even ones. */
export function normal(random: Random): number {
  let sum = -6;
  for (let i = 0; i < 12; i++) sum += random();
  return sum;
}

/** Makes the value of one month of a driver; `at` counts its months from 0. */
type Maker = (random: Random) => (at: number, calendar: number) => string;

const makers: Readonly<Record<string, Maker>> = {
  revenue: (random) => {
    const [level, growth, noise] = [
      10 ** between(random, 3, 7),
      between(random, -0.005, 0.015),
      between(random, 0.01, 0.2),
    ];
    return (at) => (level * Math.exp(growth * at + noise * normal(random))).toFixed(2);
  },
  seasonal: (random) => {
    const [level, swing, peak] = [10 ** between(random, 2, 5), between(random, 0.5, 2), whole(random, 0, 11)];
    return (_at, calendar) =>
      (level * Math.exp(swing * Math.cos(((calendar - peak) * Math.PI) / 6) + 0.1 * normal(random))).toFixed(0);
  },
  costs: (random) => {
    const level = 10 ** between(random, 3, 6);
    return () => (-level * Math.exp(0.15 * normal(random))).toFixed(2);
  },
  rate: (random) => {
    let level = between(random, 0.7, 1.5);
    return () => (level *= Math.exp(0.02 * normal(random))).toFixed(4);
  },
  percent: (random) => {
    const [level, spread] = [between(random, 0, 8), between(random, 0.3, 2)];
    return () => (level + spread * normal(random)).toFixed(1).replace(/^-0\.0$/, '0.0');
  },
  growth: (random) => {
    const spread = between(random, 0.2, 3);
    return () => (spread * normal(random)).toFixed(2).replace(/^-0\.00$/, '0.00');
  },
  price: (random) => {
    let price = between(random, 5, 900);
    return () => {
      if (random() < 0.08) price *= between(random, 0.95, 1.1);
      return price.toFixed(2);
    };
  },
  constant: (random) => {
    const value = between(random, 1, 100).toFixed(whole(random, 0, 2));
    return () => value;
  },
  heads: (random) => {
    let heads = whole(random, 2, 60);
    return () => {
      if (random() < 0.4) heads = Math.max(1, heads + whole(random, -2, 2));
      return String(heads);
    };
  },
  sparse: (random) => {
    const [share, level] = [between(random, 0.1, 0.6), 10 ** between(random, 2, 5)];
    return () => (random() < share ? (level * Math.exp(normal(random))).toFixed(2) : '0');
  },
  toDate: (random) => {
    const [level, noise] = [10 ** between(random, 3, 6), between(random, 0.05, 0.3)];
    let sum = 0;
    return (_at, calendar) => {
      if (calendar === 0) sum = 0;
      sum += level * Math.exp(noise * normal(random));
      return sum.toFixed(2);
    };
  },
  season: (random) => {
    const [level, first, months] = [10 ** between(random, 3, 5), whole(random, 0, 11), whole(random, 3, 6)];
    return (_at, calendar) =>
      (calendar - first + 12) % 12 < months ? (level * Math.exp(0.3 * normal(random))).toFixed(0) : '0';
  },
  variance: (random) => {
    const spread = 10 ** between(random, 2, 5);
    return () => (spread * normal(random)).toFixed(0).replace(/^-0$/, '0');
  },
  zero: () => () => '0.00',
  index: (random) => {
    let level = between(random, 60, 140);
    return () => (level *= 1 + between(random, -0.001, 0.006)).toFixed(1);
  },
};

const shapes: readonly (readonly [string, readonly string[]])[] = [
  ['profit and loss', ['revenue', 'costs', 'seasonal']],
  ['seasonal sales', ['seasonal']],
  ['exchange rates', ['rate']],
  ['percentages', ['percent', 'growth']],
  ['costs, negative', ['costs']],
  ['price list', ['price', 'constant']],
  ['headcount', ['heads', 'constant']],
  ['projects with gaps', ['sparse', 'zero', 'revenue']],
  ['indices', ['index']],
  ['year to date', ['toDate']],
  ['a season', ['season', 'seasonal']],
  ['plan and variance', ['revenue', 'variance', 'percent']],
  ['everything', Object.keys(makers)],
];

const firstMonth = 2019 * 12;

/** One export of each shape, drawn anew. */
export function generatedExports(random: Random): readonly NamedExport[] {
  return shapes.map(([name, kinds]) => {
    const data: Export = new Map();
    const months = whole(random, 18, 72);
    for (const group of ['North', 'South', 'West'].slice(0, whole(random, 1, 3))) {
      const count = whole(random, 4, 16);
      for (let index = 0; index < count; index++) {
        const make = (makers[pick(random, kinds)] as Maker)(random);
        const started = random() < 0.15 ? whole(random, 0, Math.floor(months / 2)) : 0;
        const points = new Map<number, string>();
        // One month more than is accepted: what the next read adds.
        for (let at = started; at <= months; at++) points.set(firstMonth + at, make(at - started, at % 12));
        data.set(JSON.stringify([group, `${group} ${index + 1}`]), points);
      }
    }
    return { name, data };
  });
}

/** Reads files with the columns path, month and value; the elements of a path stand between ` / `. */
export function exportsOf(folder: string): readonly NamedExport[] {
  return readdirSync(folder)
    .filter((name) => name.endsWith('.csv'))
    .sort()
    .map((name) => {
      const data: Export = new Map();
      for (const line of readFileSync(path.join(folder, name), 'utf8').trim().split('\n').slice(1)) {
        const [, text = '', month = '', value = ''] = /^(.*),(\d{4}-\d{2}),(-?[0-9.]+)$/.exec(line) ?? [];
        if (text === '') throw new Error(`${name}: not "path,month,value": ${line}`);
        const key = JSON.stringify(text.split(' / '));
        const points = data.get(key) ?? new Map<number, string>();
        points.set(Number(month.slice(0, 4)) * 12 + Number(month.slice(5)) - 1, value);
        data.set(key, points);
      }
      return { name, data };
    });
}
