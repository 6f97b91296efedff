/** What people are told, and where it goes. */

export const noticeEvents = ['held', 'unread', 'refused', 'unreachable', 'stale', 'broken', 'differs'] as const;

/**
 * `held`: the guard stopped a candidate; `unread`: a source could not be read; `refused`: the service refused a push;
 * `unreachable`: it was not reached for an hour; `stale`: nothing was acknowledged for twice the schedule; `broken`: a pass ended before it
 * had an outcome, such as on a full disk; `differs`: an agent that follows would do other than the one that leads.
 */
export type NoticeEvent = (typeof noticeEvents)[number];

/** The start or the end of something that is wrong. A receiver of JSON gets it as it is. */
export interface Notice {
  /** `test`: somebody wants to know whether notices arrive. */
  readonly event: NoticeEvent | 'test';
  readonly state: 'started' | 'ended';
  readonly source?: string | undefined;
  /** Of `differs`: the machine of the other agent. */
  readonly machine?: string | undefined;
  /** One line each, for a person. */
  readonly text: string;
  readonly hint?: string | undefined;
  /** Of a held candidate: what `approve` wants. */
  readonly digest?: string | undefined;
  /** ISO 8601, UTC: when it was noticed. */
  readonly at: string;
  readonly host: string;
  /** Of the service. */
  readonly address: string;
}

/** Who is told of what. */
export interface Listener {
  /** What people see of it: its own among all of a config; no secret. Older versions knew it by this. */
  readonly name: string;
  /** What the ledger knows it by, wherever it stands in the config; no secret. Notices that wait are found again by it. Default: the name. */
  readonly id?: string;
  /** Where it leads, the same for all channels of one host and format. Default: the name. */
  readonly place?: string;
  readonly on: readonly NoticeEvent[];
}

/** How sending came out. The texts are one line each, without a secret. */
export type Delivery =
  | { readonly ok: true; readonly note?: string }
  | { readonly ok: false; readonly error: string; readonly retryAfterMs?: number | undefined };

export interface Channel extends Listener {
  /**
   * One try. Never throws for what the network or the receiver does.
   * @param key the same for each try of one notice, so that a receiver can tell a repetition
   */
  deliver(notice: Notice, key: string, signal: AbortSignal): Promise<Delivery>;
}

/** All that a config names to be told. They hold nothing open. */
export interface Outlets {
  /** The name of this machine. */
  readonly host: string;
  readonly channels: readonly Channel[];
  /** Told by one request that a pass left the service right. */
  readonly heartbeat: ((signal: AbortSignal) => Promise<Delivery>) | undefined;
}
