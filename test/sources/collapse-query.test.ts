import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { plainDecimal } from '../../src/core/numbers/decimal.ts';
import type { DecimalFormat } from '../../src/core/numbers/decimal.ts';
import { formatMonth, monthOf, stampSeconds } from '../../src/core/time/month.ts';
import type { Condition, DriverEntry, Mapping, Test } from '../../src/core/settings.ts';
import type { TimeFormat } from '../../src/core/time/time-format.ts';
import { compileTimeReader } from '../../src/core/time/time.ts';
import { pushdownProblems } from '../../src/sources/databases/collapse-plan.ts';
import { collapseQuery } from '../../src/sources/databases/collapse-query.ts';
import type { Dialect } from '../../src/sources/databases/dialect.ts';
import { duckdbDialect } from '../../src/sources/databases/duckdb-dialect.ts';
import { isAlwaysSure, monthRule } from '../../src/sources/databases/month-rule.ts';
import { mysqlDialect } from '../../src/sources/databases/mysql-dialect.ts';
import { postgresDialect } from '../../src/sources/databases/postgres-dialect.ts';
import { withoutEnd } from '../../src/sources/databases/query-words.ts';
import { runsOf } from '../support/campaign.ts';
import { mapping } from '../support/row-world.ts';
import { pattern, template } from '../support/templates.ts';

const iso: TimeFormat = { formats: ['iso'], locales: ['en'], timezone: undefined, fiscalYear: undefined };

interface Written {
  readonly time?: string;
  readonly format?: Partial<TimeFormat>;
  readonly value?: string;
  readonly number?: Partial<DecimalFormat>;
  readonly rule?: DriverEntry['rule'];
  readonly spread?: DriverEntry['spread'];
}

function entry({
  time = '{date}',
  format,
  value = '{amount}',
  number,
  rule = 'last',
  spread,
}: Written = {}): DriverEntry {
  return {
    id: undefined,
    path: [template('{region}')],
    time: { from: template(time), format: { ...iso, ...format } },
    value: { from: template(value), format: { ...plainDecimal, ...number } },
    spread,
    rule,
  };
}

describe('pushdown', () => {
  test('takes every rule, several values, scale, negate and a zone', () => {
    const rules = ['last', 'first', 'sum', 'average', 'min', 'max', 'count'] as const;
    const format = { timezone: 'Europe/Berlin' };
    const drivers = rules.map((rule) =>
      entry({ rule, value: `{${rule}}`, format, number: { scale: '1000', negate: true } }),
    );
    expect(pushdownProblems(mapping(drivers))).toEqual([]);
  });

  test.each<[string, Mapping, readonly (string | number)[], RegExp]>([
    [
      'unpivot',
      mapping([entry()], { unpivot: { columns: pattern('x'), name: 'a', value: ['b'] } }),
      ['unpivot'],
      /^unpivot cannot/,
    ],
    ['fillDown', mapping([entry()], { fillDown: ['region'] }), ['fillDown'], /^fillDown cannot/],
    ['spread', mapping([entry({ spread: 'divide' })]), ['drivers', 0, 'spread'], /^spread cannot/],
    [
      'a time of two columns',
      mapping([entry({ time: '{year}-{month}' })]),
      ['drivers', 0, 'time'],
      /"\{year\}-\{month\}"/,
    ],
    ['a time with a filter', mapping([entry({ time: '{date|trim}' })]), ['drivers', 0, 'time'], /"\{date\|trim\}"/],
    [
      'tokens',
      mapping([entry({ format: { formats: ['dd.MM.yyyy'] } })]),
      ['drivers', 0, 'time', 'format'],
      /dd\.MM\.yyyy/,
    ],
    [
      'a list of formats',
      mapping([entry({ format: { formats: ['iso', 'unix'] } })]),
      ['drivers', 0, 'time', 'format'],
      /iso, unix/,
    ],
    ['a second time', mapping([entry(), entry({ time: '{booked}' })]), ['drivers', 1, 'time'], /different times/],
    [
      'a second zone',
      mapping([entry(), entry({ format: { timezone: 'UTC' } })]),
      ['drivers', 1, 'time'],
      /different times/,
    ],
    ['a value with a literal', mapping([entry({ value: '{amount}0' })]), ['drivers', 0, 'value'], /"\{amount\}0"/],
    ['accounting', mapping([entry({ number: { accounting: true } })]), ['drivers', 0, 'value'], /accounting/],
    ['a decimal comma', mapping([entry({ number: { decimal: ',' } })]), ['drivers', 0, 'value'], /decimal/],
    [
      'a number that is missing',
      mapping([entry()], { missing: ['', '-999'] }),
      ['missing'],
      /^the missing value -999 cannot/,
    ],
    [
      'a rounded sum',
      mapping([entry({ rule: 'sum', number: { round: 2 } })]),
      ['drivers', 0, 'value', 'round'],
      /round with collapse sum/,
    ],
  ])('refuses %s, and says where and what to do', (_what, asked, path, message) => {
    expect(pushdownProblems(asked)).toEqual([
      { path, message: expect.stringMatching(message), hint: expect.stringContaining('or leave pushdown out') },
    ]);
  });

  test('fails where the query lacks a column, as the plain read does', () => {
    const request = {
      query: 'SELECT 1',
      columns: [{ name: 'region', type: 'text' }],
      mapping: mapping([entry()]),
      timezone: 'UTC',
    };
    expect(() => collapseQuery(postgresDialect, request)).toThrow(
      expect.objectContaining({ code: 'part.unreadable', message: 'there is no column "date"' }),
    );
  });
});

