/** A file that is read in ranges gives what it gives when it is read from its start. */
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { columnNeeds, columnProblems } from '../../src/core/mapping/columns.ts';
import type { Rule } from '../../src/core/model.ts';
import { asColumns } from '../../src/core/mapping/row-coder.ts';
import { plainDecimal } from '../../src/core/numbers/decimal.ts';
import type { Mapping } from '../../src/core/settings.ts';
import type { PartFile } from '../../src/sources/files/part-file.ts';
import type { DelimitedSettings } from '../../src/sources/formats/delimited.ts';
import { packDrivers, unpackDrivers } from '../../src/sources/formats/scan/driver-message.ts';
import { foldDelimited } from '../../src/sources/formats/scan/fold.ts';
import { readRange } from '../../src/sources/formats/scan/range.ts';
import { readColumns } from '../../src/sources/formats/scan/read.ts';
import type { RunRange } from '../../src/sources/formats/scan/threads.ts';
import { isCampaign } from '../support/campaign.ts';
import { type Folded, foldBatches, foldPieces, withoutTies } from '../support/folded-part.ts';
import { Draw, fileOf, nastyFile, plainSettings } from '../support/nasty-files.ts';
import { template } from '../support/templates.ts';
import type { Template } from '../../src/core/mapping/template.ts';

/** More by hand: `SCANNED_FILES=100000 npm test -- test/sources/scan-ranges.test.ts`. */
const files = Number(process.env.SCANNED_FILES ?? (isCampaign ? 10_000 : 450));

const rules = { timezone: 'UTC', calendar: undefined };

interface How {
  readonly ranges: number;
  readonly chunkBytes: number;
  readonly foldMax: number;
  readonly gridBytes: number;
}

/** The drivers are the texts of the first column, at one time or at the second column's, with the values of the last. */
function mappingOf(columns: readonly string[], rule: Rule, time = '2026-01'): Mapping {
  // Not parsed: such a file may call its columns by anything.
  const named = (column = ''): Template => ({ text: column, pieces: [{ column, filters: [] }] });
  const entry = {
    id: named(columns[0]),
    path: [named(columns[0])],
    time: {
      from: template(time),
      format: { formats: ['iso'], locales: ['en'], timezone: undefined, fiscalYear: undefined },
    },
    value: { from: named(columns.at(-1)), format: plainDecimal },
    spread: undefined,
    rule,
  };
  return { where: [], missing: [''], fillDown: [], unpivot: undefined, maps: {}, drivers: [entry] };
}

function filledDown(mapping: Mapping, column = ''): Mapping {
  return { ...mapping, fillDown: [column] };
}

const rejectsMax = 20;

/** `undefined` where the file is left to the other way. */
async function foldInRanges(
  file: PartFile,
  content: Buffer,
  settings: DelimitedSettings,
  { mapping, how }: { mapping: Mapping; how: How },
): Promise<Folded | undefined> {
  const run: RunRange = async (ofFile, range, listener) =>
    await readRange(ofFile, range, {
      read: (into, position) => content.copy(into, 0, position, position + into.length),
      before: async () => await listener.before(),
      ended: (end) => listener.ended(end),
      add: async (drivers) => listener.add(unpackDrivers(packDrivers(drivers))),
      progress: (bytes, rows) => listener.progress(bytes, rows),
    });
  const opened = Object.assign(file, { fd: 0, hashRest: async () => undefined });
  const threads = { count: how.ranges, run, bytesMin: 1, chunkBytes: how.chunkBytes, gridBytes: how.gridBytes };
  const folding = { mapping, rules, rejectsMax, foldMax: how.foldMax };
  return await foldPieces(folding, (job) => foldDelimited(opened, settings, job, threads));
}

/** Reads both ways and compares. @returns whether ranges were read */
async function compare(
  content: Buffer,
  settings: DelimitedSettings,
  how: How,
  mappingFor: (columns: readonly string[]) => Mapping,
): Promise<boolean> {
  const columns = await columnsOf(content, settings);
  if (columns === undefined) return false;
  const mapping = mappingFor(columns);
  if (columnProblems(mapping, columns).length > 0) return false;
  const inRanges = async (count: number): Promise<Folded | undefined> =>
    await foldInRanges(fileOf(content, 4096), content, settings, { mapping, how: { ...how, ranges: count } });
  const ranged = await inRanges(how.ranges);
  expect(ranged).toEqual(await inRanges(1));
  if (ranged === undefined) return false;
  const needed = { needs: (names: readonly string[]) => columnNeeds(mapping, names) };
  const reading = asColumns(readColumns(fileOf(content, 4096), settings, needed), needed);
  const { drivers, rejects, counts } = withoutTies(ranged);
  const byRows = withoutTies(await foldBatches(reading, { mapping, rules, rejectsMax }));
  expect({ drivers, rejects, counts }).toEqual(byRows);
  return true;
}

async function columnsOf(content: Buffer, settings: DelimitedSettings): Promise<readonly string[] | undefined> {
  try {
    for await (const { columns } of readColumns(fileOf(content, 4096), settings, { needs: () => [] })) return columns;
  } catch {
    // It cannot be read at all, which other tests are about.
  }
  return undefined;
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
        if (await compare(content, settings, how, mappingFor)) read++;
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
      expect(await compare(content, plainSettings, how, mappingFor)).toBe(true);
    }
  });

  test('do not forget what is filled down, wherever a border is', async () => {
    const content = Buffer.from(rows(40, (at) => `${at % 7 === 0 ? `a${at}` : ''},${day(at)},${at}`));
    const mappingFor = (columns: readonly string[]): Mapping => filledDown(mappingOf(columns, 'sum', '{day}'), 'id');
    for (const count of [...ranges, 13, 40, content.length]) {
      const how = { ranges: count, chunkBytes: 16, foldMax: 4, gridBytes: count > 10 ? 1 : 32 };
      expect(await compare(content, plainSettings, how, mappingFor)).toBe(true);
    }
  });

  test('know the name of their file, and columns by their places', async () => {
    const content = Buffer.from(rows(40, (at) => `a${at % 4},${day(at)},${at}.50`));
    const { drivers, ...more } = mappingOf(['file'], 'sum', '{#2}');
    const [entry] = drivers;
    const mapping = { ...more, drivers: [{ ...entry!, value: { ...entry!.value, from: template('{#3}') } }] };
    const how = { ranges: 3, chunkBytes: 16, foldMax: 4, gridBytes: 32 };
    const folded = await foldInRanges(fileOf(content, 4096), content, plainSettings, { mapping, how });
    expect(folded?.drivers.map(({ id }) => id)).toEqual(['nasty.csv']);
    expect(folded?.counts).toMatchObject({ rows: 40, rejects: 0 });
  });

  test('are left to the other way where one of them is not plain', async () => {
    const content = Buffer.from(rows(200, (at) => (at === 150 ? 'a"b,2026-01-01,1' : `a,${day(at)},${at}`)));
    for (const count of ranges) {
      const how = { ranges: count, chunkBytes: 64, foldMax: 4, gridBytes: 64 };
      const mapping = mappingOf(['id', 'day', 'value'], 'sum', '{day}');
      expect(await foldInRanges(fileOf(content, 4096), content, plainSettings, { mapping, how })).toBeUndefined();
    }
  });
});
