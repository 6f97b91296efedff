/** Tables beside a source: maps and calendars in files. */
import { appendFileSync } from 'node:fs';
import { writeFile } from 'node:fs/promises';
import path from 'node:path';
import { expect, test } from 'vitest';
import type { PassEvent } from '../../src/app/dependencies.ts';
import { runPass } from '../../src/app/pass.ts';
import type { PassReport } from '../../src/core/report.ts';
import { readLookups as readTables } from '../../src/sources/lookups.ts';
import { world } from '../support/world.ts';

const config = (more: object = {}, entry: object = {}): { sources: Record<string, object> } => ({
  sources: {
    sales: {
      type: 'csv',
      files: ['sales.csv'],
      settle: '0s',
      ...more,
      drivers: [{ path: ['{region|map:region}'], time: '{date}', value: '{amount}', ...entry }],
    },
  },
});
const mapped = config({ maps: { region: { settle: '0s', file: 'regions.csv' } } });
const sales = 'region,date,amount\nN,2026-01-31,1\nS,2026-01-31,2\n';

test('a map in a file is read with the source, and anew when it changes', async () => {
  await using w = await world({
    config: mapped,
    files: { 'sales.csv': sales, 'regions.csv': 'code,name\nN,North\nS,South\n' },
  });
  await w.sync();
  expect(w.points()).toEqual({ North: { '2026-01': '1' }, South: { '2026-01': '2' } });
  await w.write('regions.csv', 'code,name\nN,Nord\nS,Sued\n');
  const { digest } = (await w.sync()).sources[0]!;
  await w.approve(digest!);
  await w.sync();
  expect(w.points()).toEqual({ Nord: { '2026-01': '1' }, Sued: { '2026-01': '2' } });
});

test('a map that lost its last line end is not read: its last name may have been cut', async () => {
  await using w = await world({
    config: mapped,
    files: { 'sales.csv': sales, 'regions.csv': 'code,name\nN,North\nS,South\n' },
  });
  await w.sync();
  await w.write('regions.csv', 'code,name\nN,North\nS,Sou');
  expect(await w.sync()).toMatchObject({
    exit: 3,
    sources: [{ state: 'unread', reason: 'regions.csv: it ends without a line end, and had one before' }],
  });
  expect(w.points()).toEqual({ North: { '2026-01': '1' }, South: { '2026-01': '2' } });
  await w.write('regions.csv', 'code,name\nN,North\nS,South\n');
  expect(await w.sync()).toMatchObject({ exit: 0, outcome: 'unchanged' });
});

test('a new map without a line end may be half a file: it is read once it was quiet for a minute', async () => {
  await using w = await world({
    config: mapped,
    files: { 'sales.csv': sales, 'regions.csv': 'code,name\nN,North\nS,So' },
  });
  w.clock.jump(Date.now() - w.clock.now().getTime());
  const waits: string[] = [];
  const pass = (): Promise<PassReport> =>
    w.open((inner) => {
      const readLookups: typeof inner.readLookups = ({ lookups }, signal) =>
        readTables(lookups, { baseDir: w.dir, clock: w.clock }, signal);
      const observe = (event: PassEvent): void => {
        if (event.kind !== 'waiting') return;
        waits.push(event.why);
        // The upload goes on while the pass waits.
        if (waits.length === 1) appendFileSync(path.join(w.dir, 'regions.csv'), 'uth');
        setImmediate(() => void w.clock.advance(event.ms));
      };
      const options = { push: 'ifNeeded', resume: true, retryForMs: 0 } as const;
      return runPass({ ...inner, clock: w.clock, readLookups, observe }, options, new AbortController().signal);
    });
  expect(await pass()).toMatchObject({ outcome: 'acknowledged' });
  expect(Object.keys(w.points())).toEqual(['North', 'South']);
  expect(waits).toHaveLength(2);
  expect(waits[0]).toBe(
    'regions.csv ends without a line end and may be half a file: it is read once it was quiet for 60 s',
  );
  // From then on this is how it is written.
  await writeFile(path.join(w.dir, 'regions.csv'), 'code,name\nN,North\nS,South\nE,East');
  expect(await pass()).toMatchObject({ exit: 0 });
  expect(waits).toHaveLength(2);
});

