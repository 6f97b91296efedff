/** How a column writes its moments, and what one of its formats reads out of a text. */

/** How a column writes its moments. */
export interface TimeFormat {
  /** Tried in this order: `iso`, `unix`, `unix-ms`, or Unicode (date-fns) tokens. `['iso']` where none was declared. */
  readonly formats: readonly string[];
  /** A date-fns locale such as `en`, `de`, `fr`. */
  readonly locale: string;
  /** IANA name of the zone that date-times without one are read in; `undefined`: the agent's. */
  readonly timezone: string | undefined;
}

/**
 * What a text says before any zone is applied. `date`: a calendar day, `wall`: a time on some clock, both in seconds as
 * if that were UTC; `instant`: UNIX seconds. `nanos` count forward from `seconds`.
 */
export interface ReadTime {
  readonly kind: 'date' | 'wall' | 'instant';
  readonly seconds: number;
  readonly nanos: number;
}

/** Reads trimmed text by one format; a string says why it does not fit. */
export type FormatReader = (text: string) => ReadTime | string;
