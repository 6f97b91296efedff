/** The report of a pass, for scripts and people: the JSON of `sync`, `plan` and `status` is made of these shapes. */
import type { PushOutcome } from './ports.ts';
import type { Changes } from './series/diff.ts';
import type { Finding } from './values/finding.ts';

/** `unchanged`: the service has it already; `blocked`: nothing may be sent. */
export type PassOutcome = PushOutcome | 'unchanged' | 'blocked';

export interface SourceReport {
  readonly name: string;
  readonly state: 'accepted' | 'unchanged' | 'held' | 'unread';
  readonly reason?: string | undefined;
  readonly hint?: string | undefined;
  /** For a held candidate: what `approve` wants. */
  readonly digest?: string | undefined;
  /** For a held candidate: false where no approval helps. */
  readonly approvable?: boolean;
  /** For a held candidate: what it would delete, the first hundred drivers. */
  readonly deletes?: readonly DriverDeletes[];
  readonly parts: number;
  readonly rows: number;
  readonly rejects: number;
  readonly drivers: number;
  readonly points: number;
  readonly changes: Changes;
  /** Slips in the values of the read that was judged. */
  readonly findings?: readonly Finding[];
  /** Parts that are gone and whose data is carried. */
  readonly carried: readonly string[];
  /** Slips that hold nothing up: a driver with two paths, two drivers with one, readings of one same time. */
  readonly warnings: readonly string[];
}

export interface PassReport {
  /** When it ended. ISO 8601, UTC. */
  readonly at: string;
  /** When it began. Passes of older agents do not say it. */
  readonly begunAt?: string | undefined;
  readonly outcome: PassOutcome;
  readonly exit: number;
  readonly reason?: string | undefined;
  readonly hint?: string | undefined;
  readonly push?: PushSummary | undefined;
  readonly sources: readonly SourceReport[];
}

export interface PushSummary {
  readonly id: number;
  readonly digest: string;
  readonly drivers: number;
  readonly points: number;
  readonly bytes: number;
  readonly status?: number;
  readonly detail?: string;
  /** For an acknowledged push: the newest record of the chain at that time, as `N:SHA256`. */
  readonly head?: string;
}

export interface DriverDeletes {
  readonly driver: string;
  /** All its points go, and it with them. */
  readonly whole: boolean;
  /** Such as `2026-03`. */
  readonly months: readonly string[];
}
