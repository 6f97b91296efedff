/** A run of drivers in pieces, for whoever has other things to do between them. */

/** The first one and those behind it, up to so many. Each is used before the next one is made: they may share their memory. */
export function* pieceFrom<T>(first: T, others: Iterator<T>, size: number): Generator<T> {
  yield first;
  for (let left = size - 1; left > 0; left--) {
    const next = others.next();
    if (next.done === true) return;
    yield next.value;
  }
}
