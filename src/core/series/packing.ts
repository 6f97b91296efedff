/**
 * Points packed per driver, in two blobs: what is pushed (`points`: month and value of each point) and where it came from
 * (`origins`). Diff and snapshot read the first alone, byte for byte, and never decode a value.
 *
 * All integers are LEB128 varints (seconds zigzag). `points`: count, then per point the months since the point before,
 * the length and the ASCII of the value. `origins`: the path's place, then per point part, count, seconds, nanos, row,
 * text (0: equal to the value, else its length in bytes + 1 and UTF-8) and, for an average, the sum. A third blob, which
 * nearly no driver has, holds ties: count, then per tie the index of its cell, the place and value of the reading that is
 * left out, and row, part and value of the other one.
 */
import type { Month, Place, Rule } from '../model.ts';
import { BlobReader, BlobWriter } from './blob.ts';

/** Two readings of one driver at one same time with different values, where a `last` or `first` takes one. */
export interface Tie {
  readonly seconds: number;
  readonly nanos: number;
  readonly left: TiedReading;
  readonly kept: TiedReading;
}

export interface TiedReading {
  readonly value: string;
  readonly row: number;
  readonly part: number;
}

/** One point and where it came from. For a sum, average or count the place and text are those of the latest reading. */
export interface Cell extends Place {
  readonly month: Month;
  /** What is pushed: canonical decimal text. */
  readonly value: string;
  /** The value's text as read. */
  readonly text: string;
  /** How many readings were folded into this point. */
  readonly count: number;
  /** For an average: the exact sum that it is made of. */
  readonly sum?: string;
  /** Two readings of its month with the same time and different values: from one part, or those that decide the point. */
  readonly tie?: Tie | undefined;
}

/** The part that cells name by number, in one revision. */
export interface PartOrigin {
  readonly id: number;
  readonly source: string;
  readonly name: string;
  readonly revisedAtMs: number;
}

/**
 * A part that cells name, and what is known of it once its rows are not there any more. Older snapshots have only the name
 * and the time: the rest is `undefined` then.
 */
export interface OriginFacts extends PartOrigin {
  readonly hash?: string | undefined;
  readonly endsWithLineEnd?: boolean | undefined;
  /** How many of its rows were rejected. */
  readonly rejects?: number | undefined;
  /** It is a part of the accepted read. `false`: only months of an older read, carried as history, name it. */
  readonly isPart?: boolean | undefined;
}

/** One driver of a part, a read or a snapshot: collapsed to one cell a month. */
export interface FoldedDriver {
  readonly id: string;
  readonly path: readonly string[];
  readonly rule: Rule;
  /** The place of the latest reading, whose path this is. */
  readonly pathPlace: Place;
  /** Another path that some reading of this driver gave, where one did. */
  readonly otherPath?: readonly string[] | undefined;
  /** Which of the source's `drivers:` made the latest reading; not known of what comes from a snapshot. */
  readonly entry?: number | undefined;
  /** In the order of months, one each. */
  readonly cells: readonly Cell[];
}

/** A folded driver, packed, without the origins of its points: all that a diff and a body need. */
export interface PackedPoints {
  readonly id: string;
  /** JSON text of the array. */
  readonly path: string;
  readonly rule: Rule;
  readonly otherPath?: string | undefined;
  readonly points: Uint8Array;
  /** Where its points came from; `undefined` where nobody needs it. */
  readonly origins?: Uint8Array | undefined;
}

export interface PackedDriver extends PackedPoints {
  readonly origins: Uint8Array;
  /** As in a folded driver. Snapshots keep neither this nor ties. */
  readonly entry?: number | undefined;
  /** The ties of its cells; `undefined` where there are none. */
  readonly ties?: Uint8Array | undefined;
}

// Used again for each driver: packing is synchronous and each result is a copy.
const writers = { points: new BlobWriter(), origins: new BlobWriter() };

