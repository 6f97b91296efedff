/** What the agent keeps, and asks of whoever keeps it: buffer, ledger and archive. */
import type { RunSummary } from './series/compare.ts';
import type { CarriedMonths, Changes } from './series/diff.ts';
import type { Content, Month, Reject, Rule } from './model.ts';
import type { FoldedDriver, OriginFacts, PackedDriver, PackedPoints, PartOrigin } from './series/packing.ts';
import type { PushOutcome, PushResult, SnapshotBody } from './ports.ts';
import type { LoopState } from './loop/state.ts';
import type { PassReport } from './report.ts';
import type { BodyFormat } from './series/snapshot.ts';

/** `partial`: parts that were read well while another part of the source was not, kept so that they are not read again. */
export type ReadKind = 'accepted' | 'candidate' | 'partial';

/** One read of one part, without its drivers. */
export interface PartRead {
  readonly id: number;
  readonly source: string;
  readonly name: string;
  /** `part`: read from the source; `history`: months carried from an older read; `snapshot`: taken from a snapshot. */
  readonly kind: 'part' | 'history' | 'snapshot';
  readonly version: string;
  readonly hash: string;
  /** Of the source's config and the agent's way of reading: another one reads again. */
  readonly fingerprint: string;
  readonly revisedAtMs: number;
  readonly rows: number;
  readonly rejects: number;
  readonly endsWithLineEnd: boolean | undefined;
}

/** A part that a read is made of. */
export interface ChosenPart {
  readonly id: number;
  /** The source does not show it any more. */
  readonly carried: boolean;
  /** It is carried, and somebody approved that it counts beside parts that have the same points. */
  readonly settled: boolean;
}

/** A part of a read, with what is known of it. */
export interface ReadPart extends PartRead, ChosenPart {}

/** A point that two parts have, of a driver whose readings add up. */
export interface SharedPoint {
  readonly part: number;
  readonly other: number;
  readonly driver: string;
  readonly month: Month;
}

/** Takes a part's drivers in pieces, each id once a piece; nothing of it counts before `commit`. */
export interface PartWriter {
  /** The number that cells name this part by. */
  readonly id: number;
  add(drivers: Iterable<FoldedDriver>): void;
  commit(content: Content, counts: { readonly rows: number; readonly rejects: number }): PartRead;
  /** Says that this one is a part of the snapshot's read, though no cell may name it. */
  addOrigin(origin: number): void;
  /** Forgets what was added. Harmless after `commit`. */
  discard(): void;
}

export interface SeenFile {
  readonly version: string;
  readonly hash: string;
  /** When its present content was first seen, by its modification time. */
  readonly revisedAtMs: number;
}

/** A driver that more than one source would have in the snapshot. */
export interface MixedRules {
  readonly driver: string;
  readonly month: Month;
  readonly folds: readonly { readonly part: string; readonly rule: Rule }[];
}

export interface SharedDriver {
  readonly driver: string;
  readonly sources: readonly string[];
}

/** Some parts of one source, by their ids. */
export type PartsOfSource = Readonly<{ source: string; parts: readonly number[] }>;

/** The parts that were read, each collapsed, and what is known of the files that they came from. */
export interface PartStore {
  begin(
    source: string,
    part: { readonly name: string; readonly kind: PartRead['kind'] },
    fingerprint: string,
  ): PartWriter;
  /** The part looks different from outside and holds the same. */
  setVersion(id: number, version: string): void;
  /** The drivers of one part, as they were added. */
  drivers(part: PartRead): Iterable<FoldedDriver>;
  /** The earliest month of some parts. */
  earliestMonth(ids: readonly number[]): Month | undefined;
  /** Drivers of some parts of a source that some parts of another one have, too. */
  sharedDrivers(one: PartsOfSource, other: PartsOfSource): Iterable<string>;
  /** For each of these parts of a source, the first point that one of the others has too. */
  sharedPoints(source: string, parts: readonly number[], others: readonly number[]): readonly SharedPoint[];
  /** The part that cells name by this number. */
  origin(id: number): PartOrigin;
  /** A number for a part in a revision that was read elsewhere (in a snapshot of the archive). */
  addRestoredOrigin(origin: OriginFacts): number;
  /** The parts of the read that a `snapshot` part stands for. */
  originsOf(id: number): readonly OriginFacts[];
  /** What is known of the files of a source where only the newest counts, by name. */
  seen(source: string): ReadonlyMap<string, SeenFile>;
  setSeen(source: string, files: ReadonlyMap<string, SeenFile>): void;
  /** Whether a table beside a source has ended with a line end; `undefined` where the source was never read whole with it. */
  hadLineEnd(source: string, file: string): boolean | undefined;
  noteLineEnd(source: string, file: string, ended: boolean): void;
  /** Drops the parts that no read uses. */
  prune(): void;
}

