/**
 * The inner loop of a body as a WebAssembly function, made here byte by byte: from packed points to the text of a `timeSeries`. V8 checks the
 * bounds of each access of JavaScript, and here of none: 6 M points take a third of the time.
 *
 * Both the points and the text are in the memory of the function. Texts are copied eight bytes at a time, so up to fifteen bytes beyond
 * them are written, and written over.
 */

/** What stands before the value of a point, by its place in the series. A place has 64 bytes: the text, and from these on month and length. */
export const placeBytes = 64;
export const placeMonthAt = 56;
export const placeLengthAt = 60;
/** Of such a text. */
export const textBytesMax = 40;

/** The words of 32 bits at the beginning of the memory: what the function begins with, and what it leaves off with. */
export const words = {
  /** Where the next point stands. */
  read: 0,
  /** How many points are to be written. */
  left: 1,
  /** The place of the next one. */
  place: 2,
  /** The month of the point before it. */
  month: 3,
  /** Where the next byte goes. */
  at: 4,
  /** The month of the next point, where the text at its place is of another one. */
  wanted: 5,
} as const;

/** Grows by pages of 64 KB. What was its buffer is empty then. */
interface Memory {
  readonly buffer: ArrayBuffer;
  grow(pages: number): number;
}

/** What is used of it: types of Node have nothing of it. */
declare const WebAssembly: {
  readonly Memory: new (size: { readonly initial: number }) => Memory;
  readonly Module: new (bytes: Uint8Array) => object;
  readonly Instance: new (
    module: object,
    imports: { readonly own: { readonly memory: Memory } },
  ) => { readonly exports: Readonly<Record<string, unknown>> };
};

export interface BodyKernel {
  readonly memory: Memory;
  /** Writes points as `words` say. @returns 0 where the text at a place is of another month: it goes on from there when it is called again */
  readonly write: () => number;
}

export function openBodyKernel(): BodyKernel {
  const memory = new WebAssembly.Memory({ initial: 2 });
  const { exports } = new WebAssembly.Instance(new WebAssembly.Module(moduleBytes()), { own: { memory } });
  return { memory, write: exports['write'] as BodyKernel['write'] };
}

type Code = readonly number[];

// The variables of the function, by their numbers.
const [read, left, place, month, at, start, next, length, byte, shift, copied] = [0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10];
const variables = 11;

const i32 = 0x7f;
const end = 0x0b;

/** Signed LEB128. */
function constant(value: number): Code {
  const bytes: number[] = [0x41];
  let rest = value;
  for (; rest < -64 || rest > 63; rest >>= 7) bytes.push((rest & 0x7f) | 0x80);
  return [...bytes, rest & 0x7f];
}

const get = (variable: number): Code => [0x20, variable];
const set = (variable: number, ...value: readonly Code[]): Code => [...value.flat(), 0x21, variable];
const isZero = (value: Code): Code => [...value, 0x45];
const isOther = (a: Code, b: Code): Code => [...a, ...b, 0x47];
const isBelow = (a: Code, b: Code): Code => [...a, ...b, 0x49];
const sum = (a: Code, b: Code): Code => [...a, ...b, 0x6a];
const and = (a: Code, b: Code): Code => [...a, ...b, 0x71];
const or = (a: Code, b: Code): Code => [...a, ...b, 0x72];
const shifted = (a: Code, bits: Code): Code => [...a, ...bits, 0x74];
const add = (variable: number, value: Code): Code => set(variable, sum(get(variable), value));
const loadByte = (address: Code): Code => [...address, 0x2d, 0, 0];
const loadWord = (address: Code, offset: number): Code => [...address, 0x28, 0, offset];
const storeWord = (address: Code, offset: number, value: Code): Code => [...address, ...value, 0x36, 0, offset];
/** Eight bytes. */
const copy = (to: Code, from: Code, offset: number): Code => [...to, ...from, 0x29, 0, offset, 0x37, 0, offset];
const when = (condition: Code, ...then: readonly Code[]): Code => [...condition, 0x04, 0x40, ...then.flat(), end];
const loop = (...body: readonly Code[]): Code => [0x03, 0x40, ...body.flat(), end];
/** Goes on with the innermost loop. */
const again: Code = [0x0c, 0];
const againWhen = (condition: Code): Code => [...condition, 0x0d, 0];
const back = (value: Code): Code => [...value, 0x0f];

