/**
 * Time and memory of a workbook's rows beside read-excel-file, which reads the same sheet whole.
 *
 *   node bench/xlsx.ts ours|peer FILE ROWS      reads one file, which has so many rows
 */
import { closeSync, existsSync, openSync, renameSync, writeSync } from 'node:fs';
import path from 'node:path';
import { Zip, ZipDeflate } from 'fflate';
import { benchFile } from './agent.ts';
import { valueOf } from './generate.ts';
import { type Place, type Sizes, type Table, peak, resultOf, slower } from './measurement.ts';
import { compare } from './measure.ts';
import { openSource } from './open-source.ts';

const seed = 1;
const numberColumns = 6;
const columns = [
  'region',
  'product',
  'scenario',
  'date',
  ...Array.from({ length: numberColumns }, (_, at) => `n${at}`),
];
const regions = 5;
const products = 1000;

const spreadsheet = 'http://schemas.openxmlformats.org/spreadsheetml/2006/main';
const relations = 'http://schemas.openxmlformats.org/officeDocument/2006/relationships';
const relation = (id: string, kind: string, target: string): string =>
  `<Relationship Id="${id}" Type="${relations}/${kind}" Target="${target}"/>`;

/** What every workbook has beside its sheet. Style 1 is a date. */
const entries: Readonly<Record<string, string>> = {
  '[Content_Types].xml': '<Types xmlns="http://schemas.openxmlformats.org/package/2006/content-types"/>',
  '_rels/.rels': `<Relationships>${relation('rId1', 'officeDocument', 'xl/workbook.xml')}</Relationships>`,
  'xl/workbook.xml': `<workbook xmlns="${spreadsheet}" xmlns:r="${relations}"><sheets><sheet name="Data" sheetId="1" r:id="rId1"/></sheets></workbook>`,
  'xl/_rels/workbook.xml.rels': `<Relationships>${relation('rId1', 'worksheet', 'worksheets/sheet1.xml')}${relation('rId2', 'styles', 'styles.xml')}${relation('rId3', 'sharedStrings', 'sharedStrings.xml')}</Relationships>`,
  'xl/styles.xml': `<styleSheet xmlns="${spreadsheet}"><cellXfs><xf numFmtId="0"/><xf numFmtId="14"/></cellXfs></styleSheet>`,
  'xl/sharedStrings.xml': `<sst xmlns="${spreadsheet}">${texts()
    .map((text) => `<si><t>${text}</t></si>`)
    .join('')}</sst>`,
};

function texts(): readonly string[] {
  const names = (name: string, count: number): readonly string[] =>
    Array.from({ length: count }, (_, at) => `${name} ${String(at).padStart(6, '0')}`);
  return ['Actual', ...columns, ...names('Region', regions), ...names('Beans, roasted', products)];
}

export async function workbook(place: Place, { bookRows, runs }: Sizes): Promise<Table> {
  const file = path.join(place.dataDir, `book-${bookRows}.xlsx`);
  writeBook(file, bookRows);
  const args = (reader: string): readonly string[] => [benchFile('xlsx'), reader, file, String(bookRows)];
  const results = await compare(
    [
      { name: 'read-excel-file', args: args('peer') },
      { name: 'rows of type xlsx', args: args('ours') },
    ],
    runs,
  );
  const [theirs, ours] = [resultOf(results, 'read-excel-file'), resultOf(results, 'rows of type xlsx')];
  return {
    title: `Workbook of ${bookRows} rows x ${columns.length} columns`,
    results,
    figures: [slower('read-excel-file', ours, theirs), peak('workbook: peak', ours, { must: 1000 })],
  };
}

/** Writes the file unless it is there: the same seed and size give the same rows. */
function writeBook(file: string, rows: number): void {
  if (existsSync(file)) return;
  const draft = `${file}.draft`;
  const out = openSync(draft, 'w');
  const zip = new Zip((error, chunk) => {
    if (error !== null) throw error;
    writeSync(out, chunk);
  });
  const encoder = new TextEncoder();
  const open = (name: string): ZipDeflate => {
    const entry = new ZipDeflate(name, { level: 6 });
    zip.add(entry);
    return entry;
  };
  for (const [name, text] of Object.entries(entries)) open(name).push(encoder.encode(text), true);
  const sheet = open('xl/worksheets/sheet1.xml');
  sheet.push(encoder.encode(`<worksheet xmlns="${spreadsheet}"><sheetData>`));
  for (let row = 0; row <= rows; row++) sheet.push(encoder.encode(rowXml(row)));
  sheet.push(encoder.encode('</sheetData></worksheet>'), true);
  zip.end();
  closeSync(out);
  renameSync(draft, file);
}

function rowXml(row: number): string {
  const place = (at: number): string => `r="${String.fromCharCode(65 + at)}${row + 1}"`;
  const shared = (at: number, text: number): string => `<c ${place(at)} t="s"><v>${text}</v></c>`;
  if (row === 0) return `<row r="1">${columns.map((_, at) => shared(at, at + 1)).join('')}</row>`;
  const first = 1 + columns.length;
  const cells = [
    shared(0, first + (row % regions)),
    shared(1, first + regions + (row % products)),
    shared(2, 0),
    `<c ${place(3)} s="1"><v>${43_831 + (row % 1500)}</v></c>`,
    ...Array.from({ length: numberColumns }, (_, at) => `<c ${place(4 + at)}><v>${valueOf(seed, row, at)}</v></c>`),
  ];
  return `<row r="${row + 1}">${cells.join('')}</row>`;
}

/** Through the source, as the agent does. */
async function readOurs(file: string): Promise<number> {
  const { signal } = new AbortController();
  const source = openSource('xlsx', { files: [path.basename(file)], settle: '0s' }, path.dirname(file));
  let rows = 0;
  for (const part of await source.parts(signal)) {
    for await (const batch of source.rows(part, signal)) rows += batch.count;
  }
  return rows;
}

async function readPeer(file: string): Promise<number> {
  const { readSheet } = await import('read-excel-file/node');
  const rows = await readSheet(file, { parseNumber: (text) => text });
  return rows.length - 1;
}

/** One reading of a file in a process of its own. */
async function main(): Promise<void> {
  const [reader, file = '', expected] = process.argv.slice(2);
  const rows = reader === 'peer' ? await readPeer(file) : await readOurs(file);
  if (rows !== Number(expected)) throw new Error(`${rows} rows of ${expected}`);
}

if (import.meta.main) await main();
