/** Every push and what became of it, in memory. The same as `SqlitePushes`. */
import type { LedgerState, NewPush, PushLog, PushRecord } from '../../core/ledger.ts';
import type { Month } from '../../core/model.ts';
import type { PushOutcome, PushResult } from '../../core/ports.ts';
import { unpackMonths } from '../../core/series/packing.ts';
import type { Records } from './records.ts';

const isOpen = ({ outcome, maybeTaken }: PushRecord): boolean => maybeTaken && outcome !== 'acknowledged';

export class MemoryPushes implements PushLog {
  readonly #records: Records;

  constructor(records: Records) {
    this.#records = records;
  }

  async begin({ rollbackOf, ...push }: NewPush, state: LedgerState = {}): Promise<number> {
    const id = this.#records.pushes.length + 1;
    const ended = { endedAtMs: undefined, outcome: undefined, status: undefined, detail: undefined };
    this.#records.pushes.push({ ...push, rollbackOf, id, ...ended, maybeTaken: true });
    this.#records.noted++;
    this.#records.setState(state);
    return id;
  }

  async end(id: number, result: PushResult, endedAtMs: number): Promise<void> {
    this.#end(id, result, endedAtMs);
  }

  #end(id: number, { outcome, status, detail, maybeTaken }: PushResult, endedAtMs: number): void {
    const push = this.#records.pushes[id - 1];
    if (push === undefined) return;
    this.#records.pushes[id - 1] = { ...push, outcome, status, detail, maybeTaken, endedAtMs };
    this.#records.noted++;
  }

  async endOrphans(endedAtMs: number): Promise<void> {
    for (const { id, outcome, maybeTaken } of this.#records.pushes) {
      const detail = 'the agent stopped while it was sent';
      if (outcome === undefined) this.#end(id, { outcome: 'unknown', detail, maybeTaken }, endedAtMs);
    }
  }

  async acknowledge(id: number, result: PushResult, ended: Parameters<PushLog['acknowledge']>[2]): Promise<void> {
    this.#end(id, result, ended.atMs);
    for (const { driver, months } of ended.carried) {
      const changes = this.#records.changes.get(driver) ?? [];
      this.#records.changes.set(driver, changes);
      changes.push({ push: id, months: months.slice() });
    }
    this.#records.setState(ended.state);
  }

  async all(): Promise<readonly PushRecord[]> {
    return this.#records.pushes.toReversed();
  }

  async newest(limit: number, before = Infinity): Promise<readonly PushRecord[]> {
    const earlier = this.#records.pushes.filter(({ id }) => id < before);
    return earlier.toReversed().slice(0, limit);
  }

  async counts(): Promise<ReadonlyMap<PushOutcome, number>> {
    const counts = new Map<PushOutcome, number>();
    for (const { outcome } of this.#records.pushes) {
      if (outcome !== undefined) counts.set(outcome, (counts.get(outcome) ?? 0) + 1);
    }
    return counts;
  }

  async get(id: number): Promise<PushRecord | undefined> {
    return this.#records.pushes[id - 1];
  }

  async last(address?: string): Promise<PushRecord | undefined> {
    return this.#records.pushes.findLast((push) => address === undefined || push.address === address);
  }

  async lastAcknowledged(address?: string): Promise<PushRecord | undefined> {
    return this.#records.pushes.findLast(
      (push) => push.outcome === 'acknowledged' && (address === undefined || push.address === address),
    );
  }

  async hasOpenSince(address: string, push: number, digest = ''): Promise<boolean> {
    return this.#records.pushes.some(
      (one) => one.address === address && one.id > push && isOpen(one) && one.digest !== digest,
    );
  }

  async maybeTaken(address: string, digest: string): Promise<{ endedAtMs: number | undefined } | undefined> {
    const pushes = this.#records.pushes.filter((push) => push.address === address);
    const isWaitedFor = ({ id, digest: of }: PushRecord): boolean =>
      pushes.some((later) => later.id > id && later.outcome === 'acknowledged' && later.digest !== of);
    const open = pushes.filter((push) => push.digest !== digest && isOpen(push) && !isWaitedFor(push));
    const ends = open.map(({ endedAtMs }) => endedAtMs);
    if (ends.length === 0) return undefined;
    if (ends.includes(undefined)) return { endedAtMs: undefined };
    return { endedAtMs: Math.max(...ends.map((end) => end ?? 0)) };
  }

  async changing(address: string, driver: string): Promise<readonly number[]> {
    return this.#changes(address, driver).map(({ push }) => push);
  }

  async firstOf(address: string, driver: string, month: Month): Promise<number | undefined> {
    const changed = this.#changes(address, driver).find(({ months }) => unpackMonths(months).includes(month));
    const isFirst = (push: PushRecord): boolean => push.address === address && push.outcome === 'acknowledged';
    return changed?.push ?? this.#records.pushes.find(isFirst)?.id;
  }

  /** Newest first. */
  #changes(address: string, driver: string): readonly { readonly push: number; readonly months: Uint8Array }[] {
    const changes = this.#records.changes.get(driver) ?? [];
    return changes.filter(({ push }) => this.#records.pushes[push - 1]?.address === address).toReversed();
  }
}
