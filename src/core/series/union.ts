/** What several runs of drivers hold together. */
import { type PackedPoints, PointWalk, packPoints } from './packing.ts';
import { compareUtf8 } from './snapshot.ts';

/**
 * The drivers of runs that come in the order of ids, each once: as the first run has it that has it, with the months that only later runs
 * have. A driver is valid until the next one is asked for.
 */
export function* unionOf<D extends PackedPoints>(runs: readonly Iterable<D>[]): Generator<D, void> {
  const heads = runs.map((run) => {
    const drivers = run[Symbol.iterator]();
    return { drivers, next: drivers.next() };
  });
  try {
    for (;;) {
      let first: D | undefined;
      for (const { next } of heads)
        if (next.done !== true && (first === undefined || compareUtf8(next.value.id, first.id) < 0)) first = next.value;
      if (first === undefined) return;
      const { id } = first;
      const same = heads.filter(({ next }) => next.done !== true && next.value.id === id);
      yield same.reduce((union, { next }) => withMonthsOf(union, next.value as D), first);
      for (const head of same) head.next = head.drivers.next();
    }
  } finally {
    for (const { drivers } of heads) drivers.return?.();
  }
}

/** The driver with the points of an older state of it in months that it lacks itself. */
export function withMonthsOf<D extends PackedPoints>(driver: D, older: PackedPoints): D {
  if (Buffer.compare(driver.points, older.points) === 0) return driver;
  const walks = [driver.points, older.points].map((points) => ({ points, walk: new PointWalk(points) })) as [
    Side,
    Side,
  ];
  const [own, other] = walks;
  const points: { month: number; value: Uint8Array }[] = [];
  let [hasOwn, hasOther] = [own.walk.next(), other.walk.next()];
  while (hasOwn || hasOther) {
    const isOwn = hasOwn && (!hasOther || own.walk.month <= other.walk.month);
    const isBoth = hasOwn && hasOther && own.walk.month === other.walk.month;
    const { points: bytes, walk } = isOwn ? own : other;
    points.push({ month: walk.month, value: bytes.subarray(walk.start, walk.end) });
    if (isOwn) hasOwn = own.walk.next();
    if (!isOwn || isBoth) hasOther = other.walk.next();
  }
  return { ...driver, points: packPoints(points) };
}

interface Side {
  readonly points: Uint8Array;
  readonly walk: PointWalk;
}
