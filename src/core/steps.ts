/** Long work in steps and pieces, for whoever has other things to do between them. */

/** Runs all steps, for whoever has not. */
export function atOnce<T>(steps: Iterator<unknown, T>): T {
  for (;;) {
    const step = steps.next();
    if (step.done === true) return step.value;
  }
}

/** The first one and those behind it, up to so many. Each is used before the next one is made: they may share their memory. */
export function* pieceFrom<T>(first: T, others: Iterator<T>, size: number): Generator<T> {
  yield first;
  for (let left = size - 1; left > 0; left--) {
    const next = others.next();
    if (next.done === true) return;
    yield next.value;
  }
}
