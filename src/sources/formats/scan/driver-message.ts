/** Packed drivers as one message between threads: their blobs in one buffer, since each would be copied by itself. */
import type { PackedDriver } from '../../../core/series/packing.ts';

export interface DriverMessage {
  readonly drivers: readonly Omit<PackedDriver, 'points' | 'origins' | 'ties'>[];
  /** For each driver the lengths of `points`, `origins` and `ties`; -1 for ties that are not there. */
  readonly lengths: Int32Array;
  readonly blobs: Uint8Array;
}

export function packDrivers(drivers: readonly PackedDriver[]): DriverMessage {
  const lengths = new Int32Array(3 * drivers.length);
  let total = 0;
  for (const [at, { points, origins, ties }] of drivers.entries()) {
    lengths.set([points.length, origins.length, ties?.length ?? -1], 3 * at);
    total += points.length + origins.length + (ties?.length ?? 0);
  }
  const blobs = new Uint8Array(total);
  let end = 0;
  const append = (blob: Uint8Array): void => {
    blobs.set(blob, end);
    end += blob.length;
  };
  const named = drivers.map(({ points, origins, ties, ...rest }) => {
    for (const blob of [points, origins, ...(ties === undefined ? [] : [ties])]) append(blob);
    return rest;
  });
  return { drivers: named, lengths, blobs };
}

export function unpackDrivers({ drivers, lengths, blobs }: DriverMessage): readonly PackedDriver[] {
  let start = 0;
  const take = (length: number): Uint8Array => {
    const blob = blobs.subarray(start, start + length);
    start += length;
    return blob;
  };
  return drivers.map((driver, at) => {
    const [points = 0, origins = 0, ties = -1] = lengths.subarray(3 * at, 3 * at + 3);
    const both = { points: take(points), origins: take(origins) };
    return { ...driver, ...both, ties: ties < 0 ? undefined : take(ties) };
  });
}
