/** How readers of the config move through the document. */
import type { ConfigDocument, Spot, Written, WrittenMap } from './document.ts';
import { type Diagnostic, type Path, pathKey } from './diagnostics.ts';

/** A position in the document, and where to report what is wrong there. */
export interface Cursor {
  readonly document: ConfigDocument;
  readonly path: Path;
  readonly report: (diagnostic: Diagnostic) => void;
}

export function within(cursor: Cursor, ...steps: Path): Cursor {
  return { ...cursor, path: [...cursor.path, ...steps] };
}

export function writtenAt({ document, path }: Cursor): Written {
  let value = document.value;
  for (const step of path) {
    if (typeof value !== 'object' || value === null) return undefined;
    value = (value as Readonly<Record<string | number, Written>>)[step];
  }
  return value;
}

/** `undefined` where nothing is written. */
export function spotOf({ document, path }: Cursor): Spot | undefined {
  return document.spots.get(pathKey(path));
}

/** The spots of a value and of everything inside it. */
export function spotsIn(spots: ConfigDocument['spots'], path: Path): readonly Spot[] {
  const own = pathKey(path);
  const inner = path.length === 0 ? '[' : `${own.slice(0, -1)},`;
  return [...spots].flatMap(([key, spot]) => (key === own || key.startsWith(inner) ? [spot] : []));
}

/** Whether a value needs no further diagnostic: it is unreadable and reported, or its variable is unset and not needed now. */
export function isExcused(cursor: Cursor): boolean {
  const spot = spotOf(cursor);
  return spot !== undefined && (spot.unset === true || writtenAt(cursor) === undefined);
}

/** A mapping's keys in the order of the file, also those whose value cannot be read. */
export function keysAt(cursor: Cursor): readonly string[] {
  return spotOf(cursor)?.keys ?? [];
}

export function isMapping(written: Written): written is WrittenMap {
  return typeof written === 'object' && written !== null && !Array.isArray(written);
}
