/** A ledger in memory, for the simulated world. What it holds is in its records, which another one may be opened on. */
import type { Asked, Decided, Ledger, PendingRequest, Request, RequestLog, SnapshotLog } from '../../core/ledger.ts';
import { MemoryHolds } from './memory-holds.ts';
import { MemoryPushes } from './memory-pushes.ts';
import type { Records } from './records.ts';

export function memoryLedger(records: Records): Ledger {
  return {
    pushes: new MemoryPushes(records),
    holds: new MemoryHolds(records),
    requests: new MemoryRequests(records),
    snapshots: snapshotLog(records),
    // Nobody verifies this chain: its length stands for it.
    head: async () => `${records.noted}:${String(records.noted).padStart(64, '0')}`,
    state: async () => records.state,
    setState: async (changed) => records.setState(changed),
    shrink: async () => undefined,
    close: async () => undefined,
  };
}

class MemoryRequests implements RequestLog {
  readonly #records: Records;

  constructor(records: Records) {
    this.#records = records;
  }

  async add(request: Request, nowMs: number, { by, as, reason }: Decided = {}): Promise<number> {
    const id = this.#records.requests.length + 1;
    this.#records.requests.push({ id, atMs: nowMs, request, result: undefined, by, as, reason });
    this.#records.noted++;
    return id;
  }

  async all(): Promise<readonly Asked[]> {
    return this.#records.requests.toReversed();
  }

  async pending(): Promise<readonly PendingRequest[]> {
    return this.#records.requests.filter(({ result }) => result === undefined);
  }

  async finish(id: number, result: string): Promise<void> {
    const asked = this.#records.requests[id - 1];
    if (asked === undefined) return;
    this.#records.requests[id - 1] = { ...asked, result };
    this.#records.noted++;
  }

  async reopen(id: number): Promise<void> {
    const asked = this.#records.requests[id - 1];
    if (asked === undefined) return;
    this.#records.requests[id - 1] = { ...asked, result: undefined };
    this.#records.noted++;
  }

  async result(id: number): Promise<string | undefined> {
    return this.#records.requests[id - 1]?.result;
  }

  async asked(): Promise<string> {
    return `${this.#records.requests.length}/${this.#records.approvals.length}`;
  }
}

function snapshotLog(records: Records): SnapshotLog {
  return {
    async written(digest, fileSha256) {
      if (records.snapshots.get(digest) === fileSha256) return;
      records.snapshots.set(digest, fileSha256);
      records.noted++;
    },
    async keepOnly(digests) {
      for (const digest of records.snapshots.keys()) {
        if (digests.has(digest)) continue;
        records.snapshots.delete(digest);
        records.noted++;
      }
    },
    isKept: async (digest) => records.snapshots.has(digest),
  };
}
