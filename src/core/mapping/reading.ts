/** Readings on their way from rows to a fold: columns, so that no object is made for a reading. */
import { enlarged } from '../enlarged.ts';
import { Memory, MemoryArray } from '../memory.ts';
import type { Moment, Rule } from '../model.ts';
import { mantissaText } from '../numbers/mantissa.ts';
import { canonical, elsewhere } from '../numbers/spelling-bits.ts';
import { type NumberMarks, canonicalMarks, spelledText } from '../numbers/spelling.ts';
import * as place from './kernel/layout.ts';

const capacityMin = 1 << 6;
/** Readings that wait at most, but for those of one row: few enough to stay in the processor's cache. */
export const readingsMax = 4096;

/** What a driver is called: resolved once per distinct key, not per row. */
export interface DriverName {
  readonly id: string;
  readonly path: readonly string[];
  readonly rule: Rule;
}

/** Names that are kept; beyond it they are numbered anew. */
const namesMax = 200_000;

/**
 * Names, numbered from 0 in the order in which they were resolved; one name may have several numbers. A reading has the number: to look at one
 * of 10 000 objects for each row, in memory that the processor has not at hand, took a fifth of the time of mapping and folding it.
 */
export class DriverNames {
  /** Counted up when the numbers are given anew. Only between batches. */
  generation = 0;
  #all: DriverName[] = [];

  get size(): number {
    return this.#all.length;
  }

  get isFull(): boolean {
    return this.#all.length > namesMax;
  }

  of(number: number): DriverName {
    return this.#all[number] as DriverName;
  }

  add(name: DriverName): number {
    return this.#all.push(name) - 1;
  }

  clear(): void {
    this.#all = [];
    this.generation++;
  }
}

/** A time as read. */
export interface ReadTime {
  readonly text: string;
  readonly moment: Moment;
}

/** Times that are kept; beyond it they are numbered anew. */
const timesMax = 100_000;

/** Times, numbered from 0, whose moments stand in columns too: a fold looks at them for each reading. */
export class ReadTimes {
  /** Counted up when the numbers are given anew. Only between batches. */
  generation = 0;
  #all: ReadTime[] = [];
  months = new Int32Array(capacityMin);
  seconds = new Float64Array(capacityMin);
  nanos = new Int32Array(capacityMin);

  get size(): number {
    return this.#all.length;
  }

  get isFull(): boolean {
    return this.#all.length > timesMax;
  }

  of(number: number): ReadTime {
    return this.#all[number] as ReadTime;
  }

  add(time: ReadTime): number {
    const number = this.#all.push(time) - 1;
    if (number === this.months.length) {
      this.months = enlarged(this.months, new Int32Array(2 * number));
      this.seconds = enlarged(this.seconds, new Float64Array(2 * number));
      this.nanos = enlarged(this.nanos, new Int32Array(2 * number));
    }
    const { month, seconds, nanos } = time.moment;
    this.months[number] = month;
    this.seconds[number] = seconds;
    this.nanos[number] = nanos;
    return number;
  }

  clear(): void {
    this.#all = [];
    this.generation++;
  }
}

export interface LatestReading {
  readonly moment: Moment;
  /** As `Readings.rows`. */
  readonly row: number;
}

/** Readings in the order of their rows. Used again for the next ones: who wants to keep something copies it. */
export class Readings {
  count = 0;
  /** Where a kernel finds them. */
  readonly address: number;
  readonly names = new DriverNames();
  readonly times = new ReadTimes();
  /** The marks that numbers are written with. */
  readonly marks: readonly NumberMarks[];
  /** Canonical decimal text, where the scale is -1. */
  readonly values: string[] = [];
  readonly texts: string[] = [];
  /** Whether the value is of a stored number, to which no marks apply. Only where the entry notes it: `isStoredNoted`. */
  readonly stored: boolean[] = [];
  /** Where it stands for several: the latest of them, whose path is the driver's. May be shorter than the others. */
  readonly latest: (LatestReading | undefined)[] = [];
  /** How many readings of the source it stands for: 1 but where a database collapsed them. */
  counts = new Float64Array(capacityMin).fill(1);
  readonly #memory: Memory;
  readonly #named: MemoryArray<Int32Array>;
  readonly #timed: MemoryArray<Int32Array>;
  readonly #mantissas: MemoryArray<Float64Array>;
  readonly #scales: MemoryArray<Int8Array>;
  readonly #spelled: MemoryArray<Int32Array>;
  readonly #rows: MemoryArray<Float64Array>;
  readonly #entries: MemoryArray<Int32Array>;
  /** Whether a count is another than 1. */
  #hasCounts = false;

