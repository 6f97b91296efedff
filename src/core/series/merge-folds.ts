/** Folds of one driver become one: of pieces of a part, and of parts. The result depends on no order of arrival. */
import { addDecimals, averageDecimal, compareDecimals } from '../numbers/arithmetic.ts';
import type { Place, Rule } from '../model.ts';
import type { Cell, FoldedDriver, PartOrigin, Tie, TiedReading } from './packing.ts';

/** Orders readings across parts: by time, then the part revised later, then the later part name, then the later row. */
export type PlaceOrder = (a: Place, b: Place) => number;

export function placeOrder(part: (id: number) => PartOrigin): PlaceOrder {
  return (a, b) => {
    const time = a.seconds - b.seconds || a.nanos - b.nanos;
    if (time !== 0 || a.part === b.part) return time || a.row - b.row;
    const partA = part(a.part);
    const partB = part(b.part);
    if (partA.revisedAtMs !== partB.revisedAtMs) return partA.revisedAtMs - partB.revisedAtMs;
    if (partA.name !== partB.name) return partA.name < partB.name ? -1 : 1;
    return a.row - b.row || a.part - b.part;
  };
}

/** Merges folds of one driver, at least one; later ones of the same part hold later rows. */
export function mergeDrivers(folds: readonly FoldedDriver[], order: PlaceOrder): FoldedDriver {
  return mergeByRule(folds, (a, b) => mergeTwo(a, b, order));
}

/**
 * Merges folds two by two, those of one rule first: two of them that share a month are merged by that rule, also where a third one, with
 * another rule and none of these months, has the latest reading. No month is of two rules: see `refuseMixedRules`.
 */
export function mergeByRule<T extends { readonly rule: Rule }>(folds: readonly T[], merge: (a: T, b: T) => T): T {
  const isMixed = folds.some(({ rule }) => rule !== folds[0]?.rule);
  if (!isMixed) return folds.reduce(merge);
  return [...Map.groupBy(folds, ({ rule }) => rule).values()].map((alike) => alike.reduce(merge)).reduce(merge);
}

function mergeTwo(a: FoldedDriver, b: FoldedDriver, order: PlaceOrder): FoldedDriver {
  const later = order(b.pathPlace, a.pathPlace) >= 0 ? b : a;
  const earlier = later === a ? b : a;
  const other = samePath(later.path, earlier.path) ? (later.otherPath ?? earlier.otherPath) : earlier.path;
  const cells: Cell[] = [];
  let atA = 0;
  let atB = 0;
  while (atA < a.cells.length || atB < b.cells.length) {
    const cellA = a.cells[atA];
    const cellB = b.cells[atB];
    if (cellB === undefined || (cellA !== undefined && cellA.month < cellB.month)) {
      cells.push(cellA as Cell);
      atA++;
    } else if (cellA === undefined || cellB.month < cellA.month) {
      cells.push(cellB);
      atB++;
    } else {
      cells.push(mergeCells(later.rule, cellA, cellB, order));
      atA++;
      atB++;
    }
  }
  const { path, rule, pathPlace, entry } = later;
  return { id: a.id, path, rule, pathPlace, otherPath: other, entry, cells };
}

/** Makes one cell of two that have the same month. */
export function mergeCells(rule: Rule, a: Cell, b: Cell, order: PlaceOrder): Cell {
  const count = a.count + b.count;
  const bIsLater = order(b, a) >= 0;
  const latest = bIsLater ? b : a;
  switch (rule) {
    case 'last':
      return takeTied(latest, bIsLater ? a : b, { count, order, rule });
    case 'first':
      return takeTied(bIsLater ? a : b, latest, { count, order, rule });
    case 'min':
    case 'max': {
      const difference = compareDecimals(b.value, a.value);
      if (difference === 0) return { ...latest, count };
      return { ...(difference < 0 === (rule === 'min') ? b : a), count };
    }
    case 'sum':
      return { ...latest, count, value: addDecimals(a.value, b.value) };
    case 'average': {
      const sum = addDecimals(a.sum ?? a.value, b.sum ?? b.value);
      return { ...latest, count, sum, value: averageDecimal(sum, count) };
    }
    case 'count':
      return { ...latest, count, value: String(count) };
  }
}

/** The cell that `last` or `first` takes of two, with their tie. */
function takeTied(taken: Cell, left: Cell, { count, order, rule }: TieContext): Cell {
  return { ...taken, count, tie: tieOf(taken, left, { order, rule }) };
}

interface TieContext {
  readonly count: number;
  readonly order: PlaceOrder;
  readonly rule: Rule;
}

/** A tie within a part goes before one across parts. The latter counts only where it has the time that is taken. */
function tieOf(taken: Cell, left: Cell, { order, rule }: Omit<TieContext, 'count'>): Tie | undefined {
  const nearest = (ties: readonly (Tie | undefined)[]): Tie | undefined => {
    const known = ties.filter((tie) => tie !== undefined);
    const place = ({ seconds, nanos, left: { row, part } }: Tie): Place => ({ seconds, nanos, row, part });
    return known.reduce<Tie | undefined>((best, tie) => {
      if (best === undefined) return tie;
      return order(place(tie), place(best)) > 0 === (rule === 'last') ? tie : best;
    }, undefined);
  };
  const ties = [taken.tie, left.tie];
  const within = nearest(ties.filter((tie) => tie !== undefined && isWithin(tie)));
  const { seconds, nanos, value, row, part } = taken;
  if (within !== undefined || seconds !== left.seconds || nanos !== left.nanos) return within ?? taken.tie;
  const kept = { value, row, part };
  // Within a part only a fold looks for ties: how it was cut into pieces must not matter.
  const others =
    isSame(value, left.value) || part === left.part ? [] : [{ seconds, nanos, left: readingOf(left), kept }];
  const tie = nearest([...ties.filter((one) => one !== undefined && !isSame(one.left.value, value)), ...others]);
  return tie && { ...tie, kept };
}

/** Whether both readings are of one part. */
export function isWithin({ left, kept }: Tie): boolean {
  return left.part === kept.part;
}

function isSame(a: string, b: string): boolean {
  return a === b || compareDecimals(a, b) === 0;
}

function readingOf({ value, row, part }: TiedReading): TiedReading {
  return { value, row, part };
}

/** Whether two paths have the same elements. */
export function samePath(a: readonly string[], b: readonly string[]): boolean {
  return a.length === b.length && a.every((element, index) => element === b[index]);
}
