import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { plainDecimal } from '../src/core/decimal.ts';
import type { Rule } from '../src/core/model.ts';
import type { Condition, DriverEntry, Mapping } from '../src/core/settings.ts';
import { type Template, parseTemplate } from '../src/core/template.ts';
import { compileTimeReader } from '../src/core/time.ts';
import {
  type Held,
  type Place,
  duckdbPlace,
  mariadbPlace,
  postgresPlace,
  readOutcome,
  sqlitePlace,
} from './pushdown-world.ts';
import {
  type TestServer,
  cannotMariadb,
  cannotPostgres,
  mariadbName,
  mariadbServer,
  postgresName,
  postgresServer,
} from './servers.ts';

function template(text: string): Template {
  const parsed = parseTemplate(text);
  if (!('template' in parsed)) throw new Error(parsed.problem);
  return parsed.template;
}

const columns = {
  region: 'text',
  product: 'padded',
  scenario: 'text',
  on_day: 'date',
  on_clock: 'wall',
  on_instant: 'instant',
  on_text: 'text',
  whole: 'integer',
  exact: 'decimal',
  rough: 'float',
  loose: 'text',
} satisfies Record<string, Held>;

const names = ['N', 'n', 'N ', ' N', '', 'é', 'e', "O'x", 'a/b', 'a', 'b|c', 'x!y', '~', null];
const products = ['p', 'P', 'p ', '', 'q', null];
const days = listed`2024-01-31, 2024-02-01, 2024-02-29, 2024-03-31, 1994-12-31, 1995-01-01, 2011-12-30, 2011-12-31,
  1950-06-15, 2150-06-15, 9999-12-31`;
/** About the ends of months, and where clocks change in Berlin, St John's (a minute after midnight) and Kiritimati. */
const clocks = listed`2024-01-31 23:59:59, 2024-02-01 00:00:00, 2024-01-31 09:59:59.5, 2024-01-31 10:00:00,
  2024-01-31 22:59:59, 2024-01-31 23:00:00, 2024-02-01 03:29:59, 2024-02-01 03:30:00, 2024-03-31 02:30:00,
  2024-03-31 03:10:00, 2024-03-31 01:59:59, 2024-10-27 02:30:00, 2009-11-01 02:30:30, 2009-11-01 02:31:00,
  2009-11-01 03:29:00, 2009-10-31 23:30:00, 2009-11-01 00:00:30, 1994-12-31 10:00:00, 1994-12-31 09:59:59,
  1995-01-01 00:00:00, 1955-01-01 00:00:00, 2150-01-01 00:00:00`;
const texts = [
  ...listed`2024-01-31, 2024-01, 2024-02-29, 2024-02-30, 20240131, 2024-01-31T23:00:00, 2024-02, 2024-01-01 00:00:00,
    2024-01-01, 2024-01-31T23:30:00Z, 2024-02-01T00:30:00+01:00, 2024-03-31 02:30:00, 2024-03-31 03:10:00,
    2024-01-31 23:00:00.5, 2024-01-31T23:00:00.500, 2024-02-01 09:59:59.25Z, 2024-01-31 10:00, 9999-12-31T23:00:00Z,
    2024-13-01, soon, 0999-12-31, 2024-01-31t10:00:00`,
  ' 2024-01-31 ',
  '',
];
const wholes = listed`0, 1, -3, 1000, 999999999999999999, -999999999999999999, 9223372036854775807`;
const exacts = listed`0, 1.50, 2, -0.25, 100, 0.000001, 123456789012.123456`;
const roughs = listed`0.1, 1.5, -2.5, 100, 0.3333333333333333, 1e20, 1e-7, 123456.789`;
const looses = [
  ...listed`1, 1.50, 2.0, 2, -3, 0, -0.00, 007, +5, .5, 5., 1e3, NA, x, 12., --1, 1-2, 1.2.3, Infinity,
    123456789012345678, 1234567890123456789, 12345678901234567890.1, 0.123456789012345678, 0.1234567890123456789,
    999999999999999999.999999999999999999, -999999999999999999.999999999999999999`,
  ' 7 ',
  ' ',
  '',
];

/** Texts between commas, and NULL. */
function listed(written: TemplateStringsArray): readonly (string | null)[] {
  return [...written.join('').split(/,\s+/), null];
}

const pools = [
  names,
  products,
  ['Actual', 'actual', 'Actual ', 'Plan', null],
  days,
  clocks,
  clocks,
  texts,
  wholes,
  exacts,
  roughs,
  looses,
];

