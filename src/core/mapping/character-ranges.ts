/** Sets of characters as ranges of code points, both ends included: what the classes of JavaScript's patterns stand for. */

export type Ranges = readonly (readonly [from: number, to: number])[];

export const codePointMax = 0x10ffff;

export const digits: Ranges = [[0x30, 0x39]];
export const wordCharacters: Ranges = [
  [0x30, 0x39],
  [0x41, 0x5a],
  [0x5f, 0x5f],
  [0x61, 0x7a],
];
export const whiteSpace: Ranges = [
  [0x09, 0x0d],
  [0x20, 0x20],
  [0xa0, 0xa0],
  [0x1680, 0x1680],
  [0x2000, 0x200a],
  [0x2028, 0x2029],
  [0x202f, 0x202f],
  [0x205f, 0x205f],
  [0x3000, 0x3000],
  [0xfeff, 0xfeff],
];

export function oneOf(codePoint: number): Ranges {
  return [[codePoint, codePoint]];
}

/** All characters but these. @param ranges in order, apart from each other */
export function others(ranges: Ranges): Ranges {
  const rest: (readonly [number, number])[] = [];
  let from = 0;
  for (const [low, high] of ranges) {
    if (low > from) rest.push([from, low - 1]);
    from = high + 1;
  }
  if (from <= codePointMax) rest.push([from, codePointMax]);
  return rest;
}

const properties = new Map<string, Ranges>();

/** What `\p{…}` or `\P{…}` stands for, by Node's own tables. Takes some 50 ms for each that is new. */
export function propertyRanges(escape: string): Ranges {
  const known = properties.get(escape);
  if (known !== undefined) return known;
  const pattern = new RegExp(escape, 'u');
  const ranges: [number, number][] = [];
  for (let code = 0; code <= codePointMax; code++) {
    if (!pattern.test(String.fromCodePoint(code))) continue;
    const last = ranges.at(-1);
    if (last?.[1] === code - 1) last[1] = code;
    else ranges.push([code, code]);
  }
  properties.set(escape, ranges);
  return ranges;
}
