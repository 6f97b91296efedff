/** What the process of one machine has of the ledger that it shares with others. */
import type { Seen } from '../../core/election/doubt.ts';
import type { Lead } from '../../core/election/lead.ts';
import type { LeadRows, Term } from '../../core/election/rows.ts';
import type { Archive } from '../../core/ledger.ts';
import type { Clock, Log } from '../../core/ports.ts';

/** The agent's own part in the election. */
export interface RunningLead extends Lead, AsyncDisposable {
  /** The first turn, which fails where the ledger cannot be reached; then it goes on by itself. */
  begin(): Promise<void>;
  go(): void;
  term(): Term | undefined;
  /** How far the clock of the database is ahead of this machine's monotonic one. */
  readonly aheadMs: number | undefined;
}

export interface LeadAround {
  readonly host: string;
  /** Of what all agents have to have alike. */
  readonly config: string;
  readonly address: string;
  readonly leaseMs: number;
  readonly clock: Clock;
  readonly log: Log;
  /** What the machine keeps of what it saw. */
  readonly seen: { get(): Seen | undefined; set(changed: Partial<Seen>): void };
  readonly changed: (what: 'lead' | 'request' | 'pass') => void;
}

/** A machine, as others see it. */
export interface Pushing {
  readonly name: string;
  /** By its own clock. */
  readonly isLeading: boolean;
  readonly term: number;
  /** Since when it cannot see a source, by the clock that never jumps; `undefined` where it can. */
  blindSinceMs(source: string): number | undefined;
}

/** The agent's own election over rows of the world. */
export type OpenLead = (rows: LeadRows, around: LeadAround) => RunningLead;

export interface SharedPart {
  readonly lead: RunningLead;
  /** That of the database. */
  readonly clock: Clock;
  readonly followingArchive: Archive;
}
