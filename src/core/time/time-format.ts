/** How a column writes its moments, and what one of its formats reads out of a text. */

/** How a column writes its moments. */
export interface TimeFormat {
  /**
   * Tried in this order: `iso`, `unix`, `unix-ms`, `fiscal-year`, `fiscal-quarter`, `fiscal-period`, `decimal-month`, `excel-serial`, or
   * Unicode (date-fns) tokens. `['iso']` where none was declared.
   */
  readonly formats: readonly string[];
  /** date-fns locales such as `en`, `de`, `fr`, at least one; tokens that write names are tried in each, in this order. */
  readonly locales: readonly string[];
  /** IANA name of the zone that date-times without one are read in; `undefined`: the agent's. */
  readonly timezone: string | undefined;
  /** What `fiscal-quarter` and `fiscal-period` count from; `undefined`: calendar years. */
  readonly fiscalYear: FiscalYear | undefined;
}

export interface FiscalYear {
  /** Its first month, 1 to 12. */
  readonly startsIn: number;
  /** Which of its two calendar years gives it its name. A year that starts in January is named after itself either way. */
  readonly namedAfter: 'start' | 'end';
}

/**
 * What a text says before any zone is applied. `months`: whole calendar months, `date`: a calendar day, `wall`: a time on
 * some clock, all in seconds as if that were UTC; `instant`: UNIX seconds. `nanos` count forward from `seconds`.
 */
export interface ReadTime {
  readonly kind: 'months' | 'date' | 'wall' | 'instant';
  /** Of `months`: the start of the first. */
  readonly seconds: number;
  readonly nanos: number;
  /** How many calendar months it names: 3 for a quarter, 12 for a year, else 1. */
  readonly months: number;
}

/** Reads trimmed text by one format; a string says why it does not fit. */
export type FormatReader = (text: string) => ReadTime | string;
