/** Reads what changed in one source and puts its candidate together. */
import { Fold } from '../../core/series/fold.ts';
import { AgentError, isAgentError } from '../../core/errors.ts';
import { RowMapper } from '../../core/mapping/row-mapper.ts';
import type { MonthRules } from '../../core/mapping/entry-reader.ts';
import type { Content, Part, Reject } from '../../core/model.ts';
import type { FoldJob, FoldedPart, Lookups, RowCounts, Source } from '../../core/ports.ts';
import type { Mapping, SourceSettings } from '../../core/settings.ts';
import type { PartRead, PartWriter } from '../../core/buffer.ts';
import type { Found } from './carried.ts';
import { type KnownParts, currentParts, knownParts } from './current-parts.ts';
import { type QuietNeeded, QuietWait, judgeEnd } from './part-end.ts';
import { type RowTaker, nameWhere, readRows, readUnchanged, tooManyRejects, withLookups } from './part-rows.ts';
import { withTimeout } from './timeout.ts';
import type { Dependencies } from '../dependencies.ts';

/** Counted up when the same rows would fold to something else: every part is then read again. */
const readingVersion = 2;
/** Of each part; the others are counted. */
const rejectsKept = 1000;
/** Cells and drivers in memory over all sources; beyond it folds go to the buffer in chunks. At most about 80 MB. */
const foldSizeMax = 260_000;

interface WholeLook {
  readonly settings: SourceSettings;
  /** See `Source.isExpensive`. */
  readonly isExpensive: boolean;
  readonly state: 'read';
  readonly found: Found;
  /** See `Source.mayLag`. */
  readonly mayLag: boolean;
}

interface Unread {
  readonly settings: SourceSettings;
  readonly isExpensive: boolean;
  readonly state: 'unread';
  readonly reason: string;
  readonly hint?: string | undefined;
}

/** What one look at a source gave. */
export type SourceLook = WholeLook | Unread;

/** The same with its candidate made. */
export type SourceRead =
  | (WholeLook & {
      /** Parts that are gone since the read before, and whose data is carried from now on. */
      readonly disappeared: readonly string[];
    })
  | Unread;

/** The source was read, or files have to be quiet for longer. */
type Attempt =
  | { readonly found: Found; readonly unsure?: undefined }
  | { readonly found?: undefined; readonly unsure: readonly QuietNeeded[] };

/**
 * Reads what changed in a source. One that cannot be read whole keeps its accepted data, and what was read of it meanwhile is
 * kept for the next look.
 */
export async function readSource(
  deps: Dependencies,
  settings: SourceSettings,
  signal: AbortSignal,
): Promise<SourceLook> {
  const limits = { ms: settings.timeoutMs, what: `reading source "${settings.name}"` };
  const source = deps.openSource(settings);
  const isExpensive = source.isExpensive === true;
  const good = new Map<string, PartRead>();
  const wait = new QuietWait(deps);
  try {
    for (;;) {
      const attempt = await withTimeout(deps.clock, limits, signal, async (inner): Promise<Attempt> => {
        const lookups = await deps.readLookups(settings, inner);
        const unsureTables = unsureLookups(deps, settings.name, { lookups, wait });
        if (unsureTables.length > 0) return { unsure: unsureTables };
        const reader = new PartReader(deps, settings, { source, lookups, good });
        const { listed, parts, seen } = await currentParts(source, reader.known(), inner);
        deps.observe({ kind: 'source.listed', source: settings.name, parts: listed.length });
        if (seen !== undefined) deps.buffer.parts.setSeen(settings.name, seen);
        const present: PartRead[] = [];
        for (const part of parts) {
          const read = await reader.current(part, listed, inner);
          good.set(part.name, read);
          present.push(read);
        }
        const unsure = await reader.unsureEnds({ present, listed, wait }, inner);
        // A read that was left behind must not change the candidate under a review.
        inner.throwIfAborted();
        if (unsure.length > 0) return { unsure };
        keepLineEnds(deps, settings.name, lookups);
        return { found: { present, listed, newestOnly: source.newestOnly === true } };
      });
      if (attempt.found !== undefined) {
        const { found } = attempt;
        keepUntilAssembled(deps, settings.name, found.present);
        return { settings, isExpensive, mayLag: source.mayLag === true, state: 'read', found };
      }
      // Outside of the time that a read may take.
      await wait.until(attempt.unsure, signal);
    }
  } catch (error) {
    if (signal.aborted || !isAgentError(error) || error.code.startsWith('state.')) throw error;
    keepPartial(deps, settings.name, [...good.values()]);
    return { settings, isExpensive, state: 'unread', reason: error.message, hint: error.hint };
  }
}

/** A source is not read: its candidate is withdrawn, and what was read of it well is kept for the next pass. */
export function keepPartial({ buffer }: Dependencies, source: string, good: readonly PartRead[]): void {
  const candidate = buffer.reads.parts(source, 'candidate') ?? [];
  buffer.reads.drop(source, 'candidate');
  setPartial(buffer, source, [...candidate, ...good]);
}

