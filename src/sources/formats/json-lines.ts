/** JSON lines to rows: each line one object. */
import { AgentError } from '../../core/errors.ts';
import type { RowBatch } from '../../core/model.ts';
import type { PartFile } from '../files/part-file.ts';
import type { FormatBatch, FormatContent } from '../files/read-part.ts';
import { JsonRecords, readRecords } from './json-records.ts';
import { JsonFault, JsonTokenizer, JsonSize, decisive } from './json-tokens.ts';
import { type JsonScan, readPlainRecords } from './scan/json-read.ts';
import { isLineEnd, jsonText, readText } from './text.ts';

/**
 * The rows of JSON lines; blank lines are nothing.
 * @throws AgentError `part.unreadable` with the line
 */
export async function* readJsonLines(
  file: PartFile,
  scan: Omit<JsonScan, 'layout'>,
): AsyncGenerator<FormatBatch, FormatContent, void> {
  const scanned = yield* readPlainRecords(file, { layout: 'lines', ...scan });
  return scanned === 'notPlain' ? yield* readTokens(file) : scanned;
}

/** As rows of texts, whatever is in the records. */
export async function* readTokens(file: PartFile): AsyncGenerator<RowBatch, FormatContent, void> {
  let last: number | undefined;
  yield* readRecords(file, async function* pass(records) {
    last = yield* takeLines(file, records);
  });
  return { endsWithLineEnd: isLineEnd(last) };
}

/** The rows of several files as those of one: their columns are those of all. @throws AgentError as `readJsonLines` */
export async function* readJsonLinePages(files: readonly PartFile[]): AsyncGenerator<RowBatch, FormatContent, void> {
  const share = { share: 0 };
  let lasts: (number | undefined)[] = [];
  yield* readRecords(share, async function* pass(records) {
    lasts = [];
    for (const [at, file] of files.entries()) {
      share.share = (at + 1) / files.length;
      lasts.push(yield* takeLines(file, records));
    }
  });
  return { endsWithLineEnd: lasts.every((last) => last === undefined || isLineEnd(last)) };
}

/** Hands all records of a file over. @returns its last byte */
async function* takeLines(file: PartFile, records: JsonRecords): AsyncGenerator<void, number | undefined, void> {
  const lines = new Lines(await JsonTokenizer.open('many'), records, '\n');
  let last: number | undefined;
  try {
    for await (const chunk of readText(jsonText(file))) {
      last = chunk.at(-1);
      for (const piece of records.piecesOf(chunk.toString())) {
        lines.write(piece);
        yield;
      }
    }
    lines.end();
    yield;
  } catch (error) {
    if (!(error instanceof JsonFault)) throw error;
    throw await placedFault(file);
  }
  return last;
}

/** The first fault of a file, with its line. Only then each line is made to show its faults: that takes a quarter longer. */
async function placedFault(file: PartFile): Promise<AgentError> {
  const lines = new Lines(await JsonTokenizer.open('many'), new JsonRecords(), `\n${decisive}`);
  try {
    for await (const chunk of readText(jsonText(file))) lines.write(chunk.toString());
    lines.end();
  } catch (error) {
    if (!(error instanceof JsonFault)) throw error;
    return new AgentError('part.unreadable', `${file.name} line ${lines.line}: ${error.message}`, { hint: error.hint });
  }
  return new AgentError('part.unreadable', `${file.name} changed while it was read`);
}

/** Cuts text into lines; each line must be one record. */
class Lines {
  /** The present one, counted from 1. */
  line = 1;
  readonly #tokenizer: JsonTokenizer;
  readonly #records: JsonRecords;
  readonly #lineEnd: string;
  readonly #size = new JsonSize();
  #countBefore: number;

  /** @param lineEnd what the tokenizer is given for one */
  constructor(tokenizer: JsonTokenizer, records: JsonRecords, lineEnd: string) {
    this.#tokenizer = tokenizer;
    this.#records = records;
    this.#lineEnd = lineEnd;
    this.#countBefore = records.count;
  }

  write(text: string): void {
    let from = 0;
    for (let end = text.indexOf('\n'); end >= 0; end = text.indexOf('\n', from)) {
      this.#take(this.#lineEnd === '\n' ? text.slice(from, end + 1) : text.slice(from, end) + this.#lineEnd);
      this.#endLine();
      from = end + 1;
    }
    if (from === text.length) return;
    const rest = text.slice(from);
    this.#size.add(rest.length, this.#take(rest));
  }

  /** The line that no line end follows. */
  end(): void {
    this.#take(`\n${decisive}`);
    this.#endLine();
  }

  /** Gives how many tokens it was. */
  #take(text: string): number {
    const tokens = this.#tokenizer.write(text);
    this.#records.line = this.line;
    for (const token of tokens) this.#records.take(token);
    return tokens.length;
  }

  #endLine(): void {
    const { count, isBetween } = this.#records;
    if (!isBetween) {
      throw new JsonFault(
        'the record does not end on its line',
        'each line must hold one whole record: is the file complete, or is this type: json?',
      );
    }
    if (count > this.#countBefore + 1) throw new JsonFault('more than one record', 'write each on a line of its own');
    this.#countBefore = count;
    this.#size.endRecord();
    this.line++;
  }
}
