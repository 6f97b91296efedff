/** `explain` by path, and the readings behind a point: read again, with their rows and lines. */
import { writeFile } from 'node:fs/promises';
import { describe, expect, test } from 'vitest';
import { shapes } from '../support/command-line.ts';
import { type CommandsWorld, commandsWorld } from '../support/commands-world.ts';
import { csv } from '../support/process.ts';
import { workbook } from '../support/workbooks.ts';

interface Listed {
  readonly driver: string;
  readonly points: readonly {
    readonly value: string;
    readonly parts: readonly { readonly part: string; readonly state: string; readonly accepted: number }[];
    readonly readings: readonly { readonly part: string; readonly row: number; readonly line: number }[];
  }[];
}

const drivers = [
  { id: 'sum-{id}', path: ['Sales', '{id}'], time: '{time}', value: '{value}', collapse: 'sum' },
  { id: 'last-{id}', path: ['Last', '{id}'], time: '{time}', value: '{value}' },
];

const files = {
  'a.csv': 'Export\n\nid,time,value\nN,2026-01-05,1\nS,2026-01-05,9\n\nN,2026-01-20, 2\nN,2026-02-01,4\n',
  'b.csv': 'Export\nid,time,value\nN,2026-01-07,8\n',
};

async function booked(more: object = {}): Promise<CommandsWorld> {
  const commands = await commandsWorld({ revenue: csv('*.csv', { drivers, skipUntil: '^id', ...more }) }, files);
  expect((await commands.run('sync')).code).toBe(0);
  return commands;
}

const readings = [
  { part: 'a.csv', row: 1, line: 4, time: '2026-01-05', value: '1', text: '1' },
  { part: 'a.csv', row: 3, line: 7, time: '2026-01-20', value: '2', text: ' 2' },
  { part: 'b.csv', row: 1, line: 3, time: '2026-01-07', value: '8', text: '8' },
];

