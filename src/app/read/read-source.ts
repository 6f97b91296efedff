/** Reads what changed in one source and puts its candidate together. */
import { Fold } from '../../core/series/fold.ts';
import { AgentError, isAgentError } from '../../core/errors.ts';
import { describeLimit, isBeyond, rejectLimit } from '../../core/guard/guard.ts';
import { RowMapper, rowShown } from '../../core/mapping/row-mapper.ts';
import type { MonthRules } from '../../core/mapping/entry-reader.ts';
import type { Content, Part, Reject, Row, RowBatch } from '../../core/model.ts';
import type { Lookups, Source } from '../../core/ports.ts';
import type { Mapping, SourceSettings } from '../../core/settings.ts';
import type { PartRead, PartWriter, ReadPart, SeenFile } from '../../core/stores.ts';
import { assembleCandidate } from './candidate.ts';
import { isNewer } from './carried.ts';
import { withTimeout } from './timeout.ts';
import type { Dependencies } from '../dependencies.ts';

/** Counted up when the same rows would fold to something else: every part is then read again. */
const readingVersion = 1;
/** A file that changed while it was read is tried again for this long; its source waits for it to be quiet besides. */
const changingMaxMs = 30_000;
/** Of each part; the others are counted. */
const rejectsKept = 1000;
/** Cells and drivers in memory over all sources; beyond it folds go to the buffer in chunks. At most about 80 MB. */
const foldSizeMax = 260_000;

/** What one look at a source gave. */
export type SourceRead =
  | {
      readonly settings: SourceSettings;
      /** See `Source.isExpensive`. */
      readonly isExpensive: boolean;
      readonly state: 'read';
      /** Parts that are gone since the read before, and whose data is carried from now on. */
      readonly disappeared: readonly string[];
      /** See `Source.mayLag`. */
      readonly mayLag: boolean;
    }
  | {
      readonly settings: SourceSettings;
      readonly isExpensive: boolean;
      readonly state: 'unread';
      readonly reason: string;
      readonly hint?: string | undefined;
    };

/**
 * Brings a source's candidate up to date. A source that cannot be read whole keeps its accepted data, and what was read
 * of it meanwhile is kept for the next look.
 */
export async function readSource(
  deps: Dependencies,
  settings: SourceSettings,
  signal: AbortSignal,
): Promise<SourceRead> {
  const limits = { ms: settings.timeoutMs, what: `reading source "${settings.name}"` };
  const good: PartRead[] = [];
  const source = deps.openSource(settings);
  const isExpensive = source.isExpensive === true;
  try {
    return await withTimeout(deps.clock, limits, signal, async (inner) => {
      const lookups = await deps.readLookups(settings, inner);
      refuseCutLookups(deps, settings.name, lookups);
      const reader = new PartReader(deps, settings, { source, lookups });
      const listed = await source.parts(inner, reader.knownVersions());
      inner.throwIfAborted();
      deps.observe({ kind: 'source.listed', source: settings.name, parts: listed.length });
      const newestOnly = source.newestOnly === true;
      if (newestOnly) good.push(await reader.newest(listed, inner));
      else for (const part of listed) good.push(await reader.current(part, inner));
      inner.throwIfAborted();
      keepLineEnds(deps, settings.name, lookups);
      return {
        settings,
        isExpensive,
        mayLag: source.mayLag === true,
        state: 'read',
        ...assembleCandidate(deps, settings, { present: good, listed, newestOnly }),
      };
    });
  } catch (error) {
    if (signal.aborted || !isAgentError(error) || error.code.startsWith('state.')) throw error;
    const parts = new Map(
      [...(deps.buffer.readParts(settings.name, 'candidate') ?? []), ...good].map((part) => [part.id, part]),
    );
    const kept = [...parts.values()].map(({ id }) => ({ id, carried: false, settled: false }));
    deps.buffer.dropRead(settings.name, 'candidate');
    deps.buffer.setRead(settings.name, 'partial', kept);
    return { settings, isExpensive, state: 'unread', reason: error.message, hint: error.hint };
  }
}

/**
 * A table that ends without a line end, and had one when its source was last read whole: its last line may have been cut.
 * @throws AgentError `source.unreadable`
 */
function refuseCutLookups({ buffer }: Dependencies, source: string, { files }: Lookups): void {
  const cut = files.find(
    ({ file, endsWithLineEnd }) => !endsWithLineEnd && buffer.fact(lineEndKey(source, file)) === 'yes',
  );
  if (cut === undefined) return;
  throw new AgentError('source.unreadable', `${cut.file}: it ends without a line end, and had one before`, {
    hint: endLine,
  });
}

