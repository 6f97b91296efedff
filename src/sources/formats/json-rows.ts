/**
 * What counts as a row in a JSON document, made into records: objects as they are, lists by the names of their places, the
 * entries of an object by a name for their keys.
 */
import { quote, trimWhiteSpace } from '../../core/text.ts';
import type { JsonRecords } from './json-records.ts';
import { JsonFault, type JsonToken } from './json-tokens.ts';

export interface RowShape {
  /** Whether rows may be lists. */
  readonly hasLists: boolean;
  /** The columns of rows that are lists; `undefined`: the first list names them. */
  readonly columns?: readonly string[] | undefined;
  /** The column of the keys, where an object's entries are the rows. */
  readonly keys?: string | undefined;
}

/** The column of an entry that is a single value. */
const valueColumn = 'value';

type Opened = 'record' | 'list' | 'header';

/** All rows of a list are of one form: the first list may be a header, and a row is none. */
type Form = 'objects' | 'lists';

export class RowTokens {
  readonly #shape: RowShape;
  readonly #records: JsonRecords;
  #names: readonly string[] | undefined;
  /** Whether the records know these. */
  #areDeclared = false;
  #header: string[] = [];
  /** Of the entry that comes next. */
  #key: string | undefined;
  #opened: Opened = 'record';
  #form: Form | undefined;
  /** How many objects and lists of a row are open. */
  #depth = 0;
  /** The place in a list. */
  #place = 0;

  constructor(shape: RowShape, records: JsonRecords) {
    this.#shape = shape;
    this.#records = records;
    this.#names = shape.columns;
  }

  /** Whether no row is open. */
  get isBetween(): boolean {
    return this.#depth === 0;
  }

  /** Takes what stands among the rows, up to the end of what holds them. @throws JsonFault */
  take(token: JsonToken): 'more' | 'end' {
    if (this.#depth > 0) {
      this.#takeInside(token);
      return 'more';
    }
    switch (token.name) {
      case 'endArray':
      case 'endObject':
        return 'end';
      case 'keyValue':
        this.#key = token.value;
        return 'more';
      case 'startObject':
        this.#checkForm('objects');
        this.#depth = 1;
        this.#opened = 'record';
        this.#begin();
        return 'more';
      case 'startArray':
        if (this.#shape.hasLists) this.#beginList();
        else this.#records.take(token);
        return 'more';
      default:
        this.#takeSingle(token);
        return 'more';
    }
  }

  /** Opens a record, with its key in it. */
  #begin(): void {
    this.#records.take({ name: 'startObject' });
    const { keys } = this.#shape;
    if (keys === undefined) return;
    this.#records.take({ name: 'keyValue', value: keys });
    this.#records.take({ name: 'stringValue', value: this.#key ?? '' });
  }

  #checkForm(form: Form): void {
    this.#form ??= form;
    if (this.#form === form || this.#shape.keys !== undefined) return;
    const what = form === 'lists' ? 'a list, and the first one is an object' : 'an object, and the first one is a list';
    throw new JsonFault(`a row is ${what}`, 'write all rows alike');
  }

  #beginList(): void {
    const { keys } = this.#shape;
    this.#checkForm('lists');
    this.#depth = 1;
    this.#place = 0;
    if (this.#names === undefined && keys !== undefined) {
      throw new JsonFault('a row is a list, and nothing names its columns', 'name them: columns: [region, amount]');
    }
    this.#opened = this.#names === undefined ? 'header' : 'list';
    if (this.#opened === 'header') return;
    this.#begin();
    if (this.#areDeclared) return;
    // A row may end before its last columns, and so may all of them.
    this.#records.declare(this.#names ?? []);
    this.#areDeclared = true;
  }

  #takeSingle(token: JsonToken): void {
    // The tokenizer was asked for whole values: others announce them, or say what is no record.
    if (this.#shape.keys === undefined) return this.#records.take(token);
    if (!isSingle(token)) return;
    this.#begin();
    this.#records.take({ name: 'keyValue', value: valueColumn });
    this.#records.take(token);
    this.#records.take({ name: 'endObject' });
  }

  #takeInside(token: JsonToken): void {
    const isStart = token.name === 'startObject' || token.name === 'startArray';
    const isEnd = token.name === 'endObject' || token.name === 'endArray';
    if (this.#opened !== 'record' && this.#depth === 1) {
      if (isEnd) return this.#endList();
      if (isStart || isSingle(token)) this.#nextPlace(token);
      if (this.#opened === 'header') return;
    }
    if (isStart) this.#depth++;
    if (isEnd) this.#depth--;
    this.#records.take(token);
  }

  /** A value of a list begins. */
  #nextPlace(token: JsonToken): void {
    if (this.#opened === 'header') {
      if (!isSingle(token))
        throw new JsonFault('the first row names the columns, and holds a list or an object', headerHint);
      this.#header.push(trimWhiteSpace(token.name === 'nullValue' ? '' : String(token.value)));
      return;
    }
    const names = this.#names ?? [];
    const name = names[this.#place++];
    if (name === undefined) {
      throw new JsonFault(`a row has more than ${names.length} values, and there are so many columns`, headerHint);
    }
    this.#records.take({ name: 'keyValue', value: name });
  }

  #endList(): void {
    this.#depth = 0;
    if (this.#opened === 'list') {
      this.#records.take({ name: 'endObject' });
      return;
    }
    const header = this.#header;
    const twice = header.find((name, at) => name !== '' && header.indexOf(name) !== at);
    if (twice !== undefined) throw new JsonFault(`two columns are called ${quote(twice)}`, headerHint);
    if (header.every((name) => name === '')) throw new JsonFault('the first row names no column', headerHint);
    this.#names = header.map((name, at) => (name === '' ? `#${at + 1}` : name));
  }
}

const headerHint = 'rows that are lists are named by the first of them, or by columns: [region, amount]';

function isSingle(token: JsonToken): token is Extract<JsonToken, { readonly value: unknown }> {
  return /^(?:string|number|null|true|false)Value$/.test(token.name);
}
