/**
 * Collapse: readings of one driver in one month become one point. Every rule is a fold that merges, so parts are folded
 * alone and then together, and the result depends on no order of arrival.
 */
import { addDecimals, averageDecimal, compareDecimals } from '../numbers/arithmetic.ts';
import { AgentError } from '../errors.ts';
import { CellTable } from './cell-table.ts';
import { TieFinder, takenBy } from './tie-finder.ts';
import type { Moment, Rule } from '../model.ts';
import type { Cell, FoldedDriver, PartOrigin, Place, Tie, TiedReading } from './packing.ts';
import { type DriverName, type Reading, type ReadingSink, textOf, valueOf } from '../mapping/reading.ts';
import { isExact, mantissaText, rescaled } from '../numbers/mantissa.ts';

interface OpenDriver {
  /** The fold and the run of it that this driver is of. */
  readonly owner: object;
  readonly index: number;
  name: DriverName;
  /** Place of the latest reading. */
  seconds: number;
  nanos: number;
  row: number;
  otherPath: readonly string[] | undefined;
  /** Of the latest reading. */
  entry: number;
  /** Cell of the newest reading: rows of one driver and month tend to follow each other. */
  cell: number;
  /** Cell that was made last, where the list of them begins. */
  newest: number | undefined;
}

/** Folds the readings of one part, which come in the order of its rows. */
export class Fold implements ReadingSink {
  readonly #part: number;
  readonly #drivers = new Map<string, OpenDriver>();
  readonly #cells = new CellTable();
  readonly #ties: TieFinder;
  #owner = {};

  /** `part`: the number that cells name this part by. */
  constructor(part: number) {
    this.#part = part;
    this.#ties = new TieFinder(part, this.#cells);
  }

  /** How many cells, drivers and ties it holds: its memory grows with them. */
  get size(): number {
    return this.#cells.count + this.#drivers.size + this.#ties.size;
  }