const readVarint = (into: number): Code => [
  ...set(into, loadByte(get(read))),
  ...add(read, constant(1)),
  ...when(
    isZero(isBelow(get(into), constant(128))),
    set(into, and(get(into), constant(127))),
    set(shift, constant(7)),
    loop(
      set(byte, loadByte(get(read))),
      add(read, constant(1)),
      set(into, or(get(into), shifted(and(get(byte), constant(127)), get(shift)))),
      add(shift, constant(7)),
      againWhen(isZero(isBelow(get(byte), constant(128)))),
    ),
  ),
];

const loadWords: Code = [
  [words.read, read],
  [words.left, left],
  [words.place, place],
  [words.month, month],
  [words.at, at],
].flatMap(([word = 0, variable = 0]) => set(variable, loadWord(constant(0), 4 * word)));

const storeWords = (readFrom: number): Code =>
  [
    [words.read, readFrom],
    [words.left, left],
    [words.place, place],
    [words.month, month],
    [words.at, at],
    [words.wanted, next],
  ].flatMap(([word = 0, variable = 0]) => storeWord(constant(0), 4 * word, get(variable)));

const body: Code = [
  ...loadWords,
  ...loop(
    when(isZero(get(left)), storeWords(read), back(constant(1))),
    set(start, get(read)),
    readVarint(next),
    readVarint(length),
    set(next, sum(get(month), get(next))),
    when(isOther(loadWord(get(place), placeMonthAt), get(next)), storeWords(start), back(constant(0))),
    set(month, get(next)),
    ...[0, 8, 16, 24, 32].map((offset) => copy(get(at), get(place), offset)),
    add(at, loadWord(get(place), placeLengthAt)),
    copy(get(at), get(read), 0),
    copy(get(at), get(read), 8),
    // Hardly any value is that long.
    when(
      isBelow(constant(16), get(length)),
      set(copied, constant(16)),
      loop(
        copy(sum(get(at), get(copied)), sum(get(read), get(copied)), 0),
        add(copied, constant(8)),
        againWhen(isBelow(get(copied), get(length))),
      ),
    ),
    add(at, get(length)),
    add(read, get(length)),
    add(place, constant(placeBytes)),
    add(left, constant(-1)),
    again,
  ),
  // Never reached.
  ...constant(0),
  end,
];

/** Unsigned LEB128. */
function size(count: number): Code {
  return count < 128 ? [count] : [(count & 0x7f) | 0x80, ...size(count >> 7)];
}

const text = (word: string): Code => [word.length, ...Buffer.from(word, 'latin1')];
/** What a module begins with: its name, and the version of the format. */
const magic: Code = [0x00, 0x61, 0x73, 0x6d, 1, 0, 0, 0];
const section = (id: number, content: Code): Code => [id, ...size(content.length), ...content];

function moduleBytes(): Uint8Array<ArrayBuffer> {
  const code: Code = [1, variables, i32, ...body];
  return Uint8Array.from(
    [
      magic,
      // One type: a function without parameters and with one result.
      section(1, [1, 0x60, 0, 1, i32]),
      // The memory is given, at least one page of it.
      section(2, [1, ...text('own'), ...text('memory'), 2, 0, 1]),
      section(3, [1, 0]),
      section(7, [1, ...text('write'), 0, 0]),
      section(10, [1, ...size(code.length), ...code]),
    ].flat(),
  );
}
