/** What the model of an election is made of. */
import type { Candidacy } from '../../src/core/election/election.ts';

export interface Push {
  readonly id: number;
  readonly digest: number;
  readonly term: number;
  endedAtMs: number | undefined;
  isOpen: boolean;
}

export interface Agent {
  readonly id: string;
  readonly rate: number;
  readonly offsetMs: number;
  candidacy: Candidacy;
  /** Until when it is asleep, by real time. */
  wakesAtMs: number;
  isBusy: boolean;
  push: Push | undefined;
  /** What it would push: machines see new data one after the other. */
  digest: number;
}

export interface Faults {
  readonly sleep: number;
  readonly loss: number;
  readonly slow: number;
  readonly park: number;
}

export interface Event {
  readonly atMs: number;
  readonly n: number;
  readonly run: () => void;
}

export function isBefore(
  a: { readonly atMs: number; readonly n: number },
  b: { readonly atMs: number; readonly n: number },
): boolean {
  return a.atMs < b.atMs || (a.atMs === b.atMs && a.n < b.n);
}