describe('--rows', () => {
  test('lists every reading behind a sum with its row and the line of the file', async () => {
    const { run, json } = await booked();
    expect(await json('explain', 'sum-N', '2026-01', '--rows')).toMatchObject({
      driver: 'sum-N',
      points: [
        {
          value: '11',
          superseded: 2,
          readings,
          parts: [
            { part: 'a.csv', state: 'unchanged', accepted: 2, found: 2 },
            { part: 'b.csv', state: 'unchanged', accepted: 1, found: 1 },
          ],
        },
      ],
    });
    const { code, stdout } = await run('explain', 'sum-N', '2026-01', '--rows');
    expect(code).toBe(0);
    expect(stdout).toContain('2026-01: 11, the sum of 3 readings');
    expect(stdout).toMatch(/a\.csv +3 +7 +2026-01-20 +2 +" 2"/);
    expect(stdout).toContain('counted from 1 below the header');
    expect(stdout).not.toContain('changed');
  });

  test('marks the reading that counts where only one does', async () => {
    const { run } = await booked();
    const { stdout } = await run('explain', 'last-N', '2026-01', '--rows');
    expect(stdout.match(/^\*.*/gm)).toEqual([expect.stringMatching(/a\.csv +3 +7 /)]);
  });

  test('says which parts have changed since, are gone or cannot be read, and lists the others', async () => {
    const { at, run, json } = await booked();
    await at.write('a.csv', files['a.csv'].replace(' 2', '20'));
    await at.remove('b.csv');
    const [point] = (await json<Listed>('explain', 'sum-N', '2026-01', '--rows')).points;
    expect(point).toMatchObject({
      value: '11',
      readings: [
        { row: 1, value: '1' },
        { row: 3, value: '20' },
      ],
      parts: [
        { state: 'changed', found: 2 },
        { state: 'gone', accepted: 1, found: 0 },
      ],
    });
    const { stdout } = await run('explain', 'sum-N', '2026-01', '--rows');
    expect(stdout).toContain('a.csv has changed since it was accepted');
    expect(stdout).toContain('b.csv is not there any more; 1 reading of this point was accepted from it');

    await at.write('a.csv', 'id\n');
    expect(await json<Listed>('explain', 'sum-N', '2026-01', '--rows')).toMatchObject({
      points: [{ readings: [], parts: [{ state: 'unreadable', reason: expect.stringContaining('a.csv') }, {}] }],
    });
    await at.remove('a.csv');
    expect((await run('explain', 'sum-N', '2026-01', '--rows')).code).toBe(0);
  });

  test('looks into all parts after a rollback, since a snapshot does not say which of them added what to a sum', async () => {
    const { at, run, json } = await booked();
    await at.write('b.csv', 'Export\nid,time,value\nN,2026-01-07,7\n');
    expect((await run('sync')).code).toBe(0);
    expect((await run('rollback', '1')).code).toBe(0);
    await at.write('b.csv', files['b.csv']);
    await at.write('c.csv', 'Export\nid,time,value\nS,2026-01-07,8\n');
    expect(await json('explain', 'sum-N', '2026-01', '--rows')).toMatchObject({
      points: [
        {
          value: '11',
          readings,
          parts: [
            { part: 'a.csv', state: 'unknown', accepted: null, found: 2 },
            { part: 'b.csv', state: 'unknown', accepted: null, found: 1 },
          ],
        },
      ],
    });
    await at.write('b.csv', 'Export\nid,time,value\n');
    const { stdout } = await run('explain', 'sum-N', '2026-01', '--rows');
    expect(stdout).toContain('2026-01: 11, the sum of 3 readings');
    expect(stdout).toContain('a.csv may have changed since it was accepted: these are its rows now\n');
    expect(stdout).toContain('3 readings of this point were accepted, and how many of them from each part is not kept');
  });

  test.each([
    ['last', '2'],
    ['first', '3'],
    ['min', '2'],
    ['max', '3'],
  ])('marks the one reading that counts, where a row gives two: %s', async (collapse, value) => {
    const both = ['{value}', '{other}'].map((of) => ({
      id: '{id}',
      path: ['{id}'],
      time: '{time}',
      value: of,
      collapse,
    }));
    const { run } = await commandsWorld(
      { revenue: csv('a.csv', { drivers: both }) },
      { 'a.csv': 'id,time,value,other\nN,2026-01-05,3,2\n' },
    );
    await run('sync');
    const { stdout } = await run('explain', 'N', '2026-01', '--rows');
    expect(stdout).toContain(`2026-01: ${value}, one of 2 readings (*)`);
    const marked = stdout.split('\n').filter((line) => line.startsWith('*'));
    expect(marked).toEqual([expect.stringMatching(new RegExp(`2026-01-05 +${value} +"${value}"$`))]);
  });

  test('lists the rows themselves where the database collapsed them', async () => {
    const values = `('N', DATE '2026-01-05', 1.50), ('N', DATE '2026-01-20', 2.00), ('S', DATE '2026-01-20', 9.00)`;
    const ledger = {
      type: 'duckdb',
      query: `SELECT * FROM (VALUES ${values}) AS booked (id, day, amount) ORDER BY day, id`,
      pushdown: true,
      drivers: [{ path: ['Sales', '{id}'], time: '{day}', value: '{amount}', collapse: 'sum' }],
    };
    const { run, json } = await commandsWorld({ ledger }, {});
    expect(await json('sync')).toMatchObject({ outcome: 'acknowledged' });
    expect(await json('explain', 'Sales/N', '2026-01')).toMatchObject({ points: [{ value: '3.50', row: null }] });
    expect(await json('explain', 'Sales/N', '2026-01', '--rows')).toMatchObject({
      points: [
        {
          value: '3.50',
          readings: [
            { row: 1, time: '2026-01-05', value: '1.50' },
            { row: 2, time: '2026-01-20', value: '2.00' },
          ],
          parts: [{ state: 'unknown', accepted: 2, found: 2 }],
        },
      ],
    });
    expect((await run('explain', 'Sales/N', '2026-01', '--rows')).stdout).toContain('may have changed since');
  });

  test.each([
    ['plain records', '1'],
    ['records with lists in them', '1,"tags":["a"]'],
  ])('has the lines of JSON lines: %s', async (_what, value) => {
    const file = `{"id":"N","time":"2026-01-05","value":${value}}\n\n{"id":"N","time":"2026-01-20","value":2}\n`;
    const { run, json } = await commandsWorld(
      { books: { ...csv('a.jsonl', { drivers }), type: 'jsonl' } },
      { 'a.jsonl': file },
    );
    expect((await run('sync')).code).toBe(0);
    expect(await json('explain', 'sum-N', '2026-01', '--rows')).toMatchObject({
      points: [
        {
          readings: [
            { row: 1, line: 1 },
            { row: 2, line: 3 },
          ],
        },
      ],
    });
    const { stdout } = await run('explain', 'sum-N', '2026-01', '--rows');
    expect(stdout).toMatch(/row +line[^]*a\.jsonl +2 +3 .*; lines are those of the file/s);
  });

  test.each([{}, { sheet: '/Sales/' }])('has the rows of the sheet of a workbook: %j', async (keys) => {
    const { at, run, json } = await commandsWorld(
      { books: { ...csv('a.xlsx', { drivers, ...keys, skipUntil: '^id' }), type: 'xlsx' } },
      {},
    );
    const rows = [
      ['Export'],
      undefined,
      ['id', 'time', 'value'],
      ['N', '2026-01-05', '1'],
      undefined,
      ['N', '2026-01-20', '2'],
    ];
    await writeFile(`${at.dir}/a.xlsx`, workbook({ sheets: [{ name: 'Sales', rows }] }));
    expect((await run('sync')).code).toBe(0);
    expect(await json('explain', 'sum-N', '2026-01', '--rows')).toMatchObject({
      points: [
        {
          readings: [
            { row: 1, sheetRow: 4 },
            { row: 2, sheetRow: 6 },
          ],
        },
      ],
    });
    const { stdout } = await run('explain', 'sum-N', '2026-01', '--rows');
    expect(stdout).toMatch(/row +sheet row[^]*a\.xlsx\S* +2 +6 .*; sheet rows are those of the file/s);
  });

  test('changes nothing that is kept', async () => {
    const { run, json } = await booked();
    await run('explain', 'sum-N', '2026-01', '--rows');
    expect(await json('sync')).toMatchObject({ outcome: 'unchanged', exit: 0 });
  });

  test('needs a month, and a source that the config still has', async () => {
    const { run, configure } = await booked();
    expect((await run('explain', 'sum-N', '--rows', '--json')).json()).toMatchObject(shapes.failure(64));
    await configure({ other: csv('*.csv', { drivers, skipUntil: '^id' }) });
    const { code, json } = await run('explain', 'sum-N', '2026-01', '--rows', '--json');
    expect(code).toBe(64);
    expect(json()).toMatchObject({ error: { message: expect.stringContaining('"revenue" is not in the config') } });
  });
});

