/** What the agent asks of the world. Each edge and each source stands behind one of these. */
import type { Calendar } from './time/calendar.ts';
import type { Batch } from './mapping/column-batch.ts';
import type { MonthRules } from './mapping/entry-reader.ts';
import type { Content, Part, ReadEnd, Reject } from './model.ts';
import type { PackedDriver } from './series/packing.ts';
import type { Mapping } from './settings.ts';
import type { Maps } from './mapping/template.ts';

export interface Source {
  /** Only the newest of its parts counts; the app chooses it, since it knows which file was only touched. */
  readonly newestOnly?: boolean;

  /** A look makes a server work (a query, a request): it is for when the source is due, and not for every pass. */
  readonly isExpensive?: boolean;

  /** It may show an older state of itself, as a replica does that lags: then the newest months are the ones that are missing. */
  readonly mayLag?: boolean;

  /**
   * What there is to read now. Cheap: reads no rows. `known` has the versions of the parts as they were last read, by
   * name, for places that can be asked whether one still holds.
   * @throws AgentError `source.unreadable` if the place cannot be seen, or holds nothing that matches.
   */
  parts(signal: AbortSignal, known?: ReadonlyMap<string, string>): Promise<readonly Part[]>;

  /**
   * What a part is called by now, by the name that it had before agents shared a ledger, or while they did; `undefined` where it has no
   * other one that is known. Absent where no part has.
   */
  readonly nowCalled?: (name: string) => string | undefined;

  /**
   * The rows of one part, in order, in batches of any size; the first batch comes even where there are no rows, for its
   * columns. Returns what is known of the content, or throws: never a mixed or a partial read.
   * @throws AgentError `part.unreadable` (what, file, line, why), or `part.changing` where it changed while it was read.
   */
  rows(part: Part, signal: AbortSignal): AsyncGenerator<Batch, Content, void>;

  /**
   * Reads and folds a part in threads of its own, with the result of `rows`, a mapper and a fold. `undefined` where `rows` is
   * to be asked: the part is small or not of a kind that can be cut. Then nothing of what was added counts.
   * @throws AgentError as `rows`
   */
  fold?(part: Part, job: FoldJob, signal: AbortSignal): Promise<FoldedPart | undefined>;

  /**
   * The hash that `rows` would return for a part, without reading its rows. Wanted where only the newest part counts: a
   * part that was merely touched is as old as its content.
   * @throws AgentError as `rows`
   */
  hash?(part: Part, signal: AbortSignal): Promise<Pick<Content, 'hash' | 'version'>>;

  /**
   * Those of the files that a read was made of which are not there any more, see `Content.files`. Absent where parts are files
   * themselves, or no file is known.
   * @throws the signal's reason alone
   */
  goneFiles?(files: readonly string[], signal: AbortSignal): Promise<readonly string[]>;

  /**
   * How the text of a part ends, without reading its rows: cheap, but for a compressed file, which is expanded for it.
   * `undefined` where its end says nothing: it is no text, or `lineEnd: any` says that such files are whole.
   * @throws AgentError as `rows`
   */
  textEnd?(part: Part, signal: AbortSignal): Promise<TextEnd | undefined>;

  /** For a place whose parts may only grow. */
  readonly growing?: GrowingParts;

  /** What somebody who sets the source up should know once its rows were read, which count all the same. */
  warnings?(): readonly string[];

  /** Calls `changed` when `parts` is worth asking again. Only a hint: polling is the truth. */
  watch?(changed: () => void): Promise<AsyncDisposable>;
}

/** Reads the rows that were appended to a part, without those that an earlier read had. */
export interface GrowingParts {
  /** Compares a part with an earlier read of it. @throws AgentError as `Source.rows` */
  look(part: Part, earlier: EarlierRead, signal: AbortSignal): Promise<GrownPart>;
  /**
   * The rows behind those of an earlier read, and what is known of all the part. `undefined` where the part has to be read whole.
   * @param part in the version that was looked at
   * @throws AgentError as `Source.rows`
   */
  rows(part: Part, end: ReadEnd, signal: AbortSignal): AsyncGenerator<Batch, Content | undefined, void>;
}

export interface EarlierRead {
  readonly end: ReadEnd;
  readonly version: string;
  /** `proof`: every byte is hashed. `evidence`: some are, where the part is the same file and has grown. */
  readonly wants: 'proof' | 'evidence';
  /** Where an earlier look for a proof was stopped. */
  readonly proven?: ProvenBlocks | undefined;
  /** Called now and then while much is hashed. */
  readonly pause?: ((proven: ProvenBlocks) => Promise<void>) | undefined;
}

/** So many blocks were hashed while the part had this version. */
export interface ProvenBlocks {
  readonly version: string;
  readonly blocks: number;
}

export interface GrownPart {
  /** The version of the part as it was looked at. */
  readonly version: string;
  /**
   * `same`: nothing was appended. `grown`: there are rows behind those of the earlier read. `torn`: these end without a line end.
   * `changed`: what was read is not there any more.
   */
  readonly state: 'same' | 'grown' | 'torn' | 'changed';
  readonly isProven: boolean;
}