describe('the order of a query inside another', () => {
  test.each([
    ['SELECT a FROM t ORDER BY a', true],
    ['SELECT a FROM t ORDER BY a -- LIMIT 5', true],
    ['SELECT a FROM t WHERE b = \'LIMIT\' AND `limit` = "limit" ORDER BY a', true],
    ['SELECT a FROM (SELECT a FROM t LIMIT 5) u ORDER BY a', true],
    ['SELECT a FROM t /* limit */ ORDER BY a', true],
    ['SELECT a FROM t ORDER BY a LIMIT 5', false],
    ['SELECT a FROM t ORDER BY a\nlimit 5 OFFSET 2', false],
    ['SELECT a FROM t', false],
    ['SELECT t.limit FROM t ORDER BY t.limit', true],
    ['SELECT a, (SELECT b FROM u ORDER BY b LIMIT 1) FROM t', false],
    ['(SELECT a FROM t ORDER BY a)', true],
    ['((SELECT a FROM t ORDER BY a)) -- in brackets', true],
    ['(SELECT a FROM t LIMIT 5) ORDER BY a', true],
    ['((SELECT a FROM t LIMIT 5) ORDER BY a)', true],
    ['(SELECT a FROM t ORDER BY a LIMIT 5)', false],
    ['(SELECT a FROM t ORDER BY a) LIMIT 5', false],
    ['WITH u AS (SELECT a FROM t), v (b) AS (SELECT 1) (SELECT a FROM u ORDER BY a)', true],
    ['(WITH u AS (SELECT a FROM t) SELECT a FROM u ORDER BY a)', true],
    ['WITH u AS (SELECT a FROM t ORDER BY a) SELECT f(a) FROM u', false],
    ['(SELECT a FROM t ORDER BY a) UNION ALL (SELECT b FROM u)', false],
  ])('MariaDB is told to keep that of %s: %j', (query, isTold) => {
    expect(mysqlDialect.queries.ordered(query)).toBe(isTold ? `${query}\nLIMIT 18446744073709551615` : query);
  });
});

describe('a union that is ordered by a name', () => {
  test.each([
    ['SELECT a FROM t UNION ALL SELECT b FROM u ORDER BY a', '\nLIMIT 18446744073709551615'],
    ['SELECT a FROM t UNION SELECT b FROM u ORDER BY 1 FETCH FIRST 5 ROWS ONLY', ''],
    ['(SELECT a FROM t UNION ALL SELECT b FROM u ORDER BY a)', '\nLIMIT 18446744073709551615'],
  ])('is a query of its own to MariaDB, which else looks for the name elsewhere: %j', (query, limit) => {
    expect(mysqlDialect.queries.ordered(query)).toBe(`SELECT * FROM (\n${query}${limit}\n) AS driver_sync`);
  });
});

