/** Held candidates, approvals and unapproved deletes, in memory. The same as `SqliteHolds`. */
import {
  type Approval,
  type ApprovalScope,
  type Decided,
  type DeletedPoints,
  type HeldCandidate,
  type HoldLog,
  type LetThrough,
  type OtherReads,
  type ReadCounts,
  approvedAgain,
  atMost,
  isSaidAgain,
} from '../../core/ledger.ts';
import { compareUtf8 } from '../../core/series/snapshot.ts';
import type { Deletion, Records } from './records.ts';

const nothing: ApprovalScope = { deletes: new Map(), moved: new Map(), carried: [], isEnd: false, findings: [] };

export class MemoryHolds implements HoldLog {
  readonly #records: Records;

  constructor(records: Records) {
    this.#records = records;
  }

  async held(): Promise<readonly HeldCandidate[]> {
    const held = [...this.#records.held.values()].map(({ candidate }) => candidate);
    return held.sort((a, b) => compareUtf8(a.source, b.source));
  }

  async hold(held: Omit<HeldCandidate, 'sinceMs'>, scope: ApprovalScope, nowMs: number): Promise<void> {
    const before = this.#records.held.get(held.source)?.candidate;
    const sinceMs = before?.digest === held.digest ? before.sinceMs : nowMs;
    this.#records.held.set(held.source, { candidate: { ...held, sinceMs }, scope: copied(scope) });
  }

  async release(source: string): Promise<void> {
    this.#records.held.delete(source);
  }

  async approve(
    digest: string,
    source: string | undefined,
    nowMs: number,
    decided: Decided = {},
  ): Promise<Approval | undefined> {
    const held = source === undefined ? undefined : this.#records.held.get(source);
    const scope = held?.candidate.digest === digest ? held.scope : nothing;
    const earlier = this.#records.approvals.findLast(
      ({ approval, scope: covers }) =>
        approval.state === 'pending' &&
        approval.source === source &&
        approval.digest === digest &&
        textOf(covers) === textOf(scope),
    )?.approval;
    if (earlier !== undefined && isSaidAgain(earlier, decided)) return earlier;
    if (earlier !== undefined) await this.closeApproval(earlier.id, 'dropped', approvedAgain);
    const id = this.#records.approvals.length + 1;
    const of = source === undefined ? {} : { source };
    this.#records.approvals.push({ approval: { id, ...of, digest, atMs: nowMs, state: 'pending', ...decided }, scope });
    this.#records.noted++;
    return undefined;
  }

  async approvals(): Promise<readonly Approval[]> {
    return this.#records.approvals.map(({ approval }) => approval).reverse();
  }

  async approvedScope(approval: number): Promise<ApprovalScope> {
    return this.#records.approvals[approval - 1]?.scope ?? nothing;
  }

  async closeApproval(id: number, state: 'used' | 'dropped', why?: string): Promise<void> {
    const given = this.#records.approvals[id - 1];
    if (given === undefined) return;
    const { why: _before, ...approval } = given.approval;
    given.approval = { ...approval, state, ...(why === undefined ? {} : { why }) };
    this.#records.noted++;
  }

  async reopenApproval(id: number): Promise<void> {
    const given = this.#records.approvals[id - 1];
    if (given === undefined) return;
    const { why: _before, ...approval } = given.approval;
    given.approval = { ...approval, state: 'pending' };
    this.#records.noted++;
  }

  async recordDeletes(source: string, read: string, deletes: Parameters<HoldLog['recordDeletes']>[2]): Promise<void> {
    this.#replace({ source, read, ...deletes });
  }

  #replace(deletion: Deletion): void {
    const { source, read } = deletion;
    const others = this.#records.deletions.filter((one) => one.source !== source || one.read !== read);
    this.#records.deletions = [...others, deletion];
  }

  async deletesSince(
    sources: readonly string[],
    sinceMs: number,
    read: string,
    others?: OtherReads,
  ): Promise<LetThrough> {
    const found = new Map<string, Deletion>();
    for (const one of this.#records.deletions) {
      if (!sources.includes(one.source) || one.atMs <= sinceMs || one.read === read) continue;
      if (others !== undefined && one.atMs > others.untilMs && !one.read.startsWith(others.own)) continue;
      const had = atMost(one.had, found.get(one.read)?.had ?? one.had);
      found.set(one.read, { ...one, had });
    }
    const counted = [...found.values()].sort((a, b) => a.atMs - b.atMs || b.had.drivers - a.had.drivers);
    return {
      drivers: counted.reduce((sum, { drivers }) => sum + drivers, 0),
      points: counted.reduce((sum, { points }) => sum + points, 0),
      had: counted[0]?.had,
    };
  }

  async settleDeletes(nowMs: number): Promise<void> {
    this.#records.deletions = this.#records.deletions.map((one) => ({ ...one, atMs: Math.min(one.atMs, nowMs) }));
  }

  async forgetDeletes(sinceMs: number): Promise<void> {
    this.#records.deletions = this.#records.deletions.filter(({ atMs }) => atMs <= sinceMs);
  }

  async inheritDeletes(from: string, to: string, most: ReadCounts): Promise<void> {
    for (const one of this.#records.deletions.filter(({ source }) => source === from))
      this.#replace({ ...one, source: to, had: atMost(one.had, most) });
  }
}

function textOf({ deletes, moved, carried, isEnd, findings }: ApprovalScope): string {
  return JSON.stringify([[...deletes], moved && [...moved], carried, isEnd, findings]);
}

function copied({ deletes, moved, carried, findings, isEnd }: ApprovalScope): ApprovalScope {
  const points = (of: DeletedPoints): DeletedPoints => new Map([...of].map(([id, list]) => [id, [...list]]));
  return {
    deletes: points(deletes),
    moved: moved && points(moved),
    carried: [...carried],
    findings: [...findings],
    isEnd,
  };
}
