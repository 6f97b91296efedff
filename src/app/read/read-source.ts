/** Reads what changed in one source and puts its candidate together. */
import { Fold } from '../../core/series/fold.ts';
import { AgentError, isAgentError } from '../../core/errors.ts';
import { RowMapper } from '../../core/mapping/row-mapper.ts';
import type { MonthRules } from '../../core/mapping/entry-reader.ts';
import type { Content, Part } from '../../core/model.ts';
import type { Lookups, Source } from '../../core/ports.ts';
import type { Mapping, SourceSettings } from '../../core/settings.ts';
import type { PartRead, PartWriter } from '../../core/stores.ts';
import { assembleCandidate } from './candidate.ts';
import { type KnownParts, currentParts, knownParts } from './current-parts.ts';
import { type RowTaker, nameWhere, readRows, readUnchanged, tooManyRejects, withLookups } from './part-rows.ts';
import { withTimeout } from './timeout.ts';
import type { Dependencies } from '../dependencies.ts';

/** Counted up when the same rows would fold to something else: every part is then read again. */
const readingVersion = 1;
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
      const { listed, parts, seen } = await currentParts(source, reader.known(), inner);
      deps.observe({ kind: 'source.listed', source: settings.name, parts: listed.length });
      if (seen !== undefined) deps.buffer.setSeen(settings.name, seen);
      for (const part of parts) good.push(await reader.current(part, inner));
      inner.throwIfAborted();
      keepLineEnds(deps, settings.name, lookups);
      return {
        settings,
        isExpensive,
        mayLag: source.mayLag === true,
        state: 'read',
        ...assembleCandidate(deps, settings, { present: good, listed, newestOnly: source.newestOnly === true }),
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
  readonly #known: KnownParts;

  constructor(deps: Dependencies, settings: SourceSettings, { source, lookups }: { source: Source; lookups: Lookups }) {
    this.#deps = deps;
    this.#settings = settings;
    this.#source = source;
    this.#mapping = withLookups(settings.mapping, lookups);
    this.#rules = { timezone: deps.settings.timezone, calendar: lookups.calendar };
    this.#fingerprint = [readingVersion, settings.digest, ...(lookups.hash === '' ? [] : [lookups.hash])].join(':');
    this.#known = knownParts(deps.buffer, settings.name);
  }

  /** The versions are those of parts that were read the way they would be read now. */
  known(): Parameters<typeof currentParts>[1] {
    const { newest, seen } = this.#known;
    const current = [...newest].filter(([, { fingerprint }]) => fingerprint === this.#fingerprint);
    return { versions: new Map(current.map(([name, { version }]) => [name, version])), seen };
  }

  /** The read of a part's present content: the one in the buffer where nothing changed. */
  async current(part: Part, signal: AbortSignal): Promise<PartRead> {
    const known = this.#known.newest.get(part.name);
    if (known?.version === part.version && known.fingerprint === this.#fingerprint) return known;
    const reading = { source: this.#source, part, signal };
    return await readUnchanged(this.#deps.clock, reading, (now) => this.#read(now, signal));
  }

  async #read(part: Part, signal: AbortSignal): Promise<PartRead> {
    const { buffer, observe } = this.#deps;
    const source = this.#settings.name;
    const known = this.#known.newest.get(part.name);
    const writer = buffer.beginPart(source, { name: part.name, kind: 'part' }, this.#fingerprint);
    const taker = this.#taker(part, writer);
    const { rejects, counts, fold } = taker;
    try {
      const content = (await readRows(this.#source, part, taker, signal)) as Content;
      writer.add(fold.drain());
      buffer.keepRejects(source, part.name, rejects);
      this.#check(part, content, taker);
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

  #taker(part: Part, writer: PartWriter): RowTaker & { readonly fold: Fold } {
    const { settings, observe } = this.#deps;
    const foldMax = Math.max(20_000, Math.floor(foldSizeMax / settings.sources.length));
    const fold = new Fold(writer.id);
    const counts = { rows: 0, rejects: 0, passed: 0 };
    return {
      fold,
      sink: fold,
      rejects: [],
      rejectsMax: rejectsKept,
      counts,
      mapper: (columns) => new RowMapper(this.#mapping, columns, this.#rules),
      taken: ({ share }) => {
        if (fold.size >= foldMax) writer.add(fold.drain());
        observe({ kind: 'part.reading', source: this.#settings.name, part: part.name, rows: counts.rows, share });
        return 'more';
      },
    };
  }

  #check(part: Part, content: Content, { counts }: RowTaker): void {
    const { maxRejects } = this.#deps.settings.guard;
    const rejected = tooManyRejects(counts, { mapping: this.#settings.mapping, maxRejects, whole: true });
    if (rejected !== undefined) {
      throw new AgentError('part.unreadable', rejected, { hint: `see "driver-sync rejects ${this.#settings.name}"` });
    }
    const before = this.#known.accepted?.find(
      ({ name, kind }) => kind === 'part' && (name === part.name || this.#source.newestOnly === true),
    );
    if (before?.endsWithLineEnd === true && content.endsWithLineEnd === false) {
      throw new AgentError('part.unreadable', 'it ends without a line end, and its accepted read had one', {
        hint: endLine,
      });
    }
  }
}
