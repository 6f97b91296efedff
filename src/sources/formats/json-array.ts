/** A JSON document to rows: the objects of one list in it. */
import { z } from 'zod';
import { AgentError } from '../../core/errors.ts';
import type { RowBatch } from '../../core/model.ts';
import { quote } from '../../core/text.ts';
import type { PartFile } from '../files/part-file.ts';
import type { FormatBatch, FormatContent } from '../files/read-part.ts';
import { JsonRecords, readRecords } from './json-records.ts';
import { type RowShape, RowTokens } from './json-rows.ts';
import { JsonFault, type JsonToken, JsonTokenizer, JsonSize, checkDepth, decisive } from './json-tokens.ts';
import { type JsonScan, readPlainRecords } from './scan/json-read.ts';
import { jsonText, lineAt, readText } from './text.ts';

/** More keys than a message can hold. */
const keysShownMax = 20;

const itemsKey = z
  .string()
  .transform((path) => path.split('.'))
  .refine((keys) => !keys.includes(''), 'expected keys joined by dots, such as result.rows')
  .optional()
  .describe(
    'Where the list of records is: keys joined by dots, such as `result.rows`. Default: the document is the list.',
  );

/** Keys of documents of JSON. A schema that has them is refined by `checkRows`. */
export const jsonKeys = {
  items: itemsKey,
  rows: z
    .string()
    .refine((text) => /^(?:\/(?:[^~]|~[01])*)?$/.test(text), 'expected a JSON pointer such as /1 or /data/rows')
    .optional()
    .describe(
      'Where the rows are, as a JSON pointer, which may count in lists too: `/1` is the second thing of a list. The rows may be objects, lists (the first names the columns, or `columns` does), or with `keys` the entries of an object. Instead of `items`.',
    ),
  keys: z
    .string()
    .refine((text) => text.trim() !== '', 'the text is empty')
    .optional()
    .describe(
      'The column for the keys of an object whose entries are the rows: `keys: month` for `{ "2026-01": 5 }`. An entry that is a single value is in the column `value`.',
    ),
};

export const columnsKey = z
  .array(z.string())
  .min(1)
  .optional()
  .describe('The columns of rows that are lists. Default: the first list names them.');

/** For the `superRefine` of every schema with `jsonKeys`. */
export function checkRows(
  { items, rows }: { readonly items?: unknown; readonly rows?: unknown },
  context: z.RefinementCtx,
): void {
  if (items === undefined || rows === undefined) return;
  const params = { hint: 'keep one of the two' };
  context.addIssue({ code: 'custom', path: ['rows'], message: 'items and rows both say where the rows are', params });
}

export interface JsonArraySettings {
  /** Keys from the top; empty where the document itself is the list. */
  readonly items?: readonly string[] | undefined;
  /** A JSON pointer instead. */
  readonly rows?: string | undefined;
  readonly keys?: string | undefined;
  readonly columns?: readonly string[] | undefined;
}

/** Where rows are in a document, and what they are. */
export interface JsonRows extends RowShape {
  /** Keys from the top, and numbers of places in lists. */
  readonly steps: readonly string[];
  /** Whether steps may lead into lists. */
  readonly isPointer: boolean;
}

function rowsOf({ items = [], rows, keys, columns }: JsonArraySettings): JsonRows {
  const shape = { hasLists: rows !== undefined || columns !== undefined, keys, columns };
  if (rows === undefined) return { ...shape, steps: items, isPointer: false };
  const steps = rows
    .split('/')
    .slice(1)
    .map((step) => step.replaceAll('~1', '/').replaceAll('~0', '~'));
  return { ...shape, steps, isPointer: true };
}

/**
 * The rows of a JSON document. One record is in memory at a time.
 * @throws AgentError `part.unreadable` with the line and the number of the record
 */
export async function* readJsonArray(
  file: PartFile,
  settings: JsonArraySettings,
  scan: Omit<JsonScan, 'layout'>,
): AsyncGenerator<FormatBatch, FormatContent, void> {
  const rows = rowsOf(settings);
  const isPlain = rows.steps.length === 0 && rows.keys === undefined && rows.columns === undefined;
  const isScanned = isPlain && (yield* readPlainRecords(file, { layout: 'list', ...scan })) !== 'notPlain';
  if (!isScanned) yield* readDocument(file, rows);
  return {};
}

