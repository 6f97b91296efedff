/** Workbooks as bytes, down to the XML where a test is about it. */
import { zipSync } from 'fflate';
import type { Zippable } from 'fflate';
import { expect } from 'vitest';
import type { FaultyPart } from './field-faults.ts';
import { readFaults } from './field-faults.ts';
import type { WholePart } from './source-world.ts';
import { openSource, readWhole, tempDir, writeFiles } from './source-world.ts';

/** One cell: a text (kept in the cell), or the inside of its element with its attributes. */
export type TestCell = string | { readonly attributes?: string; readonly xml: string };

export interface TestSheet {
  readonly name: string;
  readonly state?: 'visible' | 'hidden' | 'veryHidden';
  /** The kind of sheet behind the tab. */
  readonly kind?: 'worksheet' | 'chartsheet';
  /** An `undefined` row is not in the file. */
  readonly rows?: readonly (readonly TestCell[] | undefined)[];
  /** Instead of `rows`: what is inside `sheetData`. */
  readonly xml?: string;
}

export interface TestWorkbook {
  readonly sheets: readonly TestSheet[];
  /** Number formats; cells of the style n + 1 have the n-th. */
  readonly formats?: readonly (string | number)[];
  /** The inside of the elements of the table of texts. */
  readonly strings?: readonly string[];
  /** Elements of the workbook itself, such as `<calcPr fullCalcOnLoad="1"/>`. */
  readonly settings?: string;
  /** Files of the container that are added, or replaced. */
  readonly entries?: Readonly<Record<string, string>>;
}

const spreadsheet = 'http://schemas.openxmlformats.org/spreadsheetml/2006/main';
const relations = 'http://schemas.openxmlformats.org/officeDocument/2006/relationships';

/** Reads a file of these bytes. */
export async function readBytes(bytes: Uint8Array, keys: object = {}): Promise<WholePart> {
  const dir = await tempDir();
  await writeFiles(dir, { 'books.xlsx': bytes });
  return await readWhole(openSource('xlsx', { files: ['books.xlsx'], ...keys }, dir));
}

export function readBook(book: TestWorkbook, keys: object = {}): Promise<WholePart> {
  return readBytes(workbook(book), keys);
}

/** Reads a workbook and its faults: why fields cannot be used. */
export async function readBookFaults(book: TestWorkbook, keys: object = {}): Promise<FaultyPart> {
  const dir = await tempDir();
  await writeFiles(dir, { 'books.xlsx': workbook(book) });
  return await readFaults(openSource('xlsx', { files: ['books.xlsx'], ...keys }, dir));
}

/** For `toMatchObject` of a failure. */
export function unreadable(message: RegExp, hint: RegExp = /./): object {
  return { code: 'part.unreadable', message: expect.stringMatching(message), hint: expect.stringMatching(hint) };
}

export function workbook({
  sheets,
  formats = [],
  strings = [],
  settings = '',
  entries = {},
}: TestWorkbook): Uint8Array {
  const relation = (id: string, kind: string, target: string): string =>
    `<Relationship Id="${id}" Type="${relations}/${kind}" Target="${target}"/>`;
  const tab = ({ name, state = 'visible' }: TestSheet, at: number): string =>
    `<sheet name="${escaped(name)}" sheetId="${at + 1}" state="${state}" r:id="rId${at + 1}"/>`;
  const files: Record<string, string> = {
    '_rels/.rels': document('Relationships', relation('rId1', 'officeDocument', 'xl/workbook.xml')),
    'xl/workbook.xml': document(
      `workbook xmlns:r="${relations}"`,
      `${settings}<sheets>${sheets.map(tab).join('')}</sheets>`,
    ),
    'xl/_rels/workbook.xml.rels': document(
      'Relationships',
      [
        ...sheets.map(({ kind = 'worksheet' }, at) => relation(`rId${at + 1}`, kind, `sheets/sheet${at + 1}.xml`)),
        relation('rIdS', 'styles', 'styles.xml'),
        relation('rIdT', 'sharedStrings', '/xl/sharedStrings.xml'),
      ].join(''),
    ),
    'xl/styles.xml': styles(formats),
    'xl/sharedStrings.xml': document('sst', strings.map((inside) => `<si>${inside}</si>`).join('')),
    ...Object.fromEntries(sheets.map((sheet, at) => [`xl/sheets/sheet${at + 1}.xml`, sheetXml(sheet)])),
    ...entries,
  };
  return zipped(files);
}

export function zipped(files: Readonly<Record<string, string>>): Uint8Array {
  const encoded: Zippable = Object.fromEntries(
    Object.entries(files).map(([name, text]) => [name, new TextEncoder().encode(text)]),
  );
  return zipSync(encoded, { level: 1 });
}

/** The cell of a number, of the n-th of the workbook's formats where it has one. */
export function numberCell(text: string, format?: number): TestCell {
  return { xml: `<v>${text}</v>`, ...(format !== undefined && { attributes: `s="${format + 1}"` }) };
}

export function sharedCell(number: number): TestCell {
  return { attributes: 't="s"', xml: `<v>${number}</v>` };
}

export function document(root: string, inside: string): string {
  const [name] = root.split(' ');
  return `<?xml version="1.0" encoding="UTF-8"?>\n<${root} xmlns="${spreadsheet}">${inside}</${name}>`;
}

/** As XML has it; what XML cannot hold as workbooks have it. */
export function escaped(text: string): string {
  return text
    .replaceAll(/_(?=x[\dA-Fa-f]{4}_)/g, '_x005F_')
    .replaceAll(/\p{Cc}|[\uFFFE\uFFFF]/gu, (character) =>
      /[\t\n]/.test(character) ? character : `_x${character.charCodeAt(0).toString(16).padStart(4, '0')}_`,
    )
    .replaceAll('&', '&amp;')
    .replaceAll('<', '&lt;')
    .replaceAll('"', '&quot;');
}

function styles(formats: readonly (string | number)[]): string {
  const codes = formats.flatMap((format, at) =>
    typeof format === 'string' ? [`<numFmt numFmtId="${164 + at}" formatCode="${escaped(format)}"/>`] : [],
  );
  const ids = [0, ...formats.map((format, at) => (typeof format === 'number' ? format : 164 + at))];
  const cells = ids.map((id) => `<xf numFmtId="${id}"/>`).join('');
  return document(
    'styleSheet',
    `<numFmts>${codes.join('')}</numFmts><cellStyleXfs><xf numFmtId="14"/></cellStyleXfs><cellXfs>${cells}</cellXfs>`,
  );
}

function sheetXml({ rows = [], xml }: TestSheet): string {
  const cell = (content: TestCell, place: string): string => {
    const isText = typeof content === 'string';
    const attributes = isText ? 't="inlineStr"' : (content.attributes ?? '');
    const inside = isText ? `<is><t xml:space="preserve">${escaped(content)}</t></is>` : content.xml;
    return `<c r="${place}" ${attributes}>${inside}</c>`;
  };
  const row = (cells: readonly TestCell[] | undefined, at: number): string =>
    cells === undefined
      ? ''
      : `<row r="${at + 1}">${cells.map((content, column) => cell(content, `${letters(column)}${at + 1}`)).join('')}</row>`;
  return document(
    'worksheet',
    `<sheetPr/><sheetData>${xml ?? rows.map(row).join('')}</sheetData><pageMargins left="1"/>`,
  );
}

function letters(column: number): string {
  return (column >= 26 ? letters(Math.floor(column / 26) - 1) : '') + String.fromCharCode(65 + (column % 26));
}
