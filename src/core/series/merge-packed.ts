/** Merges packed folds of one driver. What only one of them has is copied as it stands: pieces of a part hardly share months. */
import type { Place } from '../model.ts';
import { BlobReader, BlobWriter } from './blob.ts';
import { type PlaceOrder, mergeCells, mergeDrivers } from './merge-folds.ts';
import {
  type Cell,
  type PackedDriver,
  type Tie,
  PointWalk,
  packDriver,
  packTies,
  readCell,
  unpackDriver,
  writeCell,
} from './packing.ts';

const points = new BlobWriter();
const origins = new BlobWriter();

/** As `mergeDrivers`. */
export function mergePacked(folds: readonly PackedDriver[], order: PlaceOrder): PackedDriver {
  return folds.reduce((merged, next) => mergeTwo(merged, next, order));
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
  points.reset();
  origins.reset();
  origins.place((later === a ? walkA : walkB).pathPlace);
  const ties: { index: number; tie: Tie }[] = [];
  let count = 0;
  let month = 0;
  walkA.next();
  walkB.next();
  while (walkA.has || walkB.has) {
    const next = walkB.has && (!walkA.has || walkB.month < walkA.month) ? walkB : walkA;
    points.varint(next.month - month);
    month = next.month;
    if (walkA.has && walkB.has && walkA.month === walkB.month) {
      const cell = mergeCells(later.rule, walkA.cell(), walkB.cell(), order);
      writeCell(cell, later.rule, { points, origins });
      if (cell.tie !== undefined) ties.push({ index: count, tie: cell.tie });
      walkA.next();
      walkB.next();
    } else {
      next.copy();
      next.next();
    }
    count++;
  }
  const cells = points.copy();
  points.reset();
  points.varint(count);
  points.bytes(cells, 0, cells.length);
  return {
    id: a.id,
    path: later.path,
    rule: later.rule,
    otherPath: later.path === earlier.path ? (later.otherPath ?? earlier.otherPath) : earlier.path,
    points: points.copy(),
    origins: origins.copy(),
    entry: later.entry,
    ties: packTies(ties),
  };
}

/** Walks the cells of a packed driver without decoding them. */
class CellWalk {
  readonly pathPlace: Place;
  /** Whether it stands at a cell. */
  has = false;
  readonly #driver: PackedDriver;
  readonly #points: PointWalk;
  readonly #origins: BlobReader;
  /** Where the origin of the cell begins. */
  #start = 0;

  constructor(driver: PackedDriver) {
    this.#driver = driver;
    this.#points = new PointWalk(driver.points);
    this.#origins = new BlobReader(driver.origins);
    this.pathPlace = this.#origins.place();
  }

  get month(): number {
    return this.#points.month;
  }

  next(): void {
    this.has = this.#points.next();
    this.#start = this.#origins.at;
    if (!this.has) return;
    const from = this.#origins;
    from.skipPlace();
    from.skipVarint();
    const text = from.varint();
    if (text > 0) from.at += text - 1;
    if (this.#driver.rule !== 'average') return;
    const sum = from.varint();
    from.at += sum;
  }

  cell(): Cell {
    const reader = new BlobReader(this.#driver.origins);
    reader.at = this.#start;
    const value = Buffer.from(this.#driver.points.subarray(this.#points.start, this.#points.end)).toString('latin1');
    return readCell(reader, { month: this.month, value, rule: this.#driver.rule });
  }

  copy(): void {
    const { start, end } = this.#points;
    points.varint(end - start);
    points.bytes(this.#driver.points, start, end);
    origins.bytes(this.#driver.origins, this.#start, this.#origins.at);
  }
}
