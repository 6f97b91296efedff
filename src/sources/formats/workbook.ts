/**
 * A workbook's container: which sheets there are, and where their texts and formats are.
 *
 * read-excel-file would do for small, good workbooks, but holds them whole (1.1 GB for 400 000 rows of 10 cells, this
 * 240 MB), takes a formula without a result for an empty cell, and knows of no hidden sheets and no bound on what comes
 * out. So the container is yauzl's and node:zlib's, the XML saxen's, and only the meaning of cells is our own.
 */
import path from 'node:path';
import { AgentError } from '../../core/errors.ts';
import type { DateSystem } from '../../core/model.ts';
import type { PartFile } from '../files/part-file.ts';
import { Slices } from './slices.ts';
import type { DateShape } from './workbook-dates.ts';
import { dateShape } from './workbook-dates.ts';
import type { XmlHandler, XmlTag } from './xml.ts';
import { parseXml } from './xml.ts';
import { Zip } from './zip.ts';

/** As a workbook's list of sheets has it. */
export interface Sheet {
  readonly name: string;
  readonly isHidden: boolean;
  /** `worksheet`, or what else stands behind a tab: `chartsheet`, `dialogsheet`, … */
  readonly kind: string;
  /** Its name in the container. */
  readonly entry: string;
}

export interface Workbook {
  readonly slices: Slices;
  readonly zip: Zip;
  /** In the order of their tabs. */
  readonly sheets: readonly Sheet[];
  readonly system: DateSystem;
  /** It asks to be calculated when it is opened. */
  readonly isUncalculated: boolean;
  /** Names in the container, where it has any. */
  readonly stringsEntry: string | undefined;
  readonly stylesEntry: string | undefined;
}

const cfbMagic = Buffer.from('d0cf11e0a1b11ae1', 'hex');
const zipMagic = Buffer.from('504b0304', 'hex');
export const saveAgain = 'open it in Excel and save it again as .xlsx';

/** @throws AgentError `part.unreadable` where it is not a workbook, or an old, binary or encrypted one */
export async function openWorkbook(file: PartFile, expandedMax: number): Promise<Workbook> {
  const slices = new Slices(file, await file.size());
  await checkMagic(slices);
  const zip = await Zip.open(slices, expandedMax);
  const main = await findMain(slices, zip);
  const list = await readList({ slices, zip }, main);
  const relations = await readRelations({ slices, zip }, main);
  const byId = new Map(relations.map((relation) => [relation.id, relation]));
  const entryOf = (kind: string): string | undefined => relations.find((relation) => relation.kind === kind)?.entry;
  const sheets = list.sheets.map(({ id, name, state }): Sheet => {
    const relation = byId.get(id);
    if (relation === undefined || !zip.has(relation.entry))
      throw slices.blame(new Error(`sheet ${name} is missing`), saveAgain);
    return { name, isHidden: state !== 'visible', kind: relation.kind, entry: relation.entry };
  });
  return {
    slices,
    zip,
    sheets,
    system: list.system,
    isUncalculated: list.isUncalculated,
    stringsEntry: entryOf('sharedStrings'),
    stylesEntry: entryOf('styles'),
  };
}

async function checkMagic(slices: Slices): Promise<void> {
  const { name } = slices.file;
  const magic = await slices.read(0, Math.min(8, slices.byteLength));
  if (magic.subarray(0, 4).equals(zipMagic)) return;
  if (!magic.equals(cfbMagic)) {
    const what = magic.length === 0 ? 'it is empty (0 bytes)' : 'it does not begin as a zip file does';
    throw new AgentError('part.unreadable', `${name} is not a workbook: ${what}`, {
      hint: 'is it a text file or a web page under the name of a workbook?',
    });
  }
  // The old container has its names in UTF-16; a new workbook is put into it when it gets a password.
  if (await holds(slices, Buffer.from('EncryptedPackage', 'utf16le'))) {
    throw new AgentError('part.unreadable', `${name} is encrypted`, { hint: 'remove the password and save it again' });
  }
  throw new AgentError('part.unreadable', `${name} is a workbook of Excel 97-2003 (.xls)`, {
    hint: 'save it as .xlsx',
  });
}

async function holds(slices: Slices, wanted: Buffer): Promise<boolean> {
  let kept: Buffer = Buffer.alloc(0);
  for await (const chunk of slices.file.chunks()) {
    kept = Buffer.concat([kept.subarray(-wanted.length), chunk]);
    if (kept.includes(wanted)) return true;
  }
  return false;
}

