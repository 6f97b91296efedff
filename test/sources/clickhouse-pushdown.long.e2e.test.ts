/** Pushdown to ClickHouse where it differs from other engines: queries without an order, clusters, numbers of many digits. */
import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { plainDecimal } from '../../src/core/numbers/decimal.ts';
import type { Rule } from '../../src/core/model.ts';
import type { Condition, Mapping } from '../../src/core/settings.ts';
import { timesAsMany } from '../support/campaign.ts';
import { clickhouseCluster } from '../support/clickhouse-cluster.ts';
import {
  cannotClickhouse,
  cannotNewestClickhouse,
  clickhouseName,
  clickhouseServer,
  clickhouses,
  newestClickhouse,
  newestClickhouseName,
} from '../support/clickhouse-servers.ts';
import { type Place, clickhousePlace, readOutcome } from '../support/pushdown-world.ts';
import { columns, rowsOfFew } from '../support/pushdown-rows.ts';
import { entry, mapping } from '../support/row-world.ts';
import type { TestServer } from '../support/servers.ts';
import { pattern, template } from '../support/templates.ts';

const time = (from: string): Mapping['drivers'][number]['time'] => ({
  from: template(`{${from}}`),
  format: { formats: ['iso'], locales: ['en'], timezone: undefined, fiscalYear: undefined },
});

/** Each gives one row for each of the table's, in no order. */
const queries = [
  'SELECT * FROM t',
  'SELECT region, product, scenario, on_day, on_instant, whole, exact, short FROM t',
  `SELECT region, upper(product) AS product, scenario, on_day, on_instant, whole,
    exact, -- the amount
    toDecimal64(short, 4) AS short FROM t WHERE nr > 3 OR nr = 1;`,
  'SELECT * FROM (SELECT * FROM t WHERE nr > 2) AS u',
];

const conditions: readonly (readonly Condition[])[] = [
  [],
  [{ column: 'scenario', test: { kind: 'oneOf', texts: ['Plan', ''] } }],
  [{ column: 'scenario', test: { kind: 'not', test: { kind: 'oneOf', texts: ['Plan', ''] } } }],
  [{ column: 'short', test: { kind: 'not', test: { kind: 'oneOf', texts: ['1.5000', '-2', 'x'] } } }],
  [{ column: 'on_day', test: { kind: 'oneOf', texts: ['2024-01-31', '2024-02-29'] } }],
  [{ column: 'region', test: { kind: 'not', test: { kind: 'matches', pattern: pattern('n', 'i') } } }],
];

const asked = fc.record({
  rows: rowsOfFew,
  query: fc.constantFrom(...queries),
  timezone: fc.constantFrom('UTC', 'Europe/Berlin', 'Pacific/Apia'),
  time: fc.constantFrom('on_day', 'on_instant'),
  path: fc.constantFrom(['{region}', '{product}'], ['{region|slug}'], ['{product|default:None}'], ['all']),
  entries: fc.array(
    fc.record({
      value: fc.constantFrom('whole', 'exact', 'short'),
      rule: fc.constantFrom<Rule>('last', 'first', 'sum', 'average', 'min', 'max', 'count'),
    }),
    { minLength: 1, maxLength: 3 },
  ),
  where: fc.constantFrom(...conditions),
  missing: fc.constantFrom([''], ['', 'NA'], []),
});

type Asked = typeof asked extends fc.Arbitrary<infer Value> ? Value : never;

function mappingOf({ path, entries, where, missing, time: from }: Asked): Mapping {
  const drivers = entries.map(({ value, rule }, at) => ({
    id: undefined,
    path: [`${rule}${at}`, ...path].map(template),
    time: time(from),
    value: { from: template(`{${value}}`), format: plainDecimal },
    spread: undefined,
    rule,
  }));
  return { where, missing, fillDown: [], unpivot: undefined, maps: {}, drivers };
}

/** One row of each time, which no order decides between. */
function withoutTies({ rows, time: from }: Asked): Asked['rows'] {
  const at = Object.keys(columns).indexOf(from);
  return [...new Map(rows.map((row) => [`${row[at]}`.slice(0, 19), row])).values()];
}

interface Case {
  readonly name: string;
  readonly isMissing: boolean;
  readonly open: () => Promise<{ readonly place: Place; readonly server: AsyncDisposable }>;
}

