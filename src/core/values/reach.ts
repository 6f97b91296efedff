/**
 * What a finding reaches: the drivers that show it, and of closed months each point with its new value. An approval keeps it and
 * lets nothing else pass, as hashes: a slip in all drivers names all of them.
 */
import { createHash, hash } from 'node:crypto';
import type { PackedPoints } from '../series/packing.ts';
import { type ValueRules, closedMonths } from './closed.ts';
import type { DriverLook } from './look.ts';

/** 1 MB of text. Beyond so many one hash stands for all, and then only the very same ones are covered. */
const notedMax = 100_000;

/** Which drivers show what, as the walk over them has found. */
export interface Showing {
  /** By the key of what is sought the places of drivers in that walk, in order. */
  readonly places: ReadonlyMap<string, readonly number[]>;
  /** By id the other driver of each pair that exchanged its values. */
  readonly partners: ReadonlyMap<string, string>;
}

/** Notes what one finding reaches. Drivers come in the order of ids. */
export class Reach {
  readonly #hashes: string[] = [];
  readonly #all = createHash('sha256');
  #count = 0;

  addDriver({ id }: PackedPoints, partner: string | undefined): void {
    this.#note(partner === undefined ? [id] : [id, partner]);
  }

  addClosed({ id }: PackedPoints, look: DriverLook, rules: ValueRules): void {
    for (const month of closedMonths(look, rules)) this.#note([id, month, newValue(look, month)]);
  }

  #note(what: readonly (string | number)[]): void {
    const text = JSON.stringify(what);
    this.#all.update(text);
    if (this.#count++ < notedMax) this.#hashes.push(hash('sha256', text, 'base64url').slice(0, 8));
  }

  noted(): readonly string[] {
    return this.#count > notedMax ? [`all ${this.#all.digest('base64url')}`] : this.#hashes;
  }
}

/** 1.5 and 1.50 are one value; a point that goes has none. */
function newValue({ now }: DriverLook, month: number): string {
  const at = now.indexOf(month);
  const text = at < 0 ? '' : now.text(at);
  return text.includes('.') ? text.replace(/\.?0+$/, '') : text;
}
