/**
 * The body of drivers as a WebAssembly function, made here byte by byte: from a section, as `snapshot-blocks.ts` has it, to text. V8 checks the
 * bounds of each access of JavaScript, and here of none, and no driver becomes an object: 6 M points take a quarter of the time.
 *
 * A section has for each driver the length (u32 LE) and the JSON of a list that begins with source, id, rule and path, and the length and
 * the bytes of its points. Sections and text are in the memory of the function. Texts are copied eight bytes at a time, so up to fifteen
 * bytes beyond them are written, and written over.
 */

/** What stands before the value of a point, by its place in the series. A place has 64 bytes: the text, and from these on month and length. */
export const placeBytes = 64;
export const placeMonthAt = 56;
export const placeLengthAt = 60;

/** The words of 32 bits at the beginning of the memory: what the function begins with, and what it leaves off with. */
export const words = {
  /** Where the next driver or point stands. */
  read: 0,
  /** Where the section ends. */
  readEnd: 1,
  /** Where the next byte goes. */
  at: 2,
  /** Behind this place nothing is written. */
  atEnd: 3,
  /** How many points of the driver are to be written; -1: the driver is yet to begin. */
  left: 4,
  /** The place of the next point. */
  place: 5,
  /** The month of the point before it. */
  month: 6,
  /** The month of the next point, where the text at its place is of another one. */
  wanted: 7,
  /** How many drivers were begun. */
  drivers: 8,
  /** 1: no driver stands before this one. */
  isFirst: 9,
} as const;

/** Texts between those of a driver, each with room for whole words of eight bytes: the memory must have them. */
export const fixedTexts = [
  [',{"id":', 64],
  [',"path":', 72],
  [',"timeSeries":[', 80],
  ['"}]}', 96],
  [']}', 104],
] as const;
const [[idText, idTextAt], [pathText, pathTextAt], [seriesText, seriesTextAt], [pointsEndText, pointsEndTextAt], ends] =
  fixedTexts;
const [noPointsEndText, noPointsEndTextAt] = ends;
export const firstPlace = 128;

/** What `write` says. */
export const done = 0;
export const wantsText = 1;
const isFull = 2;
export const isBroken = 3;

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
  /**
   * Writes drivers as `words` say, and goes on from there when it is called again.
   * @returns `done`, `wantsText` where that at a place is of another month, `isFull` where there may be no room for the next driver,
   *   `isBroken` where that one would end behind the section
   */
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
const [points, header, bytes] = [11, 12, 13];
const variables = 14;

const i32 = 0x7f;
const end = 0x0b;

/** Signed LEB128. */
function constant(value: number): Code {
  const code: number[] = [0x41];
  let rest = value;
  for (; rest < -64 || rest > 63; rest >>= 7) code.push((rest & 0x7f) | 0x80);
  return [...code, rest & 0x7f];
}

const get = (variable: number): Code => [0x20, variable];
const set = (variable: number, ...value: readonly Code[]): Code => [...value.flat(), 0x21, variable];
const isZero = (value: Code): Code => [...value, 0x45];
const isSame = (a: Code, b: Code): Code => [...a, ...b, 0x46];
const isOther = (a: Code, b: Code): Code => [...a, ...b, 0x47];
const isBelow = (a: Code, b: Code): Code => [...a, ...b, 0x49];
const sum = (a: Code, b: Code): Code => [...a, ...b, 0x6a];
const difference = (a: Code, b: Code): Code => [...a, ...b, 0x6b];
const and = (a: Code, b: Code): Code => [...a, ...b, 0x71];
const or = (a: Code, b: Code): Code => [...a, ...b, 0x72];
const shifted = (a: Code, bits: Code): Code => [...a, ...bits, 0x74];
const add = (variable: number, value: Code): Code => set(variable, sum(get(variable), value));
const loadByte = (address: Code): Code => [...address, 0x2d, 0, 0];
const loadWord = (address: Code, offset: number): Code => [...address, 0x28, 0, offset];
const storeByte = (address: Code, value: Code): Code => [...address, ...value, 0x3a, 0, 0];
const storeWord = (address: Code, offset: number, value: Code): Code => [...address, ...value, 0x36, 0, offset];
/** Eight bytes. */
const copy = (to: Code, from: Code, offset: number): Code => [...to, ...from, 0x29, 0, offset, 0x37, 0, offset];
const when = (condition: Code, ...then: readonly Code[]): Code => [...condition, 0x04, 0x40, ...then.flat(), end];
const loop = (...body: readonly Code[]): Code => [0x03, 0x40, ...body.flat(), end];
/** Goes on with a loop, which so many blocks and loops are within. */
const again = (within = 0): Code => [0x0c, within];
const againWhen = (condition: Code): Code => [...condition, 0x0d, 0];
const back = (value: number): Code => [...constant(value), 0x0f];
const word = (of: keyof typeof words): Code => loadWord(constant(0), 4 * words[of]);
const setWord = (of: keyof typeof words, value: Code): Code => storeWord(constant(0), 4 * words[of], value);

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

const begin = [
  ...set(read, word('read')),
  ...set(left, word('left')),
  ...set(place, word('place')),
  ...set(month, word('month')),
  ...set(at, word('at')),
];

const leave = (readFrom: number, said: number): Code => [
  ...setWord('read', get(readFrom)),
  ...setWord('left', get(left)),
  ...setWord('place', get(place)),
  ...setWord('month', get(month)),
  ...setWord('at', get(at)),
  ...setWord('wanted', get(next)),
  ...back(said),
];

