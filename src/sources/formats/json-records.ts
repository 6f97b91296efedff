/** Records of JSON as rows: nested objects are columns with dots, lists are their JSON text. */
import type { Row, RowBatch } from '../../core/model.ts';
import { quote, trimWhiteSpace } from '../../core/text.ts';
import type { PartFile } from '../files/part-file.ts';
import { type FieldProblem, FieldFaults } from './field-faults.ts';
import { FieldNumbers } from './field-numbers.ts';
import { JsonFault, type JsonToken, checkDepth, checkText, tooLong } from './json-tokens.ts';
import { fieldBytesMax, grouped, isFieldTooLong, rowFieldsMax } from '../limits.ts';

/** Fields in one batch: a record of two brackets may make a row of all columns. */
const batchFieldsMax = 2_000_000;
const recordLengthMin = 3;

/** A column, or a group of columns that a nested object makes. */
interface Name {
  /** Keys joined by dots. */
  readonly text: string;
  /** In `columns`; `undefined` as long as no record has a value for it. */
  column: number | undefined;
  /** The number of the last record that had it. */
  record: number;
  /** By the key as written. */
  readonly under: Map<string, Name>;
}

interface OpenObject {
  readonly name: Name;
  isEmpty: boolean;
}

/**
 * The rows of a file's records. Which columns there are is known only after the last record, so that the file is read
 * over twice; a file without records has no columns.
 * @param pass one pass over the file: hands all tokens of its records to `records`, and yields now and then, also at its end
 */
export async function* readRecords(
  file: Pick<PartFile, 'share'>,
  pass: (records: JsonRecords) => AsyncIterable<void>,
): AsyncGenerator<RowBatch, void, void> {
  const records = new JsonRecords();
  for await (const _ of pass(records));
  const { columns } = records;
  let rows: Row[] = [];
  let lines: number[] = [];
  records.giveRows((row, line) => {
    rows.push(row);
    if (line !== undefined) lines.push(line);
  });
  let isFirst = true;
  for await (const _ of pass(records)) {
    if (rows.length === 0 && !isFirst) continue;
    yield { columns, rows, share: (1 + file.share) / 2, ...ofLines(lines), ...records.fieldsOf(rows) };
    [rows, lines] = [[], []];
    isFirst = false;
  }
}

function ofLines(lines: readonly number[]): Pick<RowBatch, 'lines'> {
  return lines.length === 0 ? {} : { lines };
}

/** Takes the tokens of records, one after the other. */
export class JsonRecords {
  /** In the order of their first appearance in the records so far. */
  readonly columns: string[] = [];
  /** The number of the present record, counted from 1. */
  count = 0;
  /** Of the file, where each record has one. */
  line: number | undefined;
  readonly #names = new Map<string, Name>();
  readonly #root: Name = { text: '', column: undefined, record: 0, under: new Map() };
  #onRow: ((row: Row, line: number | undefined) => void) | undefined;
  readonly #open: OpenObject[] = [];
  /** Whose value comes next. */
  #name = this.#root;
  #list: ListText | undefined;
  #row: string[] = [];
  #blank: readonly string[] = [];
  readonly #faults = new FieldFaults();
  /** Problems of the present row, by column. */
  #problems: Map<number, FieldProblem> | undefined;
  readonly #numbers = new FieldNumbers();
  /** By column, those of the present row. */
  #rowNumbers: boolean[] | undefined;

  /** From now on `onRow` gets the row of each record, now that all `columns` are known. */
  giveRows(onRow: (row: Row, line: number | undefined) => void): void {
    this.#onRow = onRow;
    this.#blank = this.columns.map(() => '');
  }

  /** The text in pieces, each so short that the rows of its records fit into the memory. */
  *piecesOf(text: string): Generator<string, void, void> {
    const rowsMax = this.#onRow === undefined ? text.length : batchFieldsMax / (this.columns.length + 1);
    const length = Math.max(recordLengthMin, Math.floor(rowsMax * recordLengthMin));
    for (let at = 0; at < text.length; at += length) yield text.slice(at, at + length);
  }