  /** @throws AgentError `part.unreadable` where two entries make one driver by different rules. */
  add(name: DriverName, moment: Moment, reading: Reading): void {
    const { latest } = reading;
    const driver =
      latest === undefined
        ? this.#driverOf(name, reading, moment, reading.row)
        : this.#driverOf(name, reading, latest.moment, latest.row);
    const cells = this.#cells;
    const { month } = moment;
    let cell: number | undefined = driver.cell;
    if (driver.newest === undefined) cell = undefined;
    else if (cells.month[cell] !== month) cell = cells.find(driver.index, month);
    if (cell === undefined) {
      cell = cells.create(driver.index, month, driver.newest);
      driver.newest = cell;
      cells.readings[cell] = reading.count;
      this.#setValue(cell, reading);
      this.#place(name.rule, cell, moment, reading);
    } else {
      cells.readings[cell] = (cells.readings[cell] as number) + reading.count;
      if (this.#fold(name.rule, cell, moment, reading)) this.#place(name.rule, cell, moment, reading);
    }
    driver.cell = cell;
  }

  /**
   * From here on ties are looked for among the rows to come alone. Whoever cuts a part where that suits him calls this at
   * places that depend on the part alone: then the ties do so too.
   * @param row the last one so far
   */
  cutTies(row: number): void {
    this.#ties.cut(row);
  }

  /**
   * Hands over what was folded so far, roughly in the order of ids, and starts anew once all of it was taken. Readers take
   * drivers in that order and then find neighbours together (6 M points: read in a third of the time).
   * @param rowsBefore how many rows of the part stand before those that were counted from 1 here
   */
  *drain(rowsBefore = 0): Generator<FoldedDriver> {
    const drivers = [...this.#drivers.values()].sort((a, b) => (a.name.id < b.name.id ? -1 : 1));
    for (const driver of drivers) {
      const { name, seconds, nanos, row, otherPath, entry } = driver;
      const pathPlace = { seconds, nanos, row: rowsBefore + row, part: this.#part };
      const cells = this.#cells.inOrder(driver.newest).map((cell) => this.#cellOf(name.rule, cell, rowsBefore));
      yield { id: name.id, path: name.path, rule: name.rule, pathPlace, otherPath, entry, cells };
    }
    this.#drivers.clear();
    this.#cells.clear();
    this.#ties.clear();
    this.#owner = {};
  }

  #driverOf(name: DriverName, { entry }: Reading, { seconds, nanos }: Moment, row: number): OpenDriver {
    let driver = name.memo?.owner === this.#owner ? (name.memo as OpenDriver) : this.#drivers.get(name.id);
    if (driver === undefined) {
      const index = this.#drivers.size;
      driver = {
        owner: this.#owner,
        index,
        name,
        seconds,
        nanos,
        row,
        otherPath: undefined,
        entry,
        cell: -1,
        newest: undefined,
      };
      this.#drivers.set(name.id, driver);
    } else {
      const isLater = (seconds - driver.seconds || nanos - driver.nanos || row - driver.row) >= 0;
      if (driver.name !== name) rename(driver, name, isLater);
      if (isLater) {
        driver.seconds = seconds;
        driver.nanos = nanos;
        driver.row = row;
        driver.entry = entry;
      }
    }
    name.memo = driver;
    return driver;
  }

  /** Folds the reading's value into a cell of the same part. Returns whether the cell takes the reading's place too. */
  #fold(rule: Rule, cell: number, moment: Moment, reading: Reading): boolean {
    const cells = this.#cells;
    const { seconds, nanos } = moment;
    // Rows come in their order, but for those that a database collapsed.
    const time = seconds - (cells.seconds[cell] as number) || nanos - (cells.nanos[cell] as number);
    const isLater = (time || reading.row - (cells.row[cell] as number)) >= 0;
    switch (rule) {
      case 'last':
      case 'first': {
        const takes = isLater === (rule === 'last');
        this.#ties.note(cell, moment, reading, takenBy[rule][takes ? 1 : 0]);
        if (takes) this.#setValue(cell, reading);
        return takes;
      }
      case 'min':
      case 'max': {
        const difference = this.#compare(reading, cell);
        const takes = difference === 0 ? isLater : difference < 0 === (rule === 'min');
        if (takes) this.#setValue(cell, reading);
        return takes;
      }
      case 'sum':
      case 'average':
        this.#addTo(cell, reading);
        return isLater;
      case 'count':
        return isLater;
    }
  }

  #setValue(cell: number, { mantissa, scale, value }: Reading): void {
    const cells = this.#cells;
    cells.mantissa[cell] = mantissa;
    cells.scale[cell] = scale;
    if (scale < 0) cells.value.set(cell, value);
  }