/** The rows of several documents as those of one: their columns are those of all. @throws AgentError as `readJsonArray` */
export async function* readJsonPages(
  files: readonly PartFile[],
  settings: JsonArraySettings,
): AsyncGenerator<RowBatch, void, void> {
  const rows = rowsOf(settings);
  const share = { share: 0 };
  yield* readRecords(share, async function* pass(records) {
    for (const [at, file] of files.entries()) {
      share.share = (at + 1) / files.length;
      yield* passOver(file, rows, records);
    }
  });
}

/** As rows of texts, whatever is in the records. */
export async function* readDocument(file: PartFile, rows: JsonRows): AsyncGenerator<RowBatch, void, void> {
  yield* readRecords(file, (records) => passOver(file, rows, records));
}

async function* passOver(file: PartFile, rows: JsonRows, records: JsonRecords): AsyncGenerator<void, void, void> {
  const document = new Document(await JsonTokenizer.open('one'), rows, records);
  /** Where the last chunk and this one begin, in bytes of the text. */
  let starts: readonly [number, number] = [0, 0];
  try {
    for await (const chunk of readText(jsonText(file))) {
      for (const piece of records.piecesOf(chunk.toString())) {
        document.write(piece);
        yield;
      }
      starts = [starts[1], starts[1] + chunk.length];
    }
    document.end();
  } catch (error) {
    if (!(error instanceof JsonFault)) throw error;
    throw await placedFault(file, rows, starts[0]);
  }
}

/**
 * The first fault of a document, with its place. Reads it once more, and what is close to the fault by single
 * characters, so that well-formed documents pay nothing for it.
 * @param near nothing before this is at fault, in bytes of the text
 */
async function placedFault(file: PartFile, rows: JsonRows, near: number): Promise<AgentError> {
  const text = jsonText(file);
  const records = new JsonRecords();
  const document = new Document(await JsonTokenizer.open('one'), rows, records);
  let offset = 0;
  let pieceStart = 0;
  /** Where the first thing after the last token begins. */
  let begin: number | undefined;
  try {
    for await (const chunk of readText(text)) {
      for (const piece of offset < near ? [chunk.toString()] : chunk.toString()) {
        const { tokens } = document;
        pieceStart = offset;
        offset += Buffer.byteLength(piece);
        if (begin === undefined && /[^\s,:]/.test(piece)) begin = pieceStart;
        document.write(piece);
        if (document.tokens > tokens) begin = undefined;
      }
    }
    document.end();
  } catch (error) {
    if (!(error instanceof JsonFault)) throw error;
    const at = error.isSyntax ? (begin ?? pieceStart) : pieceStart;
    const record = document.isInItems && records.count > 0 ? `, record ${records.count}` : '';
    const place = `${file.name} line ${await lineAt(text, at)}${record} (byte offset ${at})`;
    return new AgentError('part.unreadable', `${place}: ${error.message}`, { hint: error.hint });
  }
  return new AgentError('part.unreadable', `${file.name} changed while it was read`);
}

/** Finds the list on its path, and hands what is in it to the records. */
class Document {
  /** Whether the list has begun and not ended. */
  isInItems = false;
  /** How many tokens were taken so far. */
  tokens = 0;
  readonly #tokenizer: JsonTokenizer;
  readonly #rows: JsonRows;
  readonly #records: JsonRecords;
  readonly #rowTokens: RowTokens;
  readonly #size = new JsonSize();
  #hasEnded = false;
  #depth = 0;
  /** How many objects of the path are open: at that depth its next key may come. */
  #level = 0;
  /** By level: how many things of a list on the path came so far; `undefined` for an object. */
  #places: (number | undefined)[] = [];
  /** Whether the value that comes next is one of the path. */
  #isOnPath = true;
  /** The first ones of the innermost object of the path. */
  #keys: string[] = [];

  constructor(tokenizer: JsonTokenizer, rows: JsonRows, records: JsonRecords) {
    this.#tokenizer = tokenizer;
    this.#rows = rows;
    this.#records = records;
    this.#rowTokens = new RowTokens(rows, records);
  }