/** Writes a text of up to sixteen bytes that is in the memory. */
const write = (from: Code, count: Code): Code => [
  ...copy(get(at), from, 0),
  ...copy(get(at), from, 8),
  ...add(at, count),
];

/** Copies `count` bytes from the one numbered `first` on, eight at a time. */
const copyBytes = (from: number, count: number, first: number): Code => [
  ...set(copied, constant(first)),
  ...loop(
    copy(sum(get(at), get(copied)), sum(get(from), get(copied)), 0),
    add(copied, constant(8)),
    againWhen(isBelow(get(copied), get(count))),
  ),
];

const [quotationMark, backslash] = [constant(0x22), constant(0x5c)];

const nextByte = (from: number): Code => [...add(from, constant(1)), ...set(byte, loadByte(get(from)))];

/** From the quotation mark that a text of JSON begins with to behind the one that ends it. */
const skipText = (from: number): Code => [
  ...loop(
    nextByte(from),
    when(isSame(get(byte), backslash), add(from, constant(1)), again(1)),
    againWhen(isOther(get(byte), quotationMark)),
  ),
  ...add(from, constant(1)),
];

/** What a text of JSON says that is JSON itself: of all escapes it has only those of a quotation mark and of a backslash. */
const writeJsonIn = (from: number): Code => {
  const writeByte = [...storeByte(get(at), get(byte)), ...add(at, constant(1)), ...again(1)];
  return loop(
    nextByte(from),
    when(isSame(get(byte), backslash), nextByte(from), writeByte),
    when(isOther(get(byte), quotationMark), writeByte),
  );
};

/** A length that a disk has changed may lead anywhere, also before where it begins. */
const isNotWithin = (found: number, from: number): Code =>
  or(isBelow(get(found), get(from)), isBelow(word('readEnd'), get(found)));

const beginDriver: Code = [
  ...when(isSame(get(read), word('readEnd')), leave(read, done)),
  ...set(header, sum(get(read), constant(4))),
  ...set(points, sum(get(header), loadWord(get(read), 0))),
  ...when(isNotWithin(points, header), leave(read, isBroken)),
  ...set(bytes, loadWord(get(points), 0)),
  ...set(next, sum(sum(get(points), constant(4)), get(bytes))),
  ...when(isNotWithin(next, points), leave(read, isBroken)),
  // A point has three bytes at least, of which the value is not more than all, and 36 of text stand before it.
  ...set(length, sum(sum(shifted(get(bytes), constant(4)), loadWord(get(read), 0)), constant(128))),
  ...when(isBelow(word('atEnd'), sum(get(at), get(length))), leave(read, isFull)),
  ...write(sum(constant(idTextAt), word('isFirst')), difference(constant(idText.length), word('isFirst'))),
  ...setWord('isFirst', constant(0)),
  ...setWord('drivers', sum(word('drivers'), constant(1))),
  // Behind the bracket that the list begins with.
  ...add(header, constant(1)),
  ...skipText(header),
  ...set(start, sum(get(header), constant(1))),
  ...set(header, get(start)),
  ...skipText(header),
  ...set(length, difference(get(header), get(start))),
  ...copyBytes(start, length, 0),
  ...add(at, get(length)),
  ...write(constant(pathTextAt), constant(pathText.length)),
  ...add(header, constant(1)),
  ...skipText(header),
  ...add(header, constant(1)),
  ...writeJsonIn(header),
  ...write(constant(seriesTextAt), constant(seriesText.length)),
  ...set(read, sum(get(points), constant(4))),
  ...readVarint(left),
  ...set(place, constant(firstPlace)),
  ...set(month, constant(0)),
];

const writePoint: Code = [
  ...set(start, get(read)),
  ...readVarint(next),
  ...readVarint(length),
  ...set(next, sum(get(month), get(next))),
  ...when(isOther(loadWord(get(place), placeMonthAt), get(next)), leave(start, wantsText)),
  ...set(month, get(next)),
  ...[0, 8, 16, 24, 32].flatMap((offset) => copy(get(at), get(place), offset)),
  ...add(at, loadWord(get(place), placeLengthAt)),
  ...copy(get(at), get(read), 0),
  ...copy(get(at), get(read), 8),
  // Hardly any value is that long.
  ...when(isBelow(constant(16), get(length)), copyBytes(read, length, 16)),
  ...add(at, get(length)),
  ...add(read, get(length)),
  ...add(place, constant(placeBytes)),
  ...add(left, constant(-1)),
];

const body: Code = [
  ...begin,
  ...loop(
    when(isSame(get(left), constant(-1)), beginDriver),
    loop(when(isOther(get(left), constant(0)), writePoint, again(1))),
    when(isOther(get(place), constant(firstPlace)), write(constant(pointsEndTextAt), constant(pointsEndText.length))),
    when(
      isSame(get(place), constant(firstPlace)),
      write(constant(noPointsEndTextAt), constant(noPointsEndText.length)),
    ),
    set(left, constant(-1)),
    again(),
  ),
  // Never reached.
  ...constant(0),
  end,
];

/** Unsigned LEB128. */
function size(count: number): Code {
  return count < 128 ? [count] : [(count & 0x7f) | 0x80, ...size(count >> 7)];
}

const name = (text: string): Code => [text.length, ...Buffer.from(text, 'latin1')];
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
      section(2, [1, ...name('own'), ...name('memory'), 2, 0, 1]),
      section(3, [1, 0]),
      section(7, [1, ...name('write'), 0, 0]),
      section(10, [1, ...size(code.length), ...code]),
    ].flat(),
  );
}
