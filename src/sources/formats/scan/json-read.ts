/** Files of plain JSON records to columns. */
import { AgentError } from '../../../core/errors.ts';
import type { Batch, ColumnNeed, ColumnNeeds } from '../../../core/mapping/column-batch.ts';
import type { PartFile } from '../../files/part-file.ts';
import { TextInput, openText } from './input.ts';
import { JsonKeys } from './json-keys.ts';
import { Kernel } from './kernel/kernel.ts';
import { type JsonLayout, JsonScanner } from './json-scanner.ts';
import { blockBytesDefault, scanAll } from './read.ts';

export interface JsonScan {
  readonly layout: JsonLayout;
  readonly needs: ColumnNeeds;
  /** How much of the file is read at once. */
  readonly blockBytes?: number;
}

/**
 * The records of a file as columns. Which columns there are is known only after the last record, so that the file is read
 * over twice.
 * @returns the last byte of the text; `notPlain`, with no batch before, where the tokenizer is to read the file
 */
export async function* readPlainRecords(
  file: PartFile,
  { layout, needs, blockBytes = blockBytesDefault }: JsonScan,
): AsyncGenerator<Batch, { readonly last: number | undefined } | 'notPlain', void> {
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
    if (next.value) return { last };
    throw new AgentError('part.unreadable', `${file.name} changed while it was read`);
  }
}
