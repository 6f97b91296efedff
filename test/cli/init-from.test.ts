/** `init --from`: from files that nobody has described to a config that `check` accepts. */
import { execFileSync } from 'node:child_process';
import { mkdtempSync, readFileSync, readdirSync } from 'node:fs';
import { chmod, mkdir, readFile, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { gzipSync } from 'node:zlib';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { parse } from 'yaml';
import { asAnybody } from '../support/anybody.ts';
import { type Ran, commandLine } from '../support/command-line.ts';
import { workbook } from '../support/workbooks.ts';

interface Answer {
  readonly ok: boolean;
  readonly config: string;
  readonly text: string;
  readonly problems: readonly object[];
  readonly sources: readonly {
    readonly name: string;
    readonly undecided: readonly string[];
    readonly readings: readonly { driver: string; month: string; value: string }[];
    readonly rejects: readonly object[];
    readonly refusals: readonly object[];
  }[];
  readonly without: readonly { name: string; why: string }[];
}

/** Written before the first test: a file is read once it was quiet for two seconds, and so they wait for that together. */
const written: { readonly dir: string; readonly files: Readonly<Record<string, string | Uint8Array>> }[] = [];
const root = mkdtempSync(path.join(tmpdir(), 'driver-sync-propose-'));

beforeAll(async () => {
  for (const { dir, files } of written) {
    await mkdir(dir, { recursive: true });
    for (const [name, content] of Object.entries(files)) await writeFile(path.join(dir, name), content);
  }
});
afterAll(() => rm(root, { recursive: true }));

function folder(files: Readonly<Record<string, string | Uint8Array>>): string {
  const dir = path.join(root, String(written.length));
  written.push({ dir, files });
  return dir;
}

function filesIn(place: string): Readonly<Record<string, Uint8Array>> {
  return Object.fromEntries(readdirSync(place).map((name) => [name, readFileSync(path.join(place, name))]));
}

const long = 'month,city,amount\n2024-01,Bonn,1.50\n2024-02,Bonn,2.50\n2024-02,Kiel,3\n';

const sample = folder(filesIn(path.join(import.meta.dirname, '../../config/sample')));

test('the sample of the package: every file becomes a source that sync would accept', async () => {
  const done = await commandLine('init', sample, '--json', '--from', path.join(sample, '*.csv'));
  const { ok, sources, without, text } = done.json<Answer>();
  expect({ code: done.code, ok, without }).toEqual({ code: 0, ok: true, without: [] });
  expect(sources.map(({ name }) => name)).toEqual(['costs-by-month', 'orders', 'salden', 'subscriptions']);
  expect(sources.flatMap(({ rejects, refusals }) => [...rejects, ...refusals])).toEqual([]);
  expect(sources[1]?.readings[0]).toMatchObject({
    month: '2024-01',
    driver: expect.stringContaining('Espresso beans'),
  });
  expect(sources[2]?.readings[0]).toEqual({
    driver: 'salden/1200',
    path: ['Salden', 'Bank'],
    month: '2024-01',
    value: '95091.33',
  });
  expect(text).toContain('orders-*.csv');
  await expect(readFile(path.join(sample, 'driver-sync.yaml'), 'utf8')).resolves.toBe(text);
});

const rows = [
  ['month', 'city', 'amount'],
  ['2024-01', 'Bonn', '1.5'],
  ['2024-02', 'Bonn', '2.5'],
  ['2024-02', 'Kiel', '3'],
];
const records = rows.slice(1).map(([month, city, amount]) => ({ month, city, amount: Number(amount) }));
const kinds = folder({
  'book.xlsx': workbook({
    sheets: [
      { name: 'Notes', rows: [['nothing']] },
      { name: 'Data', rows: [['A title'], ...rows] },
    ],
  }),
  'list.json': JSON.stringify(records),
  'answer.json': JSON.stringify({ meta: { count: 3 }, result: { rows: records } }),
  'lines.jsonl': `${records.map((record) => JSON.stringify(record)).join('\n')}\n`,
  'packed.csv.gz': gzipSync(long),
  'report.txt': [
    'month    city     amount',
    '-------- ------- -------',
    '2024-01  Bonn       1.50',
    '2024-02  Bonn       2.50-',
    '2024-02  Kiel       3.00',
    'Total               2.00',
    '',
  ].join('\n'),
});

test('workbooks, JSON, JSON lines, compressed files and printed reports', async () => {
  const names = ['book.xlsx', 'list.json', 'answer.json', 'lines.jsonl', 'packed.csv.gz', 'report.txt'];
  const done = await commandLine('init', kinds, '--json', '--from', ...names.map((name) => path.join(kinds, name)));
  const { sources, text } = done.json<Answer>();
  expect(done.code, text).toBe(0);
  expect(sources.map(({ name, readings }) => [name, readings.length])).toEqual([
    ['book', 3],
    ['list', 3],
    ['answer', 3],
    ['lines', 3],
    ['packed', 3],
    ['report', 3],
  ]);
  expect(sources.at(-1)?.readings.map(({ value }) => value)).toEqual(['1.50', '-2.50', '3.00']);
  expect(text).toContain('sheet: Data');
  expect(text).toContain('items: result.rows');
});

const mixed = folder({
  'a.csv': long,
  'b.pdf': '%PDF-1.7',
  'e.zip': 'PK\u0003\u0004',
  'c.csv': 'city,amount\nBonn,1.5\n',
});

test('what could not be read is told, and the rest is proposed', async () => {
  const files = ['a.csv', 'b.pdf', 'c.csv', 'd.csv', 'e.zip'].map((name) => path.join(mixed, name));
  const done = await commandLine('init', mixed, '--from', ...files);
  expect(done.code).toBe(3);
  expect(done.stdout).toContain('A/Bonn');
  expect(done.stdout).toContain('a PDF document (a PDF holds no rows: export the data itself)');
  expect(done.stdout).toContain('no source for c.csv: no column names a date, a month or a year');
  expect(done.stdout).toContain('e.zip is an archive of files (unpack it to have a config proposed');
  expect(done.stdout).toMatch(/no source for .*d\.csv: it does not exist/);
  expect(done.stdout).toContain('next: driver-sync check --config ');
});

test.each([[], ['--from', path.join(mixed, 'a.csv')]])(
  'the command that comes next can be copied into a shell, whatever the directory is called',
  async (...from) => {
    const to = folder({});
    const config = path.join(to, "Plan & Ist '26", 'driver-sync.yaml');
    const { stdout } = await commandLine('init', path.dirname(config), ...from);
    const [, next = ''] = /^next: driver-sync (check .*), then driver-sync run/m.exec(stdout) ?? [];
    const words = execFileSync('sh', ['-c', `printf '%s\\n' ${next}`], { encoding: 'utf8' });
    const [command, option, file = '', ...others] = words.split('\n');
    expect([command, option, path.resolve(file), others]).toEqual(['check', '--config', config, ['']]);
  },
);

const many = Array.from({ length: 40 }, (_, index) => `2024-0${(index % 9) + 1},C${index % 4},${index}.5\n`).join('');
const noted = folder({
  'a.csv': `month,city,amount\n${many}2024-01,C1,12.5 (see note 4)\n2024-01,C2,3.5 (see note 5)\n`,
});

test('what sync would not accept yet is said, and the config is there to be corrected', async () => {
  const done = await commandLine('init', noted, '--from', path.join(noted, 'a.csv'));
  expect(done.code).toBe(4);
  expect(done.stdout).toContain(
    'look at this: "{amount}": "12.5 (see note 4)", "3.5 (see note 5)" cannot be read and will be rejects',
  );
  expect(done.stdout).toContain('sync would not accept it yet');
  await expect(stat(path.join(noted, 'driver-sync.yaml'))).resolves.toBeDefined();
});

const nested = folder({ 'a.csv': long });
written.push({ dir: path.join(nested, 'cities'), files: { 'bonn.csv': long } });
written.push({ dir: path.join(nested, 'letters'), files: { 'notes.md': '# notes' } });

test('a folder with tables within the folder is not looked into, and that is said until it is named', async () => {
  const one = await commandLine('init', path.join(nested, 'one'), '--from', nested);
  expect(one).toMatchObject({ code: 0, stderr: '' });
  expect(one.stdout).toContain('not looked into: the folder ../cities (name it behind --from, too)');
  expect(one.stdout).not.toContain('letters');
  const into = path.join(nested, 'two');
  const both = await commandLine('init', into, '--json', '--from', nested, path.join(nested, 'cities'));
  expect(both.json()).toMatchObject({ within: [], without: [], text: expect.stringContaining('cities/bonn.csv') });
});

const outer = folder({ 'notes.md': '# notes' });
written.push({ dir: path.join(outer, 'cities'), files: { 'bonn.csv': long } });

test('a folder that has tables in its folders alone leads to these', async () => {
  const done = await commandLine('init', outer, '--json', '--from', outer);
  expect(done.code).toBe(64);
  expect(done.json()).toMatchObject({
    error: {
      message: expect.stringContaining('no file in it has the name of a table'),
      hint: 'there are tables in cities: name that behind --from',
    },
  });
});

const tables = folder({ 'a.csv': long, 'b.csv': long.replace('amount', 'price'), 'notes.md': '# notes' });

test('a folder stands for the tables in it, and one behind the files is where the config goes', async () => {
  const into = path.join(tables, 'finance');
  const whole = await commandLine('init', into, '--json', '--from', tables);
  expect(whole.json<Answer>().sources.map(({ name }) => name)).toEqual(['a', 'b']);
  const other = path.join(tables, 'other');
  const files = ['a.csv', 'b.csv'].map((name) => path.join(tables, name));
  const behind = await commandLine('init', '--json', '--from', ...files, other);
  expect(behind.json<Answer>()).toMatchObject({ ok: true, config: path.join(other, 'driver-sync.yaml'), without: [] });
  const { files: globs } = parse(behind.json<Answer>().text).sources.a as { files: string[] };
  expect(globs).toEqual(['../a.csv']);
});

const mine = folder({ 'driver-sync.yaml': 'mine', 'a.csv': long });

test('a file cannot take the config', async () => {
  const refused = await commandLine('init', path.join(mine, 'a.csv'), '--json', '--from', path.join(mine, 'a.csv'));
  expect(refused.code).toBe(64);
  expect(refused.json()).toMatchObject({
    error: {
      message: expect.stringContaining('cannot be written'),
      hint: expect.stringContaining('neither a file nor'),
    },
  });
  const within = await commandLine('init', path.join(mine, 'to'), '--from', path.join(mine, 'a.csv', 'b.csv'));
  expect(within).toMatchObject({ code: 64, stderr: expect.stringContaining('it does not exist') });
});

const merged = folder({
  'plan.xlsx': workbook({
    sheets: [
      {
        name: 'Plan',
        rows: [
          ['', 'Actual', '', 'Budget'],
          ['Account', 'Jan 2026', 'Feb 2026', 'Jan 2026', 'Feb 2026'],
          ['Rent', '1', '2', '3', '4'],
          ['Staff', '5', '6', '7', '8'],
        ],
      },
    ],
  }),
});

test('the last group of a header may be merged over columns to the end of the sheet', async () => {
  const done = await commandLine('init', merged, '--json', '--from', path.join(merged, 'plan.xlsx'));
  const { sources, text } = done.json<Answer>();
  expect(text).toContain('headerRows: 2');
  expect(sources[0]?.readings.map(({ driver, month, value }) => `${driver} ${month} ${value}`)).toEqual([
    'Plan/Rent/Actual 2026-01 1',
    'Plan/Rent/Actual 2026-02 2',
    'Plan/Rent/Budget 2026-01 3',
    'Plan/Rent/Budget 2026-02 4',
    'Plan/Staff/Actual 2026-01 5',
    'Plan/Staff/Actual 2026-02 6',
    'Plan/Staff/Budget 2026-01 7',
    'Plan/Staff/Budget 2026-02 8',
  ]);
});

const statement = folder({ 'a.sta': ':20:STARTUMS\r\n:25:10020030/1234567\r\n:28C:5/1\r\n' });

test('of a bank statement the script that reads it is named', async () => {
  const done = await commandLine('init', statement, '--json', '--from', path.join(statement, 'a.sta'));
  expect(done.code).toBe(64);
  expect(done.json()).toMatchObject({ error: { hint: expect.stringContaining('docs/SOURCES.md#programs') } });
});

const empty = folder({ 'a.csv': '' });

test('nothing is written over, and nothing where nothing can be proposed', async () => {
  const refused = await commandLine('init', mine, '--from', path.join(mine, 'a.csv'));
  expect(refused).toMatchObject({ code: 64, stderr: expect.stringContaining('is there already') });
  await expect(readFile(path.join(mine, 'driver-sync.yaml'), 'utf8')).resolves.toBe('mine');
  const nothing = await commandLine('init', empty, '--from', path.join(empty, 'a.csv'));
  expect(nothing).toMatchObject({
    code: 64,
    stderr: expect.stringContaining('no source can be proposed: a.csv is empty'),
  });
  await expect(stat(path.join(empty, 'driver-sync.yaml'))).rejects.toMatchObject({ code: 'ENOENT' });
});

const published = folder({
  // One row a month, two measures, of which the first has no value yet.
  'cpi.csv':
    'Date,Index,Inflation\n1913-01-01,9.8,\n1913-02-01,9.8,0.0\n1913-03-01,9.8,0.0\n1913-04-01,9.7,-1.02\n1913-05-01,9.9,2.06\n',
  // One column that names the drivers.
  'fx.csv':
    'Date,Country,Exchange rate\n1971-01-01,Australia,0.8944\n1971-02-01,Australia,0.8898\n1971-01-01,Sri Lanka,5.9360\n1971-02-01,Sri Lanka,5.9391\n1971-01-01,United Kingdom,0.4157\n',
  // Many days of each month.
  'brent.csv':
    'Date,Price\n1987-05-20,18.63\n1987-05-21,18.45\n1987-05-22,18.55\n1987-05-25,18.6\n1987-06-01,18.65\n1987-06-02,18.68\n',
  // One date, and a column for each measure.
  'employment.csv':
    'month,nonfarm,private,wholesale_trade,construction\n2006-01-01,135450,113603,5840.4,7601\n2006-02-01,135762,113884,5854.8,7664\n2006-03-01,136059,114156,5873.3,7689\n2006-04-01,136227,114308,5886.9,7726\n',
  // A title, a column for each month, seasons behind them; a year that is not over.
  'gistemp.csv': [
    'Land-Ocean: Global Means',
    'Year,Jan,Feb,Mar,Apr,May,Jun,Jul,Aug,Sep,Oct,Nov,Dec,J-D,D-N,DJF,MAM,JJA,SON',
    '1880,-.17,-.24,-.08,-.16,-.09,-.20,-.17,-.10,-.13,-.23,-.21,-.17,-.16,***,***,-.11,-.16,-.19',
    '1881,-.19,-.13,.04,.06,.06,-.18,.01,-.03,-.15,-.21,-.18,-.07,-.08,-.09,-.16,.05,-.07,-.18',
    '1882,.17,.14,.04,-.16,-.14,-.23,-.16,-.07,-.14,-.23,***,***,***,-.09,.08,-.09,-.15,***',
    '',
  ].join('\n'),
});

test('files in the shapes of publishers: each becomes a source that sync would accept', async () => {
  const done = await commandLine('init', published, '--json', '--from', path.join(published, '*.csv'));
  const { ok, sources, without, text } = done.json<Answer>();
  expect({ code: done.code, ok, without }, text).toEqual({ code: 0, ok: true, without: [] });
  expect(sources.flatMap(({ rejects, refusals }) => [...rejects, ...refusals])).toEqual([]);
  const shown = sources.map(({ name, readings }) => [
    name,
    ...readings.slice(0, 3).map(({ driver, month, value }) => `${driver} ${month} ${value}`),
  ]);
  expect(shown).toEqual([
    ['brent', 'Brent/Price 1987-05 18.63', 'Brent/Price 1987-05 18.45', 'Brent/Price 1987-05 18.55'],
    ['cpi', 'Cpi/Index 1913-01 9.8', 'Cpi/Index 1913-02 9.8', 'Cpi/Inflation 1913-02 0.0'],
    [
      'employment',
      'Employment/nonfarm 2006-01 135450',
      'Employment/private 2006-01 113603',
      'Employment/wholesale_trade 2006-01 5840.4',
    ],
    ['fx', 'Fx/Australia 1971-01 0.8944', 'Fx/Australia 1971-02 0.8898', 'Fx/Sri Lanka 1971-01 5.9360'],
    ['gistemp', 'Gistemp 1880-01 -0.17', 'Gistemp 1880-02 -0.24', 'Gistemp 1880-03 -0.08'],
  ]);
  expect(text).toMatch(/collapse: last # up to \d+ readings a month/);
  const { skipRows, missing, unpivot } = parse(text).sources.gistemp as Record<string, unknown>;
  expect({ skipRows, missing, unpivot }).toEqual({
    skipRows: 1,
    missing: ['', '***'],
    unpivot: { columns: '^(Jan|Feb|Mar|Apr|May|Jun|Jul|Aug|Sep|Oct|Nov|Dec)$', name: 'month', value: 'amount' },
  });
});

const guarded = folder({ 'a.csv': long, 'closed.csv': long });
const shut = folder({ 'b.csv': long });

test('what this user may not read, and what no file can be called, is told and not a bug', async () => {
  for (const dir of [root, guarded]) await chmod(dir, 0o777);
  await chmod(path.join(guarded, 'closed.csv'), 0);
  await chmod(shut, 0);
  const names = [path.join(shut, 'b.csv'), shut, path.join(guarded, 'closed.csv'), path.join(guarded, 'x'.repeat(300))];
  const ask = (...args: readonly string[]): Promise<Ran> => asAnybody(() => commandLine('init', ...args));
  const done = await ask(guarded, '--json', '--from', path.join(guarded, 'a.csv'), ...names);
  const { without, sources } = done.json<Answer>();
  expect(done.code).toBe(3);
  expect(sources.map(({ name }) => name)).toEqual(['a']);
  expect(without.map(({ why }) => why)).toEqual([
    'it cannot be read (EACCES)',
    'it cannot be read (EACCES)',
    expect.stringContaining('has no permission to read it'),
    'it cannot be read (ENAMETOOLONG)',
  ]);
  const there = await ask(shut, '--from', path.join(guarded, 'a.csv'));
  expect(there).toMatchObject({ code: 64, stderr: expect.stringContaining('cannot be written (EACCES)') });
  await chmod(shut, 0o755);
});

test('a file that is not there is said with the folder where relative paths begin', async () => {
  const done = await commandLine('init', root, '--from', 'no/such.csv');
  expect(done).toMatchObject({
    code: 64,
    stderr: expect.stringMatching(/no\/such\.csv: it does not exist\n  relative paths begin in \//),
  });
});
