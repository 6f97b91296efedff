/** `check`: every problem of a config at once, and a first look into every source. */
import { chmod, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { describe, expect, test, vi } from 'vitest';
import { commandLine } from '../support/command-line.ts';
import { commandsWorld, threeSources } from '../support/commands-world.ts';
import { csv } from '../support/process.ts';
import { recordsOf } from '../support/state-records.ts';

test('a config that is not there is a problem with its place, however it was named', async () => {
  const missing = path.resolve('nowhere', 'driver-sync.yaml');
  const problems = [{ file: missing, line: 1, column: 1 }];
  const named = await commandLine('check', '--json', '--config', path.join('nowhere', 'driver-sync.yaml'));
  expect(named.json()).toMatchObject({ ok: false, problems });
  vi.stubEnv('DRIVER_SYNC_CONFIG', missing);
  const byEnvironment = await commandLine('check', '--json');
  expect(byEnvironment.json()).toMatchObject({ ok: false, problems });
  expect(byEnvironment.code).toBe(78);
});

describe('check', () => {
  test('shows first readings and rejects of every source, keeps no state and sends nothing', async () => {
    const { at, receiver } = await threeSources();
    await at.write('staff.csv', `id,time,value\nHeads,2026-01,3\nHeads,2026-02,x\n${'Heads,2026-03,3\n'.repeat(98)}`);
    const done = await at.command('check', '--json');
    expect(done.code).toBe(0);
    const report = done.json<{ sources: { name: string; readings: object[] }[] }>();
    expect(report).toMatchObject({ ok: true, problems: [] });
    expect(report.sources.map(({ name }) => name)).toEqual(['revenue', 'costs', 'staff']);
    expect(report.sources[0]?.readings[0]).toEqual({ driver: 'R0', path: ['R0'], month: '2026-01', value: '1' });
    expect(report.sources[2]).toMatchObject({
      readings: expect.arrayContaining([{ driver: 'Heads', path: ['Heads'], month: '2026-01', value: '3' }]),
      refusals: [],
      rejects: [{ part: 'staff.csv', row: 2, reason: expect.stringContaining('"x"'), text: 'Heads,2026-02,x' }],
    });
    expect(receiver.posts).toEqual([]);
    await expect(recordsOf(at.state)).rejects.toMatchObject({ code: 'ENOENT' });
  });

  const wrong = `timezone: Europe/Berln
shedule: "0 * * * *"
destination:
  url: ftp://drivers.example.com
  token: \${DRIVER_SYNC_TEST_UNSET}
guard:
  maxDeletes: lots
sources:
  revenue:
    type: csv
    files: [a.csv]
    delimeter: ";"
    drivers:
      - id: "{region|uper}"
        path: []
        time: { from: "{date}", format: qqqq }
        value: "{amount"
        collapse: median
  costs:
    type: papyrus
`;

  test('finds every problem of the config at once, each with its line and column', async () => {
    const { at } = await threeSources();
    await at.write('driver-sync.yaml', wrong);
    const done = await at.command('check', '--json');
    expect(done.code).toBe(78);
    const { ok, problems, sources } = done.json<{
      ok: boolean;
      problems: Record<string, unknown>[];
      sources: object[];
    }>();
    expect({ ok, sources }).toEqual({ ok: false, sources: [] });
    const lines = [1, 2, 4, 5, 7, 12, 14, 15, 16, 17, 18, 19, 20];
    expect([...new Set(problems.map(({ line }) => line))]).toEqual(lines);
    for (const problem of problems) {
      expect(problem).toMatchObject({
        file: path.join(at.dir, 'driver-sync.yaml'),
        column: expect.any(Number),
        path: expect.any(String),
        message: expect.stringMatching(/./),
      });
    }
    const of = (line: number): unknown => problems.find((problem) => problem['line'] === line);
    expect(of(2)).toMatchObject({ column: 1, path: 'shedule', hint: expect.stringContaining('schedule') });
    expect(of(12)).toMatchObject({ column: 5, hint: expect.stringContaining('delimiter') });
    expect(of(5)).toMatchObject({ message: expect.stringContaining('DRIVER_SYNC_TEST_UNSET') });

    const { stdout } = await commandLine('check', '--config', path.join(at.dir, 'driver-sync.yaml'));
    for (const line of lines) expect(stdout).toContain(`driver-sync.yaml:${line}:`);
  });

  test('prints its own JSON of a file that is no YAML', async () => {
    const { at, run } = await threeSources();
    await at.write('driver-sync.yaml', 'sources:\n  a: [1, 2\nb: "\n');
    const { code, json } = await run('check', '--json');
    expect(code).toBe(78);
    expect(json()).toMatchObject({ ok: false, problems: expect.any(Array), sources: [] });
    expect(json<{ problems: object[] }>().problems[0]).toMatchObject({ line: expect.any(Number) });
  });

  test('an unknown column is 78, where the config asks for it, with the columns that exist', async () => {
    const { at, run } = await threeSources();
    const yaml = `destination: { url: "http://127.0.0.1:9" }
sources:
  revenue:
    type: csv
    files: [revenue.csv]
    settle: 0s
    where: { scenario: Actual }
    drivers:
      - id: "{id}"
        path: ["{id}"]
        time: "{date}"
        value: "{value}"
`;
    await at.write('driver-sync.yaml', yaml);
    const { code, json } = await run('check', '--json');
    expect(code).toBe(78);
    expect(json()).toMatchObject({
      ok: false,
      problems: [
        { line: 7, message: expect.stringContaining('"scenario"'), hint: expect.stringContaining('id, time, value') },
        { line: 11, message: expect.stringContaining('"date"'), hint: expect.stringContaining('id, time, value') },
      ],
    });
  });

  test('is 3 where a source cannot be opened, and shows the others; --offline opens none', async () => {
    const { at, run } = await threeSources();
    await at.remove('costs.csv');
    const { code, json, stdout } = await run('check', '--json');
    expect(code).toBe(3);
    expect(json()).toMatchObject({
      ok: false,
      problems: [],
      sources: [{ name: 'revenue' }, { name: 'costs', readings: [] }, { name: 'staff' }],
    });
    expect(stdout).toContain('costs.csv');
    expect((await run('check')).stdout).toMatch(/source costs\n.*costs\.csv/);

    const offline = await run('check', '--offline', '--json');
    expect(offline.code).toBe(0);
    expect(offline.json()).toMatchObject({ ok: true, problems: [] });
  });

  test('is 78 where the config has a problem and a source cannot be opened', async () => {
    const { at, run, configure } = await threeSources();
    await at.remove('costs.csv');
    const drivers = [{ path: ['{name}'], time: '{time}', value: '{value}' }];
    await configure({ revenue: csv('revenue.csv', { drivers }), costs: csv('costs.csv') });
    expect((await run('check', '--json')).code).toBe(78);
  });

  test('warns of two entries that make one driver of one row and time, where only one can count', async () => {
    const { at, run, configure } = await threeSources();
    const entry = (value: string, collapse: string) => ({ path: [collapse, '{k}'], time: '{t}', value, collapse });
    const drivers = ['last', 'sum'].flatMap((rule) => ['{net}', '{gross}'].map((value) => entry(value, rule)));
    await configure({ books: { ...csv('books.csv'), drivers } });
    await at.write('books.csv', 'k,t,net,gross\nN,2026-01-31,100,119\n');
    const { stdout } = await run('check');
    expect(stdout).toMatch(/"last\/N" is made twice of one row and time, by drivers\[0\] and drivers\[1\]/);
    expect(stdout).not.toMatch(/"sum\/N" is made twice/);
  });

  test('asks whether a text was meant that is also a column, and says who else can change the config', async () => {
    const { at, run, configure } = await threeSources();
    const drivers = [{ id: '{k}', path: ['Books', 'k'], time: '{t}', value: '{net}' }];
    await configure({ books: { ...csv('books.csv'), drivers } });
    await at.write('books.csv', 'k,t,net\nN,2026-01-31,100\n');
    await chmod(path.join(at.dir, 'driver-sync.yaml'), 0o646);
    const { code, stdout, json } = await run('check', '--json');
    expect(code).toBe(0);
    expect(json()).toMatchObject({
      ok: true,
      warnings: [expect.stringContaining('can change')],
      sources: [{ warnings: [expect.stringContaining('drivers[0].path[1] is the text "k"')] }],
    });
    expect(stdout).toContain('write \\"{k}\\"');
    expect((await run('check')).stdout).toMatch(/^note: every user of this machine can change .*driver-sync.yaml/);
  });

  test('reads a number of JSON as it is, whatever marks are declared for texts', async () => {
    const { at, run, configure } = await threeSources();
    const drivers = [{ path: ['{k}'], time: '{t}', value: { from: '{rate}', decimal: ',', group: '.' } }];
    await configure({ rates: { type: 'jsonl', files: ['rates.jsonl'], settle: '0s', drivers } });
    await at.write(
      'rates.jsonl',
      '{"k":"USD","t":"2026-01-31","rate":1.085}\n{"k":"GBP","t":"2026-01-31","rate":162}\n',
    );
    const { stdout } = await run('check');
    expect(stdout).toMatch(/USD .*2026-01 +1\.085\n/);
    expect(stdout).not.toContain('note:');
  });

  test('shows control characters of data as escapes: none moves the lines of a terminal', async () => {
    const { at, run, configure } = await threeSources();
    const drivers = [{ path: ['{k}'], time: '{t}', value: '{v}' }];
    await configure({ odd: { type: 'jsonl', files: ['odd.jsonl'], settle: '0s', drivers } });
    const key = 'D\u001b[1A\u001b[2K\u0007\u202e';
    await at.write('odd.jsonl', `${JSON.stringify({ k: key, t: '2026-01-31', v: 1 })}\n`);
    const { stdout } = await run('check');
    expect(stdout).toContain('D\\u001b[1A\\u001b[2K\\u0007\\u202e');
    expect(stdout).not.toMatch(/[\p{Cc}--\n]|\u202e/v);
  });

  test.each([
    ['id,time,value', 'skipUntil: "^id" leaves out what stands above it'],
    ['"(id)",id,time,value', 'skipUntil or skipRows leaves out what stands above it'],
  ])('says which row has the names that a title stands above: %s', async (header, hint) => {
    const title = `Report of January${','.repeat(header.split(',').length - 1)}`;
    const { run } = await commandsWorld({ a: csv('a.csv') }, { 'a.csv': `${title}\n\n${header}\n1,2026-01,5\n` });
    const done = await run('check');
    expect(done.code).toBe(78);
    expect(done.stdout).toContain(`note: row 1 of a.csv has all these names: where it is the header, ${hint}`);
  });

  test('says how many readings it does not show', async () => {
    const rows = Array.from({ length: 12 }, (_, at) => `A,2026-${String(at + 1).padStart(2, '0')},1\n`).join('');
    const { run } = await commandsWorld({ a: csv('a.csv') }, { 'a.csv': `id,time,value\n${rows}` });
    expect((await run('check')).stdout).toContain('  and 2 more readings\n');
  });

  test('warns of a delimiter inside a header of one column', async () => {
    const { at, run } = await threeSources();
    await at.write('revenue.csv', 'id;time;value\nA;2026-01;1\n');
    expect((await run('check')).stdout).toMatch(/revenue\.csv.*";".*delimiter/);
  });

  test.each(['taken', 'taken/state'])(
    'says that nobody can use a state directory where a file stands: %s',
    async (state) => {
      const { at, run, configure } = await threeSources();
      await at.write('taken', '');
      await configure({ revenue: csv('revenue.csv') }, { state });
      const { code, stdout, stderr } = await run('check');
      expect(code).toBe(78);
      expect(stdout).toMatch(/the state directory .*taken.* cannot be used \(ENOTDIR\)/);
      expect(stdout).toContain('1 problem in the config');
      expect(stderr).not.toContain('chmod');
    },
  );

  test('warns of several currencies in one column, unless the path says which', async () => {
    const { at, run, configure } = await threeSources();
    const value = { from: '{value}', accounting: true };
    await at.write('mixed.csv', 'id,time,value\nA,2026-01,USD 5\nA,2026-02,EUR 6\nA,2026-03,7\n');
    await configure({
      mixed: { type: 'csv', files: ['mixed.csv'], settle: '0s', drivers: [{ path: ['{id}'], time: '{time}', value }] },
    });
    expect((await run('check')).stdout).toContain(
      '{value} has numbers of several currencies, "USD", "EUR", which count as if they were of one',
    );
    const named = ['{id}', '{value|match:[A-Z]+|default:EUR}'];
    await configure({
      mixed: { type: 'csv', files: ['mixed.csv'], settle: '0s', drivers: [{ path: named, time: '{time}', value }] },
    });
    expect((await run('check')).stdout).not.toContain('several currencies');
  });

  test('warns of numbers that a spreadsheet has rounded', async () => {
    const { at, run, configure } = await threeSources();
    await configure({ revenue: csv('revenue.csv') });
    const rows = (value: string): string => `id,time,value\nA,2026-01,${value}\nA,2026-02,2\n`;
    await at.write('revenue.csv', rows('1.23457E+11'));
    const said = '{value} has 1 number of six digits and an exponent, as in 1.23457E+11, as Excel saves long numbers';
    expect((await run('check')).stdout).toContain(said);
    for (const exact of ['1.2E+11', '1.2345678E+11', '123456789012', '1.23457E-11', '1.23457E+05']) {
      await at.write('revenue.csv', rows(exact));
      expect((await run('check')).stdout).not.toContain('exponent');
    }
    await at.write('revenue.csv', 'id,time,value\nK-1.23457E+11,2026-01,5\n');
    expect((await run('check')).stdout).toContain('the id K-1.23457E+11 has six digits and an exponent');
  });

  test('warns of a column whose every mark is followed by three digits, and of no other', async () => {
    const { at, run, configure } = await threeSources();
    await configure({ revenue: csv('revenue.csv') });
    const rows = (values: readonly string[]): string =>
      `id,time,value\n${values.map((value, index) => `A,2026-0${index + 1},"${value}"\n`).join('')}`;
    await at.write('revenue.csv', rows(['1.234', '12.345', '999', '7.000']));
    expect((await run('check')).stdout).toMatch(/three digits/);
    await at.write('revenue.csv', rows(['1.234', '12.345']));
    expect((await run('check')).stdout).toMatch(/three digits/);
    await at.write('revenue.csv', rows(['1.234', '12.345', '999', '7.00']));
    expect((await run('check')).stdout).not.toMatch(/three digits/);
  });

  const silent = /^(?![^]*note:)/;

  test.each<[string, unknown, readonly string[], RegExp]>([
    [
      'days below 13 alone',
      'MM/dd/yyyy',
      ['03/04/2026', '05/05/2026'],
      /every date of \{time\} that fits MM\/dd\/yyyy fits dd\/MM\/yyyy too: 03\/04\/2026 is read as 2026-03 and would be 2026-04/,
    ],
    ['days that are their months', 'MM/dd/yyyy', ['04/04/2026', '05/05/2026'], silent],
    ['a day above 12', 'MM/dd/yyyy', ['03/04/2026', '03/14/2026'], silent],
    ['no pair of numbers', 'dd MMM yyyy', ['03 Apr 2026'], silent],
    [
      'a second format for the days above 12',
      ['MM/dd/yyyy', 'dd/MM/yyyy'],
      ['03/04/2026', '14/03/2026'],
      /03\/04\/2026 is read as 2026-03 by MM\/dd\/yyyy and would be 2026-04 by dd\/MM\/yyyy/,
    ],
    [
      'days above 12 in both of two formats',
      ['dd/MM/yyyy', 'MM/dd/yyyy'],
      ['03/04/2026', '14/03/2026', '04/25/2026'],
      /03\/04\/2026 is read as 2026-04 by dd\/MM\/yyyy and would be 2026-03 by MM\/dd\/yyyy/,
    ],
    ['two formats, each with its own dates', ['dd/MM/yyyy', 'MM/dd/yyyy'], ['14/03/2026', '04/25/2026'], silent],
    ['years of two digits at either end', ['dd.MM.yy', 'yy.MM.dd'], ['05.06.07'], /2007-06 by dd.MM.yy/],
  ])('warns of dates that can be taken for others: %s', async (_what, format, dates, said) => {
    const { at, run, configure } = await threeSources();
    const drivers = [{ path: ['{id}'], time: { from: '{time}', format }, value: '{value}' }];
    await configure({ books: csv('books.csv', { drivers }) });
    await at.write('books.csv', `id,time,value\n${dates.map((date) => `A,${date},1\n`).join('')}`);
    const { code, stdout } = await run('check');
    expect(code).toBe(0);
    expect(stdout).toMatch(said);
  });

  test.each<[string, unknown, object, RegExp]>([
    ['none is declared', '{time}', {}, /FY26 P1 is read as 2026-01, since the source has no fiscalYear/],
    ['one that starts in January is', '{time}', { fiscalYear: { startsIn: 'January' } }, silent],
    ['the entry writes the FY itself', 'FY{value} P1', {}, silent],
  ])('warns of fiscal years that are read as calendar years: %s', async (_what, from, keys, said) => {
    const { at, run, configure } = await threeSources();
    const drivers = [{ path: ['{id}'], time: { from, format: 'fiscal-period' }, value: '{value}' }];
    await configure({ books: { ...csv('books.csv', { drivers }), ...keys } });
    await at.write('books.csv', 'id,time,value\nA,FY26 P1,26\n');
    const { code, stdout } = await run('check');
    expect(code).toBe(0);
    expect(stdout).toMatch(said);
  });

  test('shows no secret, even one that does not fit', async () => {
    const { at, run } = await threeSources();
    const secret = 'hunter2hunter2';
    await at.write(
      'driver-sync.yaml',
      `destination:\n  url: http://x:${secret}@127.0.0.1:9\n  token: "${secret}\\n"\n  headers: { "bad header": ${secret} }\nsources: {}\n`,
    );
    for (const args of [['check'], ['check', '--json'], ['sync'], ['sync', '--json'], ['status', '--json']]) {
      const { stdout, stderr } = await run(...args);
      expect(stdout + stderr).not.toContain(secret);
    }
  });
});

test('a secret that stands in the config itself is warned of, and not shown', async () => {
  const { run } = await threeSources({ heartbeat: 'http://127.0.0.1:1/canary0123456789abcdef' });
  const { code, stdout } = await run('check', '--offline');
  expect(code).toBe(0);
  expect(stdout).toContain('take it from the environment: heartbeat: ${NAME}');
  expect(stdout).not.toContain('canary');
});

test('a column that is not there is shown with the file that lacks it, and how many others have it', async () => {
  const own = { ...csv('a.csv'), files: ['*.csv'] };
  const rows = 'Rent,2026-01,1\n';
  const files = { 'a.csv': `id,time,value\n${rows}`, 'b.csv': `name,time,value\n${rows}` };
  const problems = async (more: Record<string, string>): Promise<string[]> => {
    const { run, at } = await commandsWorld({ costs: own }, { ...files, ...more });
    const done = await run('check');
    expect(done.code).toBe(78);
    const lines = done.stdout.split('\n').filter((line) => line.startsWith(at.dir));
    return [...new Set(lines.map((line) => line.replace(/^.*driver-sync\.yaml:\d+:\d+ /, '')))];
  };
  expect(await problems({ 'c.csv': `id,time,value\n${rows}` })).toEqual([
    'b.csv: there is no column "id" (the columns are name, time, value; 2 other parts have it)',
  ]);
  expect(await problems({ 'c.csv': `name,time,value\n${rows}`, 'd.csv': `key,time,value\n${rows}` })).toEqual([
    'b.csv and 1 more: there is no column "id" (the columns are name, time, value; 1 other part has it)',
    'd.csv: there is no column "id" (the columns are key, time, value; 1 other part has it)',
  ]);
});

test.each([
  [
    'windows-1252',
    'M\u0081ller',
    /note: the name "M\\u0081ller" has the control character U\+0081: .* encoding: cp850/,
  ],
  ['utf-8', 'M\u0081ller', /note: the name "M\\u0081ller" .* before it came into this source/],
  ['windows-1252', 'M\u00fcller', /^(?!.*control character)/s],
])('control characters in names are of another encoding than was declared: %s', async (encoding, name, said) => {
  const { at, run } = await commandsWorld({ costs: { ...csv('costs.csv'), encoding } }, {});
  const text = `id,time,value\n${name},2026-01,1\n`;
  await writeFile(path.join(at.dir, 'costs.csv'), Buffer.from(text, encoding === 'utf-8' ? 'utf8' : 'latin1'));
  const { code, stdout } = await run('check');
  expect(code).toBe(0);
  expect(stdout).toMatch(said);
});
