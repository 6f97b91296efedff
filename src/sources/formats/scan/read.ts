/** Delimited files to columns: csv-parse reads their header and what is not plain, the scanner all else. */
import { isAgentError } from '../../../core/errors.ts';
import type { Batch, ColumnNeeds } from '../../../core/mapping/column-batch.ts';
import type { ReadEnd, Row } from '../../../core/model.ts';
import type { PartFile } from '../../files/part-file.ts';
import type { FormatBatch, FormatContent } from '../../files/read-part.ts';
import { LinesAbove } from '../above.ts';
import { CsvFault, CsvParser } from '../csv-parser.ts';
import { type DataStart, type DelimitedSettings, readDelimited } from '../delimited.ts';
import { Table } from '../table.ts';
import { isLineEnd, isUtf8Label, lineAt, readText } from '../text.ts';
import { type ScannedText, TextInput, openText, utf8LengthOf } from './input.ts';
import { Kernel } from './kernel/kernel.ts';
import { type ScanLayout, Scanner, batchRowsOf } from './scanner.ts';
import { type TextBytes, singleByteText, utf8 } from './text-bytes.ts';

/** Read at once. */
export const blockBytesDefault = 256 * 1024;

/** The header stands within these as a rule: csv-parse need not read much of the data behind it. */
const headerBytes = 4096;

export interface ScanNeeds {
  readonly needs: ColumnNeeds;
  /** How much of the file is read at once. */
  readonly blockBytes?: number;
}

/**
 * The rows of delimited text as columns, and as rows from the first block on that is not plain: csv-parse has the word
 * there, above all about what is wrong with it. The first batch comes even without rows.
 * @throws AgentError `part.unreadable` as `readDelimited`
 */
export async function* readColumns(
  file: PartFile,
  settings: DelimitedSettings,
  { needs, blockBytes = blockBytesDefault }: ScanNeeds,
): AsyncGenerator<FormatBatch, FormatContent, void> {
  const start = await findData(file, settings);
  if (start === undefined) return yield* readDelimited(file, settings);
  const text = await openText(file, settings.encoding, blockBytes);
  const marks = marksOf(settings, text.encoding);
  if (marks === undefined) return yield* readDelimited(file, settings, start);
  const { columns, firstRow, lines } = start;
  const needed = needs(columns);
  const rowsMax = batchRowsOf(needed);
  // Half of a batch at most is held back.
  if (2 * settings.footer > rowsMax) return yield* readDelimited(file, settings, start);
  const isOneColumn = firstRow.length === 1;
  const layout: ScanLayout = { ...marks, encoding: text.encoding, columns, needs: needed, isOneColumn, rowsMax };
  using kernel = new Kernel();
  const scanner = new Scanner(kernel, layout, { lines, bytes: blockBytes });
  const input = new TextInput(text, start.offset);
  let isPlain: boolean;
  try {
    const heldBack = (): number | undefined => scanner.heldBack(settings.footer);
    isPlain = yield* scanAll(scanner, input, { file, blockBytes, heldBack });
  } finally {
    await input.close();
  }
  if (isPlain) {
    const format = text.isRaw ? formatOf(settings, { columns, isOneColumn, label: text.label }) : undefined;
    return { endsWithLineEnd: isLineEnd(input.last), format };
  }
  const offset = await utf8LengthOf(text, input.bytesSkipped + scanner.offset);
  return yield* readDelimited(file, settings, { ...start, offset, lines: scanner.lines });
}

/** What has to be known of a file to read rows that are appended to it. */
interface AppendFormat {
  readonly columns: readonly string[];
  readonly isOneColumn: boolean;
  /** The label of the encoding, which a byte-order mark may have said. */
  readonly label: string;
}

/** `undefined` where more than the end of the file tells which rows count. */
export function formatOf(settings: DelimitedSettings, format: AppendFormat): string | undefined {
  return settings.footer > 0 ? undefined : JSON.stringify(format);
}

/** The rows behind those that were read of a file. `undefined` where they are not plain. */
export async function* readColumnsBehind(
  file: PartFile,
  settings: DelimitedSettings,
  { needs, blockBytes = blockBytesDefault }: ScanNeeds,
  end: ReadEnd,
): AsyncGenerator<Batch, FormatContent | undefined, void> {
  const format = JSON.parse(end.format) as AppendFormat;
  const { columns, isOneColumn, label } = format;
  const encoding = isUtf8Label(label) ? utf8 : singleByteText(label);
  const marks = encoding && marksOf(settings, encoding);
  if (encoding === undefined || marks === undefined) return undefined;
  const needed = needs(columns);
  const layout: ScanLayout = { ...marks, encoding, columns, needs: needed, isOneColumn, rowsMax: batchRowsOf(needed) };
  using kernel = new Kernel();
  const scanner = new Scanner(kernel, layout, { lines: 0, bytes: blockBytes });
  return yield* scanBehind(scanner, file, end, { encoding, label, blockBytes });
}

