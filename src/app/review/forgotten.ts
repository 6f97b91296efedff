/** Parts that somebody forgot, as a review sees them: they go when the read without them is accepted, and not before. */
export interface PartsToForget {
  /** The names of parts, by source. The candidates are made without them. */
  readonly names: ReadonlyMap<string, ReadonlySet<string>>;
  /** To be called before the candidate of a source is accepted. */
  carryOut(source: string): Promise<void>;
  /** Whether something was forgotten by now. */
  hasForgotten(): boolean;
}
