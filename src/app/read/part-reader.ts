/** Reads the parts of a source: what changed, and nothing else. */
import { isDeepStrictEqual } from 'node:util';
import { Fold } from '../../core/series/fold/fold.ts';
import { AgentError } from '../../core/errors.ts';
import { RowMapper } from '../../core/mapping/row-mapper.ts';
import type { MonthRules } from '../../core/mapping/entry-reader.ts';
import type { Content, Part, Reject } from '../../core/model.ts';
import type { FoldJob, FoldedPart, Lookups, RowCounts, Source } from '../../core/ports.ts';
import type { Mapping, SourceSettings } from '../../core/settings.ts';
import { type PartRead, type PartWriter, rejectsKept } from '../../core/buffer.ts';
import { type KnownParts, type currentParts, knownParts } from './current-parts.ts';
import { revisedBy } from './revised-at.ts';
import { type Earlier, type ProofTime, earlierRead, onlyAdds, prove, unprovenOf } from './grown-parts.ts';
import { footerHint } from './footer-hint.ts';
import { type QuietNeeded, QuietWait, judgeEnd, refuseCut } from './part-end.ts';
import { type RowTaker, nameWhere, readUnchanged, takeRows, tooManyRejects, withLookups } from './part-rows.ts';
import type { Dependencies } from '../dependencies.ts';
import { addInTurns } from '../turns.ts';

/** Counted up when the same rows would fold to something else: every part is then read again. */
const readingVersion = 4;
/** Cells and drivers in memory over all sources; beyond it folds go to the buffer in chunks. At most about 80 MB. */
const foldSizeMax = 400_000;

type ReadingRows = Parameters<typeof takeRows>[0];

/** What a part was folded to. */
interface Folded extends Pick<FoldedPart, 'content' | 'counts'> {
  readonly listed: readonly Part[];
  /** See `Growth`. */
  readonly isProven: boolean;
}

/** Reads the parts of one source in one pass. */
export class PartReader {
  readonly #deps: Dependencies;
  readonly #settings: SourceSettings;
  readonly #source: Source;
  readonly #mapping: Mapping;
  readonly #rules: MonthRules;
  readonly #fingerprint: string;
  readonly #known: KnownParts;
  readonly #proof: ProofTime;
  /** One moment for all parts. */
  readonly #nowMs: number;