/** Which parts make each source's reads, and the drivers of those reads. */
export interface ReadStore {
  /** Sources with an accepted read, also those that left the config. */
  acceptedSources(): readonly string[];
  /** The parts of a read, by name; `undefined` where there is no such read. */
  parts(source: string, kind: ReadKind): readonly ReadPart[] | undefined;
  /** `basis`: everything that a candidate was made from, so that an equal one is not made anew. */
  set(source: string, kind: ReadKind, parts: readonly ChosenPart[], basis?: string): void;
  basis(source: string, kind: ReadKind): string | undefined;
  drop(source: string, kind: ReadKind): void;
  /** The candidate becomes the accepted read; carried parts of these names are settled from then on. */
  accept(source: string, settled: readonly string[]): void;
  /** What is told of a read, kept with it: a pass in which nothing changed must not walk its drivers again. */
  summary(source: string, kind: ReadKind): RunSummary | undefined;
  keepSummary(source: string, kind: ReadKind, summary: RunSummary): void;
  /** The drivers of a read, merged across its parts, by the UTF-8 bytes of their ids. */
  drivers(source: string, kind: ReadKind): Iterable<PackedDriver>;
  /** One driver of a source's accepted read. */
  driver(source: string, id: string): PackedDriver | undefined;
  /** A driver that has readings of one month in two parts of a read, collapsed by different rules. */
  mixedRules(source: string, kind: ReadKind): MixedRules | undefined;
  /** Drivers that more than one of these reads has. */
  sharedDrivers(reads: readonly { readonly source: string; readonly kind: ReadKind }[]): Iterable<SharedDriver>;
  /** Takes drivers out of every part of a source: another source has them now. */
  removeDrivers(source: string, ids: Iterable<string>): void;
  /** All parts that cells of accepted reads may name. */
  origins(): readonly OriginFacts[];
  /** Counts up whenever an accepted read changes. */
  revision(): number;
}

/** Rows of the newest read of each part that could not be used. */
export interface RejectStore {
  /** Replaces those of a part. */
  keep(source: string, part: string, rejects: readonly Reject[]): void;
  /** Forgets those of parts that are not among these. */
  keepOnly(source: string, parts: readonly string[]): void;
  all(source?: string): Iterable<Reject & { readonly source: string; readonly part: string }>;
}

/** What is known of the buffer as a whole; gone with it. */
export interface BufferState {
  /** Tells this buffer from one that was lost; `undefined`: it is new, and nothing stands in it yet. */
  readonly id?: string | undefined;
  /** It is new, and the last acknowledged snapshot could not be restored into it. */
  readonly isBare?: boolean | undefined;
  /** The snapshot that was built last, and what it was built from. */
  readonly built?: { readonly from: string; readonly digest: string } | undefined;
  /** Which revision of the reads the service has, at which address. */
  readonly pushed?: { readonly revision: number; readonly address: string } | undefined;
}

/**
 * What was read, collapsed per part, and which parts make each source's reads. Can be rebuilt from sources and archive.
 * Whole parts in, ordered drivers out. Calls are synchronous: each is one transaction and none sees half of another.
 */
export interface LocalBuffer {
  readonly parts: PartStore;
  readonly reads: ReadStore;
  readonly rejects: RejectStore;
  state(): BufferState;
  /** Changes what is given and leaves the rest; `undefined` forgets. */
  setState(state: BufferState): void;
  /** Lets go of what was cached. */
  shrink(): void;
  /** Copies all of it to a new file, as of now. */
  copyTo(file: string): void;
  close(): void;
}

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

/** Points by driver: what a candidate deletes. */
export type DeletedPoints = ReadonlyMap<string, readonly Month[]>;

/** What an approval lets pass; nothing beyond it passes. */
export interface ApprovalScope {
  readonly deletes: DeletedPoints;
  /** Names of carried parts that may count beside parts with the same points. */
  readonly carried: readonly string[];
}

/** Deletes that the guard let through without approval. */
export interface LetThrough extends ReadCounts {
  /** What the source had accepted before the first of them; `undefined` where there are none. */
  readonly had: ReadCounts | undefined;
}

export interface Approval {
  readonly id: number;
  /** `undefined`: of the first push to an address. */
  readonly source: string | undefined;
  readonly digest: string;
  readonly atMs: number;
  readonly state: 'pending' | 'used' | 'dropped';
  readonly why: string | undefined;
}

/** What a command asks of the next pass. A forced rollback does not wait for what `Retry-After` asked for. */
export type Request =
  | { readonly kind: 'forget'; readonly source: string; readonly part: string | undefined }
  | { readonly kind: 'rollback'; readonly push: number; readonly isForced?: boolean };

export interface PendingRequest {
  readonly id: number;
  readonly atMs: number;
  readonly request: Request;
}