function setPartial(buffer: Dependencies['buffer'], source: string, parts: readonly PartRead[]): void {
  const ids = new Set(parts.map(({ id }) => id));
  const kept = [...ids].map((id) => ({ id, carried: false, settled: false }));
  buffer.reads.set(source, 'partial', kept);
}

/** Candidates are made once all sources were read; a crash until then must not lose what is new. */
function keepUntilAssembled({ buffer }: Dependencies, source: string, present: readonly PartRead[]): void {
  const kept = (['accepted', 'candidate'] as const).flatMap((kind) => buffer.reads.parts(source, kind) ?? []);
  if (present.every(({ id }) => kept.some((part) => part.id === id))) return;
  setPartial(buffer, source, [...(buffer.reads.parts(source, 'partial') ?? []), ...present]);
}

/**
 * Tables without a line end at their end whose last line may be cut, and that have to be quiet for longer: nothing is known
 * of them yet.
 * @throws AgentError `source.unreadable` where one had a line end when its source was last read whole
 */
function unsureLookups(
  { buffer }: Dependencies,
  source: string,
  { lookups, wait }: { lookups: Lookups; wait: QuietWait },
): readonly QuietNeeded[] {
  return lookups.files.flatMap(({ file, version, end }) => {
    if (end.endsWithLineEnd) return [];
    const had = buffer.parts.hadLineEnd(source, file);
    if (had === true) {
      throw new AgentError('source.unreadable', `${file}: it ends without a line end, and had one before`, {
        hint: 'was it written to its end? if it is whole, end its last line',
      });
    }
    const part = { name: file, version, revisedAtMs: 0 };
    // It was read without one before: this is how it is written.
    if (had === false || wait.isStill(part) || end.quietMs >= end.quietNeededMs) return [];
    return [{ part, quietMs: end.quietMs, neededMs: end.quietNeededMs }];
  });
}

function keepLineEnds({ buffer }: Dependencies, source: string, { files }: Lookups): void {
  for (const { file, end } of files) {
    const had = buffer.parts.hadLineEnd(source, file);
    if (had !== end.endsWithLineEnd) buffer.parts.noteLineEnd(source, file, end.endsWithLineEnd);
  }
}

class PartReader {
  readonly #deps: Dependencies;
  readonly #settings: SourceSettings;
  readonly #source: Source;
  readonly #mapping: Mapping;
  readonly #rules: MonthRules;
  readonly #fingerprint: string;
  readonly #known: KnownParts;

  /** `good`: what this pass has read already. */
  constructor(
    deps: Dependencies,
    settings: SourceSettings,
    { source, lookups, good }: { source: Source; lookups: Lookups; good: ReadonlyMap<string, PartRead> },
  ) {
    this.#deps = deps;
    this.#settings = settings;
    this.#source = source;
    this.#mapping = withLookups(settings.mapping, lookups);
    this.#rules = { timezone: deps.settings.timezone, calendar: lookups.calendar };
    this.#fingerprint = [readingVersion, settings.digest, ...(lookups.hash === '' ? [] : [lookups.hash])].join(':');
    const known = knownParts(deps, settings.name);
    this.#known = { ...known, newest: new Map([...known.newest, ...good]) };
  }

