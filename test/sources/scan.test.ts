import { writeFile } from 'node:fs/promises';
import path from 'node:path';
import fc from 'fast-check';
import { describe, expect, onTestFinished, test } from 'vitest';
import type { Batch, ColumnNeed } from '../../src/core/mapping/column-batch.ts';
import { columnNeeds } from '../../src/core/mapping/columns.ts';
import { readMantissa } from '../../src/core/numbers/mantissa.ts';
import { PartFile } from '../../src/sources/files/part-file.ts';
import { StableFile } from '../../src/sources/files/stable-file.ts';
import { readColumns } from '../../src/sources/formats/scan/read.ts';
import { isCampaign } from '../support/campaign.ts';
import { foldBatches } from '../support/folded-part.ts';
import { Draw, type NastyFile, fileOf, nastyFile, plainSettings } from '../support/nasty-files.ts';
import { entry, mapping, utc } from '../support/row-world.ts';
import { calm, tempDir } from '../support/source-world.ts';
import { readBothWays } from '../support/two-ways.ts';

/** More by hand: `SCANNED_FILES=1000000 npm test -- test/sources/scan.test.ts`. */
const files = Number(process.env.SCANNED_FILES ?? (isCampaign ? 20_000 : 250));

/** @returns how many rows came as columns */
async function scannedRows(content: string | Buffer, keys: Partial<NastyFile> = {}): Promise<number> {
  const sizes = { chunkBytes: 65_536, blockBytes: 65_536 };
  return await readBothWays({
    content: Buffer.from(content),
    settings: plainSettings,
    draw: new Draw(1),
    ...sizes,
    ...keys,
  });
}

const firstCoded = (): readonly ColumnNeed[] => [
  { isCoded: true, isValue: false },
  { isCoded: false, isValue: false },
];

function lines(count: number, line: (at: number) => string): string {
  return `a,b\n${Array.from({ length: count }, (_, at) => line(at)).join('\n')}\n`;
}

