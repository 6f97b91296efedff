/**
 * Who was told of what, and what is still on its way: one record of the ledger. Each thing that is wrong is told once when it
 * starts and once when it is over, to each channel. A notice is in the outbox before it is sent and until it was delivered, so a crash
 * loses none; one between sending and noting that sends it twice.
 */
import type { Notice, NoticeEvent } from './notice.ts';

/** All moments are milliseconds since 1970. */
export interface TellingState {
  /** When this was last known to be true. A clock that shows less has been set back. */
  readonly notedMs: number;
  /** The service that is looked at. */
  readonly address: string;
  /** Since when it is looked at or, once it had everything, when it last had that: moves along where the clock is set back. */
  readonly watchedMs: number;
  readonly matters: readonly ToldMatter[];
  /** Who was there at the last look; absent in the record of an older version, which knew channels by what people see of them. */
  readonly channels?: readonly KnownChannel[];
  /** Oldest first. */
  readonly outbox: readonly Letter[];
  /** The number of the newest letter there was. */
  readonly letters: number;
  /** Tries that did not arrive, in all. */
  readonly failures: number;
  /** Notices that were given up, in all. */
  readonly dropped: number;
  /** Why channels cannot be reached now. */
  readonly failing: readonly FailingChannel[];
  /** Since when the heartbeat cannot be sent, and why. */
  readonly heartbeat?: { readonly sinceMs: number; readonly error: string } | undefined;
  /** Nobody was to be told any more: only what was counted is left, and goes on where somebody is told again. */
  readonly isOver?: boolean;
}

/** See `Listener`. */
export interface KnownChannel {
  readonly id: string;
  readonly name: string;
  readonly place: string;
}

export interface ToldMatter extends Matter {
  /** Ids of the channels that know. */
  readonly told: readonly string[];
}

/** A notice on its way to one channel. */
export interface Letter {
  readonly id: number;
  readonly channel: string;
  readonly notice: Notice;
  readonly writtenMs: number;
  /** Tries that failed. */
  readonly tries: number;
  /** When the next try is due. */
  readonly dueMs: number;
  /** The receiver itself asked with `Retry-After` for nothing before this: a command keeps to that too. */
  readonly askedUntilMs?: number | undefined;
}

export interface FailingChannel {
  readonly channel: string;
  readonly sinceMs: number;
  /** Of the last try. */
  readonly atMs: number;
  readonly error: string;
}

/** Names one thing that may be wrong. */
export interface Subject {
  readonly event: NoticeEvent;
  /** For `held` and `unread`. */
  readonly source?: string | undefined;
  /** For `differs`. */
  readonly machine?: string | undefined;
}

/** One thing that is wrong. */
export interface Matter extends Subject {
  readonly sinceMs: number;
}
