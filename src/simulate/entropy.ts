/**
 * What a history draws at random. Each draw is named by a label and keys, and is a function of these and the seed alone: leaving one
 * step out of a history changes no draw of the others, which is what lets a history be made shorter.
 */
export class Entropy {
  readonly #seed: number;

  constructor(seed: number) {
    this.#seed = seed >>> 0;
  }

  /** At least 0 and less than 1. */
  of(label: string, ...keys: readonly (string | number)[]): number {
    let hash = this.#seed ^ 0x9e3779b9;
    hash = absorb(hash, label);
    for (const key of keys) hash = typeof key === 'number' ? mix(hash ^ key) : absorb(hash, key);
    return mix(hash) / 2 ** 32;
  }

  /** A whole number from `from` to `to`, both included. */
  between(from: number, to: number, label: string, ...keys: readonly (string | number)[]): number {
    return from + Math.floor(this.of(label, ...keys) * (to - from + 1));
  }

  pick<T>(list: readonly T[], label: string, ...keys: readonly (string | number)[]): T {
    return list[Math.floor(this.of(label, ...keys) * list.length)] as T;
  }

  isIn(share: number, label: string, ...keys: readonly (string | number)[]): boolean {
    return this.of(label, ...keys) < share;
  }
}

/** FNV-1a over the text's units. */
export function absorb(hash: number, text: string): number {
  let next = hash | 0;
  for (let at = 0; at < text.length; at++) next = Math.imul(next ^ text.charCodeAt(at), 0x01000193);
  return mix(next);
}

/** Spreads each bit over all of them (the finalizer of MurmurHash3). */
function mix(hash: number): number {
  let next = hash;
  next = Math.imul(next ^ (next >>> 16), 0x85ebca6b);
  next = Math.imul(next ^ (next >>> 13), 0xc2b2ae35);
  return (next ^ (next >>> 16)) >>> 0;
}
