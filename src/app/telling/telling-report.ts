/** What `status` and the metrics say of telling. */
import type { LedgerState } from '../../core/ledger.ts';

export interface TellingReport {
  /** Tries of notices that did not arrive, in all. */
  readonly failures: number;
  /** Notices that wait to be delivered. */
  readonly waiting: number;
  /** Notices that were given up, in all. */
  readonly dropped: number;
  /** Of the channel whose last try failed last; gone once it works again. */
  readonly lastError?: {
    readonly at: string;
    readonly since: string;
    readonly channel: string;
    readonly error: string;
  };
  /** All whose last try failed, the one of `lastError` last; absent where none did. */
  readonly failing?: readonly {
    readonly channel: string;
    readonly since: string;
    readonly error: string;
    /** Notices that wait for it. */
    readonly waiting: number;
  }[];
  /** Since when the heartbeat cannot be sent, and why. */
  readonly heartbeat?: { readonly since: string; readonly error: string };
}

/** `undefined` where nobody ever was to be told. */
export function tellingReport({ telling }: LedgerState): TellingReport | undefined {
  if (telling === undefined) return undefined;
  const { failures, outbox, dropped, failing, heartbeat, channels = [] } = telling;
  const shown = (channel: string): string => channels.find(({ id }) => id === channel)?.name ?? channel;
  const last = failing.at(-1);
  const iso = (ms: number): string => new Date(ms).toISOString();
  return {
    failures,
    waiting: outbox.length,
    dropped,
    ...(last === undefined
      ? {}
      : {
          lastError: { at: iso(last.atMs), since: iso(last.sinceMs), channel: shown(last.channel), error: last.error },
          failing: failing.map(({ channel, sinceMs, error }) => ({
            channel: shown(channel),
            since: iso(sinceMs),
            error,
            waiting: outbox.filter((letter) => letter.channel === channel).length,
          })),
        }),
    ...(heartbeat === undefined ? {} : { heartbeat: { since: iso(heartbeat.sinceMs), error: heartbeat.error } }),
  };
}
