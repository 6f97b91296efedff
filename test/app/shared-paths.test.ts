/** Two ids with one path, in two sources: a warning of the later one, and nothing is held. */
import { describe, expect, test } from 'vitest';
import { commandsWorld } from '../support/commands-world.ts';
import { csv } from '../support/process.ts';
import { type TestWorld, longFile, longSource, sourceOf, world } from '../support/world.ts';

const named = (id: string): object[] => [{ id, path: ['Sales', '{id}'], time: '{time}', value: '{value}' }];
const sources = {
  north: longSource('north.csv', { drivers: named('n/{id}') }),
  south: longSource('south.csv', { drivers: named('s/{id}') }),
};
const file = (...ids: readonly string[]): string =>
  longFile(Object.fromEntries(ids.map((id) => [id, { '2026-01': 1 }])));
const told = 'drivers "n/B" of source "north" and "s/B" of this one have one path, ["Sales","B"]';

async function both(): Promise<TestWorld> {
  return await world({ config: { sources }, files: { 'north.csv': file('A', 'B'), 'south.csv': file('B', 'C') } });
}

test('plan and sync say it of the later source, and so do passes that change nothing', async () => {
  await using w = await both();
  expect(sourceOf(await w.plan(), 'south').warnings).toEqual([told]);
  for (const report of [await w.sync(), await w.sync(), await w.plan()]) {
    expect(report.exit).toBe(0);
    expect(sourceOf(report, 'north').warnings).toEqual([]);
    expect(sourceOf(report, 'south').warnings).toEqual([told]);
  }
  expect(sourceOf(await w.status(), 'south').warnings).toEqual([told]);
});

test('it ends with the second one, and comes with it, whichever source changed', async () => {
  await using w = await both();
  await w.reconfigure({ sources, guard: { maxDeletes: '100%' } });
  await w.sync();
  await w.write('north.csv', file('A', 'X'));
  expect(sourceOf(await w.sync(), 'south').warnings).toEqual([]);
  await w.write('north.csv', file('A', 'C'));
  expect(sourceOf(await w.sync(), 'south').warnings).toEqual([told.replaceAll('B', 'C')]);
});

test('the order of the config says which source tells it', async () => {
  await using w = await both();
  await w.sync();
  await w.reconfigure({ sources: { south: sources.south, north: sources.north } });
  const report = await w.sync();
  expect(sourceOf(report, 'south').warnings).toEqual([]);
  expect(sourceOf(report, 'north').warnings).toEqual([
    'drivers "s/B" of source "south" and "n/B" of this one have one path, ["Sales","B"]',
  ]);
});

test('it is not told of a driver that moves between two sources under one id', async () => {
  const alike = { north: longSource('north.csv'), south: longSource('south.csv') };
  await using w = await world({
    config: { sources: alike },
    files: { 'north.csv': file('A', 'B'), 'south.csv': file('C') },
  });
  await w.sync();
  await w.write('north.csv', file('A'));
  await w.write('south.csv', file('B', 'C'));
  for (const report of [await w.plan(), await w.sync()]) {
    for (const name of ['north', 'south']) expect(sourceOf(report, name).warnings).toEqual([]);
  }
});

test('the first twenty are named', async () => {
  const ids = Array.from({ length: 23 }, (_, at) => `D${at}`);
  await using w = await world({ config: { sources }, files: { 'north.csv': file(...ids), 'south.csv': file(...ids) } });
  const { warnings } = sourceOf(await w.sync(), 'south');
  expect(warnings).toHaveLength(21);
  expect(warnings.at(-1)).toBe('and 3 more with a path of another source');
});

describe('check', () => {
  test('says it before the first pass', async () => {
    const { run } = await commandsWorld(
      {
        north: csv('north.csv', { drivers: named('n/{id}') }),
        south: csv('south.csv', { drivers: named('s/{id}') }),
      },
      { 'north.csv': file('A', 'B'), 'south.csv': file('B', 'C') },
    );
    const { code, stdout } = await run('check');
    expect(code).toBe(0);
    expect(stdout).toContain(`  note: ${told}\n`);
  });
});
