import path from 'node:path';
import { describe, expect, test } from 'vitest';
import { load, rest, settings, source, sourceYaml } from '../support/config-world.ts';

const everything = `
# yaml-language-server: $schema=./driver-sync.schema.json
state: /var/lib/driver-sync        # default: .driver-sync beside the config file
timezone: Europe/Berlin
schedule: "15 2 * * *"
pushOnChange: 30s
destination:
  url: https://drivers.example.com
  token: \${DRIVERS_TOKEN}
  headers: {}
  shouldDeleteMissing: true
  timeout: 60s
  compress: none
  stamp: middle
guard:
  maxDeletes: 10%
  floor: 5
  maxRejects: 1%
  firstPush: allow
refresh: 20h
keep: 400d
keepMax: 10GB
sources:
  revenue:
    type: csv
    files: ["exports/revenue-*.csv"]
    encoding: utf-8
    delimiter: ","
    skipRows: 0
    settle: 2s
    poll: 1m
    timeout: 5m
    parts: all
    removed: carry
    history: replace
    mayBeEmpty: false
    where: { scenario: Actual }
    missing: ["", "NA", "***"]
    unpivot: { columns: "^\\\\d{4}-\\\\d{2}$", name: month, value: amount }
    maps: { region: { N: North, S: South } }
    drivers:
      - id: "revenue/{region}/{product|slug}"
        path: [Revenue, "{region|map:region}", "{product}"]
        time: "{date}"
        value: "{amount}"
        collapse: last
`;

describe('a config with every key', () => {
  test('becomes settings', () => {
    const { problems, settings: made } = load(everything, { env: { DRIVERS_TOKEN: 'abc' } });
    expect(problems).toEqual([]);
    expect(made).toMatchObject({
      state: '/var/lib/driver-sync',
      timezone: 'Europe/Berlin',
      schedule: '15 2 * * *',
      pushOnChangeMs: 30_000,
      destination: {
        url: 'https://drivers.example.com',
        token: { kind: 'text', text: 'abc' },
        headers: {},
        timeoutMs: 60_000,
        compress: 'none',
        caFile: undefined,
      },
      shouldDeleteMissing: true,
      stamp: 'middle',
      guard: {
        maxDeletes: { kind: 'share', millionths: 100_000 },
        floor: 5,
        maxRejects: { kind: 'share', millionths: 10_000 },
        firstPush: 'allow',
      },
      refreshMs: 72_000_000,
      keepMs: 34_560_000_000,
      keepMaxBytes: 10_000_000_000,
      workers: undefined,
    });
  });

  test('has the source as it is written', () => {
    const [revenue] = settings(everything, { env: { DRIVERS_TOKEN: 'abc' } }).sources;
    expect(revenue).toMatchObject({
      name: 'revenue',
      type: 'csv',
      kind: { files: ['exports/revenue-*.csv'], delimiter: ',', settle: 2000 },
      poll: { kind: 'every', ms: 60_000 },
      timeoutMs: 300_000,
      removed: 'carry',
      history: 'replace',
      mayBeEmpty: false,
      mapping: {
        where: [{ column: 'scenario', test: { kind: 'oneOf', texts: ['Actual'] } }],
        missing: ['', 'NA', '***'],
        unpivot: { columns: { source: '^\\d{4}-\\d{2}$' }, name: 'month', value: ['amount'] },
        maps: { region: { N: 'North', S: 'South' } },
        drivers: [
          {
            id: { text: 'revenue/{region}/{product|slug}' },
            path: [{ text: 'Revenue' }, { text: '{region|map:region}' }, { text: '{product}' }],
            time: {
              from: { text: '{date}' },
              format: { formats: ['iso'], locales: ['en'], timezone: undefined, fiscalYear: undefined },
            },
            value: { from: { text: '{amount}' }, format: { decimal: '.', group: undefined, scale: undefined } },
            rule: 'last',
          },
        ],
      },
    });
  });
});

