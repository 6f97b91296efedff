/**
 * Drivers of small candidates, from when they are judged to when the snapshot is built. Reading them again would take as long as
 * building it: two thirds of that are reading, checking and merging.
 */
import type { PackedDriver } from '../../core/series/packing.ts';

/** Of all of them together. 360 000 points of 10 000 drivers have 9 MB. */
const bytesMax = 12 << 20;
/** What a driver takes beside its bytes. */
const objectBytes = 400;

interface KeptRead {
  readonly drivers: readonly PackedDriver[];
  readonly bytes: number;
}

/** A walk over all drivers of a read, from the first one on. */
interface Keeping {
  /** @returns whether its bytes must stay as they are when the walk goes on */
  readonly take: (driver: PackedDriver) => boolean;
  readonly end: () => void;
}

export class KeptReads {
  #reads = new Map<string, KeptRead>();

  /** The drivers of a read in their order, where they are kept. */
  get(read: string): readonly PackedDriver[] | undefined {
    return this.#reads.get(read)?.drivers;
  }

  /** Whether what has so many bytes could be kept beside the others. */
  hasRoom({ bytes, drivers }: { readonly bytes: number; readonly drivers: number }): boolean {
    return bytes + drivers * objectBytes <= this.#left();
  }

  #left(): number {
    return bytesMax - [...this.#reads.values()].reduce((sum, { bytes }) => sum + bytes, 0);
  }

  begin(read: string): Keeping {
    this.forget(read);
    const reads = this.#reads;
    let left = this.#left();
    let drivers: PackedDriver[] = [];
    let bytes = 0;
    return {
      take: (driver) => {
        const more = driver.points.length + driver.origins.length + (driver.ties?.length ?? 0) + objectBytes;
        bytes += more;
        if (bytes <= left) drivers.push(driver);
        else if (left > 0) [drivers, left] = [[], 0];
        return bytes <= left;
      },
      end: () => {
        if (bytes <= left) reads.set(read, { drivers, bytes });
      },
    };
  }

  forget(read: string): void {
    this.#reads.delete(read);
  }

  /** Also what is being walked is not kept then. */
  clear(): void {
    this.#reads = new Map();
  }
}
