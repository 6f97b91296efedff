/** The ledger of an agent that follows: it reads what the agent that leads has written, and keeps to itself what it would hold. */
import type { HeldCandidate, HoldLog, Ledger } from '../../core/ledger.ts';
import { planLedger } from '../ask/plan-ledger.ts';

export function followingLedger(ledger: Ledger): Ledger {
  const held = new Map<string, HeldCandidate>();
  const readOnly = planLedger(ledger);
  const holds: HoldLog = {
    ...readOnly.holds,
    held: async () => [...held.values()],
    hold: async (one, _scope, nowMs) => {
      const before = held.get(one.source);
      held.set(one.source, { ...one, sinceMs: before?.digest === one.digest ? before.sinceMs : nowMs });
    },
    release: async (source) => void held.delete(source),
  };
  return { ...readOnly, holds };
}