const cases: readonly Case[] = [
  {
    name: clickhouseName,
    isMissing: cannotClickhouse,
    async open() {
      const server = await clickhouseServer();
      return { place: clickhousePlace('/', server, false), server };
    },
  },
  {
    name: `a cluster of ${clickhouseName}`,
    isMissing: cannotClickhouse,
    async open() {
      const server = await clickhouseCluster();
      return { place: server.place, server };
    },
  },
  {
    name: newestClickhouseName,
    isMissing: cannotNewestClickhouse,
    async open() {
      const server = await newestClickhouse();
      return { place: clickhousePlace('/', server, true), server };
    },
  },
];

describe.each(cases)('pushdown of a query without an order, to $name', ({ isMissing, open }) => {
  let place: Place;
  let server: AsyncDisposable | undefined;
  beforeAll(async () => {
    if (!isMissing) ({ place, server } = await open());
  });
  afterAll(async () => await server?.[Symbol.asyncDispose]());

  test.skipIf(isMissing)('gives the very drivers, counts and rejects of the plain read', async () => {
    await fc.assert(
      fc.asyncProperty(asked, async (question) => {
        await place.write({ columns, rows: withoutTies(question) });
        const reading = { query: question.query, mapping: mappingOf(question), timezone: question.timezone };
        const { rows: _rows, collapsed: _none, ...plain } = await readOutcome(place, reading, 'plain');
        expect(await readOutcome(place, reading, 'pushdown')).toMatchObject(plain);
      }),
      { numRuns: 5 * timesAsMany },
    );
  });
});

/** About the starts of months and changes of the clocks in the zones below, and the first moments that a DateTime has. */
const changes = [
  // Clocks were not set by whole minutes until then.
  '1972-01-07',
  '1971-12-31',
  '2011-12-30',
  '2024-01-01',
  '2024-03-31',
  '2024-04-01',
  '2024-10-27',
  '2024-11-01',
  '2038-01-19',
  '2100-01-01',
];
const hoursBeside = [-13.5, -13, -5, -4, -3.5, -2.5, -2, -1.5, -1, -0.5, 0, 0.75, 1, 2, 4, 5, 10, 11, 14];
const about = changes.flatMap((day) =>
  hoursBeside.flatMap((hours) => [-1, 0, 1, 29, 31].map((beside) => Date.parse(day) / 1000 + hours * 3600 + beside)),
);
const seconds = [1, 14_399, 14_400, 17_999, 18_000, 86_400, ...about];

describe.each(clickhouses)('moments of $name to the second', ({ isMissing, start, isOld }) => {
  // Debian's writes times of 2106 as those of 1970, and the first second as 0000-00-00, which is a reject.
  const ends = [0, isOld ? Date.parse('2106-01-01') / 1000 - 1 : 2 ** 32 - 1];
  let server: TestServer;
  beforeAll(async () => {
    if (!isMissing) server = await start();
  });
  afterAll(async () => await server?.[Symbol.asyncDispose]());

  const zones = ['Europe/Berlin', 'America/New_York', 'America/St_Johns', 'Pacific/Apia', 'Africa/Monrovia'];

  test.skipIf(isMissing).each(zones)('count in the months that the plain read counts them in: %s', async (timezone) => {
    const place = { type: 'clickhouse', keys: { url: server.url() }, dir: '/', write: async () => {} };
    const rules: readonly Rule[] = ['sum', 'last', 'first'];
    const drivers = rules.map((rule) => entry({ path: [rule, '{region}'], time: '{day}', rule }));
    const query = `SELECT 'a' AS region, toDateTime(toUInt32(at), 'UTC') AS day, toInt64(at) AS amount
      FROM (SELECT arrayJoin([${[...new Set([...seconds, ...ends])].join(', ')}]) AS at)`;
    const reading = { query, mapping: mapping(drivers), timezone };
    const { rows: _rows, collapsed: _none, ...plain } = await readOutcome(place, reading, 'plain');
    expect(plain.drivers).toHaveLength(rules.length);
    expect(await readOutcome(place, reading, 'pushdown')).toMatchObject(plain);
  });

  test.skipIf(isMissing)('and days count so too, the first of all among them', async () => {
    const place = { type: 'clickhouse', keys: { url: server.url() }, dir: '/', write: async () => {} };
    const drivers = [entry({ path: ['{region}'], time: '{day}', rule: 'sum' })];
    const query = `SELECT 'a' AS region, toDate(at) AS day, toInt64(at) AS amount FROM (SELECT arrayJoin([toUInt16(0), 1, 20000]) AS at)`;
    const reading = { query, mapping: mapping(drivers), timezone: 'UTC' };
    const { rows: _rows, collapsed: _none, ...plain } = await readOutcome(place, reading, 'plain');
    expect(await readOutcome(place, reading, 'pushdown')).toMatchObject(plain);
    expect(plain.rejects).toBe(isOld ? 1 : 0);
  });
});

