import { describe, expect, test } from 'vitest';
import { load, problems, rest } from '../support/config-world.ts';

/** A snippet that goes before a right rest, and the only problem it has. */
const wrongAtTheTop: readonly (readonly [yaml: string, problem: string])[] = [
  [
    'timezone: Europe/Berln',
    '1:11 timezone: expected an IANA time zone such as Europe/Berlin or UTC, found "Europe/Berln" (write Europe/Berlin)',
  ],
  [
    'timezone: berlin',
    '1:11 timezone: expected an IANA time zone such as Europe/Berlin or UTC, found "berlin" (write Europe/Berlin)',
  ],
  ['timezone: +02:00', '1:11 timezone: expected an IANA time zone such as Europe/Berlin or UTC, found "+02:00"'],
  [
    'schedule: 15 2 * *',
    '1:11 schedule: expected a cron expression of five fields, or six with seconds, found "15 2 * *" (such as "15 2 * * *", or @hourly, @daily, @weekly or @monthly)',
  ],
  [
    'schedule: "61 2 * * *"',
    '1:11 schedule: not a cron expression: Invalid value for minute: 61 (such as "15 2 * * *")',
  ],
  [
    'schedule: "15 2 * 13 *"',
    '1:11 schedule: not a cron expression: Invalid value for month: 13 (such as "15 2 * * *")',
  ],
  [
    'schedule: "0 0 * * MONN"',
    '1:11 schedule: not a cron expression: "MONN" contains illegal characters. (such as "15 2 * * *")',
  ],
  ['schedule: "0 0 31 2 *"', '1:11 schedule: a schedule that never comes due: "0 0 31 2 *"'],
  [
    'schedule: "@fortnightly"',
    '1:11 schedule: expected a cron expression of five fields, or six with seconds, found "@fortnightly" (such as "15 2 * * *", or @hourly, @daily, @weekly or @monthly)',
  ],
  [
    'pushOnChange: 30',
    '1:15 pushOnChange: expected a duration such as 30s, 20h or 400d, found 30 (write 30s, 30m, 30h or 30d)',
  ],
  [
    'pushOnChange: 1h30m',
    '1:15 pushOnChange: expected a duration such as 30s, 20h or 400d, found "1h30m" (write whole numbers with ms, s, m, h or d, such as 90m)',
  ],
  [
    'refresh: [20h]',
    '1:10 refresh: expected a duration such as 30s, 20h or 400d, found a list (write whole numbers with ms, s, m, h or d, such as 90m)',
  ],
  ['keep: 99999999d', '1:7 keep: expected a duration of at most 36525d, found "99999999d"'],
  ['keepMax: 10', '1:10 keepMax: expected a size such as 10GB or 500MB, found 10 (write 10GB)'],
  [
    'keepMax: 10Gb/s',
    '1:10 keepMax: expected a size such as 10GB or 500MB, found "10Gb/s" (write whole numbers with B, kB, MB, GB, TB, MiB or GiB)',
  ],
  ['state:', '1:1 state: no value (write a value after the key, "" for the empty text, or remove the line)'],
  ['state: ""', '1:8 state: the text is empty'],
  ['state: { a: 1 }', '1:8 state: expected a text, found a mapping'],
  [
    'colour: red',
    '1:1 colour: unknown key "colour" (known here: state, timezone, schedule, pushOnChange, refresh, keep, keepMax, lastClose, heartbeat, workers, destination, guard, defaults, ledger, notify, sources, status)',
  ],
  ['page: 127.0.0.1:9464', expect.stringContaining('1:1 page: unknown key "page" (known here: ') as string],
  ['time_zone: UTC', '1:1 time_zone: unknown key "time_zone" (did you mean "timezone"?)'],
  ['stamp: end', '1:1 stamp: unknown key "stamp" ("stamp" belongs under destination)'],
  ['timezone: UTC\ntimezone: UTC', '2:1 timezone: the key "timezone" is written twice (keep one of the two)'],
  ['guard: 3', '1:8 guard: expected a mapping, found 3'],
  [
    'guard: { maxDeletes: 200% }',
    '1:22 guard.maxDeletes: expected a share such as 10% or 0.5%, or a count such as 3, found "200%"',
  ],
  [
    'guard: { maxRejects: 0.1 }',
    '1:22 guard.maxRejects: expected a share such as 10% or 0.5%, or a count such as 3, found 0.1',
  ],
  ['guard: { floor: -1 }', '1:17 guard.floor: expected at least 0, found -1'],
  ['guard: { floor: 1.5 }', '1:17 guard.floor: expected a whole number, found 1.5'],
  ['guard: { floor: "5" }', '1:17 guard.floor: expected a number, found "5" (write 5, without quotes)'],
  ['guard: { values: no }', '1:18 guard.values: expected "hold", "warn" or "off", found "no"'],
  ...['2026', '2026-13', '10', 'the 10th'].map(
    (written) =>
      [
        `lastClose: ${written}`,
        `1:12 lastClose: expected a month such as 2026-03, found "${written}" (or write { day: 10 }: each month then closes on the 10th of the next)`,
      ] as const,
  ),
  ...['0', '31', '40'].map(
    (day) =>
      [`lastClose: { day: ${day} }`, '1:19 lastClose.day: expected a day from 1 to 28, which every month has'] as const,
  ),
  ['workers: 1e1', '1:10 workers: expected a number, found "1e1" (write 10)'],
  ['lastClose: { day: tenth }', '1:19 lastClose.day: expected a number, found "tenth"'],
  ['lastClose: [2026-03]', '1:12 lastClose: expected a month such as 2026-03, or { day: 10 }, found a list'],
  [
    'guard: { firstPush: aprove }',
    '1:21 guard.firstPush: expected "allow" or "approve", found "aprove" (did you mean "approve"?)',
  ],
];