  /** `good`: what this pass has read already. */
  constructor(
    deps: Dependencies,
    settings: SourceSettings,
    {
      source,
      lookups,
      good,
      proof,
    }: { source: Source; lookups: Lookups; good: ReadonlyMap<string, PartRead>; proof: ProofTime },
  ) {
    this.#proof = proof;
    this.#nowMs = deps.clock.now().getTime();
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
    const versions = new Map(current.map(([name, { version }]) => [name, version]));
    return { versions, seen, facts, nowMs: this.#nowMs };
  }

  /** The read of a part's present content: the one in the buffer where nothing changed. */
  async current(part: Part, listed: readonly Part[], signal: AbortSignal): Promise<PartRead> {
    const known = this.#known.newest.get(part.name);
    if (known?.version === part.version && known.fingerprint === this.#fingerprint) return known;
    const reading = { source: this.#source, part, timeoutMs: this.#settings.timeoutMs, signal };
    return await readUnchanged(this.#deps.clock, reading, async (now) => {
      const reads = this.#readsOf(now).filter(({ fingerprint }) => fingerprint === this.#fingerprint);
      const looking = { source: this.#source, part: now, reads, proof: this.#proof };
      const earlier = await earlierRead(this.#deps, looking, signal);
      const grown = earlier && (await this.#readOn(now, listed, earlier, signal));
      return grown ?? (await this.#read(now, listed, signal));
    });
  }

  /**
   * Proves what parts rest on that grew, where the read may delete something. A part whose earlier rows were changed is read whole.
   * @returns reads that take the place of others
   * @throws AgentError as `current`
   */
  async proveWhatDeletes(
    { present, parts, listed }: { present: readonly PartRead[]; parts: readonly Part[]; listed: readonly Part[] },
    signal: AbortSignal,
  ): Promise<readonly PartRead[]> {
    const unproven = unprovenOf(this.#deps, present);
    if (unproven.length === 0 || onlyAdds(this.#deps, this.#known.accepted, present)) return [];
    const again: PartRead[] = [];
    for (const read of unproven) {
      const proof = await prove(this.#deps, { source: this.#source, part: read }, signal);
      if (proof === 'proven') continue;
      const part = parts.find(({ name }) => name === read.name) as Part;
      if (proof === 'moved') throw new AgentError('part.changing', `${part.name} changed while its source was read`);
      const reading = { source: this.#source, part, timeoutMs: this.#settings.timeoutMs, signal };
      again.push(await readUnchanged(this.#deps.clock, reading, (now) => this.#read(now, listed, signal)));
    }
    return again;
  }

  /** Reads the rows that were appended to a part. `undefined` where it has to be read whole. */
  async #readOn(
    part: Part,
    listed: readonly Part[],
    { base, growth, look }: Earlier,
    signal: AbortSignal,
  ): Promise<PartRead | undefined> {
    const { buffer } = this.#deps;
    const { growing } = this.#source;
    if (growing === undefined) return undefined;
    if (look.state === 'torn') {
      refuseCut(part, this.#known.facts.ofPlace(listed));
      return undefined;
    }
    if (look.state === 'same') {
      buffer.parts.setVersion(base.id, look.version);
      buffer.growths.setProven(base.id);
      buffer.rejects.keep(base.source, part.name, growth.rejects, base.rejects);
      return { ...base, version: look.version };
    }
    const rejects = [...growth.rejects];
    const counts = { rows: base.rows, rejects: base.rejects, passed: growth.passed };
    const from = { ...part, version: look.version };
    return await this.#write(part, { rejects, counts, base }, async (writer) => {
      const rows = growing.rows(from, growth, signal);
      const content = await this.#foldRows(part, { writer, rejects, counts, rows }, signal);
      return content && { content, counts, listed, isProven: look.isProven };
    });
  }

  async #read(part: Part, listed: readonly Part[], signal: AbortSignal): Promise<PartRead> {
    const rejects: Reject[] = [];
    const counts = { rows: 0, rejects: 0, passed: 0 };
    if (this.#source.fold !== undefined) {
      const elsewhere = await this.#write(part, { rejects, counts }, async (writer) => {
        const folded = await this.#foldElsewhere(part, { writer, rejects }, signal);
        return folded && { ...folded, listed, isProven: true };
      });
      if (elsewhere !== undefined) return elsewhere;
    }
    const read = await this.#write(part, { rejects, counts }, async (writer) => {
      const rows = this.#source.rows(part, signal);
      const content = (await this.#foldRows(part, { writer, rejects, counts, rows }, signal)) as Content;
      return { content, counts, listed, isProven: true };
    });
    return read as PartRead;
  }

  /** Writes what `fold` adds, and what it says of it. Where it says nothing, nothing of it counts. */
  async #write(
    part: Part,
    {
      rejects,
      counts,
      base,
    }: { readonly rejects: readonly Reject[]; readonly counts: RowCounts; readonly base?: PartRead },
    fold: (writer: PartWriter) => Promise<Folded | undefined>,
  ): Promise<PartRead | undefined> {
    const { buffer } = this.#deps;
    const source = this.#settings.name;
    const writer = buffer.parts.begin(source, { name: part.name, kind: 'part' }, this.#fingerprint, base);
    let folded: Folded | undefined;
    try {
      folded = await fold(writer);
      if (folded === undefined) return undefined;
      buffer.rejects.keep(source, part.name, rejects, folded.counts.rejects);
      return this.#commit(part, { writer, rejects, folded });
    } catch (error) {
      if (folded === undefined && rejects.length > 0) buffer.rejects.keep(source, part.name, rejects, counts.rejects);
      throw nameWhere(error, source, part.name);
    } finally {
      writer.discard();
    }
  }

  #commit(
    part: Part,
    { writer, rejects, folded }: { writer: PartWriter; rejects: readonly Reject[]; folded: Folded },
  ): PartRead {
    const { buffer, observe } = this.#deps;
    const source = this.#settings.name;
    const { content, counts, listed, isProven } = folded;
    this.#checkRejects(counts, rejects, content);
    observe({ kind: 'part.folded', source, part: part.name });
    const known = this.#readsOf(part).find(
      ({ hash, fingerprint }) => hash === content.hash && fingerprint === this.#fingerprint,
    );
    if (known !== undefined) {
      buffer.parts.setVersion(known.id, content.version);
      const { version, files = known.files } = content;
      if (files !== undefined && !isDeepStrictEqual(files, known.files)) buffer.parts.setFiles(known.id, files);
      return { ...known, version, files };
    }
    const { end } = content;
    const growth = end && this.#source.growing && { ...end, passed: counts.passed, rejects, isProven };
    const read = writer.commit({ ...content, revisedAtMs: this.#revisedAtMs(part, content, listed) }, counts, growth);
    observe({ kind: 'part.swapped', source, part: part.name });
    return read;
  }

  /** The newest read of a part, and the accepted one. */
  #readsOf({ name }: Part): readonly PartRead[] {
    const accepted = this.#known.accepted?.find((part) => part.kind === 'part' && part.name === name);
    return [this.#known.newest.get(name), accepted].filter((read) => read !== undefined);
  }

  /** When the present content of a part came to be. A touched file is as old as its content. */
  #revisedAtMs(part: Part, content: Content, listed: readonly Part[]): number {
    const read = this.#readsOf(part).find(({ hash }) => hash === content.hash);
    const firstSeenMs =
      read?.revisedAtMs ?? this.#known.facts.firstSeenMs({ name: part.name, hash: content.hash }, listed);
    if (firstSeenMs !== undefined) return firstSeenMs;
    // Where only the newest counts, the part has its time already.
    return this.#source.newestOnly === true ? part.revisedAtMs : revisedBy(this.#nowMs, content.revisedAtMs, listed);
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

  /** Folds rows as they come. @returns their end, see `readRows` */
  async #foldRows(
    part: Part,
    {
      writer,
      rejects,
      counts,
      rows,
    }: { writer: PartWriter; rejects: Reject[]; counts: RowTaker['counts']; rows: ReadingRows },
    signal: AbortSignal,
  ): Promise<Content | undefined> {
    const { observe } = this.#deps;
    using fold = new Fold(writer.id);
    const foldMax = this.#foldMax;
    const taker: RowTaker = {
      sink: fold,
      rejects,
      rejectsMax: rejectsKept,
      counts,
      mapper: (first) => new RowMapper(this.#mapping, first.columns, this.#rules, first),
      taken: async ({ share }) => {
        if (fold.size >= foldMax) await addInTurns(writer, fold.drain(), signal);
        observe({ kind: 'part.reading', source: this.#settings.name, part: part.name, rows: counts.rows, share });
        return 'more' as const;
      },
    };
    const content = await takeRows(rows, taker, signal);
    await addInTurns(writer, fold.drain(), signal);
    return content;
  }

  #checkRejects(counts: RowCounts, rejects: readonly Reject[], content: Content): void {
    const { maxRejects } = this.#deps.settings.guard;
    const rejected = tooManyRejects(counts, { mapping: this.#settings.mapping, maxRejects, whole: true });
    if (rejected !== undefined) {
      const seen = `see "driver-sync rejects ${this.#settings.name}"`;
      const footer = footerHint(this.#settings, counts, rejects, content);
      throw new AgentError('part.unreadable', rejected, { hint: footer === undefined ? seen : `${footer}; ${seen}` });
    }
  }
}
