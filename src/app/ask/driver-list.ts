/** Accepted drivers by name, a page at a time, all of them or those that a search finds. */
import type { NamedDriver } from '../../core/buffer.ts';
import type { Dependencies } from '../dependencies.ts';
import { Pace } from './pace.ts';

/** Where a page begins: behind a driver of a source. */
export interface DriverPlace {
  readonly source: string;
  readonly id: string;
}

export interface DriverList {
  readonly drivers: readonly NamedDriver[];
  /** Where the next page begins; `undefined` where there are no more. */
  readonly next: DriverPlace | undefined;
}

const pieceRows = 500;

export interface DriverSearch {
  /** A part of an id or of a path, in any case of letters; '' finds all. */
  readonly find: string;
  /** Of this source alone. */
  readonly source?: string | undefined;
  readonly after?: DriverPlace | undefined;
  readonly limit: number;
}

export async function driverList({ buffer }: Dependencies, search: DriverSearch): Promise<DriverList> {
  const { find, after, limit } = search;
  const wanted = find.toLowerCase();
  const pace = new Pace();
  const drivers: NamedDriver[] = [];
  for (const source of buffer.reads.acceptedSources()) {
    if (after !== undefined && source < after.source) continue;
    if (search.source !== undefined && source !== search.source) continue;
    let id = source === after?.source ? after.id : '';
    for (;;) {
      const piece = buffer.names.after(source, id, pieceRows);
      for (const driver of piece) {
        if (!isFound(driver, wanted)) continue;
        // One more than is shown says that there is a next page.
        if (drivers.length === limit) return { drivers, next: drivers.at(-1) };
        drivers.push(driver);
      }
      if (piece.length < pieceRows) break;
      id = piece.at(-1)?.id ?? id;
      if (pace.isDue()) await pace.turn();
    }
  }
  return { drivers, next: undefined };
}

function isFound({ id, path }: NamedDriver, wanted: string): boolean {
  return wanted === '' || `${id}\n${path.join(' / ')}`.toLowerCase().includes(wanted);
}
