/** A bug that is planted. */
import type { PromiseName } from '../../../src/simulate/promises.ts';

export interface Plant {
  readonly name: string;
  /** Below `src/`. */
  readonly file: string;
  /** Stands there exactly once. */
  readonly find: string;
  readonly replace: string;
  /** The promises that may be found broken. */
  readonly breaks: readonly PromiseName[];
  readonly config: object;
  /** It is looked for in histories of machines that share a ledger. */
  readonly isShared?: true;
}
