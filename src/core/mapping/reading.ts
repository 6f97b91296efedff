/** A reading on its way from a row to a fold. */
import type { Moment, Rule } from '../model.ts';
import { mantissaText } from '../numbers/mantissa.ts';

/** What a driver is called: resolved once per distinct key, not per row. */
export interface DriverName {
  readonly id: string;
  readonly path: readonly string[];
  readonly rule: Rule;
  /** What a sink knows of this name, so that it need not look it up for each reading. */
  memo?: { readonly owner: object };
}

export interface LatestReading {
  readonly moment: Moment;
  /** As `Reading.row`. */
  readonly row: number;
}

/** One object serves for all readings of a part, one after the other: who wants to keep something of it copies it. */
export interface Reading {
  /** The value as an integer without its point, where `scale` says how many of its digits are decimals. */
  readonly mantissa: number;
  /** -1: the value does not fit an integer and stands in `value`. */
  readonly scale: number;
  /** Canonical decimal text, where `scale` is -1. */
  readonly value: string;
  /** The value's text as read; '' where it equals the value. */
  readonly text: string;
  /** The time's text as read. */
  readonly time: string;
  /** Its order in the part: see `row-origin.ts`. */
  readonly row: number;
  /** How many readings of the source it stands for: more than one where a database collapsed them. */
  readonly count: number;
  /** Where it stands for several: the latest of them, whose path is the driver's. */
  readonly latest: LatestReading | undefined;
  /** Which of the source's `drivers:` made it, counted from 0. */
  readonly entry: number;
}

/** Canonical decimal text. */
export function valueOf({ mantissa, scale, value }: Pick<Reading, 'mantissa' | 'scale' | 'value'>): string {
  return scale < 0 ? value : mantissaText(mantissa, scale);
}

/** The value's text as read. */
export function textOf(reading: Pick<Reading, 'mantissa' | 'scale' | 'value' | 'text'>): string {
  return reading.text === '' ? valueOf(reading) : reading.text;
}

/** Takes the readings of rows, in order. */
export interface ReadingSink {
  add(name: DriverName, moment: Moment, reading: Reading): void;
}
