/** What a config asks for and parts of a source do not give, with the parts that it is about. */
import type { MappingProblem } from '../../core/mapping/columns.ts';
import { count } from '../../core/text.ts';

export class PartProblems {
  readonly #looked = new Set<string>();
  /** By problem: parts with other columns have other hints. */
  readonly #found = new Map<string, { readonly problem: MappingProblem; readonly parts: Set<string> }>();

  note(part: string, problems: readonly MappingProblem[]): void {
    this.#looked.add(part);
    for (const problem of problems) {
      const key = JSON.stringify(problem);
      const found = this.#found.get(key) ?? { problem, parts: new Set() };
      this.#found.set(key, found);
      found.parts.add(part);
    }
  }

  /** Each once, with the name of a part that it is about. */
  all(): readonly MappingProblem[] {
    return [...this.#found.values()].map(({ problem, parts }) => {
      const [first, ...more] = parts;
      const message = `${first}${more.length === 0 ? '' : ` and ${more.length} more`}: ${problem.message}`;
      const having = problem.column === undefined ? 0 : this.#havingColumn(problem);
      if (having === 0) return { ...problem, message };
      const hint = `${problem.hint}; ${count(having, 'other part')} ${having === 1 ? 'has' : 'have'} it`;
      return { ...problem, message, hint };
    });
  }

  /** How many parts have the column that others lack at this place of the config. */
  #havingColumn({ path, column }: MappingProblem): number {
    const having = new Set(this.#looked);
    for (const { problem, parts } of this.#found.values()) {
      const isLacking = problem.column === column && String(problem.path) === String(path);
      if (isLacking) for (const part of parts) having.delete(part);
    }
    return having.size;
  }
}
