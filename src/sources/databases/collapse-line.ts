/**
 * A row of a group as a text, called its line: time, place in the order of the query, and the text of its value. Lines are
 * ordered as rows are, so that the greatest of a group is its latest row. Where times are dates, time and place are
 * one integer, which costs a database far less than a text.
 */
import { daySeconds } from '../../core/time/month.ts';
import type { Dialect, SqlColumn } from './dialect.ts';

/** Ends a time: it sorts before any character that a longer time goes on with. */
const timeEnd = '!';
/** Added to each place, so that all have the same number of digits. */
const placeBase = '1000000000000000000';
const placeLength = placeBase.length;
/** The last digits, which are the place itself: no query has more rows. */
const placeDigits = 15;
/** In a date's integer: digits of the place, digits of the day before it, and what gives all days that number of digits. */
const datePlaceDigits = 12;
const dayDigits = 7;
const daysAdded = 1_400_000;
/** Longest time: 2026-01-31 23:00:00.123456789+00:00. */
const timeLength = 35;

export interface Line {
  /** As the agent reads it. */
  readonly time: string;
  /** 0 where places are not counted. */
  readonly place: number;
  readonly text: string;
}

export interface LineFormat {
  /** The line without the value's text, in pieces: SQL, and how many characters it gives at most. */
  readonly pieces: readonly { readonly sql: string; readonly length: number }[];
  /** A cheaper value that is ordered as those pieces are, for a line without a value's text, and how it becomes that line. */
  readonly bare: { readonly sql: string; readonly textOf: (name: string) => string } | undefined;
  readonly parse: (line: string) => Line;
}

export function lineFormat(dialect: Dialect, time: SqlColumn, hasPlaces: boolean): LineFormat {
  return time.kind === 'date' ? dateLine(dialect, time, hasPlaces) : textLine(dialect, time, hasPlaces);
}

function dateLine({ numbers, times }: Dialect, time: SqlColumn, hasPlaces: boolean): LineFormat {
  const sum = `(${times.daysSinceEpoch(time)} + ${daysAdded}) * ${10 ** datePlaceDigits}`;
  const integer = hasPlaces ? `${sum} + place` : sum;
  return {
    pieces: [{ sql: numbers.text(integer), length: dayDigits + datePlaceDigits }],
    bare: { sql: integer, textOf: numbers.text },
    parse(line) {
      const day = Number(line.slice(0, dayDigits)) - daysAdded;
      const textAt = dayDigits + datePlaceDigits;
      return {
        time: new Date(day * daySeconds * 1000).toISOString().slice(0, 10),
        place: Number(line.slice(dayDigits, textAt)),
        text: line.slice(textAt),
      };
    },
  };
}

function textLine({ numbers, texts }: Dialect, time: SqlColumn, hasPlaces: boolean): LineFormat {
  const place = { sql: numbers.text(`${placeBase} + place`), length: placeLength };
  return {
    pieces: [
      { sql: texts.of(time), length: timeLength },
      { sql: `'${timeEnd}'`, length: timeEnd.length },
      ...(hasPlaces ? [place] : []),
    ],
    bare: hasPlaces
      ? undefined
      : { sql: time.name, textOf: (name) => texts.concat(texts.of({ ...time, name }), `'${timeEnd}'`) },
    parse(line) {
      const end = line.indexOf(timeEnd);
      const textAt = end + timeEnd.length + (hasPlaces ? placeLength : 0);
      return {
        time: line.slice(0, end),
        place: hasPlaces ? Number(line.slice(textAt - placeDigits, textAt)) : 0,
        text: line.slice(textAt),
      };
    },
  };
}
