/** The keys of the records of a file, and the columns that they name. */
import { trimWhiteSpace } from '../../../core/text.ts';
import { rowFieldsMax } from '../../limits.ts';
import { notPlain } from './block.ts';
import { Dictionary } from './dictionary.ts';
import { jsonText } from './json-fields.ts';
import type { Kernel } from './kernel/kernel.ts';

export class JsonKeys {
  /** In the order of their first appearance. */
  readonly columns: string[] = [];
  /** Whether there may be no more of them. */
  isComplete = false;
  readonly #texts: Dictionary;
  /** By the number of a key; two that differ in white space are one. */
  readonly #columns: (number | undefined)[] = [];
  readonly #byName = new Map<string, number>();

  /** @param columns those that there may be; default: they are to be learned */
  constructor(kernel: Kernel, columns?: readonly string[]) {
    this.#texts = new Dictionary(kernel, jsonText);
    if (columns === undefined) return;
    this.columns.push(...columns);
    for (const [column, name] of columns.entries()) this.#byName.set(name, column);
    this.isComplete = true;
  }

  /** The column of the key that stands so in the memory of the kernel, or `notPlain`. */
  find(from: number, end: number): number {
    const code = this.#texts.find(from, end);
    return this.#columns[code] ?? this.#add(code);
  }

  #add(code: number): number {
    const name = trimWhiteSpace(this.#texts.text(code));
    let column = this.#byName.get(name);
    if (column === undefined) {
      if (this.isComplete || this.columns.length >= rowFieldsMax) return notPlain;
      column = this.columns.push(name) - 1;
      this.#byName.set(name, column);
    }
    this.#columns[code] = column;
    return column;
  }
}
