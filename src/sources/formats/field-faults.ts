/** Why some fields cannot be used, such as the error of a formula. */
import type { FieldFault, Row } from '../../core/model.ts';

export interface FieldProblem {
  /** The fact, such as `cell A2 holds the error #REF!`. */
  readonly problem: string;
  readonly hint: string;
}

/** By the row itself, so that a problem goes wherever a table's header, data or footer goes. */
export class FieldFaults {
  readonly #problems = new WeakMap<Row, ReadonlyMap<number, FieldProblem>>();
  #hasAny = false;

  /** @param problems by column, from 0 */
  set(row: Row, problems: ReadonlyMap<number, FieldProblem>): void {
    this.#problems.set(row, problems);
    this.#hasAny = true;
  }

  of(row: Row): ReadonlyMap<number, FieldProblem> | undefined {
    return this.#hasAny ? this.#problems.get(row) : undefined;
  }

  /** The `fault` of a batch of these rows. Left out where no row has a problem, which saves the mapping from asking. */
  batchOf(rows: readonly Row[]): { readonly fault?: FieldFault } {
    if (!this.#hasAny || !rows.some((row) => this.#problems.has(row))) return {};
    return {
      fault: (row, column) => {
        const found = this.#problems.get(rows[row] as Row)?.get(column);
        return found && `${found.problem}: ${found.hint}`;
      },
    };
  }
}
