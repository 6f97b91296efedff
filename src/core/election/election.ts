/**
 * Who of several agents leads, as pure functions: the agent asks them after everything that it hears of the database, and a
 * model plays them. The row of the lead is judged by the clock of its database, and an agent's own trust in its term by its own
 * clock, from before it asked: so no agent trusts in a term that another one may have ended.
 */

/** What the row of the lead says. */
export interface LeadRow {
  readonly term: number;
  /** `undefined`: whoever led has given it back. */
  readonly holder: string | undefined;
  /** Until its deadline, by the clock of the database. At 0 or less another agent may take over. */
  readonly leftMs: number;
  /** What the agent that leads, or led last, has for a config. */
  readonly config: string | undefined;
  /** Where it pushes to. */
  readonly address?: string | undefined;
}

/** An agent of the same ledger, as it last said of itself. */
export interface OtherAgent {
  readonly id: string;
  readonly config: string;
  /** How long ago that was, by the clock of the database. */
  readonly seenAgoMs: number;
}

/** One agent's part. Moments are of its own clock. */
export interface Candidacy {
  readonly self: string;
  readonly config: string;
  /** How long a term holds without being renewed. */
  readonly leaseMs: number;
  /** The term that it leads in, when it last asked for that successfully, and until when it may trust in it. */
  readonly held?: { readonly term: number; readonly begunMs: number; readonly trustedUntilMs: number } | undefined;
  /** The highest term that it has seen. None below it is ever led in again, whatever a database has lost. */
  readonly seenTerm: number;
}

/** `claim`: the lead is free; `renew`: the term is to be made longer; `look`: nothing but to see who leads. */
export type Step = 'claim' | 'renew' | 'look';

/** Clocks of two machines run apart by far less than this share of a lease. */
const marginShare = 10;

export function nextStep(candidacy: Candidacy, row: LeadRow, others: readonly OtherAgent[]): Step {
  if (candidacy.held !== undefined) return 'renew';
  const isFree = row.leftMs <= 0 || row.holder === candidacy.self;
  return isFree && whyNotLead(candidacy, row, others) === undefined ? 'claim' : 'look';
}

/**
 * Why an agent may not lead though the lead is free: it has another config than the leader had, and somebody may still come
 * who has that one; or the agents that are there do not agree.
 */
export function whyNotLead(
  { self, config, leaseMs }: Candidacy,
  row: LeadRow,
  others: readonly OtherAgent[],
): 'leader differs' | 'others differ' | undefined {
  if (row.config === undefined || row.config === config) return undefined;
  if (row.leftMs > 0 && row.holder !== self) return 'leader differs';
  const alive = others.filter(({ id, seenAgoMs }) => id !== self && seenAgoMs < 3 * leaseMs);
  return alive.some((one) => one.config !== config) ? 'others differ' : undefined;
}

/** @param begunMs when it asked, by its own clock: before any answer could be made */
export function won(candidacy: Candidacy, { term, begunMs }: { term: number; begunMs: number }): Candidacy {
  const { leaseMs, seenTerm } = candidacy;
  const trustedUntilMs = begunMs + leaseMs - leaseMs / marginShare;
  return { ...candidacy, held: { term, begunMs, trustedUntilMs }, seenTerm: Math.max(seenTerm, term) };
}

export function lost(candidacy: Candidacy): Candidacy {
  return { ...candidacy, held: undefined };
}

/** Notes a term that it saw. Another one than its own ends its own. */
export function saw(candidacy: Candidacy, row: Pick<LeadRow, 'term' | 'holder'>): Candidacy {
  const { held, self, seenTerm } = candidacy;
  const isStill = held !== undefined && row.term === held.term && row.holder === self;
  return { ...candidacy, held: isStill ? held : undefined, seenTerm: Math.max(seenTerm, row.term) };
}

/** Whether nobody else can lead at this moment of its own clock. */
export function isTrusted({ held }: Candidacy, nowMs: number): boolean {
  return held !== undefined && nowMs < held.trustedUntilMs;
}

/** How long an agent waits before its next step. */
export function pauseMs({ held, leaseMs }: Candidacy, row: LeadRow | undefined, nowMs: number): number {
  const lookMs = Math.min(500, leaseMs / 6);
  // A leader hears of what is asked of it as soon as the others do.
  if (held !== undefined) return Math.max(0, Math.min(lookMs, held.begunMs + leaseMs / 3 - nowMs));
  return row === undefined || row.leftMs <= 0 ? lookMs : Math.min(lookMs, row.leftMs);
}

export function isRenewalDue({ held, leaseMs }: Candidacy, nowMs: number): boolean {
  return held !== undefined && nowMs >= held.begunMs + leaseMs / 3;
}
