/** Keys for the shapes that finance data comes in: what they mean, and what is wrong with them. */
import { describe, expect, test } from 'vitest';
import { problems, source, sourceYaml } from '../support/config-world.ts';

const quarterly = (more: string): string =>
  `    drivers: [{ path: [a], time: { from: "{t}", format: QQQ yyyy }, value: "{v}"${more} }]`;

describe('what is read of them', () => {
  test('a poll is a duration, or a cron expression', () => {
    expect(source('    poll: 90m').poll).toEqual({ kind: 'every', ms: 5_400_000 });
    expect(source('    poll: "0 6 * * 1-5"').poll).toEqual({ kind: 'cron', expression: '0 6 * * 1-5' });
  });

  test('white space around a key of a map does not count', () => {
    const { mapping } = source('    maps: { region: { "N ": North, N: North, " S": South, " __proto__": P } }');
    expect(Object.entries(mapping.maps['region'] ?? {})).toEqual([
      ['N', 'North'],
      ['S', 'South'],
      ['__proto__', 'P'],
    ]);
  });

  test('a map is a table, or a file with one', () => {
    const { mapping, lookups } = source(`    maps:
      region: { N: North }
      product: { file: products.csv }
      team: { file: teams.csv, from: code, to: name, delimiter: ";", encoding: windows-1252 }
    drivers: [{ path: ["{a|map:region}{b|map:product}{c|map:team}"], time: "{t}", value: "{v}" }]`);
    expect(mapping.maps).toEqual({ region: { N: 'North' } });
    expect(lookups).toEqual({
      maps: {
        product: {
          file: 'products.csv',
          delimiter: undefined,
          encoding: 'utf-8',
          settle: 2000,
          from: undefined,
          to: undefined,
        },
        team: { file: 'teams.csv', delimiter: ';', encoding: 'windows-1252', settle: 2000, from: 'code', to: 'name' },
      },
      calendar: undefined,
    });
  });

  test('a fiscal year starts in a month by name or number, and is named after its end', () => {
    const of = (year: string): unknown =>
      source(`    fiscalYear: ${year}
    drivers: [{ path: [a], time: { from: "{t}", format: fiscal-period }, value: "{v}" }]`).mapping.drivers[0]?.time
        .format.fiscalYear;
    expect(of('{ startsIn: April }')).toEqual({ startsIn: 4, namedAfter: 'end' });
    expect(of('{ startsIn: 10, namedAfter: start }')).toEqual({ startsIn: 10, namedAfter: 'start' });
  });

  test('several value columns and named groups make an unpivot', () => {
    expect(
      source('    unpivot: { columns: "^(?<value>units|price) (?<month>.+)$", value: [units, price] }').mapping,
    ).toMatchObject({ unpivot: { name: undefined, value: ['units', 'price'] } });
  });

  test('a null of a test is the empty text, as in the source', () => {
    const { tests } = source('    tests: [{ rows: [{ t: null, v: 1 }], readings: [] }]');
    expect(tests[0]?.rows).toEqual([{ t: '', v: '1' }]);
  });

  test('tests are rows and the readings of them', () => {
    const { tests } = source(`    tests:
      - rows: [{ t: 2026-03-01, 2026: 1.50 }]
        readings: [{ driver: a, month: 2026-03, value: 1.50 }]`);
    expect(tests).toEqual([
      {
        columns: ['t', '2026'],
        rows: [{ t: '2026-03-01', 2026: '1.50' }],
        readings: [{ driver: 'a', month: '2026-03', value: '1.50' }],
        rejects: 0,
      },
    ]);
  });
});

describe('what is wrong with them', () => {
  test.each<[yaml: string, problem: string]>([
    ['    poll: "0 6 * *"', '7:11 sources.s.poll: expected a cron expression'],
    ['    fiscalYear: { startsIn: Aprl }', '7:29 sources.s.fiscalYear.startsIn: expected a month such as April'],
    ['    unpivot: { columns: "^x", value: v }', '7:25 sources.s.unpivot.columns: no column would hold the headers'],
    ['    unpivot: { columns: "^x", value: [v, w] }', '7:25 sources.s.unpivot.columns: several value columns'],
    [
      '    tests: [{ rows: [{ t: x }], readings: [{ driver: a, month: March, value: 1 }] }]',
      '7:64 sources.s.tests[0].readings[0].month: expected a month such as 2026-03',
    ],
    [
      '    maps: { m: { file: m.csv, form: c } }',
      '7:31 sources.s.maps.m.form: unknown key "form" (did you mean "from"?)',
    ],
    [
      '    maps: { m: { file: "s3://books/m.csv" } }',
      '7:24 sources.s.maps.m.file: a map or a calendar is a file of this machine (bring a copy beside the config',
    ],
    [
      '    calendar: { file: "sftp://me@books.example/weeks.csv" }',
      '7:23 sources.s.calendar.file: a map or a calendar is a file of this machine',
    ],
    [
      '    maps: { m: { file: "ftp://books.example/m.csv" } }',
      '7:24 sources.s.maps.m.file: a map or a calendar is a file of this machine',
    ],
    ['    maps: { m: m.csv }', 'if it is a file, write { file: m.csv }'],
    ['    calendar: weeks.csv', 'if it is a file, write { file: weeks.csv }'],
    [
      '    drivers: [{ path: [a], time: { from: "{t}", format: fiscal_quarter }, value: "{v}" }]',
      'did you mean "fiscal-quarter"?',
    ],
    [quarterly(''), '6:57 sources.s.drivers[0].time.format: the format names quarters'],
    [
      quarterly('').replace('QQQ yyyy', 'yyyy'),
      '6:57 sources.s.drivers[0].time.format: the format names years, and a year is twelve months',
    ],
    [quarterly(', spread: halve'), '6:91 sources.s.drivers[0].spread: expected "repeat", "first", "last" or "divide"'],
  ])('%s', (yaml, problem) => {
    expect(problems(sourceYaml(yaml))).toEqual([expect.stringContaining(problem)]);
  });

  test('nothing, where a quarterly value is spread', () => {
    expect(problems(sourceYaml(quarterly(', spread: divide')))).toEqual([]);
  });
});

test('a database that collapses has no calendar of its own', () => {
  const yaml = `destination: emulator
sources:
  s:
    type: duckdb
    query: SELECT 1
    pushdown: true
    calendar: { file: weeks.csv }
    drivers: [{ path: ["{a}"], time: "{t}", value: "{v}" }]
`;
  expect(problems(yaml)).toEqual([expect.stringContaining('7:15 sources.s.calendar: a database that collapses')]);
});

test('pushdown is refused for SQLite, with the reason', () => {
  const yaml = `destination: emulator
sources:
  s:
    type: sqlite
    file: a.db
    query: SELECT 1
    pushdown: true
    drivers: [{ path: ["{a}"], time: "{t}", value: "{v}" }]
`;
  expect(problems(yaml)).toEqual([expect.stringContaining('7:15 sources.s.pushdown: SQLite has no types of dates')]);
});
