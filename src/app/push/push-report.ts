/** How the push of a pass ended, or why nothing was pushed. */
import type { PushRecord } from '../../core/ledger.ts';

export interface PushReport {
  readonly outcome: 'acknowledged' | 'unchanged' | 'refused' | 'unreachable' | 'unknown' | 'blocked';
  /** Why nothing was sent, or what the service said. */
  readonly reason?: string | undefined;
  readonly hint?: string | undefined;
  /** Once it was acknowledged: the newest record of the chain, as `N:SHA256`. */
  readonly head?: string | undefined;
  readonly push?: PushRecord | undefined;
  /** Present where another attempt is worth it: how long the service asked to wait for, or 0. */
  readonly retry?: { readonly askedMs: number } | undefined;
}
