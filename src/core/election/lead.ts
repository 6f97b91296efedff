/** Agents that share a ledger: who of them leads, and what each would push. */

/** What an agent says of itself to the others. */
export interface AgentSaid {
  /** The snapshot that it would push now; absent before its first pass. */
  readonly would?: { readonly digest: string; readonly drivers: number; readonly points: number } | undefined;
  /** Against what was pushed last; absent where it would push the same. */
  readonly differs?: { readonly push: number; readonly drivers: number; readonly points: number } | undefined;
  /** Sources that it cannot read, or holds. */
  readonly sources: readonly {
    readonly name: string;
    readonly state: 'unread' | 'held';
    readonly reason?: string | undefined;
  }[];
  /** Its passes break, since then by its own clock, so that it pushes nothing; the rest is what it said before. */
  readonly broken?: { readonly sinceMs: number; readonly why: string } | undefined;
}

export interface SharedAgent {
  readonly id: string;
  readonly host: string;
  readonly pid: number;
  /** Moments are of the database's clock, in ms since 1970. */
  readonly sinceMs: number;
  readonly seenMs: number;
  /** It has not said anything for several leases. */
  readonly isSilent: boolean;
  /** It has the config of the agent that leads, or led last. */
  readonly hasLeadersConfig: boolean;
  readonly said: AgentSaid;
}

/** How things stand among the agents of a ledger. */
export interface SharedView {
  readonly term: number;
  /** `undefined`: nobody leads now. */
  readonly leader:
    | { readonly id: string; readonly host: string; readonly pid: number; readonly sinceMs: number }
    | undefined;
  readonly address: string | undefined;
  readonly agents: readonly SharedAgent[];
}

/** One agent's part in the election. */
export interface Lead {
  /** Its own id among the agents. */
  readonly self: string;
  /** Whether nobody else can lead now. */
  isLeading(): boolean;
  /** Whether another agent led when the ledger was last asked, and it answers. */
  isLedByOther(): boolean;
  /** The term in which it leads; `undefined` where it does not. */
  term(): { readonly term: number } | undefined;
  /** Aborts when this agent does not lead any more. */
  readonly signal: AbortSignal;
  /**
   * Gives the lead up where passes of this agent have been breaking for several leases and another one is there whose do not. To be asked for
   * while no pass is under way.
   */
  giveWay(): Promise<void>;
  /** Nothing of an earlier term is under way here any more. Only then may this agent lead again. */
  follow(): void;
  /** Makes sure at the database that it still leads. @throws AgentError `ledger.led`, `ledger.unreachable` */
  confirm(): Promise<void>;
  /** Why it does not lead though nobody does; `undefined`: somebody does, or nothing keeps it from it. */
  whyNot(): string | undefined;
  /** Tells the others. */
  say(said: AgentSaid): void;
}
