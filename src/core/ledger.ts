/** What must outlive the buffer: the ledger of pushes, approvals and requests, and the archive of snapshots. */
import type { RaisedDoubt } from './election/doubt.ts';
import type { SharedView } from './election/lead.ts';
import type { CarriedMonths, Changes } from './series/diff.ts';
import type { Month } from './model.ts';
import type { OriginFacts, PackedDriver, PackedPoints } from './series/packing.ts';
import type { PushOutcome, PushResult, SnapshotBody } from './ports.ts';
import type { LoopState } from './loop/state.ts';
import type { PassReport } from './report.ts';
import type { BodyFormat } from './series/snapshot.ts';
import type { TellingState } from './telling/record.ts';
import type { ReachingFinding } from './values/finding.ts';

export interface NewPush {
  /** Milliseconds since 1970, as all moments of the ledger. */
  readonly atMs: number;
  readonly address: string;
  readonly digest: string;
  readonly drivers: number;
  readonly points: number;
  readonly bytes: number;
  /** Against the last acknowledged snapshot of that address. */
  readonly changes: Changes;
  readonly rollbackOf?: number | undefined;
  /** Whether the service deletes what it leaves out. */
  readonly shouldDeleteMissing: boolean;
}

/** The detail of a push that a later agent ended: when it really did is not known. */
export const cutShort = 'the agent stopped while it was sent';

export interface PushRecord extends NewPush {
  readonly id: number;
  /** `undefined`: it never ended, the process died first. */
  readonly endedAtMs: number | undefined;
  readonly outcome: PushOutcome | undefined;
  readonly status: number | undefined;
  readonly detail: string | undefined;
  readonly maybeTaken: boolean;
}

export interface HeldCandidate {
  readonly source: string;
  readonly digest: string;
  readonly reason: string;
  readonly hint: string | undefined;
  readonly sinceMs: number;
  /** Another source has its drivers: no approval helps. */
  readonly approvable: boolean;
}

export interface ReadCounts {
  readonly drivers: number;
  readonly points: number;
}

export function atMost(counts: ReadCounts, most: ReadCounts): ReadCounts {
  return { drivers: Math.min(counts.drivers, most.drivers), points: Math.min(counts.points, most.points) };
}

/** Points by driver: what a candidate deletes. */
export type DeletedPoints = ReadonlyMap<string, readonly Month[]>;

/** What an approval lets pass; nothing beyond it passes. */
export interface ApprovalScope {
  readonly deletes: DeletedPoints;
  /** Those of the deletes that another source had by then: a move. `undefined`: an older agent did not note them. */
  readonly moved: DeletedPoints | undefined;
  /** Names of carried parts that may count beside parts with the same points, and what is left of a month within which a read begins. */
  readonly carried: readonly string[];
  /** Slips in the values, with the drivers that they reach. */
  readonly findings: readonly ReachingFinding[];
  /** The source left the config. Once it is back, its reads are not what was approved. */
  readonly isEnd: boolean;
}

/** Deletes that the guard let through without approval. */
export interface LetThrough extends ReadCounts {
  /** What the source had accepted before the first of them; `undefined` where there are none. */
  readonly had: ReadCounts | undefined;
}

/** Reads of other agents' buffers: those after a moment are not in what this one has accepted. */
export interface OtherReads {
  /** What the reads of this buffer begin with. */
  readonly own: string;
  readonly untilMs: number;
}

/** Who decided something, and why they say they did. Nothing of it is known of what an older agent recorded. */
export interface Decided {
  /** The user who logged in, also where they went through sudo. */
  readonly by?: string | undefined;
  /** The user that the command ran as, where that is another one. */
  readonly as?: string | undefined;
  readonly reason?: string | undefined;
}

/** Why an approval was dropped for a later one of the same. */
export const approvedAgain = 'it was approved again, with a reason';