test('what is left out has its default', () => {
  const { file, ...made } = settings(sourceYaml(''));
  expect(made).toMatchObject({
    state: path.join(path.dirname(file), '.driver-sync'),
    timezone: 'UTC',
    schedule: '15 2 * * *',
    pushOnChangeMs: undefined,
    destination: 'emulator',
    shouldDeleteMissing: true,
    stamp: 'middle',
    guard: { maxDeletes: { kind: 'share', millionths: 100_000 }, floor: 5, maxRejects: undefined, firstPush: 'allow' },
    refreshMs: 72_000_000,
    keepMs: 34_560_000_000,
    keepMaxBytes: 10_000_000_000,
  });
  expect(made.sources[0]?.mapping).toMatchObject({ where: [], missing: [''], unpivot: undefined, maps: {} });
  expect(made.sources[0]?.mapping.drivers[0]).toMatchObject({ id: undefined, rule: 'last' });
});

test('a JSON file is a config', () => {
  expect(settings('{\n\t"destination": "emulator",\n\t"sources": {}\n}').destination).toBe('emulator');
});

test('a byte-order mark and Windows line ends are ignored', () => {
  expect(settings(`\uFEFFtimezone: Europe/Berlin\r\ndestination: emulator\r\nsources: {}\r\n`).timezone).toBe(
    'Europe/Berlin',
  );
});

test('sources keep the order of the file, also where their names are numbers', () => {
  const one = '{ type: csv, files: [a.csv], drivers: [{ path: [a], time: "{t}", value: "{v}" }] }';
  const { sources } = settings(
    `destination: emulator\nsources:\n  b: ${one}\n  2025: ${one}\n  2024: ${one}\n  a: ${one}\n`,
  );
  expect(sources.map(({ name }) => name)).toEqual(['b', '2025', '2024', 'a']);
});

describe('numbers without quotes', () => {
  test('are the text that stands in the file where a text is wanted', () => {
    const { mapping } = source(`    where: { year: [2024, 012, 1.50, 1e3], flag: true, other: False }
    missing: [0, 0.0, -0, null, N/A, NULL, ~]
    maps: { code: { N: 012, 007: 1.10, true: "NULL", ~: none } }`);
    expect(mapping.where).toEqual([
      { column: 'year', test: { kind: 'oneOf', texts: ['2024', '012', '1.50', '1e3'] } },
      { column: 'flag', test: { kind: 'oneOf', texts: ['true'] } },
      { column: 'other', test: { kind: 'oneOf', texts: ['False'] } },
    ]);
    expect(mapping.missing).toEqual(['0', '0.0', '-0', 'null', 'N/A', 'NULL', '~']);
    expect(mapping.maps).toEqual({ code: { N: '012', '007': '1.10', true: 'NULL', '~': 'none' } });
  });

  test('also in paths, headers, tokens and the keys of a kind of source', () => {
    expect(source(`    drivers: [{ path: [2024, 01], time: "{t}", value: 1.50 }]`).mapping.drivers[0]).toMatchObject({
      path: [{ text: '2024' }, { text: '01' }],
      value: { from: { text: '1.50' } },
    });
    expect(source('    delimiter: 1').kind).toMatchObject({ delimiter: '1' });
    const { destination } = settings(
      `sources: {}\ndestination: { url: http://a, token: 0123, headers: { X-Id: 007 } }`,
    );
    expect(destination).toMatchObject({ token: { text: '0123' }, headers: { 'X-Id': '007' } });
  });

  test('are keys by their source too: 012 and 12 are two', () => {
    expect(source('    maps: { m: { 012: a, 12: b } }').mapping.maps).toEqual({ m: { '012': 'a', '12': 'b' } });
  });

  test('are exact in scale', () => {
    const scale = (written: string): string | undefined =>
      source(`    drivers: [{ path: [a], time: "{t}", value: { from: "{v}", scale: ${written} } }]`).mapping.drivers[0]
        ?.value.format.scale;
    expect(['1000', '"0.001"', '1.50', '1e3', '-1', '0.1000000000000000055'].map(scale)).toEqual([
      '1000',
      '0.001',
      '1.50',
      '1000',
      '-1',
      '0.1000000000000000055',
    ]);
  });
});

