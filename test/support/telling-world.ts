/** Telling without anything around it: what a pass found, as few words as a test needs. */
import type { HeldCandidate } from '../../src/core/ledger.ts';
import type { PassReport, SourceReport } from '../../src/core/report.ts';
import { noChanges } from '../../src/core/series/diff.ts';
import type { Known, KnownOthers } from '../../src/core/telling/matters.ts';
import { type Listener, noticeEvents } from '../../src/core/telling/notice.ts';
import type { TellingState } from '../../src/core/telling/record.ts';
import { newTelling, tell } from '../../src/core/telling/state.ts';

export const hourMs = 3_600_000;
export const startMs = Date.parse('2026-03-15T12:00:00Z');
export const address = 'https://drivers.example.com';

export interface Found {
  readonly outcome?: PassReport['outcome'];
  readonly reason?: string;
  readonly hint?: string;
  /** Names of sources. */
  readonly held?: readonly string[];
  readonly unread?: readonly string[];
  readonly accepted?: readonly string[];
  /** How long ago the service had everything. `null`: it never had. */
  readonly servedAgoMs?: number | null;
  readonly address?: string;
  /** Those that have an agent, where several share a ledger, and those whose agent differs from the one that leads. */
  readonly machines?: readonly string[];
  readonly differing?: readonly string[];
}

/** How things are at a moment. The schedule is daily. */
export function known(nowMs: number, found: Found = {}): Known {
  const { outcome = 'unchanged', reason, hint, held = [], unread = [], accepted = [], servedAgoMs = 0 } = found;
  const source = (name: string, state: SourceReport['state'], why?: string): SourceReport => ({
    name,
    state,
    ...(why === undefined ? {} : { reason: why, hint: `mend ${name}` }),
    parts: 1,
    rows: 1,
    rejects: 0,
    drivers: 1,
    points: 1,
    changes: noChanges,
    carried: [],
    warnings: [],
  });
  return {
    nowMs,
    address: found.address ?? address,
    host: 'books-1',
    held: held.map((name) => heldCandidate(name, nowMs)),
    servedMs: servedAgoMs === null ? undefined : nowMs - servedAgoMs,
    twiceScheduleMs: () => 48 * hourMs,
    ...(found.machines === undefined ? {} : { others: knownOthers(found.machines, found.differing) }),
    report: {
      at: new Date(nowMs).toISOString(),
      outcome,
      exit: 0,
      reason,
      hint,
      sources: [
        ...held.map((name) => source(name, 'held', 'it is too much')),
        ...unread.map((name) => source(name, 'unread', 'it is gone')),
        ...accepted.map((name) => source(name, 'accepted')),
      ],
    },
  };
}

function knownOthers(machines: readonly string[], differing: readonly string[] = []): KnownOthers {
  return {
    machines,
    differing: differing.map((machine) => ({ machine, text: 'cannot read books' })),
    patienceMs: 120_000,
  };
}

function heldCandidate(source: string, sinceMs: number): HeldCandidate {
  const digest = source.padEnd(64, '0');
  return { source, digest, reason: 'it is too much', hint: 'look at it', sinceMs, approvable: true };
}

export const everybody: Listener = { name: 'hook a', on: noticeEvents };

/** One listener, and what it is told of each pass. */
export class Told {
  nowMs = startMs;
  state: TellingState = newTelling(address, startMs);
  readonly #listeners: readonly Listener[];

  constructor(...listeners: readonly Listener[]) {
    this.#listeners = listeners.length === 0 ? [everybody] : listeners;
  }

  /** A pass, so long after the last one. Gives the notices that it wrote: `held books started`. */
  pass(found: Found, afterMs = 60_000): readonly string[] {
    this.nowMs += afterMs;
    return this.look(known(this.nowMs, found));
  }

  look(now: Known): readonly string[] {
    const before = this.state.letters;
    // As the ledger keeps it, and another process finds it.
    this.state = JSON.parse(JSON.stringify(tell(this.state, now, this.#listeners))) as TellingState;
    return this.state.outbox
      .filter(({ id }) => id > before)
      .map(({ notice: { event, source, machine, state } }) =>
        [event, source, machine, state].filter(Boolean).join(' '),
      );
  }
}