  write(text: string): void {
    const { count } = this.#records;
    const tokens = this.#tokenizer.write(text);
    for (const token of tokens) {
      this.tokens++;
      if (!this.isInItems) this.#seek(token);
      else if (this.#rowTokens.take(token) === 'end') this.#endItems();
    }
    if (this.#records.count > count || this.#rowTokens.isBetween) this.#size.endRecord();
    this.#size.add(text.length, tokens.length);
  }

  end(): void {
    this.write(decisive);
    if (this.tokens === 0)
      throw new JsonFault('there is no JSON', 'is the export still to be written, or did it fail?');
    if (this.#depth > 0 || !this.#hasEnded) {
      throw new JsonFault('the document ends too early', 'is the copy still under way, or did the export fail?');
    }
  }

  #endItems(): void {
    this.isInItems = false;
    this.#hasEnded = true;
    this.#depth--;
  }

  #seek(token: JsonToken): void {
    this.#count(token);
    const isOnPath = this.#isOnPath;
    switch (token.name) {
      case 'keyValue':
        if (this.#depth === this.#level) this.#takeKey(token.value);
        return;
      case 'startObject':
      case 'startArray':
        this.#isOnPath = false;
        checkDepth(++this.#depth);
        if (isOnPath) this.#step(token.name);
        return;
      case 'endObject':
        if (this.#depth === this.#level) this.#leave();
        this.#depth--;
        return;
      case 'endArray':
        if (this.#depth === this.#level && this.#places[this.#level - 1] !== undefined) this.#leaveList();
        this.#depth--;
        return;
      default:
        this.#isOnPath = false;
        if (isOnPath) throw new JsonFault(`${this.#where(this.#level)} is a single value and no list`, itemsHint);
    }
  }

  /** Counts the things of a list on the path. */
  #count({ name }: JsonToken): void {
    const place = this.#depth === this.#level ? this.#places[this.#level - 1] : undefined;
    if (place === undefined || name === 'endArray') return;
    this.#isOnPath = String(place) === this.#rows.steps[this.#level - 1];
    this.#places[this.#level - 1] = place + 1;
  }

  /** A value on the path begins. */
  #step(begun: 'startObject' | 'startArray'): void {
    const { steps, isPointer, keys } = this.#rows;
    const isLast = this.#level === steps.length;
    if (isLast && (begun === 'startArray') === (keys === undefined)) {
      this.isInItems = true;
    } else if (begun === 'startArray') {
      if (isLast) throw new JsonFault(`${this.#where(this.#level)} is a list, which has no keys`, 'leave keys out');
      const isPlace = isPointer && /^(?:0|[1-9]\d*)$/.test(steps[this.#level] ?? '');
      if (!isPlace) throw new JsonFault(`${this.#where(this.#level)} is a list, which has no keys`, itemsHint);
      this.#places[this.#level++] = 0;
    } else {
      // Where a list was to come, an object is gone through for its keys, which say what the path may be.
      this.#places[this.#level++] = undefined;
      this.#keys = [];
    }
  }

  #takeKey(key: string): void {
    if (this.#keys.length <= keysShownMax) this.#keys.push(key);
    if (key !== this.#rows.steps[this.#level - 1]) return;
    if (this.#hasEnded)
      throw new JsonFault(`${this.#where(this.#level)} stands there twice`, 'which of the two is meant?');
    this.#isOnPath = true;
  }

  /** An object of the path ends. */
  #leave(): void {
    if (!this.#hasEnded) {
      const shown = this.#keys.slice(0, keysShownMax).map((key) => quote(key));
      const more = this.#keys.length > keysShownMax ? ', …' : '';
      const keys = shown.length === 0 ? 'no keys' : `the keys ${shown.join(', ')}${more}`;
      const above = this.#where(this.#level - 1);
      const wanted = this.#rows.steps[this.#level - 1];
      if (wanted === undefined) throw new JsonFault(`${above} is an object and no list: it has ${keys}`, itemsHint);
      throw new JsonFault(`${above} has no key ${quote(wanted)}: it has ${keys}`, itemsHint);
    }
    this.#level--;
  }

  /** A list of the path ends. */
  #leaveList(): void {
    if (!this.#hasEnded) {
      const count = this.#places[this.#level - 1] ?? 0;
      const wanted = this.#rows.steps[this.#level - 1];
      throw new JsonFault(
        `${this.#where(this.#level - 1)} is a list of ${count}, and nothing in it is at ${wanted}`,
        itemsHint,
      );
    }
    this.#level--;
  }

  #where(level: number): string {
    if (level === 0) return 'the document';
    const { steps, isPointer } = this.#rows;
    const path = steps.slice(0, level);
    return isPointer ? `rows: /${path.join('/')}` : `items: ${path.join('.')}`;
  }
}

const itemsHint =
  'items names the keys that lead to the list of records, rows is a JSON pointer to it; keys: month reads the entries of an object';