function keepLineEnds({ buffer }: Dependencies, source: string, { files }: Lookups): void {
  for (const { file, endsWithLineEnd } of files) {
    const key = lineEndKey(source, file);
    if (endsWithLineEnd && buffer.fact(key) !== 'yes') buffer.setFact(key, 'yes');
  }
}

const lineEndKey = (source: string, file: string): string => `line end ${source} ${file}`;
const endLine = 'was it written to its end? if it is whole, end its last line';

class PartReader {
  readonly #deps: Dependencies;
  readonly #settings: SourceSettings;
  readonly #source: Source;
  readonly #mapping: Mapping;
  readonly #rules: MonthRules;
  readonly #fingerprint: string;
  readonly #known = new Map<string, PartRead>();
  readonly #accepted: readonly ReadPart[];

  constructor(deps: Dependencies, settings: SourceSettings, { source, lookups }: { source: Source; lookups: Lookups }) {
    this.#deps = deps;
    this.#settings = settings;
    this.#source = source;
    this.#mapping = withLookups(settings.mapping, lookups);
    this.#rules = { timezone: deps.settings.timezone, calendar: lookups.calendar };
    this.#fingerprint = [readingVersion, settings.digest, ...(lookups.hash === '' ? [] : [lookups.hash])].join(':');
    this.#accepted = deps.buffer.readParts(settings.name, 'accepted') ?? [];
    for (const kind of ['accepted', 'candidate', 'partial'] as const) {
      for (const part of deps.buffer.readParts(settings.name, kind) ?? []) {
        if (part.kind === 'part') this.#known.set(part.name, part);
      }
    }
  }