/** Every push that was begun, and what became of it. */
export interface PushLog {
  begin(push: NewPush): Promise<number>;
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
  get(id: number): Promise<PushRecord | undefined>;
  last(address?: string): Promise<PushRecord | undefined>;
  lastAcknowledged(address?: string): Promise<PushRecord | undefined>;
  /** Whether the address has acknowledged a push that deletes what it leaves out. */
  hasDeleting(address: string): Promise<boolean>;
  /** Whether a push to the address since that one, with another digest than this, has an unknown outcome or never ended. */
  hasOpenSince(address: string, push: number, digest?: string): Promise<boolean>;
  /** The attempts that may still land: those that may have been taken, with another digest. Newest end first. */
  maybeTaken(address: string, digest: string): Promise<{ readonly endedAtMs: number | undefined } | undefined>;
  /** Whether a push of another digest may have been taken, and nothing but that digest was acknowledged after it. */
  followsOpen(address: string, digest: string): Promise<boolean>;
  /** The push to the address that began the present run of a point's value; the first of all where none changed it since. */
  firstOf(address: string, driver: string, month: Month): Promise<number | undefined>;
}

/** What the guard stopped, what was approved, and what it let through. */
export interface HoldLog {
  held(): Promise<readonly HeldCandidate[]>;
  /** Records a held candidate; one that is held already keeps its `since`. */
  hold(held: Omit<HeldCandidate, 'sinceMs'>, scope: ApprovalScope, nowMs: number): Promise<void>;
  release(source: string): Promise<void>;
  /** Approves what is held under that digest. */
  approve(digest: string, source: string | undefined, nowMs: number): Promise<void>;
  /** Newest first. */
  approvals(): Promise<readonly Approval[]>;
  approvedScope(approval: number): Promise<ApprovalScope>;
  closeApproval(id: number, state: 'used' | 'dropped', why?: string): Promise<void>;
  /** Deletes that the guard let through without approval. Recorded before they are done: `read` makes that harmless. */
  recordDeletes(
    source: string,
    read: string,
    deletes: ReadCounts & { readonly atMs: number; readonly had: ReadCounts },
  ): Promise<void>;
  /** Their sum over some sources since a moment, without those of one read, which is being judged again. */
  deletesSince(sources: readonly string[], sinceMs: number, read: string): Promise<LetThrough>;
  /** What was let through for one source counts for another one too, each read once: it takes drivers of it over. */
  inheritDeletes(from: string, to: string): Promise<void>;
}

/** What commands asked of the next pass. */
export interface RequestLog {
  add(request: Request, nowMs: number): Promise<number>;
  pending(): Promise<readonly PendingRequest[]>;
  /** `result`: what became of it, for the command that waits. */
  finish(id: number, result: string): Promise<void>;
  result(id: number): Promise<string | undefined>;
  /** Changes with every new request and approval. Cheap. */
  asked(): Promise<string>;
}

/** Set by a rollback, together with its acknowledgement: nothing else is pushed. */
export interface RolledBack {
  readonly push: number;
  readonly sinceMs: number;
  /** Every source's accepted read is that of the snapshot: done after the push, and finished by the next pass if need be. */
  readonly isRestored: boolean;
}

/** What is known beside the logs, as one record. */
export interface LedgerState {
  readonly lastPass?: PassReport | undefined;
  readonly rolledBack?: RolledBack | undefined;
  /** An empty snapshot that somebody approved, and where it may go. */
  readonly emptyConsent?: { readonly digest: string; readonly address: string } | undefined;
  /** What the loop remembers; of one address. */
  readonly loop?: LoopState | undefined;
}

/**
 * The log of pushes, holds and requests, and what else must outlive the buffer. It may be in another place, so it gives
 * promises. Several processes may write: each method is one transaction, and others may write between two calls.
 */
export interface Ledger {
  readonly pushes: PushLog;
  readonly holds: HoldLog;
  readonly requests: RequestLog;
  state(): Promise<LedgerState>;
  /** Changes what is given and leaves the rest; `undefined` forgets. */
  setState(state: LedgerState): Promise<void>;
  /** Lets go of what was cached. */
  shrink(): Promise<void>;
  close(): Promise<void>;
}

/** A driver of a snapshot, and the source it came from. */
export interface SnapshotDriver extends PackedDriver {
  readonly source: string;
}

/** A snapshot on disk. */
export interface Snapshot {
  readonly digest: string;
  readonly format: BodyFormat;
  readonly drivers: number;
  readonly points: number;
  readonly bytes: number;
  /** The parts that its cells name, and the other parts of its reads. */
  readonly origins: readonly OriginFacts[];
  read(): Iterable<SnapshotDriver>;
  /** The same without where the points came from, in half the time. */
  readPoints(): Iterable<PackedPoints>;
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
