/** Looks into files that no config describes yet: enough of each to propose one, and never all of a large one. */
import { readdirSync } from 'node:fs';
import path from 'node:path';
import { AgentError } from '../core/errors.ts';
import type { RowBatch } from '../core/model.ts';
import type { RecordsSample, Sample } from '../propose/layout.ts';
import { PartFile } from '../sources/files/part-file.ts';
import { StableFile } from '../sources/files/stable-file.ts';
import { readDocument } from '../sources/formats/json-array.ts';
import { readTokens } from '../sources/formats/json-lines.ts';
import { otherKind } from '../sources/formats/other-kinds.ts';
import { readParquet } from '../sources/formats/parquet.ts';
import { openWorkbook } from '../sources/formats/workbook.ts';
import { readWorkbook } from '../sources/formats/workbook-table.ts';

/** A larger file is looked at in three pieces. */
const wholeBytesMax = 8_000_000;
const headBytes = 4_000_000;
const pieceBytes = 1_000_000;
/** How much of a compressed file is expanded for its end. */
const expandedMax = 1_000_000_000;
/** Rows of a workbook or of records. */
const rowsMax = 20_000;
/** A larger JSON document is taken for a list. */
const documentBytesMax = 32_000_000;

/**
 * @param file absolute
 * @param name as the config will name it
 * @throws AgentError `part.unreadable` where it is of a kind that no source reads
 */
