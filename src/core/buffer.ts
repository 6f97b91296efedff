/** What the agent keeps of its sources and can read again: parts, the reads made of them, and rejects. */
import type { RunSummary } from './series/compare.ts';
import type { Content, Month, ReadEnd, Reject, Rule } from './model.ts';
import type { FoldedDriver, OriginFacts, PackedDriver, PartOrigin } from './series/packing.ts';

/**
 * `partial`: what was last read well of each part of a source that is not read now, also in a candidate that was withdrawn. Kept so
 * that it is not read again, and so that it is known which drivers the source may have taken from another one.
 */
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
  /** Digest of the source's config and of the agent's way of reading: where it differs, the part is read again. */
  readonly fingerprint: string;
  readonly revisedAtMs: number;
  readonly rows: number;
  readonly rejects: number;
  readonly endsWithLineEnd: boolean | undefined;
  /** See `Content.files`. `undefined` where no query named any, and of a part that an older version read. */
  readonly files?: readonly string[] | undefined;
  /** The number that its cells name it by. A read that goes on from an earlier one has the number of that one. */
  readonly origin: number;
}

/** What a read of a part leaves behind, so that rows that are appended to it can be read alone. */
export interface Growth extends ReadEnd {
  /** Rows that passed `where`, and rejects. */
  readonly passed: number;
  /** The first rejects. */
  readonly rejects: readonly Reject[];
  /** All bytes were read or hashed. `false`: only some of those that an earlier read had read. */
  readonly isProven: boolean;
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
  /** The same of drivers that were packed elsewhere, whose cells name no other part. */
  addPacked(drivers: Iterable<PackedDriver>): void;
  /** @param growth where the part may grow */
  commit(content: Content, counts: { readonly rows: number; readonly rejects: number }, growth?: Growth): PartRead;
  /** Says that this one is a part of the snapshot's read, though no cell may name it. */
  addOrigin(origin: number): void;
  /** Forgets what was added. Harmless after `commit`. */
  discard(): void;
}

/** A file as it was seen last. */
export interface SeenFile {
  readonly version: string;
  readonly hash: string;
  /** When its present content was first seen, by its modification time. */
  readonly revisedAtMs: number;
}

/** A driver that has one month in two parts, collapsed by different rules. */
export interface MixedRules {
  readonly driver: string;
  readonly month: Month;
  readonly folds: readonly { readonly part: string; readonly rule: Rule }[];
}

/** A driver that more than one source would have in the snapshot. */
export interface SharedDriver {
  readonly driver: string;
  readonly sources: readonly string[];
}

/** Some parts of one source, by their ids. */
export type PartsOfSource = Readonly<{ source: string; parts: readonly number[] }>;

/** The parts that were read, each collapsed, and what is known of the files that they came from. */
export interface PartStore {
  /** @param base an earlier read of the part: what is added comes behind its rows, and no driver of it is copied */
  begin(
    source: string,
    part: { readonly name: string; readonly kind: PartRead['kind'] },
    fingerprint: string,
    base?: PartRead,
  ): PartWriter;
  /** The part looks different from outside and holds the same. */
  setVersion(id: number, version: string): void;
  /** The part was read from other files and holds the same. */
  setFiles(id: number, files: readonly string[]): void;
  /** Parts of a source are called otherwise from now on, also where cells and rejects name them. @param names the new ones by the old ones */
  rename(source: string, names: ReadonlyMap<string, string>): void;
  /** The drivers of one part, in the order of ids, each once. */
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
  /** The files of a source where only the newest counts, by name, as they were last seen. */
  seen(source: string): ReadonlyMap<string, SeenFile>;
  setSeen(source: string, files: ReadonlyMap<string, SeenFile>): void;
  /** When contents were revised, of parts and of files as they were seen: the times after this one, in order, each once. */
  timesAfter(timeMs: number): readonly number[];
  /** Whatever has one of these times has an earlier one from now on. @param times the new ones by the old ones, in order */
  redate(times: ReadonlyMap<number, number>): void;
  /** Whether a table beside a source has ended with a line end; `undefined` where the source was never read whole with it. */
  hadLineEnd(source: string, file: string): boolean | undefined;
  noteLineEnd(source: string, file: string, ended: boolean): void;
  /** Drops the parts that no read uses. */
  prune(): void;
}

/** Reads of parts that may grow, and what stands for each of them: the runs of drivers that were written one after the other. */
export interface GrowthStore {
  /** `undefined` where the part has to be read whole. */
  of(part: number): Growth | undefined;
  /** Parts of accepted reads and candidates that rest on bytes which were neither read nor hashed since the part grew. */
  unproven(): readonly PartRead[];
  setProven(part: number): void;
  /** The bytes that the part rests on have changed: it is read whole at the next look. */
  disprove(part: number): void;
  /** Whether a part has all that an earlier one has, and what was read behind it. */
  continues(part: number, earlier: number): boolean;
  /** Parts of accepted reads and candidates that are made of more runs than these. */
  scattered(runsMax: number): readonly PartRead[];
  /** Makes one run of all that a part has, a piece at a time. Until the last piece nothing of it counts. */
  compact(part: PartRead): Generator<void, void, void>;
}

