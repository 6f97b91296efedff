/** What a run of the tests draws at random, fixed unless the environment says otherwise. `npm run explore` varies both. */

/** The inputs of property tests. */
export const propertySeed = seedOf('PROPERTY_SEED');

/** The order of files, and of the tests within each. */
export const orderSeed = seedOf('ORDER_SEED');

function seedOf(variable: string): number {
  const text = process.env[variable] ?? '1';
  if (!/^-?\d{1,10}$/.test(text))
    throw new Error(`${variable} is "${text}" and must be a whole number of up to ten digits`);
  return Number(text);
}

/** A sequence of numbers in [0, 1) that is the same for every run (mulberry32). */
export function dice(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}
