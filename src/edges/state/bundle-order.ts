/** Bundles as they are read: each from its first driver on, and several of them in the order of ids. */
import type { Rule } from '../../core/model.ts';
import { BlobReader } from '../../core/series/blob.ts';
import type { PackedDriver } from '../../core/series/packing.ts';
import { compareUtf8 } from '../../core/series/snapshot.ts';
import { namesChecksum, pointsChecksum, rules } from './bundle.ts';
import { release } from '../../core/release.ts';

const noBytes = new Uint8Array();

/** A bundle as `bundleColumns` and `nameColumns` have it. */
export type BundleRow = readonly [
  run: number,
  chunk: number,
  first: string,
  last: string,
  drivers: number,
  earliest: number,
  rules: string,
  names: string,
  heads: Uint8Array,
  namesChecksum: number,
  points: Uint8Array | null,
  origins: Uint8Array | null,
  checksum: number | null,
];

/** Of `bundle b`. */
const named =
  'b.part_read, b.chunk, b.first, b.last, b.drivers, b.earliest, b.rules, b.names, b.heads, b.names_checksum';
export const nameColumns = `${named}, NULL, NULL, NULL`;
export const bundleColumns = `${named}, b.points, b.origins, b.checksum`;

/** Stands at one driver of a bundle after the other, from the first one on. */
export class BundleCursor {
  /** The part, or the read of a part that grew, whose driver it is. */
  readonly run: number;
  readonly chunk: number;
  id = '';
  path = '';
  rule: Rule = 'last';
  /** Its bytes are still in use when it was passed. */
  isKept = false;
  readonly #names: string;
  readonly #heads: BlobReader;
  readonly #headsEnd: number;
  readonly #points: Uint8Array;
  readonly #origins: Uint8Array;
  #nameAt = 0;
  #otherPath: string | undefined;
  #entry: number | undefined;
  #pointsAt = 0;
  #originsAt = 0;
  #pointsEnd = 0;
  #originsEnd = 0;
  #tiesEnd = 0;

  /** @throws Error where it is not what was written */
  constructor(row: BundleRow) {
    const [run, chunk, first, last, drivers, earliest, used, names, heads, namesSum, points, origins, sum] = row;
    const [pointBytes, originBytes] = [points ?? noBytes, origins ?? noBytes];
    const isWhole = sum === null || pointsChecksum({ points: pointBytes, origins: originBytes }) === sum;
    if (!isWhole || namesChecksum({ first, last, drivers, earliest, rules: used }, { names, heads }) !== namesSum)
      throw new Error(`what begins with "${first}" is not what was written`);
    this.run = run;
    this.chunk = chunk;
    this.#names = names;
    this.#heads = new BlobReader(heads);
    this.#headsEnd = heads.length;
    this.#points = pointBytes;
    this.#origins = originBytes;
    this.next();
    if (this.id !== first) throw new Error(`what begins with "${this.id}" stands under "${first}"`);
  }

  /** @returns false where it stood at the last one */
  next(): boolean {
    const reader = this.#heads;
    if (reader.at >= this.#headsEnd) return false;
    this.id = this.#text(reader.varint());
    this.path = this.#text(reader.varint());
    this.#otherPath = this.#text(reader.varint()) || undefined;
    this.rule = rules[reader.varint()] as Rule;
    const entry = reader.varint();
    this.#entry = entry === 0 ? undefined : entry - 1;
    this.#pointsAt = this.#pointsEnd;
    this.#pointsEnd += reader.varint();
    this.#originsAt = this.#tiesEnd;
    this.#originsEnd = this.#originsAt + reader.varint();
    this.#tiesEnd = this.#originsEnd + reader.varint();
    return true;
  }

  /** The driver, whose bytes are those of the bundle. */
  driver(): PackedDriver {
    return {
      id: this.id,
      rule: this.rule,
      path: this.path,
      otherPath: this.#otherPath,
      points: this.#points.subarray(this.#pointsAt, this.#pointsEnd),
      origins: this.#origins.subarray(this.#originsAt, this.#originsEnd),
      entry: this.#entry,
      ties: this.#tiesEnd === this.#originsEnd ? undefined : this.#origins.subarray(this.#originsEnd, this.#tiesEnd),
    };
  }

  /** Gives its memory back where nobody keeps it. */
  release(): void {
    if (this.isKept) return;
    for (const blob of [this.#points, this.#origins]) if (blob !== noBytes) release(blob);
  }

  #text(length: number): string {
    const start = this.#nameAt;
    this.#nameAt += length;
    return this.#names.slice(start, this.#nameAt);
  }
}

/**
 * Drivers of bundles that come in the order of their first ids: by id, and those of one id by run and chunk. It is one cursor or another that
 * stands at each, until the next one is asked for. Bundles are open only where they reach over the same ids.
 * @param passed is told of a bundle behind whose last driver it went
 */
export function* inOrder(
  rows: Iterable<BundleRow>,
  openRow: (row: BundleRow) => BundleCursor,
  passed: (bundle: BundleCursor) => void = () => {},
): Generator<BundleCursor> {
  /** The next one last. */
  const open: BundleCursor[] = [];
  const put = (cursor: BundleCursor): void => {
    let [low, high] = [0, open.length];
    while (low < high) {
      const middle = (low + high) >> 1;
      if (compareFolds(open[middle] as BundleCursor, cursor) > 0) low = middle + 1;
      else high = middle;
    }
    open.splice(low, 0, cursor);
  };
  const left = rows[Symbol.iterator]();
  try {
    for (let row = left.next(); ;) {
      let cursor = open.at(-1);
      for (
        ;
        row.done !== true && (cursor === undefined || compareUtf8(row.value[2], cursor.id) <= 0);
        row = left.next()
      ) {
        put(openRow(row.value));
        cursor = open.at(-1);
      }
      if (cursor === undefined) return;
      yield cursor;
      const hasMore = cursor.next();
      // Nearly always it is the only one.
      if (hasMore && open.length === 1) continue;
      open.pop();
      if (hasMore) put(cursor);
      else passed(cursor);
    }
  } finally {
    left.return?.();
  }
}

function compareFolds(a: BundleCursor, b: BundleCursor): number {
  return compareUtf8(a.id, b.id) || a.run - b.run || a.chunk - b.chunk;
}

/** What is taken of each fold of a driver, for one driver after the other. */
export function* byDriver<T>(
  folds: Iterable<BundleCursor>,
  take: (fold: BundleCursor) => T,
): Generator<{ readonly id: string; readonly folds: readonly T[] }> {
  let id = '';
  let taken: T[] = [];
  for (const cursor of folds) {
    if (taken.length > 0 && cursor.id !== id) {
      yield { id, folds: taken };
      taken = [];
    }
    ({ id } = cursor);
    taken.push(take(cursor));
  }
  if (taken.length > 0) yield { id, folds: taken };
}