/** Whether approving once more adds nothing: only a reason does, where the first approval has none. */
export function isSaidAgain(earlier: Decided, { reason }: Decided): boolean {
  return reason === undefined || earlier.reason !== undefined;
}

export interface Approval extends Decided {
  readonly id: number;
  /** `undefined`: of the first push to an address. */
  readonly source?: string | undefined;
  readonly digest: string;
  readonly atMs: number;
  readonly state: 'pending' | 'used' | 'dropped';
  /** Why it was dropped. */
  readonly why?: string | undefined;
}

/** What is carried, and no longer. */
export interface Forgetting {
  readonly kind: 'forget';
  readonly source: string;
  readonly part: string | undefined;
  /**
   * Where no part is named, those that a source of the config carried when this was asked for: it may carry others, or have left the config, by
   * the time it is done. Absent: all of a source that had left it.
   */
  readonly parts?: readonly string[] | undefined;
}

/** What a command asks of the next pass. A forced rollback does not wait for what `Retry-After` asked for. */
export type Request = Forgetting | { readonly kind: 'rollback'; readonly push: number; readonly isForced?: boolean };

export interface PendingRequest {
  readonly id: number;
  readonly atMs: number;
  readonly request: Request;
}

/** A request, with what became of it where that is known already. */
export interface Asked extends PendingRequest, Decided {
  readonly result: string | undefined;
}

/** Every push that was begun, and what became of it. */
export interface PushLog {
  /** @param state what is so from then on. One transaction. */
  begin(push: NewPush, state?: LedgerState): Promise<number>;
  end(id: number, result: PushResult, endedAtMs: number): Promise<void>;
  /** Pushes that never ended died with their process: their outcome is unknown, and they ended by now. */
  endOrphans(endedAtMs: number): Promise<void>;
  /** Ends a push as acknowledged, with the points that it carried first and what else is so from then on. One transaction. */
  acknowledge(
    id: number,
    result: PushResult,
    ended: {
      readonly atMs: number;
      /** Empty for the first push to an address, which is the first for all that no later one changes. */
      readonly carried: Iterable<CarriedMonths>;
      readonly state: LedgerState;
    },
  ): Promise<void>;
  /** Newest first. */
  all(): Promise<readonly PushRecord[]>;
  /** The newest ones before an id, newest first. */
  newest(limit: number, before?: number): Promise<readonly PushRecord[]>;
  /** How many have ended with each outcome. A count never falls. */
  counts(): Promise<ReadonlyMap<PushOutcome, number>>;
  get(id: number): Promise<PushRecord | undefined>;
  last(address?: string): Promise<PushRecord | undefined>;
  lastAcknowledged(address?: string): Promise<PushRecord | undefined>;
  /** Whether a push to the address since that one, with another digest than this, has an unknown outcome or never ended. */
  hasOpenSince(address: string, push: number, digest?: string): Promise<boolean>;
  /**
   * The attempt that may still land and ended last: it may have been taken, has another digest, and nothing but that digest was
   * acknowledged after it. What was acknowledged with another one has waited for it.
   */
  maybeTaken(address: string, digest: string): Promise<{ readonly endedAtMs: number | undefined } | undefined>;
  /** The acknowledged pushes to an address that created or updated points of a driver, newest first; never the first push. */
  changing(address: string, driver: string): Promise<readonly number[]>;
  /** The push to the address that began the present run of a point's value; the first of all where none changed it since. */
  firstOf(address: string, driver: string, month: Month): Promise<number | undefined>;
}

