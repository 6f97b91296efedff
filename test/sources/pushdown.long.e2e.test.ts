import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { plainDecimal } from '../../src/core/numbers/decimal.ts';
import type { Rule } from '../../src/core/model.ts';
import type { Condition, DriverEntry, Mapping } from '../../src/core/settings.ts';
import { compileTimeReader } from '../../src/core/time/time.ts';
import { timesAsMany } from '../support/campaign.ts';
import {
  cannotClickhouse,
  cannotNewestClickhouse,
  clickhouseName,
  clickhouseServer,
  newestClickhouse,
  newestClickhouseName,
} from '../support/clickhouse-servers.ts';
import {
  type Place,
  type Reading,
  clickhousePlace,
  duckdbPlace,
  mariadbPlace,
  postgresPlace,
  readOutcome,
} from '../support/pushdown-world.ts';
import { columns, rowsOfFew, wellFormed } from '../support/pushdown-rows.ts';
import {
  type TestServer,
  cannotMariadb,
  mariadbName,
  mariadbServer,
  postgresReleases,
  postgresServer,
} from '../support/servers.ts';
import { pattern, template } from '../support/templates.ts';

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
  value: fc.constantFrom('whole', 'exact', 'short'),
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
  [{ column: 'product', test: { kind: 'matches', pattern: pattern('p$') } }],
  [{ column: 'region', test: { kind: 'not', test: { kind: 'matches', pattern: pattern('n', 'i') } } }],
  [{ column: 'region', test: { kind: 'not', test: { kind: 'oneOf', texts: ['N', "O'x"] } } }],
  [{ column: 'scenario', test: { kind: 'oneOf', texts: [] } }],
  [
    { column: 'scenario', test: { kind: 'oneOf', texts: ['Plan', 'Actual', ''] } },
    { column: '#3', test: { kind: 'not', test: { kind: 'oneOf', texts: ['Plan'] } } },
  ],
];

/** Ties go by the order that the query gives, not by that of the table. */
const queries = [
  'SELECT * FROM t ORDER BY nr',
  'SELECT * FROM t ORDER BY nr DESC;',
  'SELECT * FROM t ORDER BY nr DESC LIMIT 20 -- the newest',
  'WITH u AS (SELECT * FROM t WHERE nr % 2 = 0 UNION ALL SELECT * FROM t WHERE nr % 2 = 1) SELECT * FROM u ORDER BY product, nr',
  'SELECT * FROM (SELECT * FROM t ORDER BY nr LIMIT 30) u ORDER BY nr DESC',
  '(SELECT * FROM t ORDER BY nr DESC)',
  'WITH u AS (SELECT * FROM t) ((SELECT * FROM u ORDER BY nr DESC))',
];

const asked = fc.record({
  rows: rowsOfFew,
  time: fc.constantFrom('on_day', 'on_clock', 'on_instant'),
  source: fc.constantFrom(undefined, ...zones),
  timezone: fc.constantFrom(...zones),
  entries: fc.array(written, { minLength: 1, maxLength: 3 }),
  where: fc.constantFrom(...conditions),
  missing: fc.constantFrom([''], ['', 'NA', ' 7 '], []),
});

type Asked = (typeof asked extends fc.Arbitrary<infer Value> ? Value : never) & { readonly query: string };

function askedOf(engine: EngineCase): fc.Arbitrary<Asked> {
  const known = queries.filter((query) => engine.lacks?.test(query) !== true);
  return fc.tuple(asked, fc.constantFrom(...known)).map(([question, query]) => ({ ...question, query }));
}

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

/** Keeps, of the rows at one moment, those of one key, so that no two keys tie. */
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
    // A row that a database may leave to the agent counts for itself.
    const isPlain = values.every((of) => row[of] === null || /^-?[0-9]{1,13}([.][0-9]{1,6})?$/.test(row[of] ?? ''));
    const owner = JSON.stringify(isPlain && text !== '' ? [text, row[0], row[1]] : index);
    if (owners.has(tied)) return owners.get(tied) === owner;
    owners.set(tied, owner);
    return true;
  });
}

const lastWhole = { shape: { path: ['all'] }, value: 'whole', rule: 'last', scale: undefined, negate: false } as const;

/** Reads with and without pushdown, which have to agree; how many rows left, of how many, and how many of them stand for others. */
async function readBoth(
  place: Place,
  reading: Reading,
): Promise<{ readonly all: number; readonly left: number; readonly collapsed: number }> {
  const { rows: all, collapsed: _none, ...plain } = await readOutcome(place, reading, 'plain');
  const { rows: left, collapsed, ...pushed } = await readOutcome(place, reading, 'pushdown');
  expect(pushed).toEqual(plain);
  return { all, left, collapsed };
}

interface EngineCase {
  readonly name: string;
  readonly isMissing: boolean;
  readonly open: (dir: string) => Promise<{ readonly place: Place; readonly server?: TestServer }>;
  /** Of a sample. */
  readonly runs: number;
  /** Whether it divides exact numbers to exact ones. */
  readonly dividesExactly: boolean;
  /** Whether each of its times is a moment. */
  readonly hasNoWall?: boolean;
  /** What its SQL lacks. */
  readonly lacks?: RegExp;
}

