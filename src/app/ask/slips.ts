/** Slips in how a config reads values: nothing is wrong with any row, and the numbers are. */
import type { DriverEntry } from '../../core/settings.ts';

/** Types whose numbers may be numbers, which have a point whatever a person sees, and no group mark. */
const typesWithNumbers = new Set(['xlsx', 'parquet', 'json', 'jsonl']);

/** Finds a column of numbers whose every mark is followed by three digits: it may group, not divide, or the other way round. */
export class SlipFinder {
  readonly #entry: DriverEntry;
  readonly #hasNumbers: boolean;
  #marked = 0;
  #grouped = 0;
  #example = '';

  constructor(entry: DriverEntry, type: string) {
    this.#entry = entry;
    this.#hasNumbers = typesWithNumbers.has(type);
  }

  note(text: string): void {
    const { decimal, group } = this.#entry.value.format;
    const mark = group === undefined ? decimal : this.#hasNumbers && group.mark === '.' ? group.mark : undefined;
    const at = mark === undefined ? -1 : text.indexOf(mark);
    if (at < 0) return;
    this.#marked++;
    if (!/^\D*\d{1,3}$/.test(text.slice(0, at)) || !/^\d{3}\D*$/.test(text.slice(at + 1))) return;
    this.#grouped++;
    this.#example = text.trim();
  }

  warnings(): readonly string[] {
    const { value } = this.#entry;
    const { decimal, group } = value.format;
    if (group !== undefined && this.#grouped > 0) {
      return [
        `"." groups three digits in ${value.from.text}, as in ${this.#example}: where these are numbers and not texts, the point divides; leave decimal and group out then`,
      ];
    }
    if (this.#marked < 2 || this.#grouped < this.#marked) return [];
    return [
      `every "${decimal}" in ${value.from.text} is followed by three digits, as in ${this.#example}: if it groups thousands, declare group: "${decimal}" and another decimal mark`,
    ];
  }
}