/** What the guard stopped, what was approved, and what it let through. */
export interface HoldLog {
  held(): Promise<readonly HeldCandidate[]>;
  /** Records a held candidate; one that is held already keeps its `since`. */
  hold(held: Omit<HeldCandidate, 'sinceMs'>, scope: ApprovalScope, nowMs: number): Promise<void>;
  release(source: string): Promise<void>;
  /**
   * Approves what is held under that digest. Where the same was approved already and waits, this adds nothing, unless it brings
   * a reason and the other one had none: then it takes its place.
   * @returns the approval that was given before and stands; `undefined`: this one does
   */
  approve(digest: string, source: string | undefined, nowMs: number, decided?: Decided): Promise<Approval | undefined>;
  /** Newest first. */
  approvals(): Promise<readonly Approval[]>;
  approvedScope(approval: number): Promise<ApprovalScope>;
  closeApproval(id: number, state: 'used' | 'dropped', why?: string): Promise<void>;
  /** It is pending again. */
  reopenApproval(id: number): Promise<void>;
  /** Deletes that the guard let through without approval. Recorded before they are done: `read` makes that harmless. */
  recordDeletes(
    source: string,
    read: string,
    deletes: ReadCounts & { readonly atMs: number; readonly had: ReadCounts },
  ): Promise<void>;
  /**
   * Their sum over some sources since a moment, without those of one read, which is being judged again.
   * @param others which of those count that another buffer's reads made; default: all
   */
  deletesSince(sources: readonly string[], sinceMs: number, read: string, others?: OtherReads): Promise<LetThrough>;
  /** Those that lie ahead were made under a clock that was set back since: they count as made now, and are forgotten in their time. */
  settleDeletes(nowMs: number): Promise<void>;
  /** Forgets those since a moment: what was accepted since then counts no more. */
  forgetDeletes(sinceMs: number): Promise<void>;
  /**
   * What was let through for one source counts for another one too, each read once: it takes drivers of it over.
   * @param most what the other can have had before any of it; a source that is split leaves each taker a part of what it had
   */
  inheritDeletes(from: string, to: string, most: ReadCounts): Promise<void>;
}

/** What commands asked of the next pass. */
export interface RequestLog {
  add(request: Request, nowMs: number, decided?: Decided): Promise<number>;
  /** Newest first. */
  all(): Promise<readonly Asked[]>;
  pending(): Promise<readonly PendingRequest[]>;
  /** `result`: what became of it, for the command that waits. */
  finish(id: number, result: string): Promise<void>;
  /** It is pending again. */
  reopen(id: number): Promise<void>;
  result(id: number): Promise<string | undefined>;
  /** Changes with every new request and approval. Cheap. */
  asked(): Promise<string>;
}

/** Which snapshots the archive has. */
export interface SnapshotLog {
  /** Said before the file gets its name: a crash in between leaves a file that was noted, never one that was not. */
  written(digest: string, fileSha256: string): Promise<void>;
  /** Said before the other files are removed. */
  keepOnly(digests: ReadonlySet<string>): Promise<void>;
  /** Whether the archive ought to have its file. */
  isKept(digest: string): Promise<boolean>;
}

/** Set by a rollback, together with its acknowledgement: nothing else is pushed. */
export interface RolledBack {
  readonly push: number;
  readonly sinceMs: number;
  /** Every source's accepted read is that of the snapshot: done after the push, and finished by the next pass if need be. */
  readonly isRestored: boolean;
}

/** By which moments snapshots grow old: a clock that is ahead for less than a day must not empty the archive. */
export interface Ageing {
  /** The clock had come this far at least a day before `seenMs`, and was not set back behind it. Absent on the first day. */
  readonly agedMs?: number | undefined;
  /** What the clock said in a pass. Once it says a day more, this is what has aged. */
  readonly seenMs: number;
}

/** Approvals that were used and `forget` requests that are done, by their ids. */
export interface Closed {
  readonly approvals: readonly number[];
  readonly forgets: readonly number[];
}