const engines: readonly EngineCase[] = [
  {
    name: 'DuckDB',
    isMissing: false,
    runs: 4,
    dividesExactly: false,
    open: async (dir) => ({ place: await duckdbPlace(dir) }),
  },
  ...postgresReleases.map(({ name, isMissing, programs }) => ({
    name,
    isMissing,
    runs: 8,
    dividesExactly: true,
    open: async (dir: string) => {
      const server = await postgresServer({ programs });
      return { place: await postgresPlace(dir, server), server };
    },
  })),
  {
    name: mariadbName,
    isMissing: cannotMariadb,
    runs: 8,
    dividesExactly: true,
    async open(dir) {
      const server = await mariadbServer();
      return { place: mariadbPlace(dir, server), server };
    },
  },
  {
    name: clickhouseName,
    isMissing: cannotClickhouse,
    runs: 8,
    dividesExactly: false,
    hasNoWall: true,
    lacks: /^WITH/,
    async open(dir) {
      const server = await clickhouseServer();
      return { place: clickhousePlace(dir, server, false), server };
    },
  },
  {
    name: newestClickhouseName,
    isMissing: cannotNewestClickhouse,
    runs: 8,
    dividesExactly: false,
    hasNoWall: true,
    lacks: /^WITH [^]* \(\(SELECT/,
    async open(dir) {
      const server = await newestClickhouse();
      return { place: clickhousePlace(dir, server, true), server };
    },
  },
];

describe.each(engines)('pushdown to $name', (engine) => {
  const { isMissing, open, runs, dividesExactly, hasNoWall = false } = engine;
  let place: Place;
  let server: TestServer | undefined;
  let dir: string;

  beforeAll(async () => {
    if (isMissing) return;
    dir = await mkdtemp(path.join(tmpdir(), 'pushdown-'));
    ({ place, server } = await open(dir));
  });
  afterAll(async () => {
    await server?.[Symbol.asyncDispose]();
    if (dir !== undefined) await rm(dir, { recursive: true, force: true });
  });

  test.skipIf(isMissing)('gives the very drivers, counts and rejects of the plain read', async () => {
    await fc.assert(
      fc.asyncProperty(askedOf(engine), async (question) => {
        const rows = hasOneOrder(question) ? question.rows : withoutTies(question);
        await place.write({ columns, rows });
        const reading = { query: question.query, mapping: mappingOf(question), timezone: question.timezone };
        const { all, left, collapsed } = await readBoth(place, reading);
        expect(left).toBeLessThanOrEqual(all);
        expect(collapsed).toBeLessThanOrEqual(left);
      }),
      { numRuns: timesAsMany * runs },
    );
  });

  test
    .skipIf(isMissing)
    .each<[string, { time: keyof typeof columns; zone: (typeof zones)[number]; times: string[]; value: string }]>([
      [
        'takes a time that the clocks skipped for one after they moved on',
        { time: 'on_clock', zone: 'Europe/Berlin', times: ['2024-03-31 02:30:00', '2024-03-31 03:10:00'], value: '1' },
      ],
      [
        'takes a day that the clocks skipped for the day after, where the later row counts',
        { time: 'on_day', zone: 'Pacific/Apia', times: ['2011-12-31', '2011-12-30'], value: '2' },
      ],
    ])('%s', async (_what, { time, zone, times, value }) => {
    // Not of moments: there the later one is the later one.
    if (time === 'on_clock' && hasNoWall) return;
    await place.write({
      columns: { [time]: columns[time], whole: 'integer' },
      rows: times.map((at, index) => [at, `${index + 1}`]),
    });
    const mapping = mappingOf({ entries: [lastWhole], time, source: undefined, where: [], missing: [''] });
    const pushed = await readOutcome(
      place,
      { query: 'SELECT * FROM t ORDER BY nr', mapping, timezone: zone },
      'pushdown',
    );
    expect(pushed.drivers).toMatchObject([{ cells: [{ value, count: 2 }] }]);
  });

  test.skipIf(isMissing)(
    'has one row of each key and month leave, whatever is asked and whichever values are missing',
    async () => {
      const question = fc.record({
        rows: fc.array(fc.tuple(...wellFormed.map((pool) => fc.constantFrom(...pool))), { maxLength: 40 }),
        time: fc.constantFrom('on_day', 'on_clock', 'on_instant'),
        entries: fc.array(
          fc.record({ rule: fc.constantFrom(...rules), value: fc.constantFrom('whole', 'exact', 'short') }),
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
        { numRuns: Math.ceil((timesAsMany * runs) / 3) },
      );
    },
  );

  test.skipIf(isMissing || !dividesExactly).each(rules)(
    'takes the many digits of a division for a number: %s',
    async (rule) => {
      const rows = ['1', '2.5', '-0.7', '100'].map((exact, at) => [`2024-02-0${at + 1}`, exact]);
      await place.write({ columns: { on_day: 'date', exact: 'decimal' }, rows });
      const mapping = mappingOf({
        entries: [{ ...lastWhole, value: 'exact', rule }],
        time: 'on_day',
        source: undefined,
        where: [],
        missing: [''],
      });
      const query = 'SELECT on_day, exact / 3 AS exact FROM t ORDER BY nr';
      const { left } = await readBoth(place, { query, mapping, timezone: 'UTC' });
      expect(left).toBe(1);
    },
  );
});
