/** `tests:` of a source: rows in, readings out, run by `check`. */
import { expect, test } from 'vitest';
import { type CommandsWorld, commandsWorld } from '../support/commands-world.ts';
import { csv } from '../support/process.ts';

const good = {
  rows: [
    { id: 'Rent', time: '2026-03-01', value: '7.50' },
    { id: 'Rent', time: 'soon', value: '1' },
  ],
  readings: [{ driver: 'Rent', month: '2026-03', value: '7.50', path: ['Rent'] }],
  rejects: 1,
};

function withTests(...tests: readonly object[]): Promise<CommandsWorld> {
  return commandsWorld({ costs: { ...csv('costs.csv'), tests } }, { 'costs.csv': 'id,time,value\nRent,2026-01,1\n' });
}

interface Checked {
  readonly ok: boolean;
  readonly problems: readonly { path: string; message: string; hint: string; line: number }[];
}

async function problemsOf(...tests: readonly object[]): Promise<string[]> {
  const { run } = await withTests(...tests);
  const done = await run('check', '--offline', '--json');
  expect(done.code).toBe(78);
  return done.json<Checked>().problems.map(({ path, message, hint }) => `${path}: ${message} (${hint})`);
}

test('tests that hold are no news', async () => {
  const { run } = await withTests(good);
  expect((await run('check', '--json')).json<Checked>()).toMatchObject({ ok: true, problems: [] });
});

test('a missing reading is shown where it is expected, with the readings that came instead', async () => {
  const wrong = { ...good, readings: [{ driver: 'Rent', month: '2026-03', value: '7.5' }] };
  expect(await problemsOf(good, wrong)).toEqual([
    'sources.costs.tests[1].readings[0]: the rows do not give Rent 2026-03 7.5 (the rows also give Rent 2026-03 7.50 (Rent))',
  ]);
});

test('so are readings that nobody expects, and rejects', async () => {
  expect(await problemsOf({ ...good, readings: [], rejects: 0 })).toEqual([
    'sources.costs.tests[0].readings: the rows also give Rent 2026-03 7.50 (Rent) (list every reading, or leave the row out)',
    'sources.costs.tests[0].rejects: 1 of the rows are rejected, expected 0 (row 2: time "soon" cannot be read: not an ISO 8601 date; say format: with date-fns tokens such as dd.MM.yyyy or MMMM yyyy)',
  ]);
});

test('a column of a row is found by its place, also behind one whose name is a number', async () => {
  // An object would have the number first.
  const row = new Map([
    ['id', 'Rent'],
    ['2026', '7'],
  ]);
  const tests = [{ rows: [row], readings: [{ driver: 'Rent', month: '2026-03', value: '7' }] }];
  const drivers = [{ path: ['{#1}'], time: '2026-03', value: '{#2}' }];
  const { run } = await commandsWorld({ costs: { ...csv('costs.csv'), drivers, tests } }, {});
  expect((await run('check', '--offline', '--json')).json<Checked>()).toMatchObject({ ok: true, problems: [] });
});

test('a reading of a count is 1, as check shows it and as it is pushed', async () => {
  const tests = [{ rows: good.rows, readings: [{ driver: 'Rent', month: '2026-03', value: '1' }], rejects: 1 }];
  const drivers = [{ path: ['{id}'], time: '{time}', value: '{value}', collapse: 'count' }];
  const { run } = await commandsWorld(
    { costs: { ...csv('costs.csv'), drivers, tests } },
    { 'costs.csv': 'id,time,value\nRent,2026-03,7.50\n' },
  );
  expect((await run('check', '--json')).json<Checked>()).toMatchObject({
    ok: true,
    problems: [],
    sources: [{ readings: [{ driver: 'Rent', month: '2026-03', value: '1' }] }],
  });
});

test('rows need the columns that the source needs', async () => {
  expect(await problemsOf({ rows: [{ id: 'Rent', value: '1' }], readings: [] })).toEqual([
    'sources.costs.tests[0].rows: there is no column "time" (the columns are id, value)',
  ]);
});