describe('the end of a query', () => {
  test.each([
    ['SELECT a FROM t', 'SELECT a FROM t', 'standard'],
    ['SELECT a FROM t;\n', 'SELECT a FROM t', 'standard'],
    ['SELECT a FROM t;;', 'SELECT a FROM t', 'standard'],
    ['SELECT a FROM t; -- the books', 'SELECT a FROM t', 'mysql'],
    ['SELECT a FROM t; --the books', 'SELECT a FROM t', 'standard'],
    ['SELECT a FROM t; /* the\nbooks */ # all', 'SELECT a FROM t', 'mysql'],
    ["SELECT a FROM t WHERE b = '; -- x'", "SELECT a FROM t WHERE b = '; -- x'", 'standard'],
    ["SELECT a #>> '{b}' FROM t;", "SELECT a #>> '{b}' FROM t", 'standard'],
    ["SELECT '\\' FROM t; -- it's", "SELECT '\\' FROM t", 'standard'],
    ["SELECT '\\'' FROM t; -- it's", "SELECT '\\'' FROM t", 'mysql'],
    ["SELECT $x$ it's; $x$, E'it\\'s;' FROM t;", "SELECT $x$ it's; $x$, E'it\\'s;' FROM t", 'standard'],
  ] as const)('is cut off where it would end the query around it: %j', (query, cut, syntax) => {
    expect(withoutEnd(query, syntax)).toBe(cut);
  });
});

/** A region, a date and an amount, as each engine says their types. */
const dialects: readonly (readonly [string, Dialect, readonly [string, string, string]])[] = [
  ['DuckDB', duckdbDialect, ['VARCHAR', 'DATE', 'DECIMAL(12,2)']],
  ['PostgreSQL', postgresDialect, ['text', 'date', 'numeric(12,2)']],
  ['MySQL', mysqlDialect, ['VAR_STRING(40)', 'DATE', 'NEWDECIMAL(12,2)']],
];

describe.each(dialects)('places in the order of a query of %s', (_name, dialect, types) => {
  const columns = ['region', 'date', 'amount'].map((name, at) => ({ name, type: types[at]! }));
  const isCounted = (query: string, ...drivers: readonly DriverEntry[]): boolean =>
    / AS place\b/.test(collapseQuery(dialect, { query, columns, mapping: mapping(drivers), timezone: 'UTC' }).sql);
  const ordered = 'SELECT region, date, amount FROM t ORDER BY date';

  test.each(['last', 'first', 'min', 'max'] as const)('are counted for %s, where a tie goes by them', (rule) => {
    expect(isCounted(ordered, entry({ rule }))).toBe(true);
  });
  test.each(['sum', 'average', 'count'] as const)('are not counted for %s, which no tie changes', (rule) => {
    expect(isCounted(ordered, entry({ rule }))).toBe(false);
  });
  test('are counted without ORDER BY too: the plain read goes by the order that the engine gives', () => {
    expect(isCounted('SELECT region, date, amount FROM t', entry())).toBe(true);
  });
  test('are counted for a sum whose drivers may have two paths', () => {
    expect(isCounted(ordered, { ...entry({ rule: 'sum' }), id: template('{region|slug}') })).toBe(true);
    const pair = { ...entry({ rule: 'sum' }), path: [template('{region}'), template('{date}')] };
    expect(isCounted(ordered, { ...pair, id: template('{region}{date}') })).toBe(true);
    expect(isCounted(ordered, { ...pair, id: template('{region}/{date}') })).toBe(false);
    expect(isCounted(ordered, pair)).toBe(false);
    const other = { ...pair, id: template('{region}'), path: [template('other')] };
    expect(isCounted(ordered, other)).toBe(false);
    expect(isCounted(ordered, other, { ...other, path: [template('{region}')] })).toBe(true);
  });
});

