/** The ledger of an agent that follows: it reads what the agent that leads has written, and keeps to itself what it would hold. */
import type { HeldCandidate, HoldLog, Ledger } from '../../core/ledger.ts';
import { planLedger } from '../ask/plan-ledger.ts';

interface Deletion {
  readonly source: string;
  readonly read: string;
  readonly counts: Parameters<HoldLog['recordDeletes']>[2];
}

export function followingLedger(ledger: Ledger): Ledger {
  const held = new Map<string, HeldCandidate>();
  /** What its own reads would delete in small steps is held as the agent that leads holds it. */
  let deletions: readonly Deletion[] = [];
  const readOnly = planLedger(ledger);
  const holds: HoldLog = {
    ...readOnly.holds,
    held: async () => [...held.values()],
    hold: async (one, _scope, nowMs) => {
      const before = held.get(one.source);
      held.set(one.source, { ...one, sinceMs: before?.digest === one.digest ? before.sinceMs : nowMs });
    },
    release: async (source) => void held.delete(source),
    recordDeletes: async (source, read, counts) => {
      const others = deletions.filter((one) => one.source !== source || one.read !== read);
      deletions = [...others, { source, read, counts }];
    },
    deletesSince: async (sources, sinceMs, read, others) => {
      let counted = await readOnly.holds.deletesSince(sources, sinceMs, read, others);
      for (const { source, read: by, counts } of deletions) {
        if (!sources.includes(source) || by === read || counts.atMs <= sinceMs) continue;
        const { drivers, points, had } = counted;
        counted = { drivers: drivers + counts.drivers, points: points + counts.points, had: had ?? counts.had };
      }
      return counted;
    },
    forgetDeletes: async () => {
      deletions = [];
    },
  };
  return {
    ...readOnly,
    holds,
    // Only what the agent that leads has noted counts: a note of its own would hide, for as long as it lives, what that one writes later.
    state: () => ledger.state(),
    setState: async () => undefined,
  };
}