/** All that is kept beside the logs, as one record. */
export interface LedgerState {
  readonly lastPass?: PassReport | undefined;
  /** The last one that somebody asked for and may wait for: polls come and go beside it. */
  readonly askedPass?: PassReport | undefined;
  readonly rolledBack?: RolledBack | undefined;
  readonly ageing?: Ageing | undefined;
  /** What was closed since the last push of what the sources have accepted was begun: no such push has it. */
  readonly unpushed?: Closed | undefined;
  /** An empty snapshot that somebody approved, and where it may go. */
  readonly emptyConsent?: { readonly digest: string; readonly address: string } | undefined;
  /** What the loop remembers of the address that it pushes to. */
  readonly loop?: LoopState | undefined;
  /** The same of addresses that it pushed to before, the last one first. */
  readonly earlierLoops?: readonly LoopState[] | undefined;
  /** Who was told of what, and what is still on its way. */
  readonly telling?: TellingState | undefined;
  /** The ledger may have lost what was pushed last: the next push waits for approval, as a first one does. */
  readonly doubt?: { readonly sinceMs: number; readonly why: string } | undefined;
  /** Stays when that push was approved: an agent that knows of the same loss does not ask again. */
  readonly lastDoubt?: RaisedDoubt | undefined;
  /** The ledger is another one's by now: a state directory's, whose agent goes on with a copy. Nobody leads here any more. */
  readonly givenBack?: { readonly sinceMs: number; readonly host: string; readonly state: string } | undefined;
}

/**
 * The log of pushes, holds and requests, and what else must outlive the buffer. It may be in another place, so it gives
 * promises. Several processes may write: each method is one transaction, and others may write between two calls.
 */
export interface Ledger {
  readonly pushes: PushLog;
  readonly holds: HoldLog;
  readonly requests: RequestLog;
  readonly snapshots: SnapshotLog;
  /** The newest record of the chain, as `N:SHA256`. */
  head(): Promise<string>;
  state(): Promise<LedgerState>;
  /** Changes what is given and leaves the rest; `undefined` forgets. */
  setState(state: LedgerState): Promise<void>;
  /** Where several agents share it: who leads, and what each would push. */
  agents?(): Promise<SharedView>;
  /** Lets go of what was cached. */
  shrink(): Promise<void>;
  close(): Promise<void>;
}

/** The points of a driver of a snapshot, and the source it came from. */
export interface SnapshotPoints extends PackedPoints {
  readonly source: string;
}

/** A driver of a snapshot, and where its points came from. */
export type SnapshotDriver = SnapshotPoints & PackedDriver;

/** A snapshot on disk. */
export interface Snapshot {
  readonly digest: string;
  readonly format: BodyFormat;
  readonly drivers: number;
  readonly points: number;
  readonly bytes: number;
  /** The parts that its cells name, and the other parts of its reads. */
  readonly origins: readonly OriginFacts[];
  /** The bytes of each driver are valid until the next one is asked for, and empty from then on; so with `readPoints`. */
  read(): Iterable<SnapshotDriver>;
  /** One driver, without reading all of them. */
  driver(id: string): SnapshotDriver | undefined;
  /** Names the blocks of its points: those of one name have the same drivers with the same points, in whatever snapshot. */
  blocks(): ReadonlySet<string>;
  /** The same without where the points came from, in half the time; and without some blocks. */
  readPoints(without?: ReadonlySet<string>): Iterable<SnapshotPoints>;
  body(): SnapshotBody;
}

/** Snapshots by digest, outside the buffer. It may be in another place; a snapshot that it has opened is a local file. */
export interface Archive {
  /** Writes a snapshot whole or not at all. `drivers` come in the order of ids, each once. */
  write(drivers: Iterable<SnapshotDriver>, format: BodyFormat, origins: readonly OriginFacts[]): Promise<Snapshot>;
  /** @throws AgentError `snapshot.damaged`; so does reading it. */
  open(digest: string): Promise<Snapshot | undefined>;
  /** What a snapshot takes on the disk; 0 where it is not kept. */
  storedBytes(digest: string): Promise<number>;
  /** Drops all snapshots but these. */
  keepOnly(digests: ReadonlySet<string>): Promise<void>;
}
