/** A JSON document to rows: the objects of one list in it. */
import { z } from 'zod';
import { AgentError } from '../../core/errors.ts';
import type { RowBatch } from '../../core/model.ts';
import { quote } from '../../core/text.ts';
import type { PartFile } from '../files/part-file.ts';
import type { FormatBatch, FormatContent } from '../files/place.ts';
import { JsonRecords, readRecords } from './json-records.ts';
import { JsonFault, type JsonToken, JsonTokenizer, JsonSize, checkDepth, decisive } from './json-tokens.ts';
import { type JsonScan, readPlainRecords } from './scan/json-read.ts';
import { lineAt, readText } from './text.ts';

/** More keys than a message can hold. */
const keysShownMax = 20;

export const itemsKey = z
  .string()
  .transform((path) => path.split('.'))
  .refine((keys) => !keys.includes(''), 'must be keys joined by dots, such as result.rows')
  .optional()
  .describe(
    'Where the list of records is: keys joined by dots, such as `result.rows`. Default: the document is the list.',
  );

export interface JsonArraySettings {
  /** Keys from the top; empty where the document itself is the list. */
  readonly items?: readonly string[] | undefined;
}

/**
 * The rows of a JSON document. One record is in memory at a time.
 * @throws AgentError `part.unreadable` with the line and the number of the record
 */
export async function* readJsonArray(
  file: PartFile,
  { items = [] }: JsonArraySettings,
  scan: Omit<JsonScan, 'layout'>,
): AsyncGenerator<FormatBatch, FormatContent, void> {
  const isScanned = items.length === 0 && (yield* readPlainRecords(file, { layout: 'list', ...scan })) !== 'notPlain';
  if (!isScanned) yield* readDocument(file, items);
  return {};
}

/** As rows of texts, whatever is in the records. */
export async function* readDocument(file: PartFile, items: readonly string[]): AsyncGenerator<RowBatch, void, void> {
  yield* readRecords(file, async function* pass(records) {
    const document = new Document(await JsonTokenizer.open('one'), items, records);
    /** Where the last chunk and this one begin, in bytes of the text. */
    let starts: readonly [number, number] = [0, 0];
    try {
      for await (const chunk of readText({ file, encoding: 'utf-8' })) {
        for (const piece of records.piecesOf(chunk.toString())) {
          document.write(piece);
          yield;
        }
        starts = [starts[1], starts[1] + chunk.length];
      }
      document.end();
    } catch (error) {
      if (!(error instanceof JsonFault)) throw error;
      throw await placedFault(file, items, starts[0]);
    }
  });
}

/**
 * The first fault of a document, with its place. Reads it once more, and what is close to the fault by single
 * characters, so that well-formed documents pay nothing for it.
 * @param near nothing before this is at fault, in bytes of the text
 */
async function placedFault(file: PartFile, items: readonly string[], near: number): Promise<AgentError> {
  const text = { file, encoding: 'utf-8' };
  const records = new JsonRecords();
  const document = new Document(await JsonTokenizer.open('one'), items, records);
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
  readonly #items: readonly string[];
  readonly #records: JsonRecords;
  readonly #size = new JsonSize();
  #hasEnded = false;
  #depth = 0;
  /** How many objects of the path are open: at that depth its next key may come. */
  #level = 0;
  /** Whether the value that comes next is one of the path. */
  #isOnPath = true;
  /** The first ones of the innermost object of the path. */
  #keys: string[] = [];

  constructor(tokenizer: JsonTokenizer, items: readonly string[], records: JsonRecords) {
    this.#tokenizer = tokenizer;
    this.#items = items;
    this.#records = records;
  }

  write(text: string): void {
    const { count } = this.#records;
    const tokens = this.#tokenizer.write(text);
    for (const token of tokens) {
      this.tokens++;
      if (!this.isInItems) this.#seek(token);
      else if (token.name === 'endArray' && this.#records.isBetween) this.#endItems();
      else this.#records.take(token);
    }
    if (this.#records.count > count || this.#records.isBetween) this.#size.endRecord();
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
        this.#depth--;
        return;
      default:
        this.#isOnPath = false;
        if (isOnPath) throw new JsonFault(`${this.#where(this.#level)} is a single value and no list`, itemsHint);
    }
  }

  /** A value on the path begins. */
  #step(begun: 'startObject' | 'startArray'): void {
    const isLast = this.#level === this.#items.length;
    if (begun === 'startArray' && isLast) {
      this.isInItems = true;
    } else if (begun === 'startArray') {
      throw new JsonFault(`${this.#where(this.#level)} is a list, which has no keys`, itemsHint);
    } else {
      // Where a list was to come, an object is gone through for its keys, which say what the path may be.
      this.#level++;
      this.#keys = [];
    }
  }

  #takeKey(key: string): void {
    if (this.#keys.length <= keysShownMax) this.#keys.push(key);
    if (key !== this.#items[this.#level - 1]) return;
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
      const wanted = this.#items[this.#level - 1];
      if (wanted === undefined) throw new JsonFault(`${above} is an object and no list: it has ${keys}`, itemsHint);
      throw new JsonFault(`${above} has no key ${quote(wanted)}: it has ${keys}`, itemsHint);
    }
    this.#level--;
  }

  #where(level: number): string {
    return level === 0 ? 'the document' : `items: ${this.#items.slice(0, level).join('.')}`;
  }
}

const itemsHint = 'items names the keys that lead to the list of records';
