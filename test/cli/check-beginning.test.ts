/** `check` says where an export seems to begin within a month. */
import { expect, test } from 'vitest';
import { commandsWorld } from '../support/commands-world.ts';
import { csv } from '../support/process.ts';
import { longEntry } from '../support/world.ts';

/** A row a day, from one day of 2026 to another, both counted from January 1. */
function daysFile(from: number, to: number): string {
  const dates = Array.from({ length: to - from }, (_, at) => new Date(Date.UTC(2026, 0, 1 + from + at)));
  return `id,time,value\n${dates.map((date) => `A,${date.toISOString().slice(0, 10)},1\n`).join('')}`;
}

async function notes(text: string, { collapse = 'sum' } = {}): Promise<readonly string[]> {
  const { run } = await commandsWorld(
    { log: csv('log.csv', { drivers: [longEntry('{id}', collapse)] }) },
    { 'log.csv': text },
  );
  const { json } = await run('check', '--json');
  return json<{ sources: { warnings: string[] }[] }>().sources[0]!.warnings;
}

const begins = [expect.stringMatching(/^the export seems to begin within 2026-02, of which it shows no first days/)];

test('an export of days whose oldest month lacks its first ones, and whose later months have theirs', async () => {
  expect(await notes(daysFile(45, 130))).toEqual(begins);
  expect(await notes(daysFile(45, 130), { collapse: 'average' })).toEqual(begins);
});

test('not one that begins with a month, one whose last reading counts, one with few months, or months without days', async () => {
  expect(await notes(daysFile(31, 130))).toEqual([]);
  expect(await notes(daysFile(45, 130), { collapse: 'last' })).toEqual([]);
  expect(await notes(daysFile(45, 85))).toEqual([]);
  expect(await notes('id,time,value\nA,2026-02,1\nA,2026-03,1\nA,2026-04,1\n')).toEqual([]);
});

test('not one whose months begin late anyway, since its rows are few', async () => {
  const sparse = daysFile(45, 130).replaceAll(/A,2026-0[345]-0.*\n/g, '');
  expect(await notes(sparse)).toEqual([]);
});

test('not one of which only the first rows were read', async () => {
  const many = daysFile(45, 130).replace(/A.*\n/g, (row) => row.repeat(80));
  expect(await notes(many)).toEqual([expect.stringContaining('only its first rows were read')]);
});
