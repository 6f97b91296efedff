/** A reading on its way from a row to a fold. */
import type { Moment, Rule } from '../model.ts';

/** What a driver is called: resolved once per distinct key, not per row. */
export interface DriverName {
  readonly id: string;
  readonly path: readonly string[];
  readonly rule: Rule;
}

export interface LatestReading {
  readonly moment: Moment;
  /** As `RowReading.row`. */
  readonly row: number;
}

export interface RowReading {
  /** Canonical decimal text. */
  readonly value: string;
  /** The value's text as read. */
  readonly text: string;
  /** The time's text as read. */
  readonly time: string;
  /** Counted from 1; from `collapsedFrom` on where a database collapses rows. */
  readonly row: number;
  /** How many readings of the source it stands for: more than one where a database collapsed them. */
  readonly count: number;
  /** Where it stands for several: the latest of them, whose path is the driver's. */
  readonly latest?: LatestReading | undefined;
  /** Which of the source's `drivers:` made it, counted from 0. */
  readonly entry: number;
}

/** Takes the readings of rows, in order. */
export interface ReadingSink {
  add(name: DriverName, moment: Moment, reading: RowReading): void;
}