  /** Columns that there are, whether or not a record has a value for them. */
  declare(keys: readonly string[]): void {
    for (const key of keys) this.#columnOf(this.#nameUnder(this.#root, key));
  }

  /** Whether no record is open. */
  get isBetween(): boolean {
    return this.#open.length === 0;
  }

  /** @throws JsonFault */
  take(token: JsonToken): void {
    if (this.#list !== undefined) {
      const text = this.#list.take(token);
      if (text === undefined) return;
      this.#list = undefined;
      this.#setSingle(text);
      return;
    }
    switch (token.name) {
      case 'keyValue':
        this.#name = this.#nameOf(token.value);
        return;
      case 'stringValue':
        this.#setSingle(checkText(token.value));
        return;
      case 'numberValue':
        this.#setSingle(token.value);
        this.#noteNumber(token.value);
        return;
      case 'nullValue':
        this.#set('');
        return;
      case 'trueValue':
      case 'falseValue':
        this.#setSingle(String(token.value));
        return;
      case 'startObject':
        this.#beginObject();
        return;
      case 'endObject':
        this.#endObject();
        return;
      case 'startArray':
        if (this.isBetween) throw this.#noObject('a list');
        this.#list = new ListText(this.#open.length);
        this.#list.take(token);
        return;
      default:
      // The tokenizer was asked for whole values: what is left announces them.
    }
  }

  #beginObject(): void {
    if (this.isBetween) {
      this.count++;
      this.#name = this.#root;
      // Nobody wants the row of a first pass.
      if (this.#onRow !== undefined) this.#row = this.#blank.slice();
    }
    checkDepth(this.#open.length + 1);
    this.#open.push({ name: this.#name, isEmpty: true });
  }

  #endObject(): void {
    const ended = this.#open.pop();
    if (this.isBetween) {
      this.#endRow();
    } else if (ended?.isEmpty === true) {
      this.#name = ended.name;
      this.#set('{}');
    } else if (ended?.name.column !== undefined) {
      this.#blame(ended.name, '{…}', {
        problem: `${quote(ended.name.text)} is an object in this record, and a single value in others`,
        hint: 'name a column of the object, or give the record a value',
      });
    }
  }

  #endRow(): void {
    if (this.#onRow === undefined) return;
    if (this.#problems !== undefined) this.#faults.set(this.#row, this.#problems);
    this.#problems = undefined;
    if (this.#rowNumbers !== undefined) this.#numbers.set(this.#row, this.#rowNumbers);
    this.#rowNumbers = undefined;
    this.#onRow(this.#row, this.line);
  }

  /** Which fields of these rows cannot be used, and which are numbers, see `RowBatch`. */
  fieldsOf(rows: readonly Row[]): Pick<RowBatch, 'fault' | 'isNumber'> {
    return { ...this.#faults.batchOf(rows), ...this.#numbers.batchOf(rows) };
  }

  #noteNumber(text: string): void {
    const { column } = this.#name;
    if (this.#onRow === undefined || column === undefined || !text.includes('.')) return;
    this.#rowNumbers ??= [];
    this.#rowNumbers[column] = true;
  }

  /**
   * An absent key is empty; one that holds something else than the column that is asked for is not.
   * @param shown what stands for it in the row, for people
   */
  #blame({ column }: Name, shown: string, problem: FieldProblem): void {
    if (this.#onRow === undefined || column === undefined) return;
    this.#row[column] = shown;
    this.#problems ??= new Map();
    this.#problems.set(column, problem);
  }

  /** A value that is not null, where other records may have an object. */
  #setSingle(text: string): void {
    this.#set(text);
    const { text: name, under } = this.#name;
    if (this.#onRow === undefined || under.size === 0) return;
    const problem = {
      problem: `${quote(name)} is no object in this record, but ${quote(text)}`,
      hint: 'give it the columns that it has in other records, or none',
    };
    const inside = [...under.values()];
    for (const below of inside) {
      this.#blame(below, text, problem);
      inside.push(...below.under.values());
    }
  }

  #nameOf(key: string): Name {
    const open = this.#open.at(-1);
    if (open === undefined) return this.#root;
    open.isEmpty = false;
    const name = this.#nameUnder(open.name, key);
    if (name.record === this.count) {
      throw new JsonFault(
        `two values for the column ${quote(name.text)}`,
        'a key may stand once in a record, and the keys of nested objects are joined by dots',
      );
    }
    name.record = this.count;
    return name;
  }

  #nameUnder(above: Name, key: string): Name {
    let name = above.under.get(key);
    if (name === undefined) {
      name = this.#addName(above, key);
      above.under.set(key, name);
    }
    return name;
  }

  /** Two ways to one text are one name, whose second value in a record is refused. */
  #addName(above: Name, key: string): Name {
    const trimmed = trimWhiteSpace(checkText(key));
    const text = above === this.#root ? trimmed : `${above.text}.${trimmed}`;
    const known = this.#names.get(text);
    if (known !== undefined) return known;
    if (this.#names.size >= rowFieldsMax) {
      throw new JsonFault(
        `more than ${grouped(rowFieldsMax)} different keys`,
        'are ids written as keys? each record must be a row',
      );
    }
    const name = { text, column: undefined, record: 0, under: new Map() };
    this.#names.set(text, name);
    return name;
  }

  #set(text: string): void {
    if (isFieldTooLong(text)) throw tooLong('a number or list');
    if (this.isBetween) throw this.#noObject('a single value');
    this.#row[this.#columnOf(this.#name)] = text;
  }

  #columnOf(name: Name): number {
    return (name.column ??= this.columns.push(name.text) - 1);
  }

  #noObject(what: string): JsonFault {
    this.count++;
    return new JsonFault(`a record must be an object, and this is ${what}`, 'write each record as { "column": value }');
  }
}