/** Few texts to a column, so that many rows have a key, a month, a time or a value in common. */
const rowsOfFew = fc
  .tuple(...pools.map((pool) => fc.uniqueArray(fc.constantFrom(...pool), { minLength: 1, maxLength: 4 })))
  .chain((few) => fc.array(fc.tuple(...few.map((pool) => fc.constantFrom(...pool))), { maxLength: 40 }));

/** No text among them that a database would leave to the agent. */
const wellFormed = [
  ['N', 'n', 'N ', "O'x", 'a/b', 'x!y'],
  ['p', 'P', null],
  ['Actual'],
  listed`2024-02-01, 2024-02-28, 2024-02-29, 2024-03-31, 2000-02-29`.filter((text) => text !== null),
  ...[0, 1].map(() => ['2024-01-31 22:59:59', '2024-02-01 00:00:00', '2024-02-29 10:00:00', '2024-03-31 03:10:00']),
  ['2024-02-01', '2024-02-29', '2024-02', '2024-02-29T10:00:00', '2024-03-31 23:59:59', '2023-02-28', '2000-02-29'],
  listed`0, 1, -3, 1000`,
  listed`0, 1.50, -0.25, 123456789012.123456`,
  ['0.5'],
  listed`1, 1.50, -3, 007`,
];

const zones = ['UTC', 'Europe/Berlin', 'America/St_Johns', 'Pacific/Kiritimati', 'Pacific/Apia'] as const;

const shapes: readonly { readonly id?: string; readonly path: readonly string[] }[] = [
  { path: ['{region}', '{product}'] },
  { id: 'r/{region|slug}', path: ['Revenue', '{region}'] },
  { id: '{product|default:None}', path: ['{product|default:None}', '{region|default:x}'] },
  { id: '{region|map:names}', path: ['Mapped', '{product}'] },
  { path: ['all'] },
];

const rules: readonly Rule[] = ['last', 'first', 'sum', 'average', 'min', 'max', 'count'];

const written = fc.record({
  shape: fc.constantFrom(...shapes),
  value: fc.constantFrom('whole', 'exact', 'rough', 'loose'),
  rule: fc.constantFrom(...rules),
  scale: fc.constantFrom(undefined, undefined, '1000', '-0.5', '0'),
  negate: fc.boolean(),
});

const conditions: readonly (readonly Condition[])[] = [
  [],
  [],
  [{ column: 'scenario', test: { kind: 'oneOf', texts: ['Actual'] } }],
  [{ column: 'scenario', test: { kind: 'oneOf', texts: ['Plan', ''] } }],
  [{ column: 'scenario', test: { kind: 'not', test: { kind: 'oneOf', texts: ['Plan', ''] } } }],
  [{ column: 'product', test: { kind: 'matches', pattern: /p$/u } }],
  [{ column: 'region', test: { kind: 'not', test: { kind: 'matches', pattern: /n/iu } } }],
  [{ column: 'region', test: { kind: 'not', test: { kind: 'oneOf', texts: ['N', "O'x"] } } }],
  [{ column: 'scenario', test: { kind: 'oneOf', texts: [] } }],
];

/** Ties go by the order that the query gives, not by that of the table. */
const queries = [
  'SELECT * FROM t ORDER BY nr',
  'SELECT * FROM t ORDER BY nr DESC;',
  'SELECT * FROM t ORDER BY nr DESC LIMIT 20 -- the newest',
  'WITH u AS (SELECT * FROM t WHERE nr % 2 = 0 UNION ALL SELECT * FROM t WHERE nr % 2 = 1) SELECT * FROM u ORDER BY product, nr',
  'SELECT * FROM (SELECT * FROM t ORDER BY nr LIMIT 30) u ORDER BY nr DESC',
];

const asked = fc.record({
  query: fc.constantFrom(...queries),
  rows: rowsOfFew,
  time: fc.constantFrom('on_day', 'on_clock', 'on_instant', 'on_text'),
  source: fc.constantFrom(undefined, ...zones),
  timezone: fc.constantFrom(...zones),
  entries: fc.array(written, { minLength: 1, maxLength: 3 }),
  where: fc.constantFrom(...conditions),
  missing: fc.constantFrom([''], ['', 'NA', '0', ' 7 '], []),
});

type Asked = typeof asked extends fc.Arbitrary<infer Value> ? Value : never;

type Shape = Pick<Asked, 'entries' | 'source' | 'where' | 'missing'> & { readonly time: string };