describe.each(clickhouses)('a sum of $name', ({ isMissing, start, isOld }) => {
  let server: TestServer;
  beforeAll(async () => {
    if (!isMissing) server = await start();
  });
  afterAll(async () => await server?.[Symbol.asyncDispose]());

  const digits = (count: number): string => '9'.repeat(count);
  const always = [
    ['toInt64(9223372036854775807)', '27670116110564327421', 1],
    ['toUInt64(18446744073709551615)', '55340232221128654845', 1],
    ['toInt32(-2147483648)', '-6442450944', 1],
    ['toUInt8(255)', '765', 1],
    [`toDecimal64('${digits(16)}.99', 2)`, '29999999999999999.97', 1],
    [`toDecimal128('${digits(20)}.99', 2)`, `2${digits(20)}.97`, 1],
    [`toDecimal128('1.0000000001', 10)`, '3.0000000003', 1],
  ] as const;
  const newer = [
    [`toInt256('${digits(50)}')`, `2${digits(49)}7`, 1],
    [`toDecimal128('${digits(36)}.99', 2)`, `2${digits(36)}.97`, 1],
    [`toDecimal256('${digits(50)}.999', 3)`, `2${digits(50)}.997`, 1],
    [`toDecimal256('${digits(74)}.99', 2)`, `2${digits(74)}.97`, 3],
  ] as const;

  test.skipIf(isMissing).each(isOld ? always : [...always, ...newer])(
    'of three times %s is exact',
    async (sql, sum, rows) => {
      const place = { type: 'clickhouse', keys: { url: server.url() }, dir: '/', write: async () => {} };
      const ofRegion = mapping([entry({ path: ['{region}'], time: '{day}', rule: 'sum' })]);
      const query = `SELECT 'a' AS region, toDate('2026-01-01') AS day, ${sql} AS amount FROM numbers(3)`;
      const reading = { query, mapping: ofRegion, timezone: 'UTC' };
      expect(await readOutcome(place, reading, 'pushdown')).toMatchObject({
        drivers: [{ cells: [{ value: sum, count: 3 }] }],
        rows,
      });
      expect(await readOutcome(place, reading, 'plain')).toMatchObject({
        drivers: [{ cells: [{ value: sum, count: 3 }] }],
      });
    },
  );
});

describe.each(clickhouses)('a decimal of many digits of $name', ({ isMissing, start }) => {
  test.skipIf(isMissing)('may be a name', async () => {
    await using server = await start();
    const place = { type: 'clickhouse', keys: { url: server.url() }, dir: '/', write: async () => {} };
    const ofBoth = mapping([entry({ path: ['{price}', '{region}'], time: '{day}', rule: 'sum' })]);
    const query = `SELECT toDecimal128(number, 4) AS price, substring('abcdefgh', 1, 1 + number % 8) AS region,
      toDate('2026-01-01') AS day, toDecimal64(1, 2) AS amount FROM numbers(64)`;
    const reading = { query, mapping: ofBoth, timezone: 'UTC' };
    const { rows: _rows, collapsed: _none, ...plain } = await readOutcome(place, reading, 'plain');
    expect(plain.drivers).toHaveLength(64);
    expect(await readOutcome(place, reading, 'pushdown')).toMatchObject(plain);
  });
});

describe.each(clickhouses)('a column that no driver uses, of $name,', ({ isMissing, start }) => {
  test
    .skipIf(isMissing)
    .each([
      String.raw`CAST('x', 'Enum8(\'x\' = 1)')`,
      String.raw`CAST('x', 'Nullable(Enum16(\'x\' = 1))')`,
      String.raw`tuple(CAST('x', 'Enum8(\'x\' = 1)'), 1)`,
    ])('may be %s, which has no value 0', async (sql) => {
    await using server = await start();
    const place = { type: 'clickhouse', keys: { url: server.url() }, dir: '/', write: async () => {} };
    const ofRegion = mapping([entry({ path: ['{region}'], time: '{day}', rule: 'sum' })]);
    const query = `SELECT if(number = 2, '', 'a') AS region, toDate('2026-01-01') AS day, toDecimal64(1, 2) AS amount, ${sql} AS kind FROM numbers(3)`;
    expect(await readOutcome(place, { query, mapping: ofRegion, timezone: 'UTC' }, 'pushdown')).toMatchObject({
      drivers: [{ cells: [{ value: '2.00', count: 2 }] }],
      rejects: 1,
    });
  });
});