describe('the scanner reads as csv-parse does', () => {
  test('files of every kind', async () => {
    let rows = 0;
    await fc.assert(
      fc.asyncProperty(fc.noShrink(fc.integer()), async (seed) => {
        rows += await readBothWays(nastyFile(seed));
      }),
      { numRuns: files },
    );
    // Many are damaged; of the others most rows come as columns.
    expect(rows).toBeGreaterThan(files);
  });

  test.each([
    'a,b\n"x","1"\n"y\r\nz",2\r\n"say ""hi""","-1.50"\r"x",""\n\n"y\r\nz","3"\n',
    'a,b\r\n"","""",\r\n"\r","\n"\r\n \r\n"x,y",0.5\r\nx,"y"\r\n"x,y",0.5',
    '"a","b"\r"1","2"\r\r"1","2"\r\n"#1","2"\r#1,2\r',
    'a,b\n1,2\n"x"y,2\n',
    'a,b\n1,2\nx"y,2\n',
    'a,b\n1,2\n"x,2\n3,4\n',
    'a,b\n"x",1\n"y"#z,2\n',
    'a,b\n"",1\n#"",2\n""#,3\n',
  ])('with a border at every byte of %j', async (content) => {
    const settings = { ...plainSettings, comment: '#' };
    for (let blockBytes = 1; blockBytes <= content.length; blockBytes++) {
      for (const footer of [0, 1]) {
        await expect(scannedRows(content, { blockBytes, settings: { ...settings, footer } })).resolves.toBeTypeOf(
          'number',
        );
      }
    }
  });

  test('a file without a header whose first row has more fields than there are columns', async () => {
    const settings = { ...plainSettings, headerRows: 0, columns: ['only'] };
    await expect(scannedRows('1,2\n"x"\n \n"y",3\nz\n', { settings })).resolves.toBe(4);
  });

  // Below 128 each is as the first: the campaign makes sure of it.
  test.each(
    'windows-1252 windows-1253 windows-1255 windows-874 iso-8859-2 koi8-r macintosh ibm866 cp437 cp850'.split(' '),
  )('every byte of %s', async (encoding) => {
    for (let byte = isCampaign || encoding === 'windows-1252' ? 0 : 128; byte < 256; byte++) {
      const content = Buffer.concat([
        Buffer.from('a,b\nx,1\n'),
        Buffer.of(byte, 0x2c, 0x32, 0x0a, byte),
        Buffer.from('y,3\n'),
      ]);
      await expect(scannedRows(content, { settings: { ...plainSettings, encoding } })).resolves.toBeTypeOf('number');
    }
  });

  test('columns of more texts than are kept', async () => {
    const content = lines(100_000, (at) => `voucher ${at},${at % 3 === 0 ? `"x ${at}"` : at}`);
    expect(await scannedRows(content)).toBe(100_000);
  });

  test('long footers', async () => {
    const settings = { ...plainSettings, footer: 4000 };
    expect(await scannedRows(lines(13_000, String), { settings })).toBe(9000);
    const longer = { ...plainSettings, footer: 5000 };
    expect(await scannedRows(lines(13_000, String), { settings: longer })).toBe(0);
  });

  test('footers with blank rows below them, by csv-parse where these are very many', async () => {
    const settings = { ...plainSettings, footer: 2 };
    const totals = 'Total,1\n,\nPrinted,\n';
    expect(await scannedRows(`${lines(13_000, String)}${totals}${'"",\u00a0\n'.repeat(3000)}`, { settings })).toBe(
      13_000,
    );
    const some = await scannedRows(`${lines(13_000, String)}${totals}${',\n'.repeat(30_000)}`, { settings });
    expect(some).toBeGreaterThan(8000);
    expect(await scannedRows(`${lines(20, String)}${',\n'.repeat(9000)}1,2\n${totals}`, { settings })).toBe(0);
  });

  test('files of very many columns', async () => {
    const row = Array.from({ length: 3000 }, (_, column) => String(column)).join(',');
    expect(await scannedRows(`${row}\n${`${row}\n`.repeat(100)}`)).toBe(100);
  });

  test('rows of several megabytes, by csv-parse from there on', async () => {
    const long = 'x'.repeat(3_500_000);
    const content = `${lines(20_000, (at) => `${at},1`)}${long},2\n3,4\n#${long}\n5,6\n`;
    const settings = { ...plainSettings, comment: '#' };
    const scanned = await scannedRows(content, { settings });
    expect(scanned).toBeGreaterThan(10_000);
    expect(scanned).toBeLessThanOrEqual(20_000);
  });

  test.each([
    `${'x'.repeat(10_000_001)},2`,
    `"${'x'.repeat(12_000_000)}",2`,
    ','.repeat(100_001),
    `#${'x'.repeat(4_000_000)}`,
  ])('what is beyond a limit (%#)', async (row) => {
    const settings = { ...plainSettings, comment: '#' };
    await expect(scannedRows(`a,b\n1,2\n${row}\n3,4\n`, { settings })).resolves.toBeTypeOf('number');
  });
});

test('values are integers and scales, whatever digits, sign and point they have', async () => {
  const digits = '9876543210123456789';
  const texts = Array.from({ length: 18 }, (_, length) => digits.slice(0, length + 1)).flatMap((text) =>
    ['', '-'].flatMap((sign) =>
      ['', ...text.slice(1)].map((_digit, point) =>
        point === 0 ? sign + text : `${sign}${text.slice(0, point)}.${text.slice(point)}`,
      ),
    ),
  );
  const all = [
    ...texts,
    '0',
    '-0',
    '0.0',
    '-0.00',
    '00',
    '01.5',
    '4294967296',
    '2147483648',
    '-2147483649',
    '1.',
    '.5',
  ];
  const file = fileOf(Buffer.from(`a,b\n${all.map((text) => `x,${text}\n`).join('')}`), 65_536);
  const needs = (): readonly ColumnNeed[] => [
    { isCoded: true, isValue: false },
    { isCoded: false, isValue: true },
  ];
  const expected = { mantissas: new Float64Array(all.length), scales: new Int8Array(all.length) };
  for (const [at, text] of all.entries()) readMantissa(text, at, expected);
  const { value } = await readColumns(file, plainSettings, { needs }).next();
  const column = (value as Batch).values[1]!;
  for (const [at, text] of all.entries()) {
    const scale = expected.scales[at]!;
    const given = [text, column.scales[at], column.text(at), scale < 0 ? 0 : column.mantissas[at]];
    expect(given).toEqual([text, scale, text, scale < 0 ? 0 : expected.mantissas[at]]);
  }
});