describe('what is wrong at the top', () => {
  test.each(wrongAtTheTop)('%s', (yaml, problem) => {
    expect(problems(yaml + rest)).toEqual([problem]);
  });
});

const wrongDestinations: readonly (readonly [yaml: string, problem: string])[] = [
  ['{ token: x }', '1:1 destination.url: "url" is missing (for example url: https://drivers.example.com)'],
  [
    'https://a',
    '1:14 destination: expected "emulator" or a mapping with url (an address is written as destination: { url: … })',
  ],
  ['{ url: ftp://a }', '1:21 destination.url: expected an http or https address (such as https://drivers.example.com)'],
  ['{ url: drivers }', '1:21 destination.url: expected an http or https address (such as https://drivers.example.com)'],
  [
    '{ url: "https://u:hunter2@a" }',
    '1:21 destination.url: credentials in the address (remove them and use token or tokenFile)',
  ],
  ['{ url: "https://a?b" }', '1:21 destination.url: a query or fragment in the address (end it before "?" or "#")'],
  ['{ url: "https://a/#" }', '1:21 destination.url: a query or fragment in the address (end it before "?" or "#")'],
  [
    '{ url: http://a/api/extDrivers/update/ }',
    '1:21 destination.url: /api/extDrivers/update in the address (leave it out: the agent appends it)',
  ],
  ['{ url: http://a, tokn: hunter2 }', '1:31 destination.tokn: unknown key "tokn" (did you mean "token"?)'],
  ['{ url: http://a, token: " " }', '1:38 destination.token: the token is empty (set it, or remove the key)'],
  [
    '{ url: http://a, token: "hunter2\\n" }',
    '1:38 destination.token: the token has a character that tokens cannot have (look for white space or line ends)',
  ],
  ['{ url: http://a, token: [hunter2] }', '1:38 destination.token: the token is not a text (put it in quotes)'],
  [
    '{ url: http://a, token: hunter2, tokenFile: f }',
    '1:47 destination.tokenFile: token and tokenFile are both there (keep one of the two)',
  ],
  [
    '{ url: http://a, tokenFile: hunter2 }',
    '1:42 destination.tokenFile: this file is of no use: it does not exist (paths are relative to the config file)',
  ],
  [
    '{ url: http://a, tokenFile: /run/credentials/no-such.service/token }',
    '1:42 destination.tokenFile: this file is of no use: it does not exist (systemd shows it to the unit alone, while that runs: "driver-sync plan" needs no token, and the journal says what the unit finds)',
  ],
  [
    '{ url: http://a, tokenFile: empty }',
    '1:42 destination.tokenFile: the token file is empty (write the token into it)',
  ],
  [
    '{ url: http://a, tokenFile: . }',
    '1:42 destination.tokenFile: this file is of no use: it is a directory (paths are relative to the config file)',
  ],
  [
    '{ url: http://a, caFile: f }',
    '1:39 destination.caFile: no certificate in the file (name a PEM file: BEGIN CERTIFICATE)',
  ],
  [
    '{ url: http://a, headers: { Content-Length: 3 } }',
    '1:42 destination.headers.Content-Length: the agent sets the header content-length itself (remove it)',
  ],
  [
    '{ url: http://a, headers: { HOST: a } }',
    '1:42 destination.headers.HOST: the agent sets the header host itself (remove it)',
  ],
  ['{ url: http://a, headers: hunter2 }', '1:40 destination.headers: expected a mapping'],
  [
    '{ url: http://a, headers: { "a b": hunter2 } }',
    '1:42 destination.headers["a b"]: not a name for a header (use letters, digits and "-")',
  ],
  [
    '{ url: http://a, headers: { X: a, x: b } }',
    '1:48 destination.headers.x: the header x is written twice (keep one of the two)',
  ],
  [
    '{ url: http://a, headers: { X: "hunter2\\n" } }',
    '1:45 destination.headers.X: a line end or another character that headers cannot have',
  ],
  [
    '{ url: http://a, token: t, headers: { authorization: Basic hunter2 } }',
    '1:52 destination.headers.authorization: token already sets the header authorization (keep one of the two)',
  ],
  ['{ url: http://a, compress: zstd }', '1:41 destination.compress: expected "none" or "gzip", found "zstd"'],
  ['{ url: http://a, timeout: 0s }', '1:40 destination.timeout: expected a duration longer than 0s, found "0s"'],
  [
    '{ url: http://a, shouldDeleteMissing: True }',
    '1:52 destination.shouldDeleteMissing: expected true or false, found "True" (write true, without quotes)',
  ],
];