  /** The versions are those of parts that were read the way they would be read now. */
  known(): Parameters<typeof currentParts>[1] {
    const { newest, seen, facts } = this.#known;
    const current = [...newest].filter(([, { fingerprint }]) => fingerprint === this.#fingerprint);
    const nowMs = this.#deps.clock.now().getTime();
    return { versions: new Map(current.map(([name, { version }]) => [name, version])), seen, facts, nowMs };
  }

  /** The read of a part's present content: the one in the buffer where nothing changed. */
  async current(part: Part, listed: readonly Part[], signal: AbortSignal): Promise<PartRead> {
    const known = this.#known.newest.get(part.name);
    if (known?.version === part.version && known.fingerprint === this.#fingerprint) return known;
    const reading = { source: this.#source, part, signal };
    return await readUnchanged(this.#deps.clock, reading, (now) => this.#read(now, listed, signal));
  }

  async #read(part: Part, listed: readonly Part[], signal: AbortSignal): Promise<PartRead> {
    const { buffer, observe } = this.#deps;
    const source = this.#settings.name;
    const rejects: Reject[] = [];
    let writer = this.#begin(part);
    try {
      const elsewhere = await this.#foldElsewhere(part, { writer, rejects }, signal);
      if (elsewhere === undefined && this.#source.fold !== undefined) {
        // What was added by then does not count.
        writer.discard();
        writer = this.#begin(part);
      }
      const { content, counts } = elsewhere ?? (await this.#foldRows(part, { writer, rejects }, signal));
      buffer.rejects.keep(source, part.name, rejects);
      this.#checkRejects(counts);
      observe({ kind: 'part.folded', source, part: part.name });
      const known = this.#readsOf(part).find(
        ({ hash, fingerprint }) => hash === content.hash && fingerprint === this.#fingerprint,
      );
      if (known !== undefined) {
        buffer.parts.setVersion(known.id, content.version);
        return { ...known, version: content.version };
      }
      const read = writer.commit({ ...content, revisedAtMs: this.#revisedAtMs(part, content, listed) }, counts);
      observe({ kind: 'part.swapped', source, part: part.name });
      return read;
    } catch (error) {
      if (rejects.length > 0) buffer.rejects.keep(source, part.name, rejects);
      throw nameWhere(error, source, part.name);
    } finally {
      writer.discard();
    }
  }

  /** The newest read of a part, and the accepted one. */
  #readsOf({ name }: Part): readonly PartRead[] {
    const accepted = this.#known.accepted?.find((part) => part.kind === 'part' && part.name === name);
    return [this.#known.newest.get(name), accepted].filter((read) => read !== undefined);
  }

  /**
   * When the present content of a part came to be. A touched file is as old as its content, and a time ahead of the clock
   * counts as the moment when the content is first seen: else such a file would win every tie from then on.
   */
  #revisedAtMs(part: Part, content: Content, listed: readonly Part[]): number {
    const read = this.#readsOf(part).find(({ hash }) => hash === content.hash);
    const firstSeenMs =
      read?.revisedAtMs ?? this.#known.facts.firstSeenMs({ name: part.name, hash: content.hash }, listed);
    if (firstSeenMs !== undefined) return firstSeenMs;
    const revisedAtMs = this.#source.newestOnly === true ? part.revisedAtMs : content.revisedAtMs;
    return Math.min(revisedAtMs, this.#deps.clock.now().getTime());
  }

  /**
   * Parts that may be half a file, and have to be quiet for longer.
   * @throws AgentError `part.unreadable` where one is half a file
   */
  async unsureEnds(
    { present, listed, wait }: { present: readonly PartRead[]; listed: readonly Part[]; wait: QuietWait },
    signal: AbortSignal,
  ): Promise<readonly QuietNeeded[]> {
    const { accepted = [], facts } = this.#known;
    const unsure: QuietNeeded[] = [];
    for (const read of present) {
      if (read.endsWithLineEnd !== false || accepted.some(({ id }) => id === read.id) || wait.isStill(read)) continue;
      const known = { source: this.#source, accepted: facts.ofPlace(listed), ends: present, listed };
      const needed = await judgeEnd(read, known, signal);
      if (needed !== undefined && needed.quietMs < needed.neededMs) unsure.push(needed);
    }
    return unsure;
  }

  #begin({ name }: Part): PartWriter {
    return this.#deps.buffer.parts.begin(this.#settings.name, { name, kind: 'part' }, this.#fingerprint);
  }

  get #foldMax(): number {
    return Math.max(20_000, Math.floor(foldSizeMax / this.#deps.settings.sources.length));
  }

  /** Lets the source fold the part in threads of its own, where it can. */
  async #foldElsewhere(
    part: Part,
    { writer, rejects }: { writer: PartWriter; rejects: Reject[] },
    signal: AbortSignal,
  ): Promise<FoldedPart | undefined> {
    const { observe } = this.#deps;
    const source = this.#settings.name;
    const job: FoldJob = {
      mapping: this.#mapping,
      rules: this.#rules,
      part: writer.id,
      rejectsMax: rejectsKept,
      foldMax: this.#foldMax,
      add: (drivers) => writer.addPacked(drivers),
      progress: (rows, share) => observe({ kind: 'part.reading', source, part: part.name, rows, share }),
    };
    const folded = await this.#source.fold?.(part, job, signal);
    signal.throwIfAborted();
    if (folded !== undefined) rejects.push(...folded.rejects);
    return folded;
  }

  async #foldRows(
    part: Part,
    { writer, rejects }: { writer: PartWriter; rejects: Reject[] },
    signal: AbortSignal,
  ): Promise<Pick<FoldedPart, 'content' | 'counts'>> {
    const { observe } = this.#deps;
    const fold = new Fold(writer.id);
    const counts = { rows: 0, rejects: 0, passed: 0 };
    const foldMax = this.#foldMax;
    const taker: RowTaker = {
      sink: fold,
      rejects,
      rejectsMax: rejectsKept,
      counts,
      mapper: (columns) => new RowMapper(this.#mapping, columns, this.#rules),
      taken: ({ share }) => {
        if (fold.size >= foldMax) writer.addPacked(fold.drain());
        observe({ kind: 'part.reading', source: this.#settings.name, part: part.name, rows: counts.rows, share });
        return 'more';
      },
    };
    const content = (await readRows(this.#source, part, taker, signal)) as Content;
    writer.addPacked(fold.drain());
    return { content, counts };
  }

  #checkRejects(counts: RowCounts): void {
    const { maxRejects } = this.#deps.settings.guard;
    const rejected = tooManyRejects(counts, { mapping: this.#settings.mapping, maxRejects, whole: true });
    if (rejected !== undefined) {
      throw new AgentError('part.unreadable', rejected, { hint: `see "driver-sync rejects ${this.#settings.name}"` });
    }
  }
}