test('white space around what a map of a file replaces does not count', async () => {
  await using w = await world({
    config: config({ maps: { region: { settle: '0s', file: 'regions.csv' } } }, { value: '{amount|map:region}' }),
    files: {
      'sales.csv': 'region,date,amount\nN ,2026-01-31, one\n"S",2026-01-31,one\n',
      'regions.csv': 'code,name\nN,North\n N ,North\n"S ",South\none ,1\n',
    },
  });
  await w.sync();
  expect(w.points()).toEqual({ North: { '2026-01': '1' }, South: { '2026-01': '1' } });
});

test('a map names the columns of its file that count', async () => {
  await using w = await world({
    config: config({ maps: { region: { settle: '0s', file: 'regions.tsv', from: 'id', to: 'title' } } }),
    files: { 'sales.csv': sales, 'regions.tsv': 'title\tnote\tid\nNorth\tx\tN\nSouth\ty\tS\n' },
  });
  await w.sync();
  expect(Object.keys(w.points())).toEqual(['North', 'South']);
});

test('a map in a file may have another mark and encoding', async () => {
  await using w = await world({
    config: config({
      maps: { region: { settle: '0s', file: 'regions.csv', delimiter: ';', encoding: 'windows-1252' } },
    }),
    files: { 'sales.csv': sales },
  });
  await writeFile(path.join(w.dir, 'regions.csv'), Buffer.from('code;name\nN,x;Nord\nN;N\xf6rd\nS;S\xfcd\n', 'latin1'));
  await w.sync();
  expect(Object.keys(w.points())).toEqual(['Nörd', 'Süd']);
});

test.each<[what: string, text: string | undefined, reason: string]>([
  ['is not there', undefined, 'nothing matches regions.csv'],
  ['gives a text two meanings', 'code,name\nN,North\nN,Norden\n', 'regions.csv: rows 1 and 2 give "N" two meanings'],
  [
    'gives a text two meanings but for white space',
    'code,name\nN,North\n"N ",Norden\n',
    'regions.csv: rows 1 and 2 give "N" two meanings',
  ],
  ['has one column', 'code\nN\n', 'regions.csv: a map needs two columns'],
  ['has another mark', 'code;name\nN;North\n', 'regions.csv: a map needs two columns'],
])('a map that %s leaves its source unread, and its data as it was', async (_, text, reason) => {
  await using w = await world({
    config: mapped,
    files: { 'sales.csv': sales, 'regions.csv': 'code,name\nN,North\nS,South\n' },
  });
  await w.sync();
  const before = w.points();
  if (text === undefined) await w.remove('regions.csv');
  else await w.write('regions.csv', text);
  expect((await w.sync()).sources[0]).toMatchObject({
    state: 'unread',
    reason: expect.stringContaining(reason) as string,
  });
  expect(w.points()).toEqual(before);
});

const weeks = [
  'period,start,end,month',
  'FY26 P01,2026-02-01,2026-02-28,2026-02',
  'FY26 P02,2026-03-01,2026-03-28,2026-03',
  'FY26 P03,2026-03-29,2026-05-02,2026-04',
  '',
].join('\n');

test('a calendar says which month a day or a named period counts as', async () => {
  await using w = await world({
    config: config({ calendar: { settle: '0s', file: 'calendar.csv' } }, { path: ['{region}'] }),
    files: {
      'calendar.csv': weeks,
      'sales.csv': 'region,date,amount\nN,2026-03-28,1\nN,2026-03-29,2\nN,fy26 p01,3\n',
    },
  });
  await w.sync();
  expect(w.points()).toEqual({ N: { '2026-02': '3', '2026-03': '1', '2026-04': '2' } });
});
