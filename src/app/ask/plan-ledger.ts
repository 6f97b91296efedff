/**
 * The ledger of a plan: it reads everything and records what is held, so that it can be approved. Nothing else is written, and on a full or
 * read-only disk nothing.
 */
import { isAgentError } from '../../core/errors.ts';
import type { HoldLog, Ledger, LedgerState, PushLog, RequestLog } from '../../core/ledger.ts';

const nothing = async (): Promise<void> => undefined;
const noPush = async (): Promise<never> => {
  throw new Error('a plan pushes nothing');
};

/** No read is called so. */
const noRead = ' ';

/** @param mayHold whether what it holds is recorded: what the agent of another machine holds is that agent's matter */
export function planLedger(ledger: Ledger, mayHold = async (): Promise<boolean> => true): Ledger {
  const { pushes, holds, requests } = ledger;
  let changed: LedgerState = {};
  return {
    pushes: {
      begin: noPush,
      end: noPush,
      endOrphans: noPush,
      acknowledge: noPush,
      all: () => pushes.all(),
      newest: (limit, before) => pushes.newest(limit, before),
      counts: () => pushes.counts(),
      get: (id) => pushes.get(id),
      last: (address) => pushes.last(address),
      lastAcknowledged: (address) => pushes.lastAcknowledged(address),
      hasOpenSince: (address, push, digest) => pushes.hasOpenSince(address, push, digest),
      maybeTaken: (address, digest) => pushes.maybeTaken(address, digest),
      changing: (address, driver) => pushes.changing(address, driver),
      firstOf: (address, driver, month) => pushes.firstOf(address, driver, month),
    } satisfies PushLog,
    holds: planHolds(holds, mayHold),
    requests: {
      add: noPush,
      all: () => requests.all(),
      pending: () => requests.pending(),
      finish: nothing,
      reopen: nothing,
      result: (id) => requests.result(id),
      asked: () => requests.asked(),
    } satisfies RequestLog,
    snapshots: { written: nothing, keepOnly: nothing, isKept: (digest) => ledger.snapshots.isKept(digest) },
    head: () => ledger.head(),
    // What the steps of a pass note for each other.
    state: async () => ({ ...(await ledger.state()), ...changed }),
    setState: async (more) => {
      changed = { ...changed, ...more };
    },
    ...(ledger.agents && { agents: () => ledger.agents!() }),
    shrink: () => ledger.shrink(),
    close: () => ledger.close(),
  };
}

function planHolds(holds: HoldLog, mayHold: () => Promise<boolean>): HoldLog {
  let forgottenSinceMs = Infinity;
  return {
    hold: async (...held) => {
      if (!(await mayHold())) return;
      try {
        await holds.hold(...held);
      } catch (error) {
        // What it would hold is said all the same; the next pass records it.
        if (!isAgentError(error, 'state.full') && !isAgentError(error, 'state.unwritable')) throw error;
      }
    },
    held: () => holds.held(),
    release: nothing,
    approve: noPush,
    approvals: () => holds.approvals(),
    approvedScope: (approval) => holds.approvedScope(approval),
    closeApproval: nothing,
    reopenApproval: nothing,
    recordDeletes: nothing,
    deletesSince: (sources, sinceMs, read, others) => {
      if (forgottenSinceMs === Infinity) return holds.deletesSince(sources, sinceMs, read, others);
      const untilMs = Math.min(forgottenSinceMs, others?.untilMs ?? Infinity);
      return holds.deletesSince(sources, sinceMs, read, { own: noRead, untilMs });
    },
    settleDeletes: nothing,
    forgetDeletes: async (sinceMs) => {
      forgottenSinceMs = Math.min(forgottenSinceMs, sinceMs);
    },
    inheritDeletes: nothing,
  };
}
