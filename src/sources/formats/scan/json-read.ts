/** Files of plain JSON records to columns. */
import { AgentError } from '../../../core/errors.ts';
import type { Batch, ColumnNeed, ColumnNeeds } from '../../../core/mapping/column-batch.ts';
import type { ReadEnd } from '../../../core/model.ts';
import type { PartFile } from '../../files/part-file.ts';
import type { FormatContent } from '../../files/read-part.ts';
import { isLineEnd } from '../text.ts';
import { TextInput, openText } from './input.ts';
import { JsonKeys } from './json-keys.ts';
import { Kernel } from './kernel/kernel.ts';
import { type JsonLayout, JsonScanner } from './json-scanner.ts';
import { blockBytesDefault, scanAll, scanBehind } from './read.ts';
import { utf8 } from './text-bytes.ts';

export interface JsonScan {
  readonly layout: JsonLayout;
  readonly needs: ColumnNeeds;
  /** How much of the file is read at once. */
  readonly blockBytes?: number;
}

/** Columns that come up later than this are rare. */
const learnedBytes = 1024 * 1024;

/** The columns of the first lines of a file; `undefined` where there are none, or a line is not plain. @param from where the text begins */
export async function learnColumns(file: PartFile, from: number): Promise<readonly string[] | undefined> {
  const bytes = await file.slice(from, from + learnedBytes);
  using kernel = new Kernel();
  const keys = new JsonKeys(kernel);
  const scanner = new JsonScanner(kernel, 'lines', keys, { needs: [], bytes: bytes.length });
  scanner.block.append(bytes);
  const isLast = from + bytes.length >= file.bytes;
  do {
    if (!scanner.scan(isLast)) return undefined;
    scanner.take();
  } while (scanner.isFull);
  return keys.columns.length > 0 ? keys.columns : undefined;
}

/**
 * The records of a file as columns. Which columns there are is known only after the last record, so that the file is read
 * over twice.
 * @returns `notPlain`, with no batch before, where the tokenizer is to read the file
 */
export async function* readPlainRecords(
  file: PartFile,
  { layout, needs, blockBytes = blockBytesDefault }: JsonScan,
): AsyncGenerator<Batch, FormatContent | 'notPlain', void> {
  using kernel = new Kernel();
  const keys = new JsonKeys(kernel);
  const text = await openText(file, 'utf-8', blockBytes);
  let last: number | undefined;
  async function* pass(needed: readonly ColumnNeed[]): AsyncGenerator<Batch, boolean, void> {
    const input = new TextInput(text, 0);
    try {
      const scanner = new JsonScanner(kernel, layout, keys, { needs: needed, bytes: blockBytes });
      const isPlain = yield* scanAll(scanner, input, { file, blockBytes });
      last = input.last;
      return isPlain;
    } finally {
      await input.close();
    }
  }
  const learning = pass([]);
  for (;;) {
    const next = await learning.next();
    if (next.done !== true) continue;
    if (!next.value) return 'notPlain';
    break;
  }
  keys.isComplete = true;
  for (const reading = pass(needs(keys.columns)); ;) {
    const next = await reading.next();
    if (next.done !== true) {
      yield { ...next.value, share: (1 + file.share) / 2 };
      continue;
    }
    if (next.value) {
      return { endsWithLineEnd: isLineEnd(last), format: text.isRaw ? recordFormat(keys.columns) : undefined };
    }
    throw new AgentError('part.unreadable', `${file.name} changed while it was read`);
  }
}

/** What has to be known of a file to read records that are appended to it: its columns. */
export function recordFormat(columns: readonly string[]): string {
  return JSON.stringify(columns);
}

/** The records of JSON lines behind those that were read of a file. `undefined` where they are not plain, or have a column more. */
export async function* readRecordsBehind(
  file: PartFile,
  { needs, blockBytes = blockBytesDefault }: Omit<JsonScan, 'layout'>,
  end: ReadEnd,
): AsyncGenerator<Batch, FormatContent | undefined, void> {
  const columns = JSON.parse(end.format) as readonly string[];
  using kernel = new Kernel();
  const keys = new JsonKeys(kernel, columns);
  const scanner = new JsonScanner(kernel, 'lines', keys, { needs: needs(columns), bytes: blockBytes });
  return yield* scanBehind(scanner, file, end, { encoding: utf8, label: 'utf-8', blockBytes });
}