/** The rows behind those that were read of a file, by a scanner that has read nothing yet. `undefined` where they are not plain. */
export async function* scanBehind(
  scanner: BlockScanner,
  file: PartFile,
  end: ReadEnd,
  { blockBytes, ...text }: Pick<ScannedText, 'encoding' | 'label'> & { readonly blockBytes: number },
): AsyncGenerator<Batch, FormatContent | undefined, void> {
  const chunks = (): AsyncGenerator<Buffer, void, void> => file.storedFrom(end.bytes, blockBytes);
  const input = new TextInput({ ...text, isRaw: true, markBytes: 0, chunks }, 0);
  try {
    const isPlain = yield* scanAll(scanner, input, { file, blockBytes });
    return isPlain ? { endsWithLineEnd: isLineEnd(input.last), format: end.format } : undefined;
  } finally {
    await input.close();
  }
}

interface Reading {
  readonly file: PartFile;
  readonly blockBytes: number;
  /** How many rows at the end of a scan may not count; `undefined`: so many that csv-parse has to keep them. */
  readonly heldBack?: () => number | undefined;
}

/** What `scanAll` reads by: see `Scanner`. */
interface BlockScanner extends Pick<Scanner, 'block' | 'isFull'> {
  scan(isLast: boolean): boolean;
  take(heldBack: number): Batch;
}

/** Gives the batches of a text as far as it is plain. @returns whether that is all of it */
export async function* scanAll(
  scanner: BlockScanner,
  input: TextInput,
  { file, blockBytes, heldBack = () => 0 }: Reading,
): AsyncGenerator<Batch, boolean, void> {
  const { block } = scanner;
  let isFirst = true;
  let isLast = false;
  for (let wanted = blockBytes; ;) {
    while (!isLast && block.end - block.start < wanted) {
      const chunk = await nextChunk(input);
      if (chunk === 'unreadable') return false;
      if (chunk === undefined) isLast = true;
      else block.append(chunk);
    }
    if (!scanner.scan(isLast)) return false;
    const back = heldBack();
    if (back === undefined) return false;
    const batch = scanner.take(back);
    if (isFirst || batch.count > 0) yield { ...batch, share: file.share };
    // There may be many batches in what was read ahead.
    file.throwIfAborted();
    isFirst = false;
    if (isLast && !scanner.isFull) return true;
    // What is left begins with rows that are held back or not complete, and may be long.
    const left = block.end - block.start;
    wanted = scanner.isFull ? left : Math.max(blockBytes, 2 * left);
  }
}

/** `unreadable` where the text is damaged: what is wrong first is for `readDelimited` to say. */
async function nextChunk(input: TextInput): Promise<Buffer | undefined | 'unreadable'> {
  try {
    return await input.next();
  } catch (error) {
    if (isAgentError(error, 'part.unreadable')) return 'unreadable';
    throw error;
  }
}

/** `undefined` where the scanner cannot read such text. */
export function marksOf(
  { delimiter, comment }: DelimitedSettings,
  encoding: TextBytes,
): Pick<ScanLayout, 'delimiter' | 'comment'> | undefined {
  const bytes = encoding.encode(delimiter);
  // A number could hold such a delimiter.
  if (bytes?.length !== 1 || /[-.\d]/.test(delimiter)) return undefined;
  return {
    delimiter: bytes[0] as number,
    // No line starts with what the encoding cannot write.
    comment: comment === undefined ? undefined : encoding.encode(comment),
  };
}

/** Where the data begins; `undefined` where csv-parse finds none, and has to say why. */
export async function findData(file: PartFile, settings: DelimitedSettings): Promise<DataStart | undefined> {
  const text = { file, encoding: settings.encoding };
  try {
    const header = new HeaderReader(await CsvParser.open(settings), settings, file.name);
    for await (const chunk of readText(text)) {
      for (let at = 0; at < chunk.length && header.found === undefined; at += headerBytes) {
        header.write(chunk.subarray(at, at + headerBytes));
      }
      if (header.found !== undefined) break;
    }
    header.end();
    if (header.found === undefined) return undefined;
    return { ...header.found, lines: (await lineAt(text, header.found.offset)) - 1 };
  } catch (error) {
    if (error instanceof CsvFault || isAgentError(error, 'part.unreadable')) return undefined;
    throw error;
  }
}

class HeaderReader {
  found: Omit<DataStart, 'lines'> | undefined;
  readonly #parser: CsvParser;
  readonly #above: LinesAbove;
  readonly #table: Table;

  constructor(parser: CsvParser, settings: DelimitedSettings, name: string) {
    this.#parser = parser;
    this.#above = new LinesAbove(settings);
    this.#table = new Table({ ...settings, footer: 0 }, name, 'skipped');
  }

  /** @param chunk in UTF-8 */
  write(chunk: Buffer): void {
    this.#take(this.#parser.write(this.#above.cut(chunk)));
  }

  end(): void {
    if (this.found === undefined) this.#take(this.#parser.write(this.#above.end()));
    if (this.found === undefined) this.#take(this.#parser.end());
  }

  #take(rows: readonly Row[]): void {
    for (const [at, row] of rows.entries()) {
      const batch = this.#table.take([row]);
      if (batch === undefined) continue;
      // Without a header the first row is data.
      const isData = batch.rows.length > 0;
      const end = isData ? this.#parser.headerStart : (this.#parser.rowEnds[at] as number);
      const firstRow = this.#parser.header as Row;
      this.found = { columns: batch.columns, firstRow, offset: this.#above.bytesCut + end };
      return;
    }
  }
}
