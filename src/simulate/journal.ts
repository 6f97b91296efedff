/** All that is observed in a history, as lines. Their hash is what two runs of one seed are compared by. */
import { absorb } from './entropy.ts';

export class Journal {
  readonly #lines: string[] | undefined;
  #one = 1;
  #other = 2;
  #count = 0;
  readonly #marks = new Map<string, number>();

  /** @param isKept keeps the lines, for a story; a campaign needs their hash alone */
  constructor(isKept: boolean) {
    this.#lines = isKept ? [] : undefined;
  }

  note(line: string): void {
    this.#count++;
    this.#one = absorb(this.#one, line);
    this.#other = absorb(this.#other ^ this.#one, line);
    this.#lines?.push(line);
  }

  /** Something rare was reached. */
  mark(name: string): void {
    this.#marks.set(name, (this.#marks.get(name) ?? 0) + 1);
  }

  get lines(): readonly string[] {
    return this.#lines ?? [];
  }

  get marks(): ReadonlyMap<string, number> {
    return this.#marks;
  }

  /** 16 hex digits over all lines. */
  get digest(): string {
    return [this.#one, this.#other].map((half) => half.toString(16).padStart(8, '0')).join('');
  }

  get length(): number {
    return this.#count;
  }
}
