/** Files within zip archives. */
import { readdir, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { zipSync } from 'fflate';
import { describe, expect, test } from 'vitest';
import type { Source } from '../../src/core/ports.ts';
import { s3Keys, s3Server } from '../support/s3-server.ts';
import { calm, laterClock, openSource, openSourceIn, readWhole, tempDir } from '../support/source-world.ts';
import { csv, failureOf, table } from '../support/web-world.ts';
import { workbook } from '../support/workbooks.ts';
import { judged, world } from '../support/world.ts';

function zipOf(files: Readonly<Record<string, string | Uint8Array>>): Uint8Array {
  return zipSync(Object.fromEntries(Object.entries(files).map(([name, content]) => [name, Buffer.from(content)])));
}

async function archive(bytes: Uint8Array, keys: object = {}, type = 'csv'): Promise<Source> {
  const dir = await tempDir();
  await writeFile(path.join(dir, 'a.zip'), bytes);
  return openSource(type, { files: ['*.zip'], members: ['**/*.csv'], ...keys }, dir);
}

describe('an archive', () => {
  test('gives each member that matches as a part, with its own name for {file}', async () => {
    const files = {
      'march/x.csv': csv,
      'y.csv': csv,
      'README.txt': 'x',
      '.z.csv': csv,
      '__MACOSX/y.csv': csv,
      'd/': '',
    };
    const source = await archive(zipOf(files));
    const parts = await source.parts(calm);
    expect(parts.map(({ name }) => name)).toEqual(['a.zip#march/x.csv', 'a.zip#y.csv']);
    for (const part of parts) {
      expect(await readWhole(source, part)).toMatchObject(table);
      for await (const { shared } of source.rows(part, calm)) {
        expect(shared).toEqual({ file: part.name.replace(/.*[#/]/, '') });
      }
    }
  });

  test('may hold workbooks', async () => {
    const rows = [['date'], ['2026-01-31']];
    const book = workbook({
      sheets: [
        { name: 'One', rows },
        { name: 'Two', rows },
      ],
    });
    const source = await archive(zipOf({ 'b.xlsx': book }), { members: ['*.xlsx'], sheet: '/./' }, 'xlsx');
    const parts = await source.parts(calm);
    expect(parts.map(({ name }) => name)).toEqual(['a.zip#b.xlsx#One', 'a.zip#b.xlsx#Two']);
    expect(await readWhole(source, parts[1])).toMatchObject({ columns: ['date'], rows: [['2026-01-31']] });
  });

  test('may lie in a bucket, and is fetched once for all of its members', async () => {
    const server = await s3Server();
    server.objects.set('a.zip', zipOf({ 'x.csv': csv, 'y.csv': csv, 'z.csv': csv }));
    const keys = { files: ['s3://exports/*.zip'], members: ['*'], s3: { endpoint: server.endpoint, ...s3Keys } };
    const state = await tempDir();
    const source = openSourceIn({ clock: laterClock(0), state }, 'csv', keys);
    for (const part of await source.parts(calm)) expect(await readWhole(source, part)).toMatchObject(table);
    expect(server.asked.filter((asked) => !asked.includes('list-type'))).toHaveLength(1);
    expect((await readdir(path.join(state, 'kept'))).length).toBeLessThanOrEqual(2);
  });

  test('is refused where members are not asked for, and told how', async () => {
    const error = await failureOf(await archive(zipOf({ 'x.csv': csv }), { members: undefined }));
    expect(error.message).toContain('a workbook or another zip archive');
    expect(error.hint).toContain('members: ["**/*.csv"]');
  });

  test.each([
    ['has no such member', zipOf({ 'x.txt': csv }), 'source.unreadable', /nothing in it matches \*\*\/\*\.csv$/],
    ['is empty', zipOf({}), 'source.unreadable', /nothing in it matches/],
    ['is no archive', Buffer.from(csv.repeat(20)), 'part.unreadable', /is cut short/],
    ['is cut short', zipOf({ 'x.csv': csv }).subarray(0, -30), 'part.unreadable', /is cut short/],
    ['climbs', zipOf({ '../x.csv': csv }), 'part.unreadable', /is damaged: invalid relative path/],
  ])('is not read where it %s', async (_why, bytes, code, message) => {
    expect(await failureOf(await archive(bytes))).toMatchObject({ code, message: expect.stringMatching(message) });
  });

  test('is not read where a member is damaged, or larger than it may be', async () => {
    const bytes = Buffer.from(zipSync({ 'x.csv': [Buffer.from(csv), { level: 0 }] }));
    bytes[bytes.indexOf('1.50')] = 0x39;
    expect((await failureOf(await archive(bytes))).message).toBe('a.zip is damaged: the checksum of x.csv is wrong');
    const bomb = zipOf({ 'x.csv': csv + '2026-01-01,1\n'.repeat(100_000) });
    const error = await failureOf(await archive(bomb, { expandedMax: '100KB' }));
    expect(error.message).toMatch(/\(expandedMax\)$/);
  });
});

describe('a member that cannot be read here', () => {
  /** An archive whose directory says something else of its one member: flags, and the method of its compression. */
  const saying = ({ flags = 0, method = 8 }: { flags?: number; method?: number }): Uint8Array => {
    const bytes = Buffer.from(zipOf({ 'x.csv': csv }));
    const entry = bytes.indexOf('PK\u0001\u0002');
    bytes.writeUInt16LE(flags, entry + 8);
    bytes.writeUInt16LE(method, entry + 10);
    return bytes;
  };

  test.each([
    ['has a password', { flags: 1 }, /^a\.zip: x\.csv is encrypted$/, /without a password/],
    ['has a password, by AES', { flags: 1, method: 99 }, /^a\.zip: x\.csv is encrypted$/, /without a password/],
    ['is encrypted with its directory', { flags: 0x41 }, /^a\.zip is encrypted$/, /without a password/],
    [
      'is compressed by LZMA',
      { method: 14 },
      /^a\.zip: x\.csv is compressed by LZMA, which is not read here$/,
      /deflate/,
    ],
    [
      'is compressed by something that nobody knows',
      { method: 77 },
      /^a\.zip: x\.csv is compressed by method 77, which is not read here$/,
      /deflate/,
    ],
  ])('is not called damaged where it %s', async (_what, said, message, hint) => {
    expect(await failureOf(await archive(saying(said)))).toMatchObject({
      code: 'part.unreadable',
      message: expect.stringMatching(message),
      hint: expect.stringMatching(hint),
    });
  });
});

describe('of dated archives with parts: newest', () => {
  const parts = 'newest';

  test('the newest one counts, where each has one member', async () => {
    const dir = await tempDir();
    for (const [month, amount] of ['1.50', '2.50'].entries()) {
      const file = path.join(dir, `2026-0${month + 1}.zip`);
      await writeFile(file, zipOf({ 'all.csv': csv.replace('1.50', amount), 'README.txt': 'x' }));
    }
    const source = openSource('csv', { files: ['*.zip'], members: ['*.csv'], parts }, dir);
    expect((await source.parts(calm)).map(({ name }) => name)).toEqual(['2026-01.zip#all.csv', '2026-02.zip#all.csv']);
  });

  test('none is read where one has more members, of which all but one would be left out', async () => {
    const error = await failureOf(await archive(zipOf({ 'x.csv': csv, 'y.csv': csv, 'z.csv': csv }), { parts }));
    expect(error).toMatchObject({
      code: 'source.unreadable',
      message: 'a.zip: 3 files in it match **/*.csv, and parts: newest reads one',
      hint: expect.stringContaining('leave parts out'),
    });
  });
});

test('a member that is gone from its archive is carried', async () => {
  const drivers = [{ path: ['{file|match:^(.*)\\.csv$}'], time: '{date}', value: '{amount}' }];
  const source = { type: 'csv', files: ['*.zip'], members: ['*.csv'], drivers };
  await using w = await world({ config: { sources: { a: source } } });
  const put = async (files: Record<string, string>) => {
    w.clock.jump(1000);
    await writeFile(path.join(w.dir, 'a.zip'), zipOf(files));
  };
  await put({ 'x.csv': csv, 'y.csv': csv });
  expect(await w.sync()).toMatchObject({ exit: 0 });
  await put({ 'y.csv': csv.replace('1.50', '2.50') });
  expect(await w.sync()).toMatchObject(judged(3, 'a', { carried: ['a.zip#x.csv'] }));
  expect(w.points()).toMatchObject({ x: { '2026-01': '1.50' }, y: { '2026-01': '2.50' } });
});
