/** The rows of the election, wherever they are kept: who leads, and the agents. All moments are of their keeper's clock. */
import type { LedgerState } from '../ledger.ts';
import type { Seen } from './doubt.ts';
import type { LeadRow, OtherAgent } from './election.ts';

/** The term of an agent that leads. */
export interface Term {
  readonly holder: string;
  readonly term: number;
}

export interface Looked {
  readonly nowMs: number;
  readonly row: LeadRow;
  /** Where the agent that leads, or led last, does so. */
  readonly cluster: string | null;
  readonly agents: readonly OtherAgent[];
  /** Changes with every request and approval. */
  readonly asked: string;
  /** Counts the passes that were asked for. */
  readonly wakes: number;
  readonly head: string;
  /** Of the tables. */
  readonly version: number;
}

export interface Claim {
  readonly holder: string;
  readonly host: string;
  readonly pid: number;
  readonly config: string;
  readonly address: string;
  readonly leaseMs: number;
  readonly seenTerm: number;
  readonly seen: Seen | undefined;
  /** Leads also where the ledger was given back. */
  readonly isCopying: true | undefined;
  /** Of the tables, as it saw them. */
  readonly version: number;
  /** Takes over a term whose deadline has stood for too long, where it still stands. */
  readonly overdue: { readonly term: number; readonly deadline: number } | undefined;
}

export interface Claimed {
  readonly nowMs: number;
  /** `undefined`: another agent was faster, or brought the tables up to date meanwhile. */
  readonly term: number | undefined;
  readonly cluster: string;
  /** Why this may not be all that was recorded. */
  readonly doubt: string | undefined;
}

export interface Renewed {
  readonly nowMs: number;
  readonly isHeld: boolean;
  readonly timeline: string;
  /** Whether the record that the agent saw last is there. */
  readonly hasHead: boolean;
}

/** An agent, as it says of itself. */
export interface Telling {
  readonly id: string;
  readonly host: string;
  readonly pid: number;
  readonly config: string;
  readonly said: string;
}

/** What an agent asks and writes in an election. Each call is one transaction. @throws AgentError of `ledger.` */
export interface LeadRows {
  /** For messages. */
  readonly label: string;
  /** Who leads, and what is asked of whoever does. */
  look(): Promise<Looked>;
  /** Takes over where the deadline has passed, or is the overdue one. With a doubt, which is recorded in the same transaction. */
  claim(by: Claim): Promise<Claimed>;
  /** @param by head: of the chain, as the agent saw it last */
  renew(
    by: Term & Pick<Claim, 'leaseMs' | 'config' | 'address'> & { readonly head: string | undefined },
  ): Promise<Renewed>;
  /** The row stays, and its term with it. */
  resign(self: string, mine: Term | undefined): Promise<void>;
  /** Says what an agent is and would push. @param oldMs agents that have been silent for longer are forgotten */
  tell(by: Telling, oldMs: number | undefined): Promise<void>;
  /** Whether the chain has a record, as `N:SHA256`. */
  hasRecord(record: string): Promise<boolean>;
  state(): Promise<LedgerState>;
}
