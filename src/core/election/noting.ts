/** What an agent keeps of each look at its ledger, as pure functions: `doubt.ts` goes by it when the agent begins to lead. */
import type { Beside, RaisedDoubt, Seen } from './doubt.ts';

/** What one look shows. */
export interface Glance {
  /** By the clock of the database. */
  readonly nowMs: number;
  /** The newest record of the chain, as `N:SHA256`. */
  readonly head: string;
  readonly term: number;
  readonly holder: string | undefined;
  /** Where the agent that leads, or led last, does so. */
  readonly cluster: string;
  /** The record that this agent saw last is not there. */
  readonly isGone: boolean;
}

/** Whether the ledger's last doubt may be another one than at the look before: one is raised with a new term alone. */
export function mayDoubtDiffer(before: Seen | undefined, now: Glance): boolean {
  const beside = before?.beside;
  return isLoss(before, now) || beside?.term !== now.term || beside.holder !== now.holder;
}

/** @param lastDoubt of the ledger, where it may be another one than before */
export function noted(before: Seen | undefined, now: Glance, lastDoubt: RaisedDoubt | undefined): Seen {
  const { nowMs, head, term, holder, cluster, isGone } = now;
  const beside = before?.beside;
  // A term that began later may have lost more than the records that were there before it.
  const isSameTerm = beside?.term === term && (holder === undefined || beside.holder === holder);
  const isSame = isSameTerm && before?.head === head;
  const sinceMs = isSame ? beside.sinceMs : nowMs;
  return {
    ...before,
    head,
    beside: { sinceMs, term, holder, cluster, lastDoubt },
    term: Math.max(term, before?.term ?? 0),
    ...(isGone ? { lost: before?.head } : {}),
    ...(isLoss(before, now) ? { lostBeside: beside && withTerm(beside, before.lostBeside?.term ?? 0) } : {}),
  };
}

/** What was lost earlier still is: the newest moment and the highest term stand for both losses. */
function withTerm(beside: Beside, term: number): Beside {
  return { ...beside, term: Math.max(beside.term, term) };
}

function isLoss(before: Seen | undefined, { isGone, term }: Glance): boolean {
  return isGone || term < (before?.beside?.term ?? 0);
}