function mappingOf({ time, source, entries, where, missing }: Shape): Mapping {
  const drivers = entries.map(({ shape, value, rule, scale, negate }, at): DriverEntry => {
    // Two entries may make one driver, unless their rules differ.
    const prefix = `${rule}${at % 2}`;
    return {
      id: shape.id === undefined ? undefined : template(`${prefix}/${shape.id}`),
      path: [prefix, ...shape.path].map(template),
      time: {
        from: template(`{${time}}`),
        format: { formats: ['iso'], locales: ['en'], timezone: source, fiscalYear: undefined },
      },
      value: { from: template(`{${value}}`), format: { ...plainDecimal, scale, negate } },
      spread: undefined,
      rule,
    };
  });
  const maps = { names: { N: 'North', n: 'North', '': 'Nowhere', é: 'E' } };
  return { where, missing, fillDown: [], unpivot: undefined, maps, drivers };
}

/**
 * Whether rows of different keys that make one driver tie as they do without pushdown: there is one order of rows that
 * leave. Where entries want different rows, or another than the latest, whose path is the driver's, there would have to be
 * several.
 */
function hasOneOrder({ entries, query }: Asked): boolean {
  const [entry] = entries;
  const isOne = entries.every(({ value, rule }) => value === entry!.value && rule === 'last');
  return isOne && /order/i.test(query);
}

/** Of rows at one moment those of one key, so that no two keys tie. */
function withoutTies({ rows, time, source, timezone, entries }: Asked): Asked['rows'] {
  const format = { formats: ['iso'], locales: ['en'], timezone: source, fiscalYear: undefined };
  const read = compileTimeReader(format, timezone);
  const at = Object.keys(columns).indexOf(time);
  const values = entries.map(({ value }) => Object.keys(columns).indexOf(value));
  const owners = new Map<string, string>();
  return rows.filter((row, index) => {
    const text = row[at] ?? '';
    const moment = read(time === 'on_instant' && text !== '' ? `${text}Z` : text);
    if (typeof moment === 'string') return true;
    const tied = `${moment.seconds} ${moment.nanos}`;
    // What a database may leave to the agent is a row of its own.
    const isPlain = values.every((of) => row[of] === null || /^-?[0-9]{1,13}([.][0-9]{1,6})?$/.test(row[of] ?? ''));
    const owner = JSON.stringify(isPlain && text !== '' ? [text, row[0], row[1]] : index);
    if (owners.has(tied)) return owners.get(tied) === owner;
    owners.set(tied, owner);
    return true;
  });
}

interface EngineCase {
  readonly name: string;
  readonly isMissing: boolean;
  readonly open: (dir: string) => Promise<{ readonly place: Place; readonly server?: TestServer }>;
  readonly runs: number;
}

const engines: readonly EngineCase[] = [
  { name: 'SQLite', isMissing: false, runs: 70, open: async (dir) => ({ place: await sqlitePlace(dir) }) },
  { name: 'DuckDB', isMissing: false, runs: 30, open: async (dir) => ({ place: await duckdbPlace(dir) }) },
  {
    name: postgresName,
    isMissing: cannotPostgres,
    runs: 70,
    async open(dir) {
      const server = await postgresServer();
      return { place: await postgresPlace(dir, server), server };
    },
  },
  {
    name: mariadbName,
    isMissing: cannotMariadb,
    runs: 70,
    async open(dir) {
      const server = await mariadbServer();
      return { place: mariadbPlace(dir, server), server };
    },
  },
];

