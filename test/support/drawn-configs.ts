/** Configs that nobody wrote: each setting that a history can feel is drawn, most of them as they usually are. */
import type { Seeds } from '../../src/simulate/campaign.ts';
import { Entropy } from '../../src/simulate/entropy.ts';

/** What may stand in the place of nothing, each as likely. */
type Choices = Readonly<Record<string, readonly unknown[]>>;

const topLevel: Choices = {
  timezone: ['Europe/Berlin', 'America/New_York', 'Pacific/Kiritimati'],
  schedule: ['0 6 * * *', '0 */6 * * *', '30 3 * * 1-5', '@hourly'],
  pushOnChange: ['5s', '1m', '30m', '2h'],
  refresh: ['2h', '7d'],
  keep: ['1d', '20d'],
  lastClose: [{ day: 3 }, { day: 28 }],
};

const destination: Choices = {
  shouldDeleteMissing: [false],
  timeout: ['5s', '2m', '10m'],
  compress: ['gzip'],
  stamp: ['start', 'end'],
};

const guard: Choices = {
  maxDeletes: ['0%', '0', '0.5%', '1', '3', '30%', '60%', '100%', '100'],
  floor: [0, 1, 50, 1000],
  maxRejects: ['0', '2', '10%', '60%'],
  firstPush: ['approve'],
  values: ['warn', 'off'],
};

const everySource: Choices = {
  poll: ['5m', '@hourly', '0 6 * * *'],
  timeout: ['30s', '10m'],
  removed: ['delete'],
  history: ['carry'],
  guard: [{ values: 'warn' }, { values: 'off' }, { values: 'hold' }],
  actuals: [true],
  mayBeEmpty: [true],
  missing: [['', '-'], ['n/a']],
};

const everyFile: Choices = { parts: ['newest'], settle: ['0s', '30s'] };

const everyText: Choices = { lineEnd: ['any'] };

const collapses = ['last', 'first', 'sum', 'average', 'min', 'max', 'count'];

const times = [
  { from: '{day}', format: 'dd.MM.yyyy' },
  { from: '{month}', format: 'MMM yy' },
  { from: '{month}', format: 'MMMM yyyy', locale: 'de' },
  { from: '{year}-{month}', format: 'yyyy-MM' },
  { from: '{period}', format: 'fiscal-period' },
  { from: '{stamp}', format: 'unix' },
  { from: '{day}', format: 'excel-serial' },
];

const periods = ['QQQ yyyy', 'yyyy', 'fiscal-quarter', 'fiscal-year'];

const values: Choices = {
  scale: ['1000', '0.001', '0.01'],
  negate: [true],
  round: [0, 2, 5],
};

const marks = [{}, { decimal: ',' }, { decimal: ',', group: '.' }, { group: ',' }, { accounting: true }];

/** Seeds of its own for each config. */
export function drawnSeeds(number: number, each: number): Seeds {
  return { from: 1 + number * each, count: each };
}

export interface DrawnConfig {
  readonly destination: object;
  readonly guard: object;
  readonly sources: Readonly<Record<string, object>>;
}

/**
 * @param mayShare whether sources may have the same drivers
 * @param rules by which readings may collapse
 * @returns the same config for the same number, always
 */
export function drawConfig(number: number, { mayShare = true, rules = collapses } = {}): DrawnConfig {
  const entropy = new Entropy(number);
  const names = ['north', 'south', 'west'].slice(0, entropy.between(1, 3, 'sources'));
  const areShared = mayShare && entropy.isIn(0.3, 'shared drivers');
  const picked = (choices: Choices, share: number, ...keys: readonly string[]): object =>
    Object.fromEntries(
      Object.entries(choices).flatMap(([key, list]) =>
        entropy.isIn(share, 'has', key, ...keys) ? [[key, entropy.pick(list, 'which', key, ...keys)]] : [],
      ),
    );
  const sources = names.map((name) => {
    const type = entropy.pick(['csv', 'csv', 'csv', 'jsonl', 'xlsx', 'postgres', 'sqlite'], 'type', name);
    const isText = type === 'csv' || type === 'jsonl';
    const isWide = type !== 'jsonl' && entropy.isIn(0.1, 'wide', name);
    const place = {
      postgres: { url: 'postgres://reader@db.test/books', query: 'SELECT * FROM entries' },
      sqlite: { file: `${name}.db`, query: 'SELECT * FROM entries' },
    }[type] ?? { files: [`${name}/*.${type}`], ...picked(everyFile, 0.2, name) };
    const asked =
      'query' in place && entropy.isIn(0.5, 'changed', name) ? { changed: 'SELECT max(at) FROM entries' } : {};
    const drivers = Array.from({ length: !isWide && entropy.isIn(0.15, 'entries', name) ? 2 : 1 }, (_, at) =>
      drawDrivers(entropy, areShared ? 'shared' : name, { at, name, picked, isWide, rules }),
    );
    const source = {
      type,
      ...place,
      ...asked,
      ...picked(everySource, 0.15, name),
      ...(isText && picked(everyText, 0.15, name)),
      ...(entropy.isIn(0.1, 'filtered', name) && filtered),
      ...(isWide && wide),
      ...(isText && entropy.isIn(0.1, 'fiscal', name) && fiscal),
      drivers: !areShared && entropy.isIn(0.15, 'total', name) ? [...drivers, totalOf(name, drivers[0])] : drivers,
    };
    return [name, source] as const;
  });
  return {
    destination: { url: 'https://plan.test', ...picked(destination, 0.15) },
    ...picked(topLevel, 0.3),
    guard: picked(guard, 0.25),
    sources: Object.fromEntries(sources),
  };
}

