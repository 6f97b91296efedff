/** Texts that mean "no value". */
import type { DecimalFormat } from '../numbers/decimal.ts';
import { formattedReader } from '../numbers/formatted.ts';
import { type Mantissas, readMantissa } from '../numbers/mantissa.ts';
import { trimWhiteSpace } from '../text.ts';

export class MissingTexts {
  /** Whether numbers are among them. */
  readonly hasNumbers: boolean;
  readonly #texts: readonly string[];
  readonly #numbers: Mantissas;

  /** @param format of the values that they stand among */
  constructor(texts: readonly string[], format: DecimalFormat) {
    this.#texts = texts;
    const places = 2 * texts.length;
    this.#numbers = { mantissas: new Float64Array(places), scales: new Int8Array(places) };
    const asWritten = formattedReader({ ...format, scale: undefined, negate: false, round: undefined });
    for (const [at, text] of texts.entries()) {
      if ((asWritten?.(text, at, this.#numbers) ?? 'unread') === 'unread') this.#numbers.scales[at] = -1;
      // As a field that is stored as a number has it.
      readMantissa(text, texts.length + at, this.#numbers);
    }
    this.hasNumbers = this.#numbers.scales.some((scale) => scale >= 0);
  }

  has(text: string): boolean {
    return this.#texts.includes(trimWhiteSpace(text));
  }

  /** Whether one of them is this number, however it is written. */
  mayHave(mantissa: number, scale: number): boolean {
    return this.#numbers.scales.some((one, at) => one === scale && this.#numbers.mantissas[at] === mantissa);
  }
}
