/** Inputs that nobody thought of: valid ones with some of their bytes changed. */
import type { Draw } from './nasty-files.ts';

const bytes = [0x00, 0x01, 0x0a, 0x0d, 0x20, 0x22, 0x2c, 0x3b, 0x7f, 0x80, 0xc3, 0xef, 0xfe, 0xff];

/** One of the seeds, with up to eight changes. @param tokens pieces that mean something to what reads it */
export function mutated(seeds: readonly Buffer[], tokens: readonly string[], draw: Draw): Buffer {
  let input = draw.one(seeds);
  for (let changes = 1 + draw.below(8); changes > 0; changes--) {
    const change = draw.one(allChanges);
    input = change(input, { draw, tokens, other: draw.one(seeds) });
  }
  return input;
}

interface Change {
  readonly draw: Draw;
  readonly tokens: readonly string[];
  readonly other: Buffer;
}

const allChanges: readonly ((input: Buffer, change: Change) => Buffer)[] = [
  // One bit.
  (input, { draw }) => {
    const copy = Buffer.from(input);
    const at = draw.below(copy.length + 1);
    return at < copy.length ? put(copy, at, copy.readUInt8(at) ^ (1 << draw.below(8))) : copy;
  },
  // One byte.
  (input, { draw }) => put(Buffer.from(input), draw.below(input.length + 1), draw.one(bytes)),
  // Four bytes as a number.
  (input, { draw }) => {
    const copy = Buffer.from(input);
    if (copy.length >= 4)
      copy.writeInt32LE(draw.one([0, 1, -1, 0x7fff_ffff, -0x8000_0000, 0xffff, 1 << 24]), draw.below(copy.length - 3));
    return copy;
  },
  // Its beginning or its end.
  (input, { draw }) =>
    draw.once(2) ? input.subarray(0, draw.below(input.length + 1)) : input.subarray(draw.below(16)),
  // A piece less, twice, or elsewhere.
  (input, { draw }) => {
    const [from, to] = piece(input, draw);
    return spliced(input, from, to, Buffer.alloc(0));
  },
  (input, { draw }) => {
    const [from, to] = piece(input, draw);
    return spliced(
      input,
      from,
      from,
      Buffer.concat(Array.from({ length: 1 + draw.below(3) }, () => input.subarray(from, to))),
    );
  },
  (input, { draw }) => {
    const [from, to] = piece(input, draw);
    const at = draw.below(input.length + 1);
    return spliced(input, at, at, input.subarray(from, to));
  },
  // A piece of another one.
  (input, { draw, other }) => {
    const [from, to] = piece(other, draw);
    const at = draw.below(input.length + 1);
    return spliced(input, at, Math.min(input.length, at + draw.below(to - from + 1)), other.subarray(from, to));
  },
  // Something that has a meaning.
  (input, { draw, tokens }) => {
    const at = draw.below(input.length + 1);
    return spliced(input, at, at + draw.below(3), Buffer.from(draw.one(['', ...tokens])));
  },
  (input, { draw, tokens }) => {
    const at = draw.below(input.length + 1);
    return spliced(input, at, at, Buffer.from(draw.one(['', ...tokens]).repeat(1 + draw.below(200))));
  },
];

function put(input: Buffer, at: number, byte: number): Buffer {
  if (at < input.length) input.writeUInt8(byte, at);
  return input;
}

/** Of up to 64 bytes, now and then of any length. */
function piece(input: Buffer, draw: Draw): readonly [from: number, to: number] {
  const from = draw.below(input.length + 1);
  const length = draw.below(draw.once(8) ? input.length + 1 : 64);
  return [from, Math.min(input.length, from + length)];
}

function spliced(input: Buffer, from: number, to: number, into: Buffer): Buffer {
  return Buffer.concat([input.subarray(0, from), into, input.subarray(Math.min(to, input.length))]);
}
