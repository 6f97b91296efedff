/** Diagnostics: what is wrong with a config, and where. */

/** From the top of the file: keys, and indexes of lists from 0. */
export type Path = readonly (string | number)[];

/** A path as the key of a map. */
export function pathKey(path: Path): string {
  return JSON.stringify(path);
}

/** Something wrong, by its path in the tree of values. */
export interface Diagnostic {
  readonly path: Path;
  /** What to point at: the value (the default), its key, or, where it is missing, the mapping that lacks it. */
  readonly on?: 'value' | 'key' | 'missing';
  /** Point here instead: UTF-16 units into the file. */
  readonly at?: number;
  /** Quotes nothing that could come from the environment. */
  readonly message: string;
  /** Follows the message and may quote the value. Left out where a variable's value is in it, since that may be secret. */
  readonly detail?: string;
  readonly hint?: string;
  /** About the text of the file: shown even where the structure around it is in doubt. It quotes no value. */
  readonly syntax?: true;
}

/** One thing to correct, as `check` prints it. Lines and columns count from 1, columns in UTF-16 units. */
export interface PlacedDiagnostic {
  readonly file: string;
  readonly line: number;
  readonly column: number;
  /** Such as `sources.revenue.drivers[0].value.scale`. */
  readonly path: string;
  readonly message: string;
  readonly hint?: string;
}