export function packDriver(driver: FoldedDriver): PackedDriver {
  const { points, origins } = writers;
  points.reset();
  origins.reset();
  points.varint(driver.cells.length);
  origins.place(driver.pathPlace);
  let month = 0;
  for (const cell of driver.cells) {
    points.varint(cell.month - month);
    month = cell.month;
    writeCell(cell, driver.rule, writers);
  }
  return {
    id: driver.id,
    path: JSON.stringify(driver.path),
    rule: driver.rule,
    otherPath: driver.otherPath === undefined ? undefined : JSON.stringify(driver.otherPath),
    points: points.copy(),
    origins: origins.copy(),
    entry: driver.entry,
    ties: packTies(driver.cells.flatMap(({ tie }, index) => (tie === undefined ? [] : [{ index, tie }]))),
  };
}

export function unpackDriver(packed: PackedDriver): FoldedDriver {
  const points = new BlobReader(packed.points);
  const origins = new BlobReader(packed.origins);
  const pathPlace = origins.place();
  const cells: Cell[] = [];
  let month = 0;
  for (let left = points.varint(); left > 0; left--) {
    month += points.varint();
    const value = points.text(points.varint());
    cells.push(readCell(origins, { month, value, rule: packed.rule }));
  }
  if (packed.ties !== undefined) {
    for (const [index, tie] of unpackTies(packed.ties)) cells[index] = { ...(cells[index] as Cell), tie };
  }
  return {
    id: packed.id,
    path: JSON.parse(packed.path) as string[],
    rule: packed.rule,
    pathPlace,
    otherPath: packed.otherPath === undefined ? undefined : (JSON.parse(packed.otherPath) as string[]),
    entry: packed.entry,
    cells,
  };
}

/** One cell from `origins`, and what `points` says of it. */
export function readCell(
  origins: BlobReader,
  { month, value, rule }: Pick<Cell, 'month' | 'value'> & { readonly rule: Rule },
): Cell {
  const place = origins.place();
  const count = origins.varint();
  const textLength = origins.varint();
  const text = textLength === 0 ? value : origins.text(textLength - 1);
  const sum = rule === 'average' ? { sum: origins.text(origins.varint()) } : {};
  return { month, value, text, count, ...place, ...sum };
}

/** Writes a cell behind its month. */
export function writeCell(
  cell: Cell,
  rule: Rule,
  { points, origins }: { readonly points: BlobWriter; readonly origins: BlobWriter },
): void {
  points.text(cell.value, 0);
  origins.place(cell);
  origins.varint(cell.count);
  if (cell.text === cell.value) origins.varint(0);
  else origins.text(cell.text, 1);
  if (rule === 'average') origins.text(cell.sum ?? cell.value, 0);
}

/** Ties with the indexes of their cells. */
export function packTies(tied: readonly { readonly index: number; readonly tie: Tie }[]): Uint8Array | undefined {
  if (tied.length === 0) return undefined;
  const writer = writers.points;
  writer.reset();
  writer.varint(tied.length);
  for (const { index, tie } of tied) {
    const { seconds, nanos, left, kept } = tie;
    writer.varint(index);
    writer.place({ seconds, nanos, row: left.row, part: left.part });
    writer.text(left.value, 0);
    writer.varint(kept.row);
    writer.varint(kept.part);
    writer.text(kept.value, 0);
  }
  return writer.copy();
}

/** The ties of a driver, by the index of their cells. */
export function* unpackTies(ties: Uint8Array): Generator<readonly [index: number, tie: Tie]> {
  const reader = new BlobReader(ties);
  for (let count = reader.varint(); count > 0; count--) {
    const index = reader.varint();
    const { seconds, nanos, row, part } = reader.place();
    const left = { value: reader.text(reader.varint()), row, part };
    const [keptRow, keptPart] = [reader.varint(), reader.varint()];
    const kept = { value: reader.text(reader.varint()), row: keptRow, part: keptPart };
    yield [index, { seconds, nanos, left, kept }];
  }
}

/** The month of the first point of a `points` blob that has one. */
export function firstMonth(points: Uint8Array): Month {
  const walk = new PointWalk(points);
  walk.next();
  return walk.month;
}