describe.each(engines)('pushdown to $name', ({ isMissing, open, runs }) => {
  let place: Place;
  let server: TestServer | undefined;
  let dir: string;

  beforeAll(async () => {
    if (isMissing) return;
    dir = await mkdtemp(path.join(tmpdir(), 'pushdown-'));
    ({ place, server } = await open(dir));
  }, 60_000);
  afterAll(async () => {
    await server?.[Symbol.asyncDispose]();
    if (dir !== undefined) await rm(dir, { recursive: true, force: true });
  });

  test.skipIf(isMissing)(
    'gives the very drivers, counts and rejects of the plain read',
    { timeout: 120_000 },
    async () => {
      await fc.assert(
        fc.asyncProperty(asked, async (question) => {
          const rows = hasOneOrder(question) ? question.rows : withoutTies(question);
          await place.write({ columns, rows });
          const reading = { query: question.query, mapping: mappingOf(question), timezone: question.timezone };
          const { rows: all, collapsed: _none, ...plain } = await readOutcome(place, reading, 'plain');
          const { rows: left, collapsed, ...pushed } = await readOutcome(place, reading, 'pushdown');
          expect(pushed).toEqual(plain);
          expect(left).toBeLessThanOrEqual(all);
          expect(collapsed).toBeLessThanOrEqual(left);
        }),
        { numRuns: runs },
      );
    },
  );

  test
    .skipIf(isMissing)
    .each<[string, { time: keyof typeof columns; zone: (typeof zones)[number]; times: string[]; value: string }]>([
      [
        'takes a time that the clocks skipped for one after they moved on',
        { time: 'on_clock', zone: 'Europe/Berlin', times: ['2024-03-31 02:30:00', '2024-03-31 03:10:00'], value: '1' },
      ],
      [
        'takes a text of such a time for one after they moved on',
        { time: 'on_text', zone: 'Europe/Berlin', times: ['2024-03-31 02:30:00', '2024-03-31 03:10:00'], value: '1' },
      ],
      [
        'takes a day that the clocks skipped for the day after, where the later row counts',
        { time: 'on_day', zone: 'Pacific/Apia', times: ['2011-12-31', '2011-12-30'], value: '2' },
      ],
      [
        'takes a month for its first day, where the later row counts',
        { time: 'on_text', zone: 'Europe/Berlin', times: ['2024-01-01', '2024-01'], value: '2' },
      ],
      [
        'takes a day for its midnight, where the later row counts',
        { time: 'on_text', zone: 'Europe/Berlin', times: ['2024-01-01', '2024-01-01T00:00:00'], value: '2' },
      ],
    ])('%s', async (_what, { time, zone, times, value }) => {
    await place.write({
      columns: { [time]: columns[time], whole: 'integer' },
      rows: times.map((at, index) => [at, `${index + 1}`]),
    });
    const entry = { shape: { path: ['all'] }, value: 'whole', rule: 'last', scale: undefined, negate: false } as const;
    const mapping = mappingOf({ entries: [entry], time, source: undefined, where: [], missing: [''] });
    const pushed = await readOutcome(
      place,
      { query: 'SELECT * FROM t ORDER BY nr', mapping, timezone: zone },
      'pushdown',
    );
    expect(pushed.drivers).toMatchObject([{ cells: [{ value, count: 2 }] }]);
  });

  test.skipIf(isMissing)(
    'has one row of each key and month leave, whatever is asked and whichever values are missing',
    { timeout: 120_000 },
    async () => {
      const question = fc.record({
        rows: fc.array(fc.tuple(...wellFormed.map((pool) => fc.constantFrom(...pool))), { maxLength: 40 }),
        time: fc.constantFrom('on_day', 'on_clock', 'on_instant', 'on_text'),
        entries: fc.array(
          fc.record({ rule: fc.constantFrom(...rules), value: fc.constantFrom('whole', 'exact', 'loose') }),
          {
            minLength: 1,
            maxLength: 4,
          },
        ),
        query: fc.constantFrom('SELECT * FROM t', 'SELECT * FROM t ORDER BY nr; -- in their order'),
      });
      await fc.assert(
        fc.asyncProperty(question, async ({ rows, time, entries, query }) => {
          await place.write({ columns, rows });
          const asIs = entries.map((entry) => ({ ...entry, shape: shapes[1]!, scale: undefined, negate: false }));
          const mapping = mappingOf({ entries: asIs, time, source: undefined, where: [], missing: [''] });
          const at = Object.keys(columns).indexOf(time);
          const keysAndMonths = new Set(rows.map((row) => JSON.stringify([row[0], row[at]?.slice(0, 7)])));
          const pushed = await readOutcome(place, { query, mapping, timezone: 'Europe/Berlin' }, 'pushdown');
          expect(pushed).toMatchObject({ passed: rows.length, rejects: 0 });
          expect(pushed).toMatchObject({ rows: keysAndMonths.size, collapsed: keysAndMonths.size });
        }),
        { numRuns: Math.ceil(runs / 3) },
      );
    },
  );

  test.skipIf(isMissing).each(['Z', '.5Z', '.123', ''])(
    'has texts that end in 10:00:00%s leave as months',
    async (end) => {
      const rows = Array.from({ length: 30 }, (_, at) => [
        `2024-02-${String(29 - (at % 29)).padStart(2, '0')}T10:00:00${end}`,
        `${at}`,
      ]);
      await place.write({ columns: { on_text: 'text', whole: 'integer' }, rows });
      const entry = {
        shape: { path: ['all'] },
        value: 'whole',
        rule: 'last',
        scale: undefined,
        negate: false,
      } as const;
      const mapping = mappingOf({ entries: [entry], time: 'on_text', source: undefined, where: [], missing: [''] });
      const reading = { query: 'SELECT * FROM t ORDER BY nr', mapping, timezone: 'Europe/Berlin' };
      const pushed = await readOutcome(place, reading, 'pushdown');
      expect(pushed).toMatchObject({ rows: 1, drivers: [{ cells: [{ value: '29', count: 30 }] }] });
    },
  );
});
