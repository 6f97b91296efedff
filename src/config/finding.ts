/** What was found wrong, before it is known where it is written. */

/** From the top of the file: keys, and places in lists from 0. */
export type Path = readonly (string | number)[];

/** Names one place in maps of places. */
export function pathKey(path: Path): string {
  return JSON.stringify(path);
}

/** Something wrong, by its place in the tree of values. */
export interface Finding {
  readonly path: Path;
  /** Point at the value (which is the default), at its key, or, where it is missing, at what should have it. */
  readonly on?: 'value' | 'key' | 'missing';
  /** Point here instead: UTF-16 units into the file. */
  readonly at?: number;
  /** Quotes nothing that could come from the environment. */
  readonly message: string;
  /** Goes on after the message, and may quote: left out where the text holds a variable's value, which may be secret. */
  readonly detail?: string;
  readonly hint?: string;
  /** Said of the text and not of its value: holds however doubtful the structure around it is, and quotes no value. */
  readonly syntax?: true;
}
