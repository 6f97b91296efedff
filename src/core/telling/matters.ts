/** What is wrong now, by what is known after a pass. */
import type { HeldCandidate } from '../ledger.ts';
import type { PassReport } from '../report.ts';
import type { NoticeEvent } from './notice.ts';
import type { Matter, Subject } from './record.ts';

/** How things are after the last pass. */
export interface Known {
  readonly nowMs: number;
  readonly address: string;
  readonly host: string;
  /** Of the last pass that had an outcome. */
  readonly report: PassReport;
  /** Why the pass after it had none. */
  readonly broken?: { readonly reason: string; readonly hint?: string | undefined } | undefined;
  readonly held: readonly HeldCandidate[];
  /** When the service last had everything: a push was acknowledged, or there was nothing to push. `undefined`: it never had. */
  readonly servedMs: number | undefined;
  /** How long twice the schedule is, counted from a moment. */
  readonly twiceScheduleMs: (fromMs: number) => number;
  /** Those that share the ledger; absent where an agent is alone. */
  readonly others?: KnownOthers | undefined;
}

export interface KnownOthers {
  /** All machines that have an agent. */
  readonly machines: readonly string[];
  /** Those whose agent would do other than the one that leads, and what it would do. */
  readonly differing: readonly { readonly machine: string; readonly text: string }[];
  /** How long that is normal. */
  readonly patienceMs: number;
}

export function isSame(a: Subject, b: Subject): boolean {
  return a.event === b.event && a.source === b.source && a.machine === b.machine;
}

/** How long something has to last before it is told: a service that is restarted is nobody's business. */
export function patienceMs(event: NoticeEvent, { others }: Known): number {
  if (event === 'differs') return others?.patienceMs ?? 0;
  return event === 'unreachable' ? 3_600_000 : 0;
}

/**
 * Everything that is wrong, in a fixed order.
 * @param before what was wrong at the last look: a pass that tried no push does not say that the last failure is over
 * @param watchedMs since when the address is looked at, or when it last had everything
 */
export function mattersNow(known: Known, before: readonly Matter[], watchedMs: number): readonly Matter[] {
  const { nowMs, held, report, broken } = known;
  const found: Matter[] = [
    ...held.map(({ source, sinceMs }) => ({ event: 'held' as const, source, sinceMs: Math.min(sinceMs, nowMs) })),
    ...report.sources.flatMap(({ name, state }) =>
      state === 'unread' ? [{ event: 'unread' as const, source: name, sinceMs: nowMs }] : [],
    ),
  ];
  for (const event of ['refused', 'unreachable'] as const) {
    const standing = pushFailure(event, report);
    const kept = before.find((matter) => isSame(matter, { event }));
    if (standing === true || (standing === undefined && kept !== undefined)) found.push({ event, sinceMs: nowMs });
  }
  if (nowMs >= staleMs(known, watchedMs)) found.push({ event: 'stale', sinceMs: nowMs });
  if (broken !== undefined) found.push({ event: 'broken', sinceMs: nowMs });
  for (const { machine } of known.others?.differing ?? []) found.push({ event: 'differs', machine, sinceMs: nowMs });
  return found.map((matter) => ({ ...matter, sinceMs: sinceOf(matter, before) }));
}

function sinceOf(matter: Matter, before: readonly Matter[]): number {
  return before.find((kept) => isSame(kept, matter))?.sinceMs ?? matter.sinceMs;
}

/** Whether the failure stands; `undefined` where the pass does not say. */
function pushFailure(event: 'refused' | 'unreachable', { outcome }: PassReport): boolean | undefined {
  switch (outcome) {
    case 'acknowledged':
    case 'unchanged':
      return false;
    case 'refused':
      // Whoever refuses has been reached.
      return event === 'refused';
    case 'unreachable':
    case 'unknown':
      return event === 'unreachable' ? true : undefined;
    case 'blocked':
      return undefined;
  }
}

/** From when on nothing was acknowledged for too long. */
export function staleMs(known: Known, watchedMs: number): number {
  const fromMs = servedOr(known, watchedMs);
  return fromMs + known.twiceScheduleMs(fromMs);
}

/** A moment that lies ahead is from before the clock was set back: what the last look made of it has moved along. */
export function servedOr({ servedMs, nowMs }: Known, watchedMs: number): number {
  return servedMs === undefined || servedMs > nowMs ? Math.min(watchedMs, nowMs) : servedMs;
}
