/** Ordinary updates of an export: what its next read holds when nothing slipped. */
import { type Export, type NamedExport, type Random, between, normal, pick, whole } from './slip-exports.ts';

export interface Update {
  readonly name: string;
  readonly before: Export;
  readonly after: Export;
}

export const decimalsOf = (text: string): number => (text.split('.')[1] ?? '').length;

export function rewritten(text: string, change: (value: number) => number): string {
  return change(Number(text))
    .toFixed(decimalsOf(text))
    .replace(/^-(0(?:\.0*)?)$/, '$1');
}

/** Moves the decimal point, exactly. */
export function shifted(text: string, power: number): string {
  const sign = text.startsWith('-') ? '-' : '';
  const [integer = '', fraction = ''] = text.replace('-', '').split('.');
  const digits = integer + fraction;
  const point = integer.length + power;
  const padded = point <= 0 ? '0'.repeat(1 - point) + digits : digits.padEnd(point, '0');
  const at = Math.max(1, point);
  const left = padded.slice(0, at).replace(/^0+(?=\d)/, '');
  const right = padded.slice(at);
  return sign + left + (right === '' ? '' : `.${right}`);
}

export function negated(text: string): string {
  if (!/[1-9]/.test(text)) return text;
  return text.startsWith('-') ? text.slice(1) : `-${text}`;
}

export function copyOf(data: Export): Export {
  return new Map([...data].map(([key, points]) => [key, new Map(points)]));
}

export function lastMonth(data: Export): number {
  return Math.max(...[...data.values()].map((points) => Math.max(...points.keys())));
}

/** Everything but the newest month. */
export function acceptedOf({ data }: NamedExport): Export {
  const last = lastMonth(data);
  const accepted = copyOf(data);
  for (const [key, points] of accepted) {
    points.delete(last);
    if (points.size === 0) accepted.delete(key);
  }
  return accepted;
}

type Change = (random: Random, after: Export, before: Export) => void;

/** Typing mistakes that somebody mended. */
export const corrections: Change = (random, after, before) => {
  for (let left = whole(random, 1, 5); left > 0; left--) {
    const key = pick(random, [...before.keys()]);
    const month = pick(random, [...(before.get(key) as Map<number, string>).keys()]);
    const text = before.get(key)?.get(month) as string;
    const kinds = [
      () => rewritten(text, (value) => value * between(random, 0.5, 1.5)),
      () => negated(text),
      () => shifted(text, pick(random, [-1, 1, 3])),
      () => '0',
    ];
    after.get(key)?.set(month, pick(random, kinds)());
  }
};

/** A statistic that its office revises: more the newer, with seasonal factors made anew. */
const benchmark: Change = (random, after, before) => {
  const key = pick(random, [...before.keys()]);
  const months = [...(before.get(key) as Map<number, string>).keys()];
  const from = whole(random, 0, months.length - 1);
  const [drift, noise] = [between(random, -0.02, 0.02), between(random, 0, 0.004)];
  for (const [at, month] of months.entries()) {
    if (at < from) continue;
    const share = (at - from + 1) / (months.length - from);
    const text = before.get(key)?.get(month) as string;
    after.get(key)?.set(
      month,
      rewritten(text, (value) => value * (1 + drift * share + noise * normal(random))),
    );
  }
};

/** Late bookings: some of the newest months are a little higher. */
const lateBookings: Change = (random, after, before) => {
  const last = lastMonth(before);
  for (const [key, points] of before) {
    if (random() < 0.5) continue;
    for (const month of [last, last - 1]) {
      const text = points.get(month);
      if (text !== undefined)
        after.get(key)?.set(
          month,
          rewritten(text, (value) => value * between(random, 1, 1.08)),
        );
    }
  }
};

export const newDrivers: Change = (random, after, before) => {
  const last = lastMonth(after);
  for (let left = whole(random, 1, 3); left > 0; left--) {
    const model = pick(random, [...before.keys()]);
    const elements = JSON.parse(model) as string[];
    const key = JSON.stringify([...elements.slice(0, -1), `${elements.at(-1)} new ${left}`]);
    const points = [...(before.get(model) as Map<number, string>)].slice(-whole(random, 1, 12));
    const shift = last - Math.max(...points.map(([month]) => month));
    after.set(
      key,
      new Map(
        points.map(([month, text]) => [month + shift, rewritten(text, (value) => value * between(random, 0.5, 2))]),
      ),
    );
  }
};

/** Ended: no new months, or zeros from now on. */
const endedDrivers: Change = (random, after) => {
  const last = lastMonth(after);
  for (let left = whole(random, 1, 3); left > 0; left--) {
    const points = after.get(pick(random, [...after.keys()])) as Map<number, string>;
    if (random() < 0.5) points.set(last, '0');
    else points.delete(last);
  }
};

