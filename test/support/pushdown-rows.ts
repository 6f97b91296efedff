/** Rows of every type of column, with whatever has ever been read otherwise by a database than by the agent. */
import fc from 'fast-check';
import type { Held } from './pushdown-world.ts';

export const columns = {
  region: 'text',
  product: 'padded',
  scenario: 'text',
  on_day: 'date',
  on_clock: 'wall',
  on_instant: 'instant',
  on_text: 'text',
  whole: 'integer',
  exact: 'decimal',
  short: 'short',
  rough: 'float',
  loose: 'text',
} satisfies Record<string, Held>;

const names = ['N', 'n', 'N ', ' N', '', 'é', 'e', "O'x", 'a/b', 'a', 'b|c', 'x!y', '~', null];
const products = ['p', 'P', 'p ', '', 'q', null];
const days = listed`2024-01-31, 2024-02-01, 2024-02-29, 2024-03-31, 1994-12-31, 1995-01-01, 2011-12-30, 2011-12-31,
  1950-06-15, 2150-06-15, 9999-12-31, infinity, -infinity`;
/** About the ends of months, and where clocks change in Berlin, St John's (a minute after midnight) and Kiritimati. */
const clocks = listed`2024-01-31 23:59:59, 2024-02-01 00:00:00, 2024-01-31 09:59:59.5, 2024-01-31 10:00:00,
  2024-01-31 22:59:59, 2024-01-31 23:00:00, 2024-02-01 03:29:59, 2024-02-01 03:30:00, 2024-03-31 02:30:00,
  2024-03-31 03:10:00, 2024-03-31 01:59:59, 2024-10-27 02:30:00, 2009-11-01 02:30:30, 2009-11-01 02:31:00,
  2009-11-01 03:29:00, 2009-10-31 23:30:00, 2009-11-01 00:00:30, 1994-12-31 10:00:00, 1994-12-31 09:59:59,
  1995-01-01 00:00:00, 1955-01-01 00:00:00, 2150-01-01 00:00:00, infinity`;
const texts = [
  ...listed`2024-01-31, 2024-01, 2024-02-29, 2024-02-30, 20240131, 2024-01-31T23:00:00, 2024-02, 2024-01-01 00:00:00,
    2024-01-01, 2024-01-31T23:30:00Z, 2024-02-01T00:30:00+01:00, 2024-03-31 02:30:00, 2024-03-31 03:10:00,
    2024-01-31 23:00:00.5, 2024-01-31T23:00:00.500, 2024-02-01 09:59:59.25Z, 2024-01-31 10:00, 9999-12-31T23:00:00Z,
    2024-13-01, soon, 0999-12-31, 2024-01-31t10:00:00`,
  ' 2024-01-31 ',
  '',
];
const wholes = listed`0, 1, -3, 1000, 999999999999999999, -999999999999999999, 9223372036854775807`;
const exacts = listed`0, 1.50, 2, -0.25, 100, 0.000001, 123456789012.123456, 0.12345678901234567890, NaN`;
const shorts = listed`0, 1.50, -2, 99999999.9999, -0.0001, NaN`;
const roughs = listed`0.1, 1.5, -2.5, 100, 0.3333333333333333, 1e20, 1e-7, 123456.789`;
const looses = [
  ...listed`1, 1.50, 2.0, 2, -3, 0, -0.00, 007, +5, .5, 5., 1e3, NA, x, 12., --1, 1-2, 1.2.3, Infinity,
    123456789012345678, 1234567890123456789, 12345678901234567890.1, 0.123456789012345678, 0.1234567890123456789,
    999999999999999999.999999999999999999, -999999999999999999.999999999999999999`,
  ' 7 ',
  ' ',
  '',
];

/** Texts between commas, and NULL. */
function listed(written: TemplateStringsArray): readonly (string | null)[] {
  return [...written.join('').split(/,\s+/), null];
}

const pools = [
  names,
  products,
  ['Actual', 'actual', 'Actual ', 'Plan', null],
  days,
  clocks,
  clocks,
  texts,
  wholes,
  exacts,
  shorts,
  roughs,
  looses,
];

/** Few texts to a column, so that many rows have a key, a month, a time or a value in common. */
export const rowsOfFew = fc
  .tuple(...pools.map((pool) => fc.uniqueArray(fc.constantFrom(...pool), { minLength: 1, maxLength: 4 })))
  .chain((few) => fc.array(fc.tuple(...few.map((pool) => fc.constantFrom(...pool))), { maxLength: 40 }));

/** No text among them that a database would leave to the agent. */
export const wellFormed = [
  ['N', 'n', 'N ', "O'x", 'a/b', 'x!y'],
  ['p', 'P', null],
  ['Actual'],
  listed`2024-02-01, 2024-02-28, 2024-02-29, 2024-03-31, 2000-02-29`.filter((text) => text !== null),
  ...[0, 1].map(() => ['2024-01-31 22:59:59', '2024-02-01 00:00:00', '2024-02-29 10:00:00', '2024-03-31 03:10:00']),
  ['2024-02-01', '2024-02-29', '2024-02', '2024-02-29T10:00:00', '2024-03-31 23:59:59', '2023-02-28', '2000-02-29'],
  listed`0, 1, -3, 1000`,
  listed`0, 1.50, -0.25, 123456789012.123456`,
  listed`0, 1.50, -0.25`,
  ['0.5'],
  listed`1, 1.50, -3, 007`,
];
