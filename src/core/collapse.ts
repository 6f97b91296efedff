/**
 * Collapse: readings of one driver in one month become one point. Every rule is a fold that merges, so parts are folded
 * alone and then together, and the result depends on no order of arrival (DESIGN section 4).
 */
import { addDecimals, averageDecimal, compareDecimals } from './arithmetic.ts';
import { AgentError } from './errors.ts';
import type { Moment, Month, Rule } from './model.ts';
import type { Cell, FoldedDriver, PartOrigin, Place } from './packing.ts';
import type { DriverName, ReadingSink, RowReading } from './reading.ts';

type Mutable<T> = { -readonly [K in keyof T]: T[K] };
type OpenCell = Mutable<Cell>;

interface OpenDriver {
  name: DriverName;
  pathPlace: Place;
  otherPath: readonly string[] | undefined;
  cells: Map<Month, OpenCell>;
  /** The cell of the newest reading: rows of one driver and month tend to follow each other. */
  latest: OpenCell | undefined;
}

/** Folds the readings of one part, which come in the order of its rows. */
export class Fold implements ReadingSink {
  readonly #part: number;
  #drivers = new Map<string, OpenDriver>();
  #cells = 0;

  /** `part`: the number that cells name this part by. */
  constructor(part: number) {
    this.#part = part;
  }

  /** How many cells are held: what the memory of a fold grows with. */
  get cells(): number {
    return this.#cells;
  }

  /** @throws AgentError `part.unreadable` where two entries make one driver by different rules. */
  add(name: DriverName, moment: Moment, reading: RowReading): void {
    let driver = this.#drivers.get(name.id);
    const place = { seconds: moment.seconds, nanos: moment.nanos, row: reading.row, part: this.#part };
    if (driver === undefined) {
      driver = { name, pathPlace: place, otherPath: undefined, cells: new Map(), latest: undefined };
      this.#drivers.set(name.id, driver);
    } else if (driver.name !== name) {
      this.#rename(driver, name, place);
    } else if (comparePlaces(place, driver.pathPlace) >= 0) {
      driver.pathPlace = place;
    }
    let cell = driver.latest;
    if (cell?.month !== moment.month) cell = driver.cells.get(moment.month);
    if (cell === undefined) {
      const value = name.rule === 'count' ? '1' : reading.value;
      cell = { month: moment.month, value, text: reading.text, count: 1, ...place };
      if (name.rule === 'average') cell.sum = reading.value;
      driver.cells.set(moment.month, cell);
      this.#cells++;
    } else {
      foldReading(name.rule, cell, { ...place, ...reading });
    }
    driver.latest = cell;
  }

  /** Hands over what was folded so far, in no order, and starts anew. */
  *drain(): Generator<FoldedDriver> {
    const drivers = this.#drivers;
    this.#drivers = new Map();
    this.#cells = 0;
    for (const driver of drivers.values()) {
      const cells = [...driver.cells.values()].sort((a, b) => a.month - b.month);
      if (driver.name.rule === 'average') {
        for (const cell of cells) cell.value = averageDecimal(cell.sum as string, cell.count);
      }
      const { pathPlace, otherPath } = driver;
      yield { ...driver.name, pathPlace, otherPath, cells };
    }
  }

  #rename(driver: OpenDriver, name: DriverName, place: Place): void {
    if (driver.name.rule !== name.rule) {
      throw new AgentError(
        'part.unreadable',
        `driver "${name.id}" is made with collapse ${driver.name.rule} and ${name.rule}`,
        {
          hint: 'give the entries that make this id the same collapse, or different ids',
        },
      );
    }
    const later = comparePlaces(place, driver.pathPlace) >= 0;
    if (!samePath(driver.name.path, name.path)) driver.otherPath = later ? driver.name.path : name.path;
    if (!later) return;
    driver.name = name;
    driver.pathPlace = place;
  }
}

/** `next` is of the same part and comes after all that `cell` holds. */
function foldReading(rule: Rule, cell: OpenCell, next: Place & { value: string; text: string }): void {
  cell.count++;
  const order = comparePlaces(next, cell);
  let takes: boolean;
  switch (rule) {
    case 'last':
      takes = order >= 0;
      if (takes) cell.value = next.value;
      break;
    case 'first':
      takes = order < 0;
      if (takes) cell.value = next.value;
      break;
    case 'min':
    case 'max': {
      const difference = compareDecimals(next.value, cell.value);
      takes = difference === 0 ? order >= 0 : difference < 0 === (rule === 'min');
      if (takes) cell.value = next.value;
      break;
    }
    case 'sum':
      takes = order >= 0;
      cell.value = addDecimals(cell.value, next.value);
      break;
    case 'average':
      takes = order >= 0;
      cell.sum = addDecimals(cell.sum as string, next.value);
      break;
    case 'count':
      takes = order >= 0;
      cell.value = String(cell.count);
      break;
  }
  if (!takes) return;
  cell.text = next.text;
  cell.seconds = next.seconds;
  cell.nanos = next.nanos;
  cell.row = next.row;
}

/** Within one part: by time, then row. */
function comparePlaces(a: Place, b: Place): number {
  return a.seconds - b.seconds || a.nanos - b.nanos || a.row - b.row;
}

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
  let merged = folds[0] as FoldedDriver;
  for (const next of folds.slice(1)) merged = mergeTwo(merged, next, order);
  return merged;
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
  return { id: a.id, path: later.path, rule: later.rule, pathPlace: later.pathPlace, otherPath: other, cells };
}

function mergeCells(rule: Rule, a: Cell, b: Cell, order: PlaceOrder): Cell {
  const count = a.count + b.count;
  const bIsLater = order(b, a) >= 0;
  const latest = bIsLater ? b : a;
  switch (rule) {
    case 'last':
      return { ...latest, count };
    case 'first':
      return { ...(bIsLater ? a : b), count };
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

function samePath(a: readonly string[], b: readonly string[]): boolean {
  return a.length === b.length && a.every((element, index) => element === b[index]);
}