  constructor(memory = new Memory(), marks: readonly NumberMarks[] = [canonicalMarks]) {
    this.#memory = memory;
    this.marks = marks;
    this.#named = new MemoryArray(memory, Int32Array, capacityMin);
    this.#timed = new MemoryArray(memory, Int32Array, capacityMin);
    this.#mantissas = new MemoryArray(memory, Float64Array, capacityMin);
    this.#scales = new MemoryArray(memory, Int8Array, capacityMin);
    this.#spelled = new MemoryArray(memory, Int32Array, capacityMin);
    this.#rows = new MemoryArray(memory, Float64Array, capacityMin);
    this.#entries = new MemoryArray(memory, Int32Array, capacityMin);
    this.address = memory.allocate(place.readingsBytes);
    this.#describe();
  }

  /** The numbers of their names and times. */
  get named(): Int32Array {
    return this.#named.view;
  }

  get timed(): Int32Array {
    return this.#timed.view;
  }

  /** The value as an integer without its point, where `scales` says how many of its digits are decimals. */
  get mantissas(): Float64Array {
    return this.#mantissas.view;
  }

  /** -1: the value does not fit an integer and stands in `values`. */
  get scales(): Int8Array {
    return this.#scales.view;
  }

  /** How the value's text as read is written, see `numbers/spelling.ts`; `elsewhere`: it stands in `texts`. */
  get spelled(): Int32Array {
    return this.#spelled.view;
  }

  /** The order in the part: see `row-origin.ts`. */
  get rows(): Float64Array {
    return this.#rows.view;
  }

  /** Which of the source's `drivers:` made it, counted from 0. */
  get entries(): Int32Array {
    return this.#entries.view;
  }

  /** Makes place for so many more, and for as many as are wanted within `readingsMax`. */
  reserve(needed: number, wanted = needed): void {
    const capacity = this.#scales.length;
    const free = capacity - this.count;
    if (free >= wanted || (free >= needed && capacity >= readingsMax)) return;
    this.#grow(Math.max(2 * capacity, this.count + needed, Math.min(readingsMax, this.count + wanted)));
  }

  /** Gives the readings to whoever takes them. */
  handOver(sink: ReadingSink): void {
    if (this.count > 0) sink.take(this);
    this.cut(0);
  }

  /** For how many more there is place. */
  get room(): number {
    return this.#scales.length - this.count;
  }

  /** Reads the count that a kernel has counted on to. */
  counted(): void {
    this.count = this.#memory.get(this.address + place.readAt);
  }

  #grow(capacity: number): void {
    for (const column of this.#columns()) column.grow(capacity);
    this.counts = enlarged(this.counts, new Float64Array(capacity).fill(1));
    this.#describe();
  }

  #describe(): void {
    this.#memory.set(this.address + place.roomAt, this.#scales.length);
    // In the order of `layout.ts`.
    for (const [at, column] of this.#columns().entries()) {
      this.#memory.set(this.address + place.namedAt + 4 * at, column.address);
    }
  }

  #columns(): readonly { readonly address: number; grow(capacity: number): void }[] {
    return [this.#named, this.#timed, this.#mantissas, this.#scales, this.#spelled, this.#rows, this.#entries];
  }

  /** The next reading stands for so many, the latest of them being this one. */
  collapsed(count: number, latest: LatestReading | undefined): void {
    this.#hasCounts = true;
    this.counts[this.count] = count;
    this.latest[this.count] = latest;
  }

  /** Forgets the readings from there on. */
  cut(count: number): void {
    if (this.#hasCounts) {
      this.counts.fill(1, count, this.count + 1);
      this.latest.length = Math.min(this.latest.length, count);
      this.#hasCounts = count > 0;
    }
    this.count = count;
  }

  name(at: number): DriverName {
    return this.names.of(this.named[at] as number);
  }

  moment(at: number): Moment {
    return this.times.of(this.timed[at] as number).moment;
  }

  /** The time's text as read. */
  time(at: number): string {
    return this.times.of(this.timed[at] as number).text;
  }

  /** Canonical decimal text. */
  value(at: number): string {
    const scale = this.scales[at] as number;
    return scale < 0 ? (this.values[at] as string) : mantissaText(this.mantissas[at] as number, scale);
  }

  /** The value's text as read. */
  text(at: number): string {
    const spelling = this.spelled[at] as number;
    if (spelling === canonical) return this.value(at);
    if (spelling === elsewhere) return this.texts[at] as string;
    return spelledText(this.mantissas[at] as number, this.scales[at] as number, spelling, this.marks);
  }
}

/** Takes the readings of rows, in order. */
export interface ReadingSink {
  take(readings: Readings): void;
}

/** A sink that is told of one reading at a time. */
export function eachReading(take: (readings: Readings, at: number) => void): ReadingSink {
  return {
    take: (readings) => {
      for (let at = 0; at < readings.count; at++) take(readings, at);
    },
  };
}