describe('what is wrong with a destination', () => {
  test.each(wrongDestinations)('%s', (yaml, problem) => {
    const files = { f: 'x', empty: '\n' };
    const found = problems(`destination: ${yaml}\nsources: {}\n`, { files });
    expect(found).toEqual([problem]);
    expect(found.join('\n')).not.toContain('hunter2');
  });
});

describe('a file that is not a config', () => {
  test.each([
    ['', '1:1 : the file is empty (`driver-sync init` writes one to start with)'],
    ['# nothing\n', '1:1 : the file is empty (`driver-sync init` writes one to start with)'],
    ['hello', '1:1 : expected a mapping, found "hello"'],
    ['- a\n', '1:1 : expected a mapping, found a list'],
  ])('%j', (yaml, problem) => {
    expect(problems(yaml)).toEqual([problem]);
  });

  test('an empty mapping lacks what is required', () => {
    expect(problems('{}')).toEqual([
      '1:1 destination: "destination" is missing (for example destination: emulator)',
      '1:1 sources: "sources" is missing',
    ]);
  });

  test('a file that is not UTF-8 says on which line', () => {
    const bytes = Buffer.concat([Buffer.from('state: a\n# '), Buffer.from([0xe4]), Buffer.from('\n')]);
    expect(problems(bytes)).toEqual(['2:1 : the config is not UTF-8 (save it as UTF-8)']);
  });
});

