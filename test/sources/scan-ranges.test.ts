/** A file that is read in ranges gives what it gives when it is read from its start. */
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import type { Rule } from '../../src/core/model.ts';
import type { Mapping } from '../../src/core/settings.ts';
import type { DelimitedSettings } from '../../src/sources/formats/delimited.ts';
import { readJsonLines } from '../../src/sources/formats/json-lines.ts';
import { delimitedRanges, jsonLineRanges } from '../../src/sources/formats/scan/fold.ts';
import { readColumns } from '../../src/sources/formats/scan/read.ts';
import { type RangedFile, compareRanges, foldByRanges, mappingOf } from '../support/by-ranges.ts';
import { isCampaign } from '../support/campaign.ts';
import { Draw, nastyFile, plainSettings } from '../support/nasty-files.ts';
import { nastyJson } from '../support/nasty-json.ts';
import { template } from '../support/templates.ts';

/** More by hand: `SCANNED_FILES=100000 npm test -- test/sources/scan-ranges.test.ts`. */
const files = Number(process.env.SCANNED_FILES ?? (isCampaign ? 10_000 : 450));

function delimited(content: Buffer, settings: DelimitedSettings = plainSettings): RangedFile {
  // What a column is needed for decides how fast it is read, and no result.
  const needs = (columns: readonly string[]) => columns.map(() => ({ isCoded: true, isValue: true }));
  return { content, plan: delimitedRanges(settings), read: (file) => readColumns(file, settings, { needs }) };
}

function filledDown(mapping: Mapping, column = ''): Mapping {
  return { ...mapping, fillDown: [column] };
}

const ranges = [1, 2, 3, 7];

describe('ranges of a file', () => {
  test('give the same as the whole of it, for files of every kind', async () => {
    let read = 0;
    await fc.assert(
      fc.asyncProperty(fc.noShrink(fc.integer()), async (seed) => {
        const { content, settings } = nastyFile(seed);
        const draw = new Draw(seed);
        const how = {
          ranges: draw.one(ranges),
          chunkBytes: draw.one([3, 20, 300]),
          foldMax: draw.one([0, 3, 1000]),
          gridBytes: draw.one([4, 30, 200]),
        };
        const rule = draw.one<Rule>(['last', 'first', 'sum', 'max']);
        const isFilled = draw.one([false, false, true]);
        const mappingFor = (columns: readonly string[]): Mapping => {
          const mapping = mappingOf(columns, rule);
          return isFilled ? filledDown(mapping, columns[0]) : mapping;
        };
        if (await compareRanges(delimited(content, settings), how, mappingFor)) read++;
      }),
      { numRuns: files },
    );
    expect(read).toBeGreaterThan(100);
  });

  const rows = (count: number, row: (at: number) => string, end = '\n'): string =>
    `id,day,value${end}${Array.from({ length: count }, (_, at) => row(at) + end).join('')}`;
  const day = (at: number): string => `2026-0${1 + (at % 3)}-01`;

  test.each([
    ['plain rows', rows(12, (at) => `a${at % 4},${day(at)},${at}.50`)],
    ['line breaks and quotes in quotes', rows(12, (at) => `"a\n""${at % 3}""\n,x",${day(at)},"${at}"`)],
    ['two bytes for a line end', rows(12, (at) => `"a\r\n${at % 3}",${day(at)},${at}`, '\r\n')],
    ['one byte for a line end', rows(12, (at) => `a${at % 3},${day(at)},${at}`, '\r')],
    ['blank and ragged rows', rows(12, (at) => (at % 4 === 0 ? '' : at % 5 === 0 ? 'a,b' : `a,${day(at)},${at}`))],
    ['ties, and values that do not fit', rows(12, (at) => `a${at % 2},2026-01-01,${'9'.repeat(10 + at)}.5`)],
    ['no line end at the end', rows(9, (at) => `a,${day(at)},${at}`).slice(0, -1)],
  ])('with a border at every byte: %s', async (_what, text) => {
    const content = Buffer.from(text);
    const mappingFor = (columns: readonly string[]): Mapping => mappingOf(columns, 'last', '{day}');
    // So many ranges have borders everywhere, and most of them are empty.
    for (const count of [...ranges, 13, 40, content.length]) {
      const how = { ranges: count, chunkBytes: 16, foldMax: 4, gridBytes: count > 10 ? 1 : 32 };
      expect(await compareRanges(delimited(content), how, mappingFor)).toBe(true);
    }
  });

  test('do not forget what is filled down, wherever a border is', async () => {
    const content = Buffer.from(rows(40, (at) => `${at % 7 === 0 ? `a${at}` : ''},${day(at)},${at}`));
    const mappingFor = (columns: readonly string[]): Mapping => filledDown(mappingOf(columns, 'sum', '{day}'), 'id');
    for (const count of [...ranges, 13, 40, content.length]) {
      const how = { ranges: count, chunkBytes: 16, foldMax: 4, gridBytes: count > 10 ? 1 : 32 };
      expect(await compareRanges(delimited(content), how, mappingFor)).toBe(true);
    }
  });

  test('know the name of their file, and columns by their places', async () => {
    const content = Buffer.from(rows(40, (at) => `a${at % 4},${day(at)},${at}.50`));
    const { drivers, ...more } = mappingOf(['file'], 'sum', '{#2}');
    const [entry] = drivers;
    const mapping = { ...more, drivers: [{ ...entry!, value: { ...entry!.value, from: template('{#3}') } }] };
    const how = { ranges: 3, chunkBytes: 16, foldMax: 4, gridBytes: 32 };
    const folded = await foldByRanges(delimited(content), { mapping, how });
    expect(folded?.drivers.map(({ id }) => id)).toEqual(['nasty.csv']);
    expect(folded?.counts).toMatchObject({ rows: 40, rejects: 0 });
  });

  test('are left to the other way where one of them is not plain', async () => {
    const content = Buffer.from(rows(200, (at) => (at === 150 ? 'a"b,2026-01-01,1' : `a,${day(at)},${at}`)));
    for (const count of ranges) {
      const how = { ranges: count, chunkBytes: 64, foldMax: 4, gridBytes: 64 };
      const mapping = mappingOf(['id', 'day', 'value'], 'sum', '{day}');
      expect(await foldByRanges(delimited(content), { mapping, how })).toBeUndefined();
    }
  });
});

