/** Numbers the distinct texts of a column whose fields come as texts. */
import type { Texts } from './column-batch.ts';

/** How many distinct texts are kept. In a column with more, texts hardly come twice. */
const textsMax = 1 << 16;

export class TextCoder implements Texts {
  generation = 0;
  readonly #codes = new Map<string, number>();
  readonly #texts: string[] = [];
  /** By code: the code that followed it last time. */
  readonly #next: number[] = [];
  #last = 0;

  get size(): number {
    return this.#texts.length;
  }

  text(code: number): string {
    return this.#texts[code] as string;
  }

  /** Rows tend to name things in one order: comparing with the text that followed last time is cheaper than a look-up. */
  code(text: string): number {
    const guess = this.#next[this.#last];
    if (guess !== undefined && this.#texts[guess] === text) {
      this.#last = guess;
      return guess;
    }
    let code = this.#codes.get(text);
    if (code === undefined) {
      code = this.#texts.push(text) - 1;
      this.#codes.set(text, code);
      this.#next.push(code);
    }
    if (this.#next.length > 1) this.#next[this.#last] = code;
    this.#last = code;
    return code;
  }

  /** To be called between batches: gives the numbers anew where there are too many. */
  bound(): void {
    if (this.#texts.length > textsMax) this.clear();
  }

  /** Forgets all texts. */
  clear(): void {
    this.generation++;
    this.#codes.clear();
    this.#texts.length = 0;
    this.#next.length = 0;
    this.#last = 0;
  }
}