/** Which parts make each source's reads, and the drivers of those reads. */
export interface ReadStore {
  /** Sources with an accepted read, also those that left the config. */
  acceptedSources(): readonly string[];
  /** Sources with a read of any kind, also those that left the config. */
  readSources(): readonly string[];
  /** The parts of a read, by name; `undefined` where there is no such read. */
  parts(source: string, kind: ReadKind): readonly ReadPart[] | undefined;
  /** `basis`: everything that a candidate was made from, so that an equal one is not made anew. */
  set(source: string, kind: ReadKind, parts: readonly ChosenPart[], basis?: string): void;
  basis(source: string, kind: ReadKind): string | undefined;
  /** What is known later of what a read was made from. */
  keepBasis(source: string, kind: ReadKind, basis: string): void;
  drop(source: string, kind: ReadKind): void;
  /**
   * The candidates of these sources become their accepted reads, all of them or none: a driver that moves between two is never
   * without both. Each keeps its basis. By source, the names of its carried parts that are settled from then on.
   */
  accept(settled: ReadonlyMap<string, readonly string[]>): void;
  /** The summary for people, kept with the read: a pass in which nothing changed must not walk its drivers again. */
  summary(source: string, kind: ReadKind): RunSummary | undefined;
  keepSummary(source: string, kind: ReadKind, summary: RunSummary): void;
  /**
   * The drivers of a read, merged across its parts, by the UTF-8 bytes of their ids. The bytes of each are valid until the next
   * one is asked for, and empty a little later.
   */
  drivers(source: string, kind: ReadKind): Iterable<PackedDriver>;
  /** The drivers of some parts of a source, merged in the same way. */
  driversOf(source: string, parts: readonly ReadPart[]): Iterable<PackedDriver>;
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

/** A driver of a source's accepted read, without its points. */
export interface NamedDriver {
  readonly source: string;
  readonly id: string;
  readonly path: readonly string[];
}

/** The names of accepted drivers, without their points. */
export interface DriverNames {
  /** The next ones of a source behind an id, in the order of ids. */
  after(source: string, id: string, limit: number): readonly NamedDriver[];
  /** All of a source, in the order of ids, each path as JSON. */
  all(source: string): Iterable<{ readonly id: string; readonly path: string }>;
}

/** How many rejects of a part are kept; the others are only counted. */
export const rejectsKept = 1000;

/** Rows of the newest read of each part that could not be used. */
export interface RejectStore {
  /** Replaces those of a part. @param total how many rows these are the first of */
  keep(source: string, part: string, rejects: readonly Reject[], total: number): void;
  /** Forgets those of parts that are not among these. */
  keepOnly(source: string, parts: readonly string[]): void;
  /** Keeps those of a part for another source too, which has it now. */
  copy(part: string, from: string, to: string): void;
  all(source?: string): Iterable<Reject & { readonly source: string; readonly part: string }>;
  /** The parts that have some, in the order of `all`. */
  counts(source?: string): readonly RejectCount[];
}

export interface RejectCount {
  readonly source: string;
  readonly part: string;
  /** Rejected rows in all. */
  readonly total: number;
  readonly kept: number;
}

/** State of the buffer as a whole; gone with it. */
export interface BufferState {
  /** Tells this buffer from one that was lost; `undefined`: it is new, and nothing stands in it yet. */
  readonly id?: string | undefined;
  /** It is new, and the last acknowledged snapshot could not be restored into it. */
  readonly isBare?: boolean | undefined;
  /** The snapshot that was built last, and what it was built from. */
  readonly built?: { readonly from: string; readonly digest: string } | undefined;
  /** What people are told, by source, of paths that another source has too, and which reads that was found in. */
  readonly sharedPaths?:
    | { readonly from: string; readonly warnings: Readonly<Record<string, readonly string[]>> }
    | undefined;
  /** Which revision of the reads the service has, at which address. */
  readonly pushed?: { readonly revision: number; readonly address: string } | undefined;
  /**
   * Where agents share a ledger: the acknowledged push that the accepted reads go on from, as `ID:DIGEST`. A database that lost its last
   * pushes gives their numbers to others.
   */
  readonly follows?: string | undefined;
  /** When that push began: what other agents let through since then is not in the accepted reads. */
  readonly followsFromMs?: number | undefined;
  /** The term in which this agent led when it accepted its reads; `undefined`: it has accepted as one that follows since then. */
  readonly ledIn?: number | undefined;
}

/**
 * What was read, collapsed per part, and which parts make each source's reads. Can be rebuilt from sources and archive.
 * Whole parts in, ordered drivers out. Calls are synchronous: each is one transaction and none sees half of another.
 */
export interface LocalBuffer {
  readonly parts: PartStore;
  readonly growths: GrowthStore;
  readonly reads: ReadStore;
  readonly names: DriverNames;
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
