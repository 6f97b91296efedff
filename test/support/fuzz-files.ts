/** Files of every kind, as sources read them. */
import { readFileSync, readdirSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { gzipSync, zstdCompressSync } from 'node:zlib';
import { DuckDBInstance } from '@duckdb/node-api';
import { zipSync } from 'fflate';
import { parquetWriteBuffer } from 'hyparquet-writer';
import type { Mapping } from '../../src/core/settings.ts';
import { systemClock } from '../../src/edges/clock.ts';
import { kinds } from '../../src/sources/index.ts';
import { folderOf } from './fuzz-folder.ts';
import { type FuzzTarget, must, refusing } from './fuzz-target.ts';
import { rowsOf } from './mapping.ts';
import { type Draw, nastyFile, plainSettings } from './nasty-files.ts';
import { nastyJson } from './nasty-json.ts';
import { readJsonBothWays } from './two-json-ways.ts';
import { readBothWays } from './two-ways.ts';

const calm = new AbortController().signal;
const noMapping: Mapping = { where: [], missing: [''], fillDown: [], unpivot: undefined, maps: {}, drivers: [] };

const samples = path.join(import.meta.dirname, '../../config/sample');
const texts = [
  '"',
  '""',
  ',',
  ';',
  '\t',
  '\n',
  '\r\n',
  '\r',
  '\ufeff',
  '\0',
  'é',
  '\ud83d\ude00',
  '1.234,50',
  '2026-01-31',
  '-',
];

const table = {
  columns: [
    { name: 'id', data: ['a', 'b', 'c', ''] },
    { name: 'value', data: [1.5, 2, -3, 0] },
  ],
};

/** Every type of the format that holds a field, as DuckDB writes them. */
const parquetRows = `SELECT i AS "int", i * 1.5::DECIMAL(9, 2) AS small, -(i::DECIMAL(38, 6)) AS large, i / 4 AS double, i % 2 = 0 AS flag,
  DATE '2026-01-31' + i::INTEGER AS day, TIMESTAMP '2026-01-31 10:15:30.5' AS moment, TIMESTAMPTZ '2026-01-31 10:15:30+02' AS zoned,
  CASE WHEN i > 1 THEN 'text ' || i END AS text, encode('ü') AS bytes, '4d5c0d1e-8f2a-4f3b-9c57-1b2a3c4d5e6f'::UUID AS uuid, i::UTINYINT AS tiny, i::UBIGINT AS wide,
  [i, 2] AS list, {'a': i} AS struct, TIME '10:15:00' AS clock FROM range(5) AS r (i)`;

async function parquetFiles(): Promise<Buffer[]> {
  const columns = (['UNCOMPRESSED', 'SNAPPY'] as const).map((codec) =>
    Buffer.from(parquetWriteBuffer({ columnData: table.columns, codec })),
  );
  const instance = await DuckDBInstance.create(':memory:', { threads: '1' });
  const duckdb = await instance.connect();
  const file = path.join(folder, 'seed.parquet');
  for (const options of ['COMPRESSION uncompressed', 'COMPRESSION gzip', 'COMPRESSION zstd, PARQUET_VERSION v2']) {
    await duckdb.run(`COPY (${parquetRows}) TO '${file}' (FORMAT parquet, ${options})`);
    columns.push(readFileSync(file));
  }
  duckdb.closeSync();
  instance.closeSync();
  return columns;
}

/** A workbook, down to its XML: with texts in a table of their own, formats, a formula, merged cells and a hidden sheet. */
function book(): Buffer {
  const main = 'xmlns="http://schemas.openxmlformats.org/spreadsheetml/2006/main"';
  const relations = 'http://schemas.openxmlformats.org/officeDocument/2006/relationships';
  const list = 'xmlns="http://schemas.openxmlformats.org/package/2006/relationships"';
  const related = (...targets: readonly (readonly [kind: string, target: string])[]): string =>
    `<Relationships ${list}>${targets.map(([kind, target], at) => `<Relationship Id="r${at + 1}" Type="${relations}/${kind}" Target="${target}"/>`).join('')}</Relationships>`;
  const sheets = '<sheet name="a" sheetId="1" r:id="r1"/><sheet name="b" sheetId="2" state="hidden" r:id="r2"/>';
  const files = {
    '_rels/.rels': related(['officeDocument', 'xl/workbook.xml']),
    'xl/workbook.xml': `<workbook ${main} xmlns:r="${relations}"><workbookPr date1904="0"/><sheets>${sheets}</sheets><calcPr fullCalcOnLoad="0"/></workbook>`,
    'xl/_rels/workbook.xml.rels': related(
      ['worksheet', 'worksheets/sheet1.xml'],
      ['worksheet', 'worksheets/sheet2.xml'],
      ['sharedStrings', 'sharedStrings.xml'],
      ['styles', 'styles.xml'],
    ),
    'xl/sharedStrings.xml': `<sst ${main} count="2" uniqueCount="2"><si><t>id</t></si><si><r><t>v</t></r><r><t xml:space="preserve"> 1 </t></r></si></sst>`,
    'xl/styles.xml': `<styleSheet ${main}><numFmts><numFmt numFmtId="164" formatCode="yyyy\\-mm;@"/></numFmts><cellXfs><xf numFmtId="0"/><xf numFmtId="14"/><xf numFmtId="164"/><xf numFmtId="4"/></cellXfs></styleSheet>`,
    'xl/worksheets/sheet1.xml': `<worksheet ${main}><sheetData><row r="1"><c r="A1" t="s"><v>0</v></c><c r="B1" t="s"><v>1</v></c><c r="C1" t="inlineStr"><is><t>c</t></is></c></row><row r="2"><c r="A2"><v>1.5</v></c><c r="B2" s="1"><v>45000</v></c><c r="C2" t="b"><v>1</v></c></row><row r="4"><c r="A4" t="str"><f>A2&amp;"x"</f><v>1.5x</v></c><c r="C4" t="e"><v>#N/A</v></c><c r="D4" s="2"><v>45000.5</v></c></row></sheetData><mergeCells count="1"><mergeCell ref="A2:A3"/></mergeCells></worksheet>`,
    'xl/worksheets/sheet2.xml': `<worksheet ${main}><sheetData><row><c t="d"><v>2026-01-31T00:00:00</v></c><c s="3"><v>1E-7</v></c></row></sheetData></worksheet>`,
  };
  // Stored as it is: bytes that are changed reach the XML.
  const entries = Object.entries(files).map(([name, text]): [string, Uint8Array] => [name, Buffer.from(text)]);
  return Buffer.from(zipSync(Object.fromEntries(entries), { level: 0 }));
}

const folder = folderOf('files');

/** Reads a file as the agent does, from its path: rows with all their columns, or a refusal. */
function reading(type: string, name: string, keys: object = {}): FuzzTarget['check'] {
  return async (input) => {
    const file = path.join(folder, name);
    writeFileSync(file, input);
    const kind = kinds[type];
    if (kind === undefined) throw new Error(`there is no kind ${type}`);
    const settings = kind.schema.parse({ files: [name], settle: '0s', ...keys });
    const context = { name: 'a', baseDir: folder, clock: systemClock, mapping: noMapping, timezone: 'UTC' };
    await refusing(async () => {
      const source = kind.open(settings, context);
      for (const part of await source.parts(calm)) {
        for await (const batch of source.rows(part, calm)) {
          for (const row of rowsOf(batch)) {
            must(
              row.every((field) => typeof field === 'string'),
              () => `a field is no text: ${JSON.stringify(row)}`,
            );
          }
        }
      }
    });
  };
}

/** A file whose last line has no end would be waited for. */
const anyEnd = { lineEnd: 'any' };

const csvSeeds = (): Buffer[] => [
  ...readdirSync(samples).map((name) => readFileSync(path.join(samples, name)).subarray(0, 4000)),
  ...Array.from({ length: 40 }, (_, seed) => nastyFile(seed).content.subarray(0, 4000)),
];

const jsonSeeds = (): Buffer[] => Array.from({ length: 40 }, (_, seed) => nastyJson(seed).content.subarray(0, 4000));
export const jsonTokens = [
  '{',
  '}',
  '[',
  ']',
  '"',
  ':',
  ',',
  'null',
  'true',
  '1e400',
  '-0',
  '0.10',
  String.raw`\u0000`,
  String.raw`\ud83d`,
  '[[',
];

/** The settings of a file that is hard to read, for bytes that are changed. */
function bothWays(input: Buffer, draw: Draw): Promise<unknown> {
  const { settings, chunkBytes, blockBytes } = nastyFile(draw.below(1000));
  return readBothWays({
    content: input,
    settings: draw.once(2) ? settings : plainSettings,
    chunkBytes,
    blockBytes,
    draw,
  });
}

export const fileTargets: Readonly<Record<string, FuzzTarget>> = {
  // The scanner and csv-parse, which must agree.
  csv: { seeds: csvSeeds, tokens: texts, check: async (input, draw) => void (await bothWays(input, draw)) },
  'csv-file': { seeds: csvSeeds, tokens: texts, check: reading('csv', 'a.csv', anyEnd) },
  tsv: { seeds: csvSeeds, tokens: texts, check: reading('tsv', 'a.tsv', { ...anyEnd, skipRows: 1 }) },
  fixed: {
    seeds: csvSeeds,
    tokens: texts,
    check: reading('fixed', 'a.txt', { ...anyEnd, columns: { a: '1-4', b: '5-12', c: '13-40' } }),
  },
  jsonl: {
    seeds: jsonSeeds,
    tokens: jsonTokens,
    // The scanner and the tokenizer, which must agree.
    async check(input, draw) {
      const { chunkBytes, blockBytes, layout } = nastyJson(draw.below(1000));
      await readJsonBothWays({ content: input, layout, chunkBytes, blockBytes, draw });
    },
  },
  'jsonl-file': { seeds: jsonSeeds, tokens: jsonTokens, check: reading('jsonl', 'a.jsonl', anyEnd) },
  json: { seeds: jsonSeeds, tokens: jsonTokens, check: reading('json', 'a.json') },
  'json-keys': { seeds: jsonSeeds, tokens: jsonTokens, check: reading('json', 'b.json', { rows: '/data' }) },
  xlsx: {
    seeds: () => [book()],
    tokens: ['<c>', '</c>', '&#0;', '&amp;', '<![CDATA[', 'r="XFD1"', 't="s"', 's="9"', '1e999'],
    check: reading('xlsx', 'a.xlsx'),
  },
  parquet: {
    seeds: parquetFiles,
    tokens: ['PAR1'],
    check: reading('parquet', 'a.parquet'),
  },
  gzip: { seeds: () => csvSeeds().map((one) => gzipSync(one)), tokens: [], check: reading('csv', 'a.csv.gz', anyEnd) },
  zstd: {
    seeds: () => csvSeeds().map((one) => zstdCompressSync(one)),
    tokens: [],
    check: reading('csv', 'a.csv.zst', anyEnd),
  },
  zip: {
    seeds: () => [
      Buffer.from(zipSync({ 'a.csv': Buffer.from('a,b\n1,2\n'), 'x/b.csv': Buffer.from('a,b\n3,4\n') }, { level: 0 })),
    ],
    tokens: ['PK\u0003\u0004', 'PK\u0001\u0002', 'PK\u0005\u0006', '../', '/'],
    check: reading('csv', 'a.zip', { ...anyEnd, members: ['*.csv'] }),
  },
};