/** What the rows of a source look like, beside their times and values. */
const shapes = [
  { id: '{id}', path: ['{id}'] },
  { id: '{region}/{product|slug}', path: ['{region}', '{product}'] },
  { id: '{id|upper}', path: ['{id|trim}'] },
] as const;

/** A column for each month. */
const wide = { unpivot: { columns: '^\\d{4}-\\d{2}$', name: 'time', value: 'value' } };

const filtered = { where: { kind: ['actual', 'final'] } };

const fiscal = { fiscalYear: { startsIn: 'April', namedAfter: 'end' } };

/** A driver above all others, which every row adds to. */
function totalOf(owner: string, part: object | undefined): object {
  return { ...part, id: `${owner}/total`, path: [owner], collapse: 'sum' };
}

interface OfSource {
  readonly at: number;
  readonly name: string;
  readonly isWide: boolean;
  readonly rules: readonly string[];
  readonly picked: (choices: Choices, share: number, ...keys: readonly string[]) => object;
}

function drawDrivers(entropy: Entropy, owner: string, { at, name, picked, isWide, rules }: OfSource): object {
  const key = `${name} ${at}`;
  const ofRule = `${owner} ${at}`;
  const from = at === 0 ? '{value}' : `{value ${at}}`;
  const isPlain = entropy.isIn(0.6, 'plain value', key);
  const value = isPlain ? from : { from, ...entropy.pick(marks, 'marks', key), ...picked(values, 0.3, key) };
  const isSpread = !isWide && entropy.isIn(0.1, 'spread', key);
  const time = isSpread
    ? { time: { from: '{period}', format: entropy.pick(periods, 'period', key) } }
    : { time: isWide || entropy.isIn(0.6, 'plain time', key) ? '{time}' : entropy.pick(times, 'time', key) };
  // Sources that have the same drivers call them the same.
  const shape = entropy.isIn(0.7, 'plain names', owner) ? shapes[0] : entropy.pick(shapes, 'shape', owner);
  const which = at === 0 ? [] : [String(at)];
  return {
    id: [owner, shape.id, ...which].join('/'),
    path: [owner, ...shape.path, ...which],
    ...time,
    value,
    ...(isSpread && { spread: entropy.pick(['repeat', 'first', 'last', 'divide'], 'how', key) }),
    // One driver has one rule, whichever source has it.
    ...(entropy.isIn(0.4, 'collapse', ofRule) && { collapse: entropy.pick(rules, 'which collapse', ofRule) }),
  };
}

/** What the model of several machines does not know. */
const notShared: ReadonlySet<string> = new Set([
  'lastClose',
  'shouldDeleteMissing',
  'firstPush',
  'removed',
  'history',
  'parts',
  // A history of machines ends ten minutes after its last event.
  'timeout',
]);

/** A drawn config for machines that share a ledger. Each source has drivers of its own. */
export function drawSharedConfig(number: number): object {
  const {
    sources,
    destination: to,
    guard: limits,
    ...more
  } = drawConfig(number, {
    mayShare: false,
    // Counts of bookings are so alike that two drivers seem to have each other's.
    rules: collapses.filter((rule) => rule !== 'count'),
  });
  const known = (of: object): object => Object.fromEntries(Object.entries(of).filter(([key]) => !notShared.has(key)));
  return {
    ...known(more),
    pushOnChange: new Entropy(number).pick(['1s', '5s', '20s'], 'pushOnChange'),
    ledger: { url: 'postgres://agent@db.test/ledger' },
    destination: known(to),
    guard: known(limits),
    sources: Object.fromEntries(Object.entries(sources).map(([name, source]) => [name, known(source)])),
  };
}
