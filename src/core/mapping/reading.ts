/** Readings on their way from rows to a fold: columns, so that no object is made for a reading. */
import { enlarged } from '../enlarged.ts';
import type { Moment, Rule } from '../model.ts';
import { mantissaText } from '../numbers/mantissa.ts';

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

export interface LatestReading {
  readonly moment: Moment;
  /** As `Readings.rows`. */
  readonly row: number;
}

const capacityMin = 1 << 6;

/** Readings in the order of their rows. Used again for the next ones: who wants to keep something copies it. */
export class Readings {
  count = 0;
  readonly names = new DriverNames();
  /** The numbers of their names. */
  named = new Int32Array(capacityMin);
  readonly times: ReadTime[] = [];
  /** The value as an integer without its point, where `scales` says how many of its digits are decimals. */
  mantissas = new Float64Array(capacityMin);
  /** -1: the value does not fit an integer and stands in `values`. */
  scales = new Int8Array(capacityMin);
  /** Canonical decimal text, where the scale is -1. */
  readonly values: string[] = [];
  /** The value's text as read; '' where it equals the value. */
  readonly texts: string[] = [];
  /** The order in the part: see `row-origin.ts`. */
  rows = new Float64Array(capacityMin);
  /** How many readings of the source it stands for: more than one where a database collapsed them. */
  counts = new Float64Array(capacityMin);
  /** Where it stands for several: the latest of them, whose path is the driver's. May be shorter than the others. */
  readonly latest: (LatestReading | undefined)[] = [];
  /** Which of the source's `drivers:` made it, counted from 0. */
  entries = new Int32Array(capacityMin);

  /** Makes place for one more. */
  reserve(): void {
    if (this.count < this.scales.length) return;
    const capacity = 2 * this.scales.length;
    this.named = enlarged(this.named, new Int32Array(capacity));
    this.mantissas = enlarged(this.mantissas, new Float64Array(capacity));
    this.scales = enlarged(this.scales, new Int8Array(capacity));
    this.rows = enlarged(this.rows, new Float64Array(capacity));
    this.counts = enlarged(this.counts, new Float64Array(capacity));
    this.entries = enlarged(this.entries, new Int32Array(capacity));
  }

  name(at: number): DriverName {
    return this.names.of(this.named[at] as number);
  }

  moment(at: number): Moment {
    return (this.times[at] as ReadTime).moment;
  }

  /** The time's text as read. */
  time(at: number): string {
    return (this.times[at] as ReadTime).text;
  }

  /** Canonical decimal text. */
  value(at: number): string {
    const scale = this.scales[at] as number;
    return scale < 0 ? (this.values[at] as string) : mantissaText(this.mantissas[at] as number, scale);
  }

  /** The value's text as read. */
  text(at: number): string {
    return this.texts[at] === '' ? this.value(at) : (this.texts[at] as string);
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