describe('durations, sizes and limits', () => {
  test.each([
    ['500ms', 500],
    ['0s', 0],
    ['1m', 60_000],
    ['20h', 72_000_000],
    ['400d', 34_560_000_000],
  ])('refresh: %s is %i ms', (written, ms) => {
    expect(settings(`refresh: ${written}${rest}`).refreshMs).toBe(ms);
  });

  test.each([
    ['500MB', 500_000_000],
    ['10GB', 10_000_000_000],
    ['1 KiB', 1024],
    ['2GiB', 2_147_483_648],
    ['7B', 7],
    ['1tb', 1_000_000_000_000],
  ])('keepMax: %s is %i bytes', (written, bytes) => {
    expect(settings(`keepMax: ${written}${rest}`).keepMaxBytes).toBe(bytes);
  });

  test.each([
    ['10%', { kind: 'share', millionths: 100_000 }],
    ['0.5%', { kind: 'share', millionths: 5_000 }],
    ['0.0001%', { kind: 'share', millionths: 1 }],
    ['100%', { kind: 'share', millionths: 1_000_000 }],
    ['0', { kind: 'count', count: 0 }],
    ['"3"', { kind: 'count', count: 3 }],
  ])('maxDeletes: %s', (written, limit) => {
    expect(settings(`guard: { maxDeletes: ${written} }${rest}`).guard.maxDeletes).toEqual(limit);
  });

  test('pushOnChange: off is off', () => {
    expect(settings(`pushOnChange: off${rest}`).pushOnChangeMs).toBeUndefined();
  });
});

describe('where', () => {
  test('has texts, lists, patterns and their opposites', () => {
    const { where } = source(`    where:
      a: x
      b: [y, z]
      c: { matches: '^4\\d{3}$' }
      d: { not: x }
      e: { not: { matches: "^x" } }
      f: { not: { not: [y] } }`).mapping;
    expect(where).toMatchObject([
      { column: 'a', test: { kind: 'oneOf', texts: ['x'] } },
      { column: 'b', test: { kind: 'oneOf', texts: ['y', 'z'] } },
      { column: 'c', test: { kind: 'matches', pattern: { source: '^4\\d{3}$' } } },
      { column: 'd', test: { kind: 'not', test: { kind: 'oneOf', texts: ['x'] } } },
      { column: 'e', test: { kind: 'not', test: { kind: 'matches', pattern: { source: '^x' } } } },
      { column: 'f', test: { kind: 'not', test: { kind: 'not', test: { kind: 'oneOf', texts: ['y'] } } } },
    ]);
  });
});

describe('time and value, written out', () => {
  test('say how a column is written', () => {
    const [driver] = source(`    drivers:
      - path: [a]
        time: { from: "{y} {m}", format: yyyy MMMM, locale: de, timezone: America/New_York }
        value: { from: "{v}", decimal: ",", group: ".", accounting: true, scale: 1000, negate: true }`).mapping.drivers;
    expect(driver?.time).toMatchObject({
      from: { text: '{y} {m}' },
      format: { formats: ['yyyy MMMM'], locales: ['de'], timezone: 'America/New_York', fiscalYear: undefined },
    });
    expect(driver?.value.format).toEqual({
      decimal: ',',
      group: { mark: '.', sizes: [3] },
      accounting: true,
      scale: '1000',
      negate: true,
    });
  });

  test('take several formats, and groups of several sizes', () => {
    const [driver] = source(`    drivers:
      - { path: [a], time: { from: "{t}", format: [iso, dd.MM.yyyy] }, value: { from: "{v}", group: { mark: ",", sizes: [3, 2] } } }`)
      .mapping.drivers;
    expect(driver?.time.format.formats).toEqual(['iso', 'dd.MM.yyyy']);
    expect(driver?.value.format.group).toEqual({ mark: ',', sizes: [3, 2] });
  });
});

describe('destination', () => {
  const destination = (lines: string, files = {}): unknown => {
    const made = settings(`sources: {}\ndestination:\n${lines}`, { files });
    return { ...(made.destination as object), dir: path.dirname(made.file) };
  };

  test.each([
    ['https://drivers.example.com/', 'https://drivers.example.com'],
    ['http://127.0.0.1:8787', 'http://127.0.0.1:8787'],
    ['https://Example.com:443/base//', 'https://example.com/base'],
  ])('url: %s is %s', (written, url) => {
    expect(destination(`  url: ${written}`)).toMatchObject({ url });
  });

  test('a token file stays a reference, by its absolute path', () => {
    const made = destination('  url: http://a\n  tokenFile: secrets/token', { 'secrets/token': 'abc\n' });
    const { token, dir } = made as { token: unknown; dir: string };
    expect(token).toEqual({ kind: 'file', file: path.join(dir, 'secrets/token') });
  });

  test('a CA file is found beside the config', () => {
    const made = destination('  url: http://a\n  caFile: ca.pem', { 'ca.pem': '-----BEGIN CERTIFICATE-----\n' });
    const { caFile, dir } = made as { caFile: unknown; dir: string };
    expect(caFile).toBe(path.join(dir, 'ca.pem'));
  });

  test('the header authorization may be set where there is no token', () => {
    expect(destination('  url: http://a\n  headers: { Authorization: Basic abc }')).toMatchObject({
      headers: { Authorization: 'Basic abc' },
    });
  });
});