/** Where the workbook itself is in its container. */
async function findMain(slices: Slices, zip: Zip): Promise<string> {
  const { name } = slices.file;
  if (zip.has('content.xml') && zip.has('mimetype')) {
    throw new AgentError('part.unreadable', `${name} is an OpenDocument file (.ods)`, { hint: 'save it as .xlsx' });
  }
  const relations = zip.has('_rels/.rels') ? await readRelations({ slices, zip }, '') : [];
  const main = relations.find(({ kind }) => kind === 'officeDocument')?.entry ?? 'xl/workbook.xml';
  if (main.endsWith('.bin')) {
    throw new AgentError('part.unreadable', `${name} is a binary workbook (.xlsb)`, { hint: 'save it as .xlsx' });
  }
  if (zip.has(main) && !/^(?:word|ppt|visio)\//.test(main)) return main;
  throw new AgentError('part.unreadable', `${name} is a zip file, and no workbook is in it`, {
    hint: 'is it another kind of document, or an archive of workbooks? expand it',
  });
}

type Container = Pick<Workbook, 'slices' | 'zip'>;

/** Parses one small document of the container; `open` sees its elements. */
async function readEntry({ slices, zip }: Container, entry: string, open: (tag: XmlTag) => void): Promise<void> {
  const handler: XmlHandler = { open, close: () => undefined, text: () => undefined };
  try {
    await parseXml(zip.chunks(entry), handler);
  } catch (error) {
    throw slices.blame(inEntry(error, entry), saveAgain);
  }
}

/** A parser's failure, with the document that it is about. */
export function inEntry(error: unknown, entry: string): unknown {
  if (!(error instanceof Error) || error instanceof AgentError) return error;
  return new Error(`${entry} has ${error.message}`, { cause: error });
}

interface Relation {
  readonly id: string;
  /** The last word of its type's address, which is one of two: the format has a strict form. */
  readonly kind: string;
  /** The name of its target in the container. */
  readonly entry: string;
}

async function readRelations(container: Container, of: string): Promise<readonly Relation[]> {
  const folder = path.posix.dirname(of);
  const relations: Relation[] = [];
  const entry = path.posix.join(folder, '_rels', `${path.posix.basename(of)}.rels`);
  await readEntry(container, entry, (tag) => {
    if (tag.name !== 'Relationship' || tag.attribute('TargetMode') === 'External') return;
    const [id = '', type = '', target = ''] = ['Id', 'Type', 'Target'].map((name) => tag.attribute(name));
    const from = target.startsWith('/') ? target.slice(1) : path.posix.join(folder, target);
    relations.push({ id, kind: path.posix.basename(type), entry: path.posix.normalize(from) });
  });
  return relations;
}

interface List {
  readonly sheets: { readonly id: string; readonly name: string; readonly state: string }[];
  system: DateSystem;
  isUncalculated: boolean;
}

async function readList(container: Container, main: string): Promise<List> {
  const list: List = { sheets: [], system: 1900, isUncalculated: false };
  await readEntry(container, main, (tag) => {
    if (tag.name === 'sheet') {
      const [name = '', state = 'visible', id = ''] = [
        tag.attribute('name'),
        tag.attribute('state'),
        tag.prefixed('id'),
      ];
      list.sheets.push({ id, name, state });
    } else if (tag.name === 'workbookPr' && isTrue(tag.attribute('date1904'))) {
      list.system = 1904;
    } else if (tag.name === 'calcPr' && isTrue(tag.attribute('fullCalcOnLoad'))) {
      list.isUncalculated = true;
    }
  });
  return list;
}

function isTrue(value: string | undefined): boolean {
  return value === '1' || value === 'true';
}

/** The date format of each style, by its number. */
export async function readShapes(workbook: Workbook): Promise<readonly (DateShape | undefined)[]> {
  if (workbook.stylesEntry === undefined || !workbook.zip.has(workbook.stylesEntry)) return [];
  const codes = new Map<number, string>();
  const formats: number[] = [];
  let inCellFormats = false;
  await readEntry(workbook, workbook.stylesEntry, (tag) => {
    if (tag.name === 'numFmt') codes.set(Number(tag.attribute('numFmtId')), tag.attribute('formatCode') ?? '');
    // The formats of named styles come before, those of conditions after the cells' own.
    else if (tag.name === 'cellXfs') inCellFormats = true;
    else if (tag.name === 'xf' && inCellFormats) formats.push(Number(tag.attribute('numFmtId') ?? 0));
    else if (tag.name === 'cellStyles' || tag.name === 'dxfs') inCellFormats = false;
  });
  // A file may have far more styles than formats.
  const shapes = new Map([...new Set(formats)].map((id) => [id, dateShape(id, codes.get(id))]));
  return formats.map((id) => shapes.get(id));
}
