/** Places in the document, as its readers pass them on. */
import type { ConfigDocument, Spot, Written, WrittenMap } from './document.ts';
import { type Finding, type Path, pathKey } from './finding.ts';

/** A place in the document, and where to say what is wrong there. */
export interface Place {
  readonly document: ConfigDocument;
  readonly path: Path;
  readonly report: (finding: Finding) => void;
}

export function within(place: Place, ...steps: Path): Place {
  return { ...place, path: [...place.path, ...steps] };
}

export function writtenAt({ document, path }: Place): Written {
  let value = document.value;
  for (const step of path) {
    if (typeof value !== 'object' || value === null) return undefined;
    value = (value as Readonly<Record<string | number, Written>>)[step];
  }
  return value;
}

/** `undefined` where nothing is written. */
export function spotOf({ document, path }: Place): Spot | undefined {
  return document.spots.get(pathKey(path));
}

/** The spots of a value and of all that is in it. */
export function spotsIn(spots: ConfigDocument['spots'], path: Path): readonly Spot[] {
  const own = pathKey(path);
  const inner = path.length === 0 ? '[' : `${own.slice(0, -1)},`;
  return [...spots].flatMap(([key, spot]) => (key === own || key.startsWith(inner) ? [spot] : []));
}

/** The value is unreadable, which has been reported; or it wants a variable that is not set and is not needed now. */
export function isExcused(place: Place): boolean {
  const spot = spotOf(place);
  return spot !== undefined && (spot.unset === true || writtenAt(place) === undefined);
}

/** A mapping's keys in the order of the file, those without a readable value among them. */
export function keysAt(place: Place): readonly string[] {
  return spotOf(place)?.keys ?? [];
}

export function isMapping(written: Written): written is WrittenMap {
  return typeof written === 'object' && written !== null && !Array.isArray(written);
}