  /** The value of a cell, of an average its sum, as decimal text. */
  #valueOf(cell: number): string {
    const scale = this.#cells.scale[cell] as number;
    return scale < 0 ? this.#cells.value.get(cell) : mantissaText(this.#cells.mantissa[cell] as number, scale);
  }

  /** Negative, zero or positive: the reading's value against that of a cell. */
  #compare(reading: Reading, cell: number): number {
    const cells = this.#cells;
    if (reading.scale >= 0 && reading.scale === cells.scale[cell]) {
      return reading.mantissa - (cells.mantissa[cell] as number);
    }
    return compareDecimals(valueOf(reading), this.#valueOf(cell));
  }

  #addTo(cell: number, reading: Reading): void {
    const cells = this.#cells;
    const scale = cells.scale[cell] as number;
    if (scale >= 0 && reading.scale >= 0) {
      const longest = Math.max(scale, reading.scale);
      const sum =
        rescaled(cells.mantissa[cell] as number, scale, longest) + rescaled(reading.mantissa, reading.scale, longest);
      if (isExact(sum)) {
        cells.mantissa[cell] = sum;
        cells.scale[cell] = longest;
        return;
      }
    }
    const sum = addDecimals(this.#valueOf(cell), valueOf(reading));
    cells.scale[cell] = -1;
    cells.value.set(cell, sum);
  }

  #place(rule: Rule, cell: number, { seconds, nanos }: Moment, reading: Reading): void {
    const cells = this.#cells;
    cells.seconds[cell] = seconds;
    cells.nanos[cell] = nanos;
    cells.row[cell] = reading.row;
    // An empty text means that it equals the value, as in nearly every cell of most files.
    const isNumber = reading.text === '' && reading.scale >= 0;
    if (isAdding(rule)) {
      cells.addedMantissa[cell] = reading.mantissa;
      cells.addedScale[cell] = isNumber ? reading.scale : -1;
      cells.text.set(cell, isNumber ? '' : textOf(reading));
    } else {
      cells.text.set(cell, reading.text);
    }
  }

  #cellOf(rule: Rule, cell: number, rowsBefore: number): Cell {
    const cells = this.#cells;
    const count = cells.readings[cell] as number;
    const read = this.#valueOf(cell);
    const value = rule === 'average' ? averageDecimal(read, count) : rule === 'count' ? String(count) : read;
    const isNumber = isAdding(rule) && (cells.addedScale[cell] as number) >= 0;
    const added = isNumber ? mantissaText(cells.addedMantissa[cell] as number, cells.addedScale[cell] as number) : '';
    const tie = this.#ties.of(cell);
    return {
      month: cells.month[cell] as number,
      value,
      text: added || cells.text.get(cell) || read,
      count,
      seconds: cells.seconds[cell] as number,
      nanos: cells.nanos[cell] as number,
      row: rowsBefore + (cells.row[cell] as number),
      part: this.#part,
      ...(rule === 'average' ? { sum: read } : {}),
      ...(tie === undefined ? {} : { tie: moved(tie, rowsBefore) }),
    };
  }
}

function moved({ seconds, nanos, left, kept }: Tie, rows: number): Tie {
  const at = (reading: TiedReading): TiedReading => ({ ...reading, row: rows + reading.row });
  return { seconds, nanos, left: at(left), kept: at(kept) };
}

/** Whether its value is not that of one reading. */
function isAdding(rule: Rule): boolean {
  return rule === 'sum' || rule === 'average' || rule === 'count';
}

function isSame(a: string, b: string): boolean {
  return a === b || compareDecimals(a, b) === 0;
}

function rename(driver: OpenDriver, name: DriverName, isLater: boolean): void {
  if (driver.name.rule !== name.rule) {
    throw new AgentError(
      'part.unreadable',
      `driver "${name.id}" is made with collapse ${driver.name.rule} and ${name.rule}`,
      {
        hint: 'give the entries that make this id the same collapse, or different ids',
      },
    );
  }
  if (!samePath(driver.name.path, name.path)) driver.otherPath = isLater ? driver.name.path : name.path;
  if (isLater) driver.name = name;
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
  const { path, rule, pathPlace, entry } = later;
  return { id: a.id, path, rule, pathPlace, otherPath: other, entry, cells };
}

function mergeCells(rule: Rule, a: Cell, b: Cell, order: PlaceOrder): Cell {
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

/** The cell that a last or first takes of two, with their tie. */
function takeTied(taken: Cell, left: Cell, { count, order, rule }: TieContext): Cell {
  return { ...taken, count, tie: tieOf(taken, left, { order, rule }) };
}

interface TieContext {
  readonly count: number;
  readonly order: PlaceOrder;
  readonly rule: Rule;
}

/** A tie within a part tells more than one across parts, which is of the time that is taken or of none. */
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

function readingOf({ value, row, part }: TiedReading): TiedReading {
  return { value, row, part };
}

function samePath(a: readonly string[], b: readonly string[]): boolean {
  return a.length === b.length && a.every((element, index) => element === b[index]);
}