/** Another vintage: every series is estimated anew, and many values change in their last digits. */
const vintage: Change = (random, after, before) => {
  const share = between(random, 0.05, 1);
  const years = pick(random, [1, 5, 100]);
  const last = lastMonth(before);
  for (const [key, points] of before) {
    for (const [month, text] of points) {
      if (month <= last - 12 * years || random() > share) continue;
      const unit = 10 ** -decimalsOf(text);
      const size = Math.max(2 * unit, Math.abs(Number(text)) * 0.002);
      after.get(key)?.set(
        month,
        rewritten(text, (value) => value + size * normal(random)),
      );
    }
  }
};

/** The plan of the newest year gives way to what happened, or to another plan. */
const newPlan: Change = (random, after, before) => {
  const last = lastMonth(before);
  for (const [key, points] of before) {
    const level = between(random, 0.6, 1.6);
    for (const [month, text] of points) {
      if (month > last - 12)
        after.get(key)?.set(
          month,
          rewritten(text, (value) => value * level * between(random, 0.9, 1.1)),
        );
    }
  }
};

/** The end of a quarter: bookings that other months do not have, in some drivers. */
const quarterEnd: Change = (random, after) => {
  const last = lastMonth(after);
  for (const points of after.values()) {
    const text = points.get(last);
    if (text === undefined || random() < 0.4) continue;
    const factor = between(random, 1.5, 4);
    points.set(
      last,
      rewritten(text, (value) => value * factor),
    );
  }
};

/** The months of a new year, in which nobody has planned anything yet. */
const emptyPlan: Change = (random, after) => {
  const last = lastMonth(after);
  const months = pick(random, [4, 6, 12]);
  for (const points of after.values()) for (let month = 1; month <= months; month++) points.set(last + month, '0');
};

/** A forecast that goes on with the newest value. */
const flatForecast: Change = (random, after) => {
  const last = lastMonth(after);
  const months = whole(random, 3, 12);
  for (const points of after.values()) {
    const text = points.get(last);
    if (text === undefined) continue;
    for (let month = 1; month <= months; month++) points.set(last + month, text);
  }
};

/** The newest month was a plan, and now has what happened. */
const actuals: Change = (random, after, before) => {
  const last = lastMonth(before);
  for (const [key, points] of before) {
    const text = points.get(last);
    if (text === undefined) continue;
    after.get(key)?.set(
      last,
      rewritten(text, (value) => value * between(random, 0.6, 1.5)),
    );
  }
};

/** Amounts of some months belong to another driver of the same group. */
const reclassification: Change = (random, after, before) => {
  const [from, to] = [pick(random, [...before.keys()]), pick(random, [...before.keys()])];
  const months = [...(before.get(from) as Map<number, string>).keys()].slice(-whole(random, 1, 6));
  const share = pick(random, [1, between(random, 0.2, 0.9)]);
  for (const month of months) {
    const [mine, theirs] = [before.get(from)?.get(month), before.get(to)?.get(month)];
    if (from === to || mine === undefined || theirs === undefined) continue;
    after.get(from)?.set(
      month,
      rewritten(mine, (value) => value * (1 - share)),
    );
    after.get(to)?.set(
      month,
      rewritten(theirs, (value) => value + Number(mine) * share),
    );
  }
};

/** All of a group is revised by factors of their own, as after an audit. */
const restatedGroup: Change = (random, after, before) => {
  const [group] = JSON.parse(pick(random, [...before.keys()])) as string[];
  const from = lastMonth(before) - pick(random, [3, 12, 36]);
  for (const [key, points] of before) {
    if ((JSON.parse(key) as string[])[0] !== group) continue;
    const level = between(random, 0.9, 1.1);
    for (const [month, text] of points) {
      if (month > from)
        after.get(key)?.set(
          month,
          rewritten(text, (value) => value * level * between(random, 0.98, 1.02)),
        );
    }
  }
};

/** The export shows one decimal less, of values that have many digits. */
const fewerDecimals: Change = (_random, after) => {
  for (const points of after.values()) {
    for (const [month, text] of points) {
      const decimals = decimalsOf(text);
      if (decimals > 0 && text.replace(/\D/g, '').length > 3) points.set(month, Number(text).toFixed(decimals - 1));
    }
  }
};

const nothingMore: Change = () => undefined;

const changes: readonly (readonly [string, Change])[] = [
  ['new month', nothingMore],
  ['corrections of cells', corrections],
  ['benchmark revision', benchmark],
  ['late bookings', lateBookings],
  ['new drivers', newDrivers],
  ['ended drivers', endedDrivers],
  ['another vintage', vintage],
  ['another plan of a year', newPlan],
  ['quarter end', quarterEnd],
  ['empty plan of a year', emptyPlan],
  ['flat forecast', flatForecast],
  ['actuals for a plan', actuals],
  ['reclassification', reclassification],
  ['restated group', restatedGroup],
  ['fewer decimals', fewerDecimals],
];

/** What the next read of an export holds on an ordinary day. */
export function ordinary(random: Random, from: NamedExport): Update {
  const before = acceptedOf(from);
  const hasNewMonth = random() < 0.8;
  const after = hasNewMonth ? copyOf(from.data) : copyOf(before);
  const [name, change] = pick(random, changes.slice(hasNewMonth ? 0 : 1));
  change(random, after, before);
  if (random() < 0.3) corrections(random, after, before);
  return { name, before, after };
}