describe('every problem at once', () => {
  test('in the order of the file', () => {
    const yaml = `timezone: Nowhere
destination: { url: x }
sources:
  a:
    type: csv
    files: a.csv
    drivers:
      - path: [x, ""]
        time: "{t"
        value: { from: "{v|map:m}", decimal: xx, scale: 0 }
      - id: 3
  b: { type: nope }
`;
    expect(problems(yaml).map((problem) => problem.split(': ')[0])).toEqual([
      '1:11 timezone',
      '2:21 destination.url',
      '6:12 sources.a.files',
      '8:19 sources.a.drivers[0].path[1]',
      '9:16 sources.a.drivers[0].time',
      '10:24 sources.a.drivers[0].value.from',
      '10:46 sources.a.drivers[0].value.decimal',
      '10:57 sources.a.drivers[0].value.scale',
      '11:9 sources.a.drivers[1].path',
      '11:9 sources.a.drivers[1].time',
      '11:9 sources.a.drivers[1].value',
      '12:3 sources.b.drivers',
      '12:14 sources.b.type',
    ]);
  });

  test('what a merge brings in is shown once, where it is written', () => {
    const yaml = `destination: emulator
sources:
  a: &base { type: csv, files: [a], poll: 5, drivers: &d [{ path: [a], time: "{t}", value: "{v" }] }
  b: { <<: *base, files: [b] }
  c: { type: csv, files: [c], drivers: *d }
`;
    expect(problems(yaml)).toEqual([
      '3:43 sources.a.poll: expected a duration such as 30s, 20h or 400d, found 5 (write 5s, 5m, 5h or 5d)',
      '3:93 sources.a.drivers[0].value: bad template: a "{" without its "}"; write "{{" for a brace',
    ]);
  });
});

test('settings are there only where there is no problem', () => {
  expect(load(`timezone: Nowhere${rest}`).settings).toBeUndefined();
  expect(load(rest).settings).toBeDefined();
});

describe('a path that a shell would read otherwise', () => {
  const drivers = 'drivers: [{ path: [a], time: "{t}", value: "{v}" }]';
  const one = (keys: string): string => `destination: emulator\nsources:\n  s: { ${keys}, ${drivers} }\n`;
  const csv = (keys: string): string => one(`type: csv, files: [a.csv], ${keys}`);

  test.each([
    ['state', `state: ~/x${rest}`],
    ['state', `state: "~"${rest}`],
    ['destination.tokenFile', 'destination: { url: "https://a.example", tokenFile: ~anna/t }\nsources: {}\n'],
    ['destination.caFile', 'destination: { url: "https://a.example", caFile: ~/ca.pem }\nsources: {}\n'],
    ['status.tokenFile', `status: { listen: "127.0.0.1:0", tokenFile: ~/t }${rest}`],
    ['ledger.caFile', `ledger: { url: "postgres://a@b/c", caFile: ~/ca.pem }${rest}`],
    ['sources.s.file', one('type: sqlite, query: SELECT 1, file: ~/a.db')],
    ['sources.s.tokenFile', one('type: http, url: "https://a.example/a.csv", tokenFile: ~/t')],
    ['sources.s.caFile', one('type: postgres, url: "postgres://a@b/c", query: SELECT 1, caFile: ~/ca.pem')],
    ['sources.s.maps.r.file', csv('maps: { r: { file: ~/r.csv } }')],
    ['sources.s.calendar.file', csv('calendar: { file: ~/c.csv }')],
  ])('is a problem: %s', (key, yaml) => {
    expect(problems(yaml, { secrets: 'optional' }).map((line) => line.replace(/^\S+ /, ''))).toEqual([
      `${key}: "~" stands for no home directory here (write the whole path, or \${HOME} in place of "~")`,
    ]);
  });

  test('is one too where it begins with a variable of a shell, and none where "~" is part of a name', () => {
    expect(problems(`state: $HOME/x${rest}`)).toEqual([
      '1:8 state: a path that begins with "$" (write a variable as ${NAME})',
    ]);
    expect(problems(`state: ./~/PROGRA~1${rest}`)).toEqual([]);
    expect(problems(`state: \${HOME}/x${rest}`, { env: { HOME: '/home/anna' } })).toEqual([]);
  });
});