test.each([20, 100_000, 300_000, 1_000_000, 2_000_000])(
  'an empty field takes a text of %i characters above it also from the batch before',
  async (length) => {
    const long = 'x'.repeat(length);
    const region = (at: number): string => (at === 0 ? long : at === 8300 ? 'South' : '');
    const rows = Array.from({ length: 8400 }, (_, at) => `${region(at)},2026-01-01,${at}`);
    const file = fileOf(Buffer.from(`region,date,amount\n${rows.join('\n')}\n`), 65_536);
    const filled = mapping([entry({ path: ['{region}'] })], { fillDown: ['region'] });
    const needs = (columns: readonly string[]): readonly ColumnNeed[] => columnNeeds(filled, columns);
    const reading = readColumns(file, plainSettings, { needs }) as AsyncGenerator<Batch>;
    const { drivers } = await foldBatches(reading, { mapping: filled, rules: utc, rejectsMax: 1 });
    expect(drivers.map(({ id, cells }) => [id.length, cells[0]?.value, cells[0]?.count])).toEqual([
      [5, '8399', 100],
      [length, '8299', 8300],
    ]);
  },
);

describe('the numbers of texts', () => {
  test('are given anew when there are too many', async () => {
    const seen: number[] = [];
    const file = fileOf(Buffer.from(lines(200_000, (at) => `voucher ${at},1`)), 65_536);
    for await (const batch of readColumns(file, plainSettings, { needs: firstCoded })) {
      const { texts } = (batch as Batch).coded[0]!;
      expect(texts.size).toBeLessThan(100_000);
      if (texts.generation !== seen.at(-1)) seen.push(texts.generation);
    }
    expect(seen).toEqual([0, 1, 2]);
  });

  test('are there for texts that no row has, also those that the encoding cannot write', async () => {
    const file = fileOf(Buffer.from('a,b\n\uFFFD,1\nx,2\n'), 65_536);
    const { value } = await readColumns(file, plainSettings, { needs: firstCoded }).next();
    const { texts, codes } = (value as Batch).coded[0]!;
    const more = ['y', '\uD800', '\uDFFF'].map((text) => texts.code(text));
    const all = [...codes.subarray(0, 2), ...more];
    expect(new Set(all).size).toBe(5);
    expect(all.map((code) => texts.text(code))).toEqual(['\uFFFD', 'x', 'y', '\uD800', '\uDFFF']);
    expect(['y', '\uD800'].map((text) => texts.code(text))).toEqual(more.slice(0, 2));
  });
});

test('lets the event loop turn between blocks', async () => {
  const place = path.join(await tempDir(), 'long.csv');
  await writeFile(
    place,
    lines(100_000, (at) => `${at},1`),
  );
  const file = await StableFile.open(place, 'long.csv', calm);
  onTestFinished(() => file.close());
  let turns = 0;
  let timer = setImmediate(function turn() {
    turns++;
    timer = setImmediate(turn);
  });
  for await (const _batch of readColumns(new PartFile(file, 0), plainSettings, {
    needs: firstCoded,
    blockBytes: 65_536,
  }));
  clearImmediate(timer);
  expect(turns).toBeGreaterThan(10);
});