describe.each(dialects)('a condition that %s has judged', (_name, dialect, types) => {
  const columns = ['region', 'date', 'amount', 'scenario'].map((name, at) => ({ name, type: types[at] ?? types[0] }));

  test.each<[readonly string[], Test, string]>([
    [['Plan', 'Actual'], { kind: 'not', test: { kind: 'oneOf', texts: ['Plan'] } }, 'Actual'],
    [['Plan', 'Actual'], { kind: 'oneOf', texts: ['Actual', 'Budget'] }, 'Actual'],
  ])('passes once more beside another one of its column, which is named by its place: %#', (texts, other, passing) => {
    const where: readonly Condition[] = [
      { column: 'scenario', test: { kind: 'oneOf', texts } },
      { column: '#4', test: other },
    ];
    for (const ofBoth of [where, where.toReversed()]) {
      const request = {
        query: 'SELECT 1',
        columns,
        mapping: mapping([entry({ rule: 'sum' })], { where: ofBoth }),
        timezone: 'UTC',
      };
      const group = ['N', '', '', '', '', '2', '2', '1420454000000000000', '3.00'];
      const [batch] = collapseQuery(dialect, request).batch(
        [group],
        columns.map(({ name }) => name),
      );
      expect(batch!.rows).toEqual([['N', '', '', passing]]);
    }
  });
});

describe.each(dialects)('a column of text in %s', (_name, dialect, types) => {
  const request = (names: readonly string[]) => ({
    query: 'SELECT 1',
    columns: names.map((name) => ({ name, type: name === 'date' ? types[1] : types[0] })),
    mapping: mapping([entry()]),
    timezone: 'UTC',
  });
  const casts: Readonly<Record<string, readonly [number: string, time: string]>> = {
    DuckDB: ['amount::DECIMAL(18, 2) AS amount', '"Day"::DATE AS "Day"'],
    PostgreSQL: ['amount::numeric AS amount', '"Day"::date AS "Day"'],
    MySQL: ['CAST(amount AS DECIMAL(18, 2)) AS amount', 'CAST(`Day` AS DATE) AS `Day`'],
  };

  test('is refused as a value, with the cast to write', () => {
    expect(() => collapseQuery(dialect, request(['region', 'date', 'amount']))).toThrow(
      expect.objectContaining({
        code: 'part.unreadable',
        message: `the column amount is of type ${types[0]}, and pushdown takes only an exact number there`,
        hint: `write ${casts[_name]![0]} in the query${_name === 'PostgreSQL' ? '' : ' with all digits that it has'}, or leave pushdown out`,
      }),
    );
  });
  test('is refused as a time, with the cast to write', () => {
    const asked = { ...request(['region', 'Day', 'amount']), mapping: mapping([entry({ time: '{Day}' })]) };
    expect(() => collapseQuery(dialect, asked)).toThrow(
      expect.objectContaining({
        message: `the column Day is of type ${types[0]}, and pushdown takes only a date or a time there`,
        hint: `write ${casts[_name]![1]} in the query, or leave pushdown out`,
      }),
    );
  });
});

test.each([
  [postgresDialect, 'float8'],
  [mysqlDialect, 'DOUBLE'],
  [mysqlDialect, 'LONG ZEROFILL'],
  [mysqlDialect, 'NEWDECIMAL(38,38)'],
  [duckdbDialect, 'DOUBLE'],
  [duckdbDialect, 'DECIMAL(38,10)'],
])('a number that is not exact, or that the engine cannot add up exactly, is no number there: %#', (dialect, type) => {
  expect(dialect.types.kindOf(type)).toBe('other');
});