  /** Of what was read the way it would be read now. */
  knownVersions(): ReadonlyMap<string, string> {
    const current = [...this.#known].filter(([, { fingerprint }]) => fingerprint === this.#fingerprint);
    return new Map(current.map(([name, { version }]) => [name, version]));
  }

  /** The read of a part's present content: the one in the buffer where nothing changed. */
  async current(part: Part, signal: AbortSignal): Promise<PartRead> {
    const known = this.#known.get(part.name);
    if (known?.version === part.version && known.fingerprint === this.#fingerprint) return known;
    const startedMs = this.#deps.clock.monotonicMs();
    for (let next = part; ;) {
      try {
        return await this.#read(next, signal);
      } catch (error) {
        const elapsedMs = this.#deps.clock.monotonicMs() - startedMs;
        if (!isAgentError(error, 'part.changing') || elapsedMs >= changingMaxMs) throw error;
        await this.#deps.clock.sleep(500, signal);
        const listed = await this.#source.parts(signal);
        const again = listed.find(({ name }) => name === part.name);
        if (again === undefined) throw error;
        next = again;
      }
    }
  }

  /** Only the newest part counts: by the revision of its present content, then by name. */
  async newest(listed: readonly Part[], signal: AbortSignal): Promise<PartRead> {
    const { buffer } = this.#deps;
    const source = this.#settings.name;
    const before = buffer.seen(source);
    const seen = new Map<string, SeenFile>();
    for (const part of listed) seen.set(part.name, await this.#see(part, before.get(part.name), signal));
    buffer.setSeen(source, seen);
    const dated = listed.map((part) => ({
      ...part,
      revisedAtMs: seen.get(part.name)?.revisedAtMs ?? part.revisedAtMs,
    }));
    return this.current(
      dated.reduce((best, part) => (isNewer(part, best) ? part : best)),
      signal,
    );
  }

  /** A file that was only touched is as old as its content: that takes its hash, once for each new version. */
  async #see(part: Part, before: SeenFile | undefined, signal: AbortSignal): Promise<SeenFile> {
    if (before?.version === part.version) return before;
    const { hash, version } = (await this.#source.hash?.(part, signal)) ?? {
      hash: part.version,
      version: part.version,
    };
    signal.throwIfAborted();
    return { version, hash, revisedAtMs: before?.hash === hash ? before.revisedAtMs : part.revisedAtMs };
  }

  async #read(part: Part, signal: AbortSignal): Promise<PartRead> {
    const { buffer, observe } = this.#deps;
    const source = this.#settings.name;
    const known = this.#known.get(part.name);
    const writer = buffer.beginPart(source, { name: part.name, kind: 'part' }, this.#fingerprint);
    const rejects: Reject[] = [];
    try {
      const { content, counts } = await this.#fold(part, { writer, rejects, signal });
      buffer.keepRejects(source, part.name, rejects);
      this.#check(part, content, counts);
      observe({ kind: 'part.folded', source, part: part.name });
      if (known?.hash === content.hash && known.fingerprint === this.#fingerprint) {
        buffer.setVersion(known.id, content.version);
        return { ...known, version: content.version };
      }
      // A touched file changes nothing: it is as old as its present content.
      const firstSeenMs = this.#source.newestOnly === true ? part.revisedAtMs : content.revisedAtMs;
      const revisedAtMs = known?.hash === content.hash ? known.revisedAtMs : firstSeenMs;
      const read = writer.commit({ ...content, revisedAtMs }, counts);
      observe({ kind: 'part.swapped', source, part: part.name });
      return read;
    } catch (error) {
      if (rejects.length > 0) buffer.keepRejects(source, part.name, rejects);
      throw nameWhere(error, source, part.name);
    } finally {
      writer.discard();
    }
  }

  async #fold(
    part: Part,
    { writer, rejects, signal }: { writer: PartWriter; rejects: Reject[]; signal: AbortSignal },
  ): Promise<{ content: Content; counts: PartCounts }> {
    const { settings, observe } = this.#deps;
    const foldMax = Math.max(20_000, Math.floor(foldSizeMax / settings.sources.length));
    const fold = new Fold(writer.id);
    const counts: PartCounts = { rows: 0, rejects: 0, passed: 0 };
    let mapper: RowMapper | undefined;
    const rows = this.#source.rows(part, signal);
    try {
      for (;;) {
        const next = await rows.next();
        signal.throwIfAborted();
        if (next.done === true) {
          writer.add(fold.drain());
          return { content: next.value, counts };
        }
        // Records without a header name their columns themselves: where there are none, nothing is missing.
        if (next.value.columns.length === 0 && next.value.rows.length === 0) continue;
        mapper ??= new RowMapper(this.#mapping, next.value.columns, this.#rules);
        foldRows(mapper, next.value, { fold, counts, rejects });
        if (fold.size >= foldMax) writer.add(fold.drain());
        const { share } = next.value;
        observe({ kind: 'part.reading', source: this.#settings.name, part: part.name, rows: counts.rows, share });
      }
    } finally {
      // Not awaited: a read that hangs in the kernel would hang this too.
      void rows.return(undefined as never).catch(() => undefined);
    }
  }

  #check(part: Part, content: Content, counts: PartCounts): void {
    const limit = rejectLimit(this.#settings.mapping, this.#deps.settings.guard.maxRejects);
    if (counts.rejects > 0 && isBeyond(counts.rejects, counts.passed, limit)) {
      throw new AgentError(
        'part.unreadable',
        `${counts.rejects} of ${counts.passed} rows could not be read, more than guard.maxRejects ${describeLimit(limit)}`,
        { hint: `see "driver-sync rejects ${this.#settings.name}"` },
      );
    }
    const before = this.#accepted.find(
      ({ name, kind }) => kind === 'part' && (name === part.name || this.#source.newestOnly === true),
    );
    if (before?.endsWithLineEnd === true && content.endsWithLineEnd === false) {
      throw new AgentError('part.unreadable', 'it ends without a line end, and its accepted read had one', {
        hint: endLine,
      });
    }
  }
}

/** A mapping with the maps that stand in files. */
export function withLookups(mapping: Mapping, { maps }: Lookups): Mapping {
  return { ...mapping, maps: { ...mapping.maps, ...maps } };
}

/** `rows` counts what left the place; the others count what that stands for, so that a database's collapse hides no reject. */
interface PartCounts {
  rows: number;
  rejects: number;
  /** Rows that passed `where`. */
  passed: number;
}

function foldRows(
  mapper: RowMapper,
  batch: RowBatch,
  { fold, counts, rejects }: { fold: Fold; counts: PartCounts; rejects: Reject[] },
): void {
  const { rows, collapsed } = batch;
  for (let at = 0; at < rows.length; at++) {
    const row = ++counts.rows;
    const result = mapper.readFrom(batch, at, row, fold);
    if (result === 'filtered') continue;
    const standsFor = collapsed?.[at]?.rows ?? 1;
    counts.passed += standsFor;
    if (result === undefined) continue;
    counts.rejects += standsFor;
    if (rejects.length < rejectsKept)
      rejects.push({ row: rowShown(batch, at, row), reason: result.reject, text: rowText(rows[at] as Row) });
  }
}

/** A row as one text, bounded: 10 000 columns make no readable reject. */
export function rowText(fields: Row): string {
  const text = fields.map((field) => (/[",\r\n]/.test(field) ? `"${field.replaceAll('"', '""')}"` : field)).join(',');
  return text.length > 2000 ? `${text.slice(0, 2000)}…` : text;
}

/** Adds the source and part to failures that came from core, which does not know them. */
function nameWhere(error: unknown, source: string, part: string): unknown {
  if (!isAgentError(error) || error.message.includes(part)) return error;
  return new AgentError(error.code, `${part} of source "${source}": ${error.message}`, {
    cause: error,
    hint: error.hint,
  });
}