/** What a source folds by, and whom it hands its drivers. */
export interface FoldJob {
  readonly mapping: Mapping;
  readonly rules: MonthRules;
  /** The number that cells name the part by. */
  readonly part: number;
  /** Rejects that are kept; the others are counted. */
  readonly rejectsMax: number;
  /** See `Fold.size`: beyond it drivers are handed over in pieces. */
  readonly foldMax: number;
  /** Each id at most once a call. */
  add(drivers: readonly PackedDriver[]): void;
  progress(rows: number, share: number): void;
}

export interface FoldedPart {
  readonly content: Content;
  readonly counts: RowCounts;
  /** In the order of rows. */
  readonly rejects: readonly Reject[];
}

export interface RowCounts {
  /** Rows that left the place. */
  readonly rows: number;
  /** Rows that passed `where`, and rejects: what these stand for, so that a database's collapse hides no reject. */
  readonly passed: number;
  readonly rejects: number;
}

/** What the end of a text file says of whether it was written to its end. */
export interface TextEnd {
  /** An empty file has none. */
  readonly endsWithLineEnd: boolean;
  /** For how long neither its size nor its times moved. */
  readonly quietMs: number;
  /** How long that has to be before a file without a line end counts as whole, where nothing else is known of it. */
  readonly quietNeededMs: number;
}

/** Tables beside a source that its mapping needs, as they are now. */
export interface Lookups {
  /** By name, beside those that stand in the config. */
  readonly maps: Maps;
  readonly calendar: Calendar | undefined;
  /** One hash of all their files: where it differs, the source's parts are read again. '' without files. */
  readonly hash: string;
  readonly files: readonly LookupText[];
}

/** The file of a map or a calendar. */
export interface LookupText {
  /** As the config names it. */
  readonly file: string;
  readonly version: string;
  readonly end: TextEnd;
}

export interface Clock {
  now(): Date;
  /** Milliseconds that never jump, for durations. */
  monotonicMs(): number;
  /** Resolves after `ms`; rejects with the signal's reason when it aborts first. Any length: no timer overflows. */
  sleep(ms: number, signal: AbortSignal): Promise<void>;
}

/** When cron expressions are due: functions of a date, so that a hand-held clock can test them. */
export interface Schedule {
  /** The first due time after `after`. */
  nextDue(expression: string, timezone: string, after: Date): Date;
  /** The last due time before `before`; `undefined` where there was none. */
  previousDue(expression: string, timezone: string, before: Date): Date | undefined;
}

/** What became of one push. */
export type PushOutcome = 'acknowledged' | 'refused' | 'unreachable' | 'unknown';

export interface PushResult {
  readonly outcome: PushOutcome;
  /** The HTTP status, where there was an answer. */
  readonly status?: number;
  /** One line for a person: what the service or the network said, and what to do. No secret. */
  readonly detail?: string;
  /** What `Retry-After` asked for. */
  readonly retryAfterMs?: number;
  /** The service may have taken the bytes all the same (no answer, 101, 408, 503, another 2xx, 5xx). */
  readonly maybeTaken: boolean;
}

/** The bytes of one snapshot. May be asked for more than once; each time gives the same bytes. */
export interface SnapshotBody {
  /** sha256 (hex) of the bytes. */
  readonly digest: string;
  readonly bytes: number;
  chunks(): AsyncIterable<Uint8Array>;
}

export interface Destination {
  /**
   * One attempt (two where a token file turned out to have changed). Never throws for what the network does.
   * @param confirm asked once all but the last bytes were given to the connection. Where it throws they are not sent, so that
   * nobody can take the request, and the push is `unreachable`.
   */
  push(body: SnapshotBody, signal: AbortSignal, confirm?: () => Promise<void>): Promise<PushResult>;

  /**
   * Tries the address as a push would, with an update that deletes and changes nothing. Records nothing.
   * @throws AgentError `config.invalid` for a token, CA file or proxy that cannot be used; nothing for what the network does
   */
  probe(signal: AbortSignal): Promise<Probe>;
}

/** What holds of an address, step by step. */
export interface Probe {
  /** As a push would have ended: `acknowledged` where every step holds. */
  readonly outcome: PushOutcome;
  /** In their order, up to the first that does not hold: what comes after that is not known. */
  readonly steps: readonly ProbeStep[];
}

export interface ProbeStep {
  /** `tls` is left out where the address is http, `token` where no token is set and none is asked for. */
  readonly step: 'name' | 'connection' | 'tls' | 'token' | 'update';
  readonly holds: boolean;
  /** One line for a person: what holds, or what does not and what to do. No secret. */
  readonly text: string;
}

/** Whoever started the daemon and watches over it. Nothing of this waits, and nothing of it fails. */
/** Disposing of it waits, for a bounded time, until what it was told last is sent. */
export interface Supervisor extends AsyncDisposable {
  /** The loop moves, and may be silent for this long from now on. The first one, also after a reload, says that it is ready. */
  beat(allowanceMs: number): void;
  reloading(): void;
  stopping(): void;
  /** One line for a person. No secret. */
  status(text: string): void;
}

/** Structured log lines. `fields` hold no secret and, at `info` and above, no whole row. */
export interface Log {
  debug(message: string, fields?: Record<string, unknown>): void;
  info(message: string, fields?: Record<string, unknown>): void;
  warn(message: string, fields?: Record<string, unknown>): void;
  error(message: string, fields?: Record<string, unknown>): void;
}