describe('the rule of months', () => {
  const zones = ['UTC', 'Europe/Berlin', 'America/St_Johns', 'Pacific/Kiritimati', 'Pacific/Apia', 'Africa/Casablanca'];

  function textOf(seconds: number): string {
    return new Date(seconds * 1000).toISOString().slice(0, 19).replace('T', ' ');
  }

  /** Mostly within two days of the start of a month. */
  const second = fc
    .tuple(
      fc.integer({ min: 1965, max: 2105 }),
      fc.integer({ min: 1, max: 12 }),
      fc.integer({ min: -172_800, max: 172_800 }),
    )
    .map(([year, month, beside]) => stampSeconds(monthOf(year, month), 'start') + beside);
  const suffixes = { wall: '', instant: 'Z', date: '' } as const;

  /** The month of a time that the rule is sure of. */
  function sureMonth(rule: ReturnType<typeof monthRule>, seconds: number): string | undefined {
    const year = Number(textOf(seconds).slice(0, 4));
    if (year < rule.years.first || year > rule.years.last) return undefined;
    if (rule.skippedDays.includes(textOf(seconds).slice(0, 10))) return undefined;
    const [least, most] = [rule.leastSeconds, rule.mostSeconds].map((moved) => textOf(seconds + moved).slice(0, 7));
    return least === most ? least : undefined;
  }

  test('is sure of the month that the agent reads, and of the order of times', () => {
    const asked = fc.record({
      kind: fc.constantFrom('wall', 'instant', 'date'),
      source: fc.constantFrom(...zones),
      agent: fc.constantFrom(...zones),
      seconds: fc.array(second, { minLength: 2, maxLength: 20 }),
    });
    fc.assert(
      fc.property(asked, ({ kind, source, agent, seconds }) => {
        const rule = monthRule(kind, { source, agent });
        const read = compileTimeReader({ ...iso, timezone: source }, agent);
        const times = seconds
          .map((at) => (kind === 'date' ? Math.floor(at / 86_400) * 86_400 : at))
          .sort((a, b) => a - b);
        const slips: string[] = [];
        let before: { readonly month: string; readonly seconds: number; readonly at: number } | undefined;
        for (const at of times) {
          const text = kind === 'date' ? textOf(at).slice(0, 10) : textOf(at);
          const moment = read(text + suffixes[kind]);
          const found = sureMonth(rule, at);
          if (found === undefined) continue;
          if (typeof moment === 'string') {
            slips.push(`${text} is a reject`);
            continue;
          }
          if (found !== formatMonth(moment.month))
            slips.push(`${text} is of ${formatMonth(moment.month)}, not ${found}`);
          // Of two times in one group, the later one is the later moment.
          if (before?.month === found && before.at < at && moment.seconds <= before.seconds)
            slips.push(`${text} is earlier than it looks`);
          before = { month: found, seconds: moment.seconds, at };
        }
        expect(slips).toEqual([]);
      }),
      runsOf(150, 1000),
    );
  });

  test('leaves days whose times the clocks skipped to themselves', () => {
    const berlin = monthRule('wall', { source: 'Europe/Berlin', agent: 'Europe/Berlin' });
    expect(berlin).toMatchObject({ leastSeconds: 0, mostSeconds: 0 });
    expect(berlin.skippedDays.filter((day) => day.startsWith('2026'))).toEqual(['2026-03-29']);
    expect(monthRule('date', { source: 'UTC', agent: 'Europe/Berlin' }).skippedDays).toEqual([]);
    expect(monthRule('date', { source: 'UTC', agent: 'Pacific/Apia' }).skippedDays).toEqual(['2011-12-30']);
    expect(monthRule('date', { source: 'UTC', agent: 'Asia/Manila' }).skippedDays).toEqual(['1844-12-31']);
  });

  test('is unsure for as long as the clocks of the zone differ', () => {
    expect(monthRule('instant', { source: 'UTC', agent: 'Europe/Berlin' })).toMatchObject({
      leastSeconds: 3600,
      mostSeconds: 7200,
    });
    expect(monthRule('wall', { source: 'America/New_York', agent: 'Europe/Berlin' })).toMatchObject({
      leastSeconds: 5 * 3600,
      mostSeconds: 7 * 3600,
    });
  });

  test('is sure of all dates in a zone that never skipped a day', () => {
    const isSure = (agent: string): boolean => isAlwaysSure(monthRule('date', { source: 'UTC', agent }));
    expect(['UTC', 'Europe/Berlin', 'America/St_Johns', 'Asia/Kathmandu'].filter((zone) => !isSure(zone))).toEqual([]);
    expect(['Asia/Manila', 'Pacific/Apia', 'Pacific/Kwajalein'].filter(isSure)).toEqual([]);
  });

  test('is sure of all times in UTC', () => {
    expect(monthRule('instant', { source: 'UTC', agent: 'UTC' })).toEqual({
      years: { first: 1000, last: 9999 },
      leastSeconds: 0,
      mostSeconds: 0,
      skippedDays: [],
    });
  });
});