export async function sampleFile(file: string, name: string, signal: AbortSignal): Promise<Sample> {
  const opened = await StableFile.open(file, name, signal);
  try {
    const part = new PartFile(opened, expandedMax);
    const start = await beginning(part);
    if (start.length === 0)
      throw new AgentError('part.unreadable', `${name} is empty`, { hint: 'export it once more' });
    if (/\.zip$/i.test(name)) {
      const hint =
        'unpack it to have a config proposed; then the archive itself can be read: see members in docs/CONFIG.md';
      throw new AgentError('part.unreadable', `${name} is an archive of files`, { hint });
    }
    const magic = start.toString('latin1', 0, 4);
    if (magic === 'PK\u0003\u0004') return await sampleWorkbook(part, name);
    if (magic === 'PAR1') return { form: 'records', type: 'parquet', name, ...(await firstRows(readParquet(part))) };
    const other = otherKind(start);
    if (other !== undefined) throw new AgentError('part.unreadable', `${name} is ${other.what}`, { hint: other.hint });
    if (/^\s*[[{]/.test(start.toString('utf8').replace(/^\uFEFF/, ''))) return await sampleJson(part, name);
    return { form: 'text', name, ...(await textPieces(part)) };
  } finally {
    await opened.close();
  }
}

/** The names in a folder, as the config will name them; none where it cannot be read. */
export function namesBeside(file: string, name: string): readonly string[] {
  const folder = name.slice(0, name.lastIndexOf('/') + 1);
  try {
    return readdirSync(path.dirname(file)).map((one) => folder + one);
  } catch (error) {
    if (error instanceof Error && 'code' in error) return [];
    throw error;
  }
}

async function beginning(part: PartFile): Promise<Buffer> {
  for await (const chunk of part.chunks()) return chunk.subarray(0, 4096);
  return Buffer.alloc(0);
}

async function textPieces(part: PartFile): Promise<{ readonly pieces: readonly Buffer[]; readonly isWhole: boolean }> {
  if (part.fd === undefined) return await expandedPieces(part);
  const { bytes } = part;
  if (bytes <= wholeBytesMax) return { pieces: [await part.slice(0, bytes)], isWhole: true };
  const middle = Math.floor((bytes - pieceBytes) / 2);
  return {
    pieces: [
      await part.slice(0, headBytes),
      await part.slice(Math.max(headBytes, middle), Math.max(headBytes, middle) + pieceBytes),
      await part.slice(bytes - pieceBytes, bytes),
    ],
    isWhole: false,
  };
}

/** Of a compressed file: its start and its end, in one pass. */
async function expandedPieces(
  part: PartFile,
): Promise<{ readonly pieces: readonly Buffer[]; readonly isWhole: boolean }> {
  const head: Buffer[] = [];
  const tail: Buffer[] = [];
  const held = { head: 0, tail: 0, dropped: 0 };
  for await (const chunk of part.chunks()) {
    if (held.head < wholeBytesMax) {
      head.push(Buffer.from(chunk));
      held.head += chunk.length;
      continue;
    }
    tail.push(Buffer.from(chunk));
    held.tail += chunk.length;
    while (held.tail - (tail[0]?.length ?? 0) >= pieceBytes) {
      const gone = tail.shift()?.length ?? 0;
      held.tail -= gone;
      held.dropped += gone;
    }
  }
  const start = Buffer.concat(head);
  if (tail.length === 0) return { pieces: [start], isWhole: true };
  if (held.dropped === 0) return { pieces: [Buffer.concat([start, ...tail])], isWhole: true };
  return { pieces: [start, Buffer.concat(tail)], isWhole: false };
}

async function sampleWorkbook(part: PartFile, name: string): Promise<Sample> {
  const { sheets } = await openWorkbook(part, expandedMax);
  const shown = sheets.filter(({ kind, isHidden }) => kind === 'worksheet' && !isHidden).map((sheet) => sheet.name);
  const settings = { skipRows: 0, footer: 0, headerRows: 0, expandedMax };
  for (const sheet of shown) {
    const { rows, isWhole } = await firstRows(readWorkbook(part, { ...settings }, sheet));
    if (rows.filter((row) => row.filter((cell) => cell !== '').length > 1).length < 2) continue;
    return { form: 'sheet', name, sheet, others: shown.filter((other) => other !== sheet), rows, isWhole };
  }
  throw new AgentError('part.unreadable', `${name} shows no sheet with a table`, {
    hint: 'is the table on a hidden sheet?',
  });
}

async function sampleJson(part: PartFile, name: string): Promise<RecordsSample> {
  const items = await findList(part, name);
  if (items === 'lines') return { form: 'records', type: 'jsonl', name, ...(await firstRows(readTokens(part))) };
  const rows = await firstRows(readDocument(part, { steps: items, isPointer: false, hasLists: false }));
  return { form: 'records', type: 'json', name, items: items.length === 0 ? undefined : items.join('.'), ...rows };
}

/** Where the longest list of records is in the document; `lines` where each line is a record. */
async function findList(part: PartFile, name: string): Promise<readonly string[] | 'lines'> {
  const chunks: Buffer[] = [];
  let bytes = 0;
  for await (const chunk of part.chunks()) {
    chunks.push(Buffer.from(chunk));
    bytes += chunk.length;
    if (bytes > documentBytesMax) break;
  }
  const text = Buffer.concat(chunks)
    .toString('utf8')
    .replace(/^\uFEFF/, '')
    .trimStart();
  if (text.startsWith('[')) return [];
  const [first = '', second = ''] = text.split(/\r?\n/, 2);
  if (isJson(first) && (second.trimStart().startsWith('{') || /\.(jsonl|ndjson)(\.\w+)?$/i.test(name))) return 'lines';
  const document: unknown = isJson(text) ? JSON.parse(text) : undefined;
  const [longest] = listsIn(document, []).toSorted((a, b) => b.length - a.length);
  if (longest !== undefined) return longest.keys;
  throw new AgentError('part.unreadable', `${name}: no list of records can be found in the document`, {
    hint: 'say type: json, and where the list is: items: result.rows',
  });
}

function isJson(text: string): boolean {
  try {
    JSON.parse(text);
    return true;
  } catch {
    return false;
  }
}

function listsIn(
  value: unknown,
  keys: readonly string[],
): { readonly keys: readonly string[]; readonly length: number }[] {
  if (Array.isArray(value)) {
    const isRecords = value.length > 0 && value.every((one) => typeof one === 'object' && one !== null);
    return isRecords ? [{ keys, length: value.length }] : [];
  }
  if (typeof value !== 'object' || value === null || keys.length > 5) return [];
  return Object.entries(value).flatMap(([key, inner]) => (/[.]/.test(key) ? [] : listsIn(inner, [...keys, key])));
}

async function firstRows(
  batches: AsyncGenerator<RowBatch, unknown, void>,
): Promise<Pick<RecordsSample, 'columns' | 'rows' | 'isWhole'>> {
  const rows: (readonly string[])[] = [];
  let columns: readonly string[] = [];
  for await (const batch of batches) {
    ({ columns } = batch);
    for (const row of batch.rows) if (rows.length < rowsMax) rows.push(row);
    if (rows.length === rowsMax) return { columns, rows, isWhole: false };
  }
  return { columns, rows, isWhole: true };
}
