/** How a column writes its moments, and the result of reading one by one format. */

/** How a column writes its moments. */
export interface TimeFormat {
  /**
   * Tried in this order: `iso`, `unix`, `unix-ms`, `fiscal-year`, `fiscal-quarter`, `fiscal-period`, `decimal-month`, `excel-serial`, or
   * Unicode (date-fns) tokens. `['iso']` is the default.
   */
  readonly formats: readonly string[];
  /** date-fns locales such as `en`, `de`, `fr`, at least one; names are tried in each, in this order. */
  readonly locales: readonly string[];
  /** IANA name of the zone of date-times without one; `undefined`: the agent's. */
  readonly timezone: string | undefined;
  /** What `fiscal-quarter` and `fiscal-period` count from; `undefined`: calendar years. */
  readonly fiscalYear: FiscalYear | undefined;
}

export interface FiscalYear {
  /** Its first month, 1 to 12. */
  readonly startsIn: number;
  /** Which of its two calendar years it is named after. For a year that starts in January both are the same. */
  readonly namedAfter: 'start' | 'end';
}

/**
 * The time in a text, before any zone is applied. `months`: whole calendar months, `date`: a calendar day, `wall`: a local time,
 * all three in seconds as if they were UTC; `instant`: UNIX seconds. `nanos` count forward from `seconds`.
 */
export interface ReadTime {
  readonly kind: 'months' | 'date' | 'wall' | 'instant';
  /** For `months`: the start of the first. */
  readonly seconds: number;
  readonly nanos: number;
  /** How many calendar months it names: 3 for a quarter, 12 for a year, else 1. */
  readonly months: number;
}

/** Reads trimmed text by one format; a string says why it does not fit. */
export type FormatReader = (text: string) => ReadTime | string;