/** The JSON text of a list, without white space and with its numbers as written. */
class ListText {
  readonly #depthAbove: number;
  #text = '';
  /** For each level that is open: the keys so far of an object, or `undefined` for a list. */
  readonly #open: (Set<string> | undefined)[] = [];
  #isFirst = true;
  #isAfterKey = false;

  constructor(depthAbove: number) {
    this.#depthAbove = depthAbove;
  }

  /** The whole text with the token that ends it. @throws JsonFault */
  take(token: JsonToken): string | undefined {
    switch (token.name) {
      case 'startArray':
        this.#begin('[', undefined);
        return undefined;
      case 'startObject':
        this.#begin('{', new Set());
        return undefined;
      case 'endArray':
      case 'endObject':
        this.#open.pop();
        this.#text += token.name === 'endArray' ? ']' : '}';
        this.#isFirst = false;
        return this.#open.length === 0 ? this.#text : undefined;
      case 'keyValue':
        this.#addKey(token.value);
        return undefined;
      case 'stringValue':
        this.#add(JSON.stringify(checkText(token.value)));
        return undefined;
      case 'numberValue':
        this.#add(token.value);
        return undefined;
      case 'nullValue':
      case 'trueValue':
      case 'falseValue':
        this.#add(String(token.value));
        return undefined;
      default:
        return undefined;
    }
  }

  #add(text: string): void {
    // The keys of an open object are held beside the text.
    if (this.#text.length > fieldBytesMax) throw tooLong('a list');
    this.#text += this.#isFirst || this.#isAfterKey ? text : `,${text}`;
    this.#isFirst = false;
    this.#isAfterKey = false;
  }

  #begin(bracket: string, keys: Set<string> | undefined): void {
    this.#add(bracket);
    this.#open.push(keys);
    checkDepth(this.#depthAbove + this.#open.length);
    this.#isFirst = true;
  }

  #addKey(key: string): void {
    const keys = this.#open.at(-1);
    if (keys?.has(key) === true)
      throw new JsonFault(`the key ${quote(key)} twice`, 'a key may stand once in an object');
    keys?.add(key);
    this.#add(`${JSON.stringify(checkText(key))}:`);
    this.#isAfterKey = true;
  }
}
