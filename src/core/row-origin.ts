/**
 * Where in its part a reading stands. Folds, packed drivers and snapshots keep it as one number, its order, which costs no
 * object for each of millions of readings: a row counted from 1, or 2^40 and more for a place in an answer that a database
 * has collapsed. Only this file knows that; the others compare orders, or ask `rowOf`.
 */

const firstPlace = 2 ** 40;

/** @param place counted from 1; 0 where the database does not know the order of its rows */
export function orderOfPlace(place: number): number {
  return firstPlace + place;
}

/** The number of the row in its part; `null` for a place: the database gave one row for many. */
export function rowOf(order: number): number | null {
  return order < firstPlace ? order : null;
}