describe('ranges of JSON lines', () => {
  const jsonLines = (content: Buffer): RangedFile => ({
    content,
    plan: jsonLineRanges,
    read: (file) => readJsonLines(file, { needs: (columns) => columns.map(() => ({ isCoded: true, isValue: true })) }),
  });
  const record = (at: number): string =>
    `{"id":"a${at % 4}", "day":"2026-0${1 + (at % 3)}-01","value":${at % 5 === 0 ? 'null' : `${at}.50`}}`;
  const lines = (count: number, end = '\n'): string =>
    Array.from({ length: count }, (_, at) => record(at) + end).join('');

  test('give the same as the whole of it, for files of every kind', async () => {
    let read = 0;
    await fc.assert(
      fc.asyncProperty(fc.noShrink(fc.integer()), async (seed) => {
        const { content, layout } = nastyJson(seed);
        if (layout !== 'lines') return;
        const draw = new Draw(seed);
        const how = {
          ranges: draw.one(ranges),
          chunkBytes: draw.one([3, 20, 300]),
          foldMax: draw.one([0, 3, 1000]),
          gridBytes: draw.one([4, 30, 200]),
        };
        const rule = draw.one<Rule>(['last', 'first', 'sum', 'max']);
        if (await compareRanges(jsonLines(content), how, (columns) => mappingOf(columns, rule))) read++;
      }),
      { numRuns: 2 * files },
    );
    expect(read).toBeGreaterThan(100);
  });

  test.each([
    ['plain records', lines(12)],
    ['two bytes for a line end', lines(12, '\r\n')],
    ['blank lines', `\n${lines(12, '\n \t\r\n\n')}\n`],
    ['white space around records', lines(12, '  \n\t ')],
    ['a mark at the beginning', `\u{feff}${lines(9)}`],
    ['no line end at the end', lines(9).trimEnd()],
    ['texts that look like records', lines(9).replaceAll('"a1"', String.raw`"}\n{\"id\":1}"`)],
  ])('with a border at every byte: %s', async (_what, text) => {
    const content = Buffer.from(text);
    for (const count of [...ranges, 13, 40, content.length]) {
      const how = { ranges: count, chunkBytes: 16, foldMax: 4, gridBytes: count > 10 ? 1 : 32 };
      expect(await compareRanges(jsonLines(content), how, (columns) => mappingOf(columns, 'last', '{day}'))).toBe(true);
    }
  });

  test.each([
    ['a list', '{"id":"a","day":"2026-01-01","value":[1]}\n'],
    ['two records in a line', '{"id":"a"} {"id":"b"}\n'],
    ['half a record', '{"id":"a","day":"2026-01-01"'],
  ])('are left to the other way where one of them has %s', async (_what, last) => {
    const content = Buffer.from(lines(200) + last);
    const mapping = mappingOf(['id', 'day', 'value'], 'sum', '{day}');
    for (const count of ranges) {
      const how = { ranges: count, chunkBytes: 64, foldMax: 4, gridBytes: 64 };
      expect(await foldByRanges(jsonLines(content), { mapping, how })).toBeUndefined();
    }
  });

  test('are left to the other way where a column comes up late', async () => {
    const learned = lines(30_000);
    expect(learned.length).toBeGreaterThan(1024 * 1024);
    const mapping = mappingOf(['id', 'day', 'value'], 'sum', '{day}');
    const how = { ranges: 2, chunkBytes: 65_536, foldMax: 1000, gridBytes: 65_536 };
    const late = (key: string): Buffer => Buffer.from(`${learned}{"id":"a1","${key}":"2026-01-01","value":1}\n`);
    expect(await foldByRanges(jsonLines(late('day')), { mapping, how })).toBeDefined();
    expect(await foldByRanges(jsonLines(late('date')), { mapping, how })).toBeUndefined();
  });
});
