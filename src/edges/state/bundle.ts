/**
 * Bundles: drivers of a part that are neighbours in the order of ids, as one row of the buffer. SQLite and its binding take as long
 * for a small row as for a large one. What a bundle is made of:
 *
 * - `names`: for each driver its id, its path and, where it has one, its other path, one after the other.
 * - `heads`: for each driver the lengths of these texts in UTF-16 units (0: no other path), the number of its rule, its entry + 1 (0:
 *   not known), and the bytes that it has in `points`, `origins` and, behind those, its ties. All are varints.
 * - `points` and `origins`: the bytes of all drivers (`core/series/packing.ts`).
 *
 * Two checksums guard them, as SQLite has none: whoever asks for names does not read the points.
 */
import { crc32 } from 'node:zlib';
import type { Month, Rule } from '../../core/model.ts';
import { BlobWriter } from '../../core/series/blob.ts';
import { type PackedDriver, firstMonth } from '../../core/series/packing.ts';
import { compareUtf8 } from '../../core/series/snapshot.ts';

/** A bundle ends behind the driver with which it has so many bytes. */
const bundleBytes = 1 << 15;

/** By their numbers in bundles, which stay as they are. */
export const rules: readonly Rule[] = ['last', 'first', 'sum', 'average', 'min', 'max', 'count'];

const noBytes = new Uint8Array();

/** A bundle as it is written. */
export interface Bundle {
  readonly first: string;
  readonly last: string;
  readonly drivers: number;
  readonly earliest: Month;
  /** The rules that its drivers have, in one order. */
  readonly rules: string;
  readonly names: string;
  readonly heads: Uint8Array;
  readonly namesChecksum: number;
  readonly points: Uint8Array;
  readonly origins: Uint8Array;
  readonly checksum: number;
}

const heads = new BlobWriter();
const points = new BlobWriter();
const origins = new BlobWriter();

/** Drivers as bundles. One that does not stand behind the one before it begins another bundle. Each is used before the next one is made. */
export function* bundlesOf(drivers: Iterable<PackedDriver>): Generator<Bundle> {
  let open: OpenBundle | undefined;
  for (const driver of drivers) {
    if (open !== undefined && (open.bytes >= bundleBytes || compareUtf8(open.last, driver.id) >= 0)) {
      yield open.end();
      open = undefined;
    }
    open ??= new OpenBundle(driver.id);
    open.add(driver);
  }
  if (open !== undefined) yield open.end();
}

class OpenBundle {
  bytes = 0;
  last: string;
  readonly #first: string;
  #drivers = 0;
  #earliest = Infinity;
  #rules = 0;
  #names = '';

  constructor(first: string) {
    this.#first = first;
    this.last = first;
    for (const writer of [heads, points, origins]) writer.reset();
  }

  add({
    id,
    path,
    otherPath = '',
    rule,
    entry = -1,
    points: values,
    origins: places,
    ties = noBytes,
  }: PackedDriver): void {
    const ruleNumber = rules.indexOf(rule);
    this.#names += id + path + otherPath;
    heads.varint(id.length);
    heads.varint(path.length);
    heads.varint(otherPath.length);
    heads.varint(ruleNumber);
    heads.varint(entry + 1);
    heads.varint(values.length);
    heads.varint(places.length);
    heads.varint(ties.length);
    points.bytes(values, 0, values.length);
    origins.bytes(places, 0, places.length);
    if (ties.length > 0) origins.bytes(ties, 0, ties.length);
    this.last = id;
    this.#drivers++;
    this.#earliest = Math.min(this.#earliest, firstMonth(values));
    this.#rules |= 1 << ruleNumber;
    this.bytes += id.length + path.length + values.length + places.length + ties.length;
  }

  end(): Bundle {
    const facts = {
      first: this.#first,
      last: this.last,
      drivers: this.#drivers,
      earliest: this.#earliest,
      rules: rules.filter((_, number) => (this.#rules & (1 << number)) !== 0).join(' '),
    };
    const all = { names: this.#names, heads: heads.copy(), points: points.copy(), origins: origins.copy() };
    return {
      ...facts,
      ...all,
      namesChecksum: namesChecksum(facts, all),
      checksum: pointsChecksum(all),
    };
  }
}

/** Of the names, and of what is looked for without reading them. */
export function namesChecksum(
  { first, last, drivers, earliest, rules: used }: Pick<Bundle, 'first' | 'last' | 'drivers' | 'earliest' | 'rules'>,
  { names, heads: lengths }: Pick<Bundle, 'names' | 'heads'>,
): number {
  return crc32(lengths, crc32(names, crc32(JSON.stringify([first, last, drivers, earliest, used]))));
}

export function pointsChecksum({ points: values, origins: places }: Pick<Bundle, 'points' | 'origins'>): number {
  return crc32(places, crc32(values));
}
