/** Where rows stand in their file. */
import type { Row } from '../../core/model.ts';

/** The lines of rows, or their numbers in a sheet, on their way through a table, which takes some away in front and keeps some back. */
export class LinesOfRows {
  #rows: Row[] = [];
  #lines: number[] = [];

  add(rows: readonly Row[], lines: readonly number[]): void {
    this.#rows = this.#rows.length === 0 ? [...rows] : [...this.#rows, ...rows];
    this.#lines = this.#lines.length === 0 ? [...lines] : [...this.#lines, ...lines];
  }

  /** The lines of these rows, which come in the order in which they were added. */
  take(rows: readonly Row[], linesAbove = 0): readonly number[] {
    const [first] = rows;
    if (first === undefined) return [];
    const from = this.#rows.indexOf(first);
    const end = from + rows.length;
    const taken = this.#lines.slice(from, end).map((line) => line + linesAbove);
    this.#rows = this.#rows.slice(end);
    this.#lines = this.#lines.slice(end);
    return taken;
  }
}