describe('anchors, aliases and merge keys', () => {
  const yaml = `destination: emulator
sources:
  a: &base
    type: csv
    files: [a.csv]
    poll: 5m
    drivers: &drivers
      - { path: [a], time: "{t}", value: "{v}" }
  b:
    <<: *base
    files: [b.csv]
  c: { <<: [{ poll: 7m }, *base], type: csv, drivers: *drivers }
`;

  test('stand for what they point to, and what is written beside them wins', () => {
    const { sources } = settings(yaml);
    expect(sources.map(({ name, poll, kind }) => [name, poll, (kind as { files: string[] }).files[0]])).toEqual([
      ['a', { kind: 'every', ms: 300_000 }, 'a.csv'],
      ['b', { kind: 'every', ms: 300_000 }, 'b.csv'],
      ['c', { kind: 'every', ms: 420_000 }, 'a.csv'],
    ]);
    expect(sources[2]?.mapping.drivers).toHaveLength(1);
  });
});

describe('digests', () => {
  const yaml = (poll: string): string => sourceYaml(`    poll: ${poll}`);

  test('of the settings: what they come to, and not how the file writes it', () => {
    const text = `state: /var/lib/driver-sync\ntimezone: \${ZONE:-UTC}${rest}`;
    const digest = (env: NodeJS.ProcessEnv): string => settings(text, { env }).digest;
    expect(digest({})).toMatch(/^[0-9a-f]{64}$/);
    expect(digest({ OTHER: '1' })).toBe(digest({}));
    expect(digest({ ZONE: 'UTC' })).toBe(digest({}));
    expect(digest({ ZONE: 'Europe/Berlin' })).not.toBe(digest({}));
    for (const same of [`# why\n${text}\n\n#\n`, `refresh: 1200m\n${text}`, `keepMax: 10GB\n${text}`]) {
      expect(settings(same).digest).toBe(digest({}));
    }
    for (const key of ['refresh: 19h', 'schedule: "16 2 * * *"', 'pushOnChange: 1s', 'guard: { floor: 4 }']) {
      expect(settings(`${key}\n${text}`).digest).not.toBe(digest({}));
    }
  });

  test('of a source: its own keys after substitution, in any order, and the time zone', () => {
    const [a, b] = ['1m', '${POLL:-1m}'].map((poll) => settings(yaml(poll)).sources[0]?.digest);
    expect(a).toBe(b);
    expect(settings(yaml('2m')).sources[0]?.digest).not.toBe(a);
    expect(settings(`timezone: Europe/Berlin\n${yaml('1m')}`).sources[0]?.digest).not.toBe(a);
    expect(settings(`refresh: 1h\n${yaml('1m')}`).sources[0]?.digest).toBe(a);
    const reordered = 'drivers: [{ value: "{v}", time: "{t}", path: [a] }], poll: 1m, files: [a.csv], type: csv';
    expect(settings(`destination: emulator\nsources: { s: { ${reordered} } }`).sources[0]?.digest).toBe(a);
  });
});

test.each([
  ['@hourly', '0 * * * *'],
  ['@daily', '0 0 * * *'],
  ['@weekly', '0 0 * * 0'],
  ['@monthly', '0 0 1 * *'],
])('the schedule %s is %s, and so is a poll', (name, expression) => {
  const { schedule, sources } = settings(`schedule: "${name}"\n${sourceYaml(`    poll: "${name}"`)}`);
  expect(schedule).toBe(expression);
  expect(sources[0]?.poll).toEqual({ kind: 'cron', expression });
});
