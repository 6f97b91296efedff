/** Merges packed folds of one driver. What only one of them has is copied as it stands: pieces of a part hardly share months. */
import type { Place } from '../model.ts';
import { BlobReader, BlobWriter } from './blob.ts';
import { type PlaceOrder, mergeByRule, mergeCells, mergeDrivers } from './merge-folds.ts';
import {
  type Cell,
  type PackedDriver,
  type Tie,
  PointWalk,
  packDriver,
  packTies,
  pointCount,
  readCell,
  unpackDriver,
  writeCell,
} from './packing.ts';

/** Room for how many cells there are, which is known behind them. */
const countBytesMax = 8;

const points = new BlobWriter();
const origins = new BlobWriter();

/** As `mergeDrivers`. */
export function mergePacked(folds: readonly PackedDriver[], order: PlaceOrder): PackedDriver {
  return mergeByRule(folds, (a, b) => mergeTwo(a, b, order));
}

function mergeTwo(a: PackedDriver, b: PackedDriver, order: PlaceOrder): PackedDriver {
  // A tie is named by the index of its cell, and moves with it.
  if (a.rule !== b.rule || a.ties !== undefined || b.ties !== undefined) {
    return packDriver(mergeDrivers([unpackDriver(a), unpackDriver(b)], order));
  }
  const walkA = new CellWalk(a);
  const walkB = new CellWalk(b);
  const later = order(walkB.pathPlace, walkA.pathPlace) >= 0 ? b : a;
  const earlier = later === a ? b : a;
  points.reset(countBytesMax);
  origins.reset();
  origins.place((later === a ? walkA : walkB).pathPlace);
  const ties: { index: number; tie: Tie }[] = [];
  let count = 0;
  let month = 0;
  while (walkA.has && walkB.has) {
    if (walkA.month === walkB.month) {
      const cell = mergeCells(later.rule, walkA.cell(), walkB.cell(), order);
      points.varint(cell.month - month);
      writeCell(cell, later.rule, { points, origins });
      if (cell.tie !== undefined) ties.push({ index: count, tie: cell.tie });
      month = cell.month;
      count++;
      walkA.next();
      walkB.next();
    } else {
      const [from, until] = walkA.month < walkB.month ? [walkA, walkB.month] : [walkB, walkA.month];
      count += from.copyBefore(until, month);
      month = from.lastMonth;
    }
  }
  count += (walkA.has ? walkA : walkB).copyRest(month);
  return {
    id: a.id,
    path: later.path,
    rule: later.rule,
    otherPath: later.path === earlier.path ? (later.otherPath ?? earlier.otherPath) : earlier.path,
    points: points.copyBehind(count),
    origins: origins.copy(),
    entry: later.entry,
    ties: packTies(ties),
  };
}

/**
 * Walks the cells of a packed driver without decoding them. Cells that stand side by side are copied at once: only the first of them
 * follows another month than before. Where the origin of a cell stands is looked for when that is needed.
 */
class CellWalk {
  readonly pathPlace: Place;
  /** Whether it stands at a cell. */
  has: boolean;
  /** That of the cell before this one. */
  lastMonth = 0;
  readonly #driver: PackedDriver;
  readonly #points: PointWalk;
  readonly #origins: BlobReader;
  /** Cells whose origins were not passed yet, before the one where it stands. */
  #passed = 0;
  /** Cells from this one on. */
  #left: number;

  constructor(driver: PackedDriver) {
    this.#driver = driver;
    this.#left = pointCount(driver.points);
    this.#points = new PointWalk(driver.points);
    this.#origins = new BlobReader(driver.origins);
    this.pathPlace = this.#origins.place();
    this.has = this.#points.next();
  }

  get month(): number {
    return this.#points.month;
  }

  next(): void {
    this.lastMonth = this.month;
    this.#passed++;
    this.#left--;
    this.has = this.#points.next();
  }

  cell(): Cell {
    const reader = new BlobReader(this.#driver.origins);
    reader.at = this.#originStart();
    const value = Buffer.from(this.#driver.points.subarray(this.#points.start, this.#points.end)).toString('latin1');
    return readCell(reader, { month: this.month, value, rule: this.#driver.rule });
  }

  /**
   * Copies the cells before a month.
   * @param month of the cell that they follow
   * @returns how many
   */
  copyBefore(until: number, month: number): number {
    const originStart = this.#originStart();
    const left = this.#left;
    const start = this.#startCopy(month);
    let end = start;
    while (this.has && this.month < until) {
      end = this.#points.end;
      this.next();
    }
    points.bytes(this.#driver.points, start, end);
    origins.bytes(this.#driver.origins, originStart, this.#originStart());
    return left - this.#left;
  }

  /** Copies all cells from this one on, which need not be looked at. */
  copyRest(month: number): number {
    if (!this.has) return 0;
    const originStart = this.#originStart();
    points.bytes(this.#driver.points, this.#startCopy(month), this.#driver.points.length);
    origins.bytes(this.#driver.origins, originStart, this.#driver.origins.length);
    return this.#left;
  }

  /** Writes the month of this cell and the length of its value. @returns where the value stands */
  #startCopy(month: number): number {
    const { start, end } = this.#points;
    points.varint(this.month - month);
    points.varint(end - start);
    return start;
  }

  /** Where the origin of this cell begins. */
  #originStart(): number {
    if (this.#passed > 0) this.#origins.skipOrigins(this.#passed, this.#driver.rule === 'average');
    this.#passed = 0;
    return this.#origins.at;
  }
}