/** The months of a `points` blob: without a `PointWalk`, which knows more, in a third of the time. */
export function monthsIn(points: Uint8Array): Month[] {
  const reader = new BlobReader(points);
  const count = reader.varint();
  const months: Month[] = [];
  let [month, at] = [0, reader.at];
  while (months.length < count) {
    const monthsOn = points[at] as number;
    const length = points[at + 1] as number;
    if (monthsOn < 128 && length < 128) {
      month += monthsOn;
      at += 2 + length;
    } else {
      reader.at = at;
      month += reader.varint();
      at = reader.varint() + reader.at;
    }
    months.push(month);
  }
  return months;
}

/** How many readings the points of a driver were folded from in these months, which are in order; 0 where it has no point. */
export function readingsIn({ points, origins, rule }: PackedDriver, inMonths: readonly Month[]): number[] {
  const reader = new BlobReader(origins);
  reader.place();
  const months = monthsIn(points);
  let passed = 0;
  return inMonths.map((month) => {
    const index = months.indexOf(month, passed);
    if (index < 0) return 0;
    reader.skipOrigins(index - passed, rule === 'average');
    passed = index + 1;
    return reader.readingsOfCell(rule === 'average');
  });
}

/** How many points a `points` blob holds. */
export function pointCount(points: Uint8Array): number {
  const first = points[0] as number;
  return first < 128 ? first : new BlobReader(points).varint();
}

/**
 * Walks a `points` blob without decoding values: while `next()`, the value is `points.subarray(start, end)`, ASCII. A
 * cursor and not a callback: 6 M points of a snapshot are walked in 0.1 s instead of 0.4.
 */
export class PointWalk {
  month: Month = 0;
  start = 0;
  end: number;
  readonly #points: Uint8Array;
  #left: number;

  constructor(points: Uint8Array) {
    const reader = new BlobReader(points);
    this.#points = points;
    this.#left = reader.varint();
    this.end = reader.at;
  }

  next(): boolean {
    if (this.#left === 0) return false;
    this.#left--;
    const monthsOn = this.#points[this.end] as number;
    const length = this.#points[this.end + 1] as number;
    // All but the first point of a driver and values of 128 digits: both integers have one byte.
    if (monthsOn < 128 && length < 128) {
      this.month += monthsOn;
      this.start = this.end + 2;
      this.end = this.start + length;
      return true;
    }
    const reader = new BlobReader(this.#points);
    reader.at = this.end;
    this.month += reader.varint();
    const bytes = reader.varint();
    this.start = reader.at;
    this.end = this.start + bytes;
    return true;
  }
}

/** Where the points of a `points` blob stand, for arrays with room for all of them: a third of the time of a `PointWalk`. */
export function placePoints(points: Uint8Array, months: Int32Array, starts: Int32Array, ends: Int32Array): void {
  const reader = new BlobReader(points);
  const count = reader.varint();
  let [month, at] = [0, reader.at];
  for (let index = 0; index < count; index++) {
    let monthsOn = points[at++] as number;
    let length = points[at++] as number;
    if (monthsOn >= 128 || length >= 128) {
      reader.at = at - 2;
      monthsOn = reader.varint();
      length = reader.varint();
      at = reader.at;
    }
    month += monthsOn;
    months[index] = month;
    starts[index] = at;
    at += length;
    ends[index] = at;
  }
}

/** Points as a `points` blob. Months are in order; values are their ASCII. */
export function packPoints(points: readonly { readonly month: Month; readonly value: Uint8Array }[]): Uint8Array {
  const writer = writers.points;
  writer.reset();
  writer.varint(points.length);
  let last = 0;
  for (const { month, value } of points) {
    writer.varint(month - last);
    writer.varint(value.length);
    writer.bytes(value, 0, value.length);
    last = month;
  }
  return writer.copy();
}

/** Months as a blob, for sets of deleted points. */
export function packMonths(months: readonly Month[]): Uint8Array {
  const writer = writers.points;
  writer.reset();
  writer.varint(months.length);
  let last = 0;
  for (const month of months) {
    writer.varint(month - last);
    last = month;
  }
  return writer.copy();
}

export function unpackMonths(blob: Uint8Array): Month[] {
  const reader = new BlobReader(blob);
  const months: Month[] = [];
  let month = 0;
  for (let left = reader.varint(); left > 0; left--) months.push((month += reader.varint()));
  return months;
}