describe('a driver is found by its path', () => {
  test('with or without white space between its elements', async () => {
    const { json } = await booked();
    for (const path of ['Sales / N', 'Sales/N', ' Sales /  N ']) {
      expect(await json('explain', path), path).toMatchObject({ driver: 'sum-N', path: ['Sales', 'N'] });
    }
  });

  test('and where several have it their ids are named', async () => {
    const same = drivers.map((entry) => ({ ...entry, path: ['Sales', '{id}'] }));
    const { run } = await booked({ drivers: same });
    const { code, stderr } = await run('explain', 'Sales / N');
    expect(code).toBe(64);
    expect(stderr).toMatch(/2 drivers have the path "Sales \/ N"[^]*last-N, sum-N/);
  });

  test('and one that is nearly right is suggested', async () => {
    const { run } = await booked();
    expect((await run('explain', 'sales')).stderr).toContain('there are sum-N, sum-S');
    expect((await run('explain', 'Slaes/n')).stderr).toContain('there are last-N, sum-N\n');
    expect((await run('explain', 'sum-S ')).stderr).toContain('there are sum-S');
    expect((await run('explain', 'Slaes / M')).stderr).toContain('write its id, or its path');
  });
});

test('the reading of a point that has no other is called its only one', async () => {
  const { run } = await booked();
  expect((await run('explain', 'last-N', '2026-02', '--rows')).stdout).toContain('2026-02: 4, its only reading (*)');
  expect((await run('explain', 'last-N', '2026-01', '--rows')).stdout).toContain('one of 3 readings (*)');
});

test('explain of a sum says that one of several readings is shown, and how to see all', async () => {
  const { run } = await booked();
  const { stdout } = await run('explain', 'sum-N');
  expect(stdout).toMatch(/2026-01 +11 +a\.csv +3 +" 2" +3 +1/);
  expect(stdout).toContain('those of the latest reading of the sum; with a month, --rows lists all of them');
});
