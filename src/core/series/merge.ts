import { compareUtf8 } from './snapshot.ts';

/** Several runs of drivers as one, in the order of ids. No id is in two runs. */
export function mergeDriverRuns<T extends { readonly id: string }>(runs: readonly Iterable<T>[]): Iterable<T> {
  const [only] = runs;
  return only !== undefined && runs.length === 1 ? only : mergeSeveral(runs);
}

function* mergeSeveral<T extends { readonly id: string }>(runs: readonly Iterable<T>[]): Generator<T> {
  const iterators = runs.map((run) => run[Symbol.iterator]());
  try {
    const heads = iterators.map((iterator) => iterator.next());
    for (;;) {
      let first = -1;
      for (const [index, head] of heads.entries()) {
        const best = heads[first];
        if (head.done === true) continue;
        if (best === undefined || best.done === true || compareUtf8(head.value.id, best.value.id) < 0) first = index;
      }
      const head = heads[first];
      if (head === undefined || head.done === true) return;
      yield head.value;
      heads[first] = (iterators[first] as Iterator<T>).next();
    }
  } finally {
    for (const iterator of iterators) iterator.return?.();
  }
}
