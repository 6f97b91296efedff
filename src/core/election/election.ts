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
  /** Tells one deadline from another. What it counts in is the database's affair. */
  readonly deadline: number;
  /** How long a term of the holder holds without being renewed; `undefined` where that is not known. */
  readonly leaseMs: number | undefined;
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
  /** It has read its sources, and its passes do not break. */
  readonly isAble: boolean;
}

/** A deadline that has stood, looked at by an agent's own monotonic clock: from an answer on, until a question was asked. */
interface Standing {
  readonly term: number;
  readonly deadline: number;
  readonly fromMs: number;
  readonly untilMs: number;
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
  readonly standing?: Standing | undefined;
  /** Its passes have been breaking for so long that another agent should lead, where one can. */
  readonly isBroken?: boolean;
}

/** `claim`: the lead is free; `renew`: the term is to be made longer; `look`: nothing but to see who leads. */
export type Step = 'claim' | 'renew' | 'look';

/** Clocks of two machines run apart by far less than this share of a lease. */
const marginShare = 10;

export function nextStep(candidacy: Candidacy, row: LeadRow, others: readonly OtherAgent[]): Step {
  if (candidacy.held !== undefined) return 'renew';
  return isFree(candidacy, row) && whyNotLead(candidacy, row, others) === undefined ? 'claim' : 'look';
}

function isFree(candidacy: Candidacy, row: LeadRow): boolean {
  const { holder, leftMs } = row;
  return leftMs <= 0 || holder === undefined || holder === candidacy.self || overdue(candidacy, row) !== undefined;
}

/**
 * The deadline of a holder that has not renewed its term for the whole of its lease, whatever the clock of the database says: where that
 * clock went back, no deadline passes for as long. Whoever holds the term does not trust in it any more. It may still come to renew it, so
 * who takes over makes sure in the database that it is this deadline that stands there.
 */
export function overdue({ standing }: Candidacy, { term, deadline, leaseMs = Infinity }: LeadRow): number | undefined {
  const isStanding = standing?.term === term && standing.deadline === deadline;
  return isStanding && standing.untilMs - standing.fromMs >= leaseMs ? deadline : undefined;
}

/** Notes that the row is as it is. Moments are of a clock that nobody sets: when it was asked, and when the answer came. */
export function watched(
  candidacy: Candidacy,
  { term, deadline }: LeadRow,
  { askedMs, answeredMs }: { readonly askedMs: number; readonly answeredMs: number },
): Candidacy {
  const { standing } = candidacy;
  const isSame = standing?.term === term && standing.deadline === deadline;
  const since = isSame ? standing : { term, deadline, fromMs: answeredMs };
  return { ...candidacy, standing: { ...since, untilMs: askedMs } };
}

/**
 * Why an agent may not lead though the lead is free: it has another config than the leader had, and somebody may still come
 * who has that one; or the agents that are there do not agree; or its passes break, and another one is there that can lead.
 */
export function whyNotLead(
  candidacy: Candidacy,
  row: LeadRow,
  others: readonly OtherAgent[],
): 'leader differs' | 'others differ' | 'others can' | undefined {
  const { config } = candidacy;
  if (givesWay(candidacy, others)) return 'others can';
  if (row.config === undefined || row.config === config) return undefined;
  if (!isFree(candidacy, row)) return 'leader differs';
  return alive(candidacy, others).some((one) => one.config !== config) ? 'others differ' : undefined;
}

/** Whether another agent should lead instead of this one, whose passes break. */
export function givesWay(candidacy: Candidacy, others: readonly OtherAgent[]): boolean {
  const { config, isBroken = false } = candidacy;
  return isBroken && alive(candidacy, others).some((one) => one.config === config && one.isAble);
}

/** One that was seen in what is the future now was seen before the clock went back: whoever is alive says so again. */
function alive({ self, leaseMs }: Candidacy, others: readonly OtherAgent[]): readonly OtherAgent[] {
  return others.filter(({ id, seenAgoMs }) => id !== self && Math.abs(seenAgoMs) < 3 * leaseMs);
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
