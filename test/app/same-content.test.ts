/** Files of one content in a source that adds up: they count as often as they are there, which is said and not held. */
import { describe, expect, test } from 'vitest';
import { commandsWorld } from '../support/commands-world.ts';
import { csv } from '../support/process.ts';
import { collapsing, judged, longFile, sourceOf, world } from '../support/world.ts';

const march = longFile({ A: { '2026-03': 100 } });
const april = longFile({ A: { '2026-04': 100 } });
const told = 'in/03 (1).csv has the same content as in/03.csv: its rows count twice';
const config = (rule: string) => ({ sources: { sales: collapsing(rule, 'in/*.csv') } });

describe('a copy of a file', () => {
  test.each(['sum', 'average', 'count'])('is told of for as long as it is there: %s', async (rule) => {
    await using w = await world({ config: config(rule), files: { 'in/03.csv': march, 'in/04.csv': april } });
    expect(sourceOf(await w.sync(), 'sales').warnings).toEqual([]);
    await w.write('in/03 (1).csv', march);
    for (const report of [await w.plan(), await w.sync(), await w.sync(), await w.status()]) {
      expect(sourceOf(report, 'sales').warnings).toEqual([told]);
    }
    await w.write('in/03 (1).csv', longFile({ A: { '2026-03': 7 } }));
    expect(sourceOf(await w.sync(), 'sales').warnings).toEqual([]);
  });

  test('changes nothing where one reading counts, and no word is said', async () => {
    await using w = await world({ config: config('last'), files: { 'in/03.csv': march, 'in/03 (1).csv': march } });
    expect(sourceOf(await w.sync(), 'sales').warnings).toEqual([]);
  });

  test('without rows is none', async () => {
    const empty = 'id,time,value\n';
    const files = { 'in/03.csv': march, 'in/04.csv': empty, 'in/05.csv': empty };
    await using w = await world({ config: config('sum'), files });
    expect(sourceOf(await w.sync(), 'sales').warnings).toEqual([]);
  });

  test('of which there are several is told of once', async () => {
    const files = { 'in/03.csv': march, 'in/03 (1).csv': march, 'in/03 (2).csv': march };
    await using w = await world({ config: config('sum'), files });
    const report = await w.sync();
    expect(report).toMatchObject(judged(0, 'sales', { state: 'accepted' }));
    expect(sourceOf(report, 'sales').warnings).toEqual([
      'in/03 (1).csv and 1 more have the same content as in/03.csv: its rows count 3 times',
    ]);
  });
});

test('a file that goes while its copy stays is carried beside it, which is told until it is forgotten', async () => {
  await using w = await world({ config: config('sum'), files: { 'in/03.csv': march, 'in/04.csv': april } });
  await w.sync();
  await w.write('in/03 (1).csv', march);
  await w.sync();
  await w.remove('in/03.csv');
  expect(await w.sync()).toMatchObject({ exit: 3 });
  const report = await w.sync();
  expect(report).toMatchObject({ exit: 0, outcome: 'unchanged' });
  expect(sourceOf(report, 'sales').warnings).toEqual([
    'in/03.csv is gone and carried, and in/03 (1).csv has its content: its rows count twice; "driver-sync forget sales in/03.csv" drops what is carried',
  ]);
  await w.forget('sales', 'in/03.csv');
  expect(await w.sync()).toMatchObject(judged(0, 'sales', { carried: [], warnings: [] }));
  expect(w.points()).toMatchObject({ A: { '2026-03': '100', '2026-04': '100' } });
});

test('check says it before the first pass', async () => {
  const drivers = [{ id: '{id}', path: ['{id}'], time: '{time}', value: '{value}', collapse: 'sum' }];
  const { run } = await commandsWorld(
    { sales: csv('in/*.csv', { drivers }) },
    { 'in/03.csv': march, 'in/03 (1).csv': march },
  );
  const { code, stdout } = await run('check');
  expect(code).toBe(0);
  expect(stdout).toContain(`  note: ${told}\n`);
});
