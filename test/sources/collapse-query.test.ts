import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { plainDecimal } from '../../src/core/numbers/decimal.ts';
import type { DecimalFormat } from '../../src/core/numbers/decimal.ts';
import { formatMonth, monthOf, stampSeconds } from '../../src/core/time/month.ts';
import type { DriverEntry, Mapping } from '../../src/core/settings.ts';
import type { TimeFormat } from '../../src/core/time/time-format.ts';
import { compileTimeReader } from '../../src/core/time/time.ts';
import { collapseQuery, pushdownProblems } from '../../src/sources/databases/collapse-query.ts';
import { mysqlDialect, postgresDialect } from '../../src/sources/databases/dialects.ts';
import type { Dialect } from '../../src/sources/databases/dialect.ts';
import { duckdbDialect } from '../../src/sources/databases/duckdb-dialect.ts';
import { type MonthRange, monthRanges } from '../../src/sources/databases/month-ranges.ts';
import { withoutEnd } from '../../src/sources/databases/query-words.ts';
import { sqliteDialect } from '../../src/sources/databases/sqlite-dialect.ts';
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

function mapping(drivers: readonly DriverEntry[], more: Partial<Mapping> = {}): Mapping {
  return { where: [], missing: [''], fillDown: [], unpivot: undefined, maps: {}, drivers, ...more };
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
  ])('MariaDB is told to keep that of %s: %j', (query, isTold) => {
    expect(mysqlDialect.ordered(query)).toBe(isTold ? `${query}\nLIMIT 18446744073709551615` : query);
  });
});

describe('a union that is ordered by a name', () => {
  test.each([
    ['SELECT a FROM t UNION ALL SELECT b FROM u ORDER BY a', '\nLIMIT 18446744073709551615'],
    ['SELECT a FROM t UNION SELECT b FROM u ORDER BY 1 FETCH FIRST 5 ROWS ONLY', ''],
  ])('is a query of its own to MariaDB, which else looks for the name elsewhere: %j', (query, limit) => {
    expect(mysqlDialect.ordered(query)).toBe(`SELECT * FROM (\n${query}${limit}\n) AS driver_sync`);
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

describe('places in the order of a query', () => {
  const isCounted = (dialect: Dialect, query: string, rule: DriverEntry['rule']): boolean => {
    const columns = ['region', 'date', 'amount'].map((name) => ({ name, type: 'text' }));
    const request = { query, columns, mapping: mapping([entry({ rule })]), timezone: 'UTC' };
    return / AS place\b/.test(collapseQuery(dialect, request).sql);
  };
  const ordered = 'SELECT region, date, amount FROM t ORDER BY date';
  const unordered = 'SELECT region, date, amount FROM t';

  test.each(['last', 'first', 'min', 'max'] as const)('are counted for %s, where a tie goes by them', (rule) => {
    for (const dialect of [sqliteDialect, duckdbDialect, postgresDialect, mysqlDialect]) {
      expect(isCounted(dialect, ordered, rule)).toBe(true);
    }
  });
  test.each(['sum', 'average', 'count'] as const)('are not counted for %s, which no tie changes', (rule) => {
    for (const dialect of [sqliteDialect, duckdbDialect, postgresDialect, mysqlDialect]) {
      expect(isCounted(dialect, ordered, rule)).toBe(false);
    }
  });
  test('are counted without ORDER BY too: the plain read goes by the order that the engine gives', () => {
    for (const dialect of [sqliteDialect, duckdbDialect, postgresDialect, mysqlDialect]) {
      expect(isCounted(dialect, unordered, 'last')).toBe(true);
    }
  });
  test('are counted for a sum whose drivers may have two paths', () => {
    const columns = ['region', 'date', 'amount'].map((name) => ({ name, type: 'text' }));
    const slugged = { ...entry({ rule: 'sum' }), id: template('{region|slug}') };
    const request = { query: ordered, columns, mapping: mapping([slugged]), timezone: 'UTC' };
    expect(collapseQuery(postgresDialect, request).sql).toMatch(/ AS place\b/);
  });
});

describe('ranges of months', () => {
  const zones = ['UTC', 'Europe/Berlin', 'America/St_Johns', 'Pacific/Kiritimati', 'Pacific/Apia', 'Africa/Casablanca'];

  function rangeOf(ranges: readonly MonthRange[], text: string): MonthRange {
    return ranges.findLast(({ from }) => from <= text)!;
  }

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

  test('say the month that the agent reads, and keep times in order', () => {
    const asked = fc.record({
      kind: fc.constantFrom('wall', 'instant', 'date'),
      source: fc.constantFrom(...zones),
      agent: fc.constantFrom(...zones),
      seconds: fc.array(second, { minLength: 2, maxLength: 20 }),
    });
    fc.assert(
      fc.property(asked, ({ kind, source, agent, seconds }) => {
        const ranges = monthRanges(kind, { source, agent });
        const read = compileTimeReader({ ...iso, timezone: source }, agent);
        const texts = [
          ...new Set(seconds.map((at) => (kind === 'date' ? textOf(at).slice(0, 10) : textOf(at)))),
        ].sort();
        const slips: string[] = [];
        let before: { readonly month: string; readonly seconds: number } | undefined;
        for (const text of texts) {
          const { month } = rangeOf(ranges, text);
          const moment = read(text + suffixes[kind]);
          if (month === 'each' || typeof moment === 'string') continue;
          const found = month === 'written' ? text.slice(0, 7) : month;
          if (found !== formatMonth(moment.month))
            slips.push(`${text} is of ${formatMonth(moment.month)}, not ${found}`);
          // Of two texts in one group, the later one is the later moment.
          if (before?.month === found && moment.seconds <= before.seconds)
            slips.push(`${text} is earlier than it looks`);
          before = { month: found, seconds: moment.seconds };
        }
        expect(slips).toEqual([]);
      }),
      { numRuns: 500 },
    );
  });

  test('leave times that no clock showed to themselves', () => {
    const berlin = monthRanges('wall', { source: 'Europe/Berlin', agent: 'Europe/Berlin' });
    expect(rangeOf(berlin, '2026-03-29 01:59:59').month).toBe('written');
    expect(rangeOf(berlin, '2026-03-29 02:30:00').month).toBe('each');
    expect(rangeOf(berlin, '2026-03-29 03:00:00').month).toBe('written');
    const apia = monthRanges('date', { source: 'Pacific/Apia', agent: 'Pacific/Apia' });
    expect(rangeOf(apia, '2011-12-30').month).toBe('each');
    expect(rangeOf(apia, '2011-12-31').month).toBe('written');
  });

  test('follow a clock that goes back into the month before', () => {
    const ranges = monthRanges('instant', { source: 'UTC', agent: 'America/St_Johns' });
    const months = ['2009-11-01 02:29:59', '2009-11-01 02:30:59', '2009-11-01 02:31:00', '2009-11-01 03:30:00'];
    expect(months.map((text) => rangeOf(ranges, text).month)).toEqual(['2009-10', '2009-11', '2009-10', '2009-11']);
  });

  test('are few where nothing is to be told apart', () => {
    expect(monthRanges('instant', { source: 'UTC', agent: 'UTC' })).toEqual([
      { from: '', month: 'written' },
      { from: '~', month: 'each' },
    ]);
  });
});
