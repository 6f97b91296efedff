/** What is true of the things that exports tell of: numbers by item, month and column. Sources that tell of the same things share it. */
import type { Entropy } from '../entropy.ts';
import type { Decimal } from './numbers.ts';

/** One booking of an item in a month. */
export interface Fact {
  readonly item: number;
  readonly month: number;
  readonly booking: number;
}

const moreMax = 2;

export class Facts {
  readonly #name: string;
  readonly #entropy: Entropy;
  readonly #revisions = new Map<string, number>();
  /** Bookings of an item and month beside those that it began with. */
  readonly #more = new Map<number, number>();

  constructor(name: string, entropy: Entropy) {
    this.#name = name;
    this.#entropy = entropy;
  }

  restate(item: number, month: number): void {
    const key = `${item}/${month}`;
    this.#revisions.set(key, (this.#revisions.get(key) ?? 0) + 1);
  }

  /** Something more is booked in a month. */
  book(item: number, month: number): boolean {
    const key = factKey(item, month);
    const more = this.#more.get(key) ?? 0;
    if (more >= moreMax) return false;
    this.#more.set(key, more + 1);
    return true;
  }

  /** @param firstMax how many there may be from the beginning */
  bookings(item: number, month: number, firstMax: 1 | 2): number {
    const first = firstMax === 1 ? 1 : this.#entropy.between(1, 2, 'bookings', this.#name, item, month);
    return first + (this.#more.get(factKey(item, month)) ?? 0);
  }

  /** What stands in a column of numbers. */
  number({ item, booking, month }: Fact, column: string): Decimal {
    const keys = [this.#name, column, item] as const;
    const scale = this.#entropy.between(0, 2, 'scale', ...keys);
    const sign = this.#entropy.isIn(0.15, 'sign', ...keys) ? -1n : 1n;
    const revision = this.#revisions.get(`${item}/${month}`) ?? 0;
    const units = this.#entropy.between(100_000, 999_999, 'units', ...keys, month, booking, revision);
    return { units: sign * BigInt(units), scale };
  }
}

/** One number for an item and a month. */
export function factKey(item: number, month: number): number {
  return item * 2 ** 20 + month;
}
