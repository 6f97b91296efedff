/** Reads in memory: which parts make what a source has accepted, and its candidate. The same as `SqliteReads`. */
import type { ChosenPart, MixedRules, ReadKind, ReadPart, ReadStore, SharedDriver } from '../../core/buffer.ts';
import type { Month, Rule } from '../../core/model.ts';
import type { RunSummary } from '../../core/series/compare.ts';
import { type OriginFacts, type PackedDriver, unpackDriver } from '../../core/series/packing.ts';
import { compareUtf8 } from '../../core/series/snapshot.ts';
import { mergedRuns, orderIn } from './merged.ts';
import { type ReadRow, type Tables, runsOf, sortedFolds } from './tables.ts';

export class MemoryReads implements ReadStore {
  readonly #tables: Tables;

  constructor(tables: Tables) {
    this.#tables = tables;
  }

  #read(source: string, kind: ReadKind): ReadRow | undefined {
    return this.#tables.reads.get(source)?.get(kind);
  }

  acceptedSources(): readonly string[] {
    const sources = [...this.#tables.reads].filter(([, kinds]) => kinds.has('accepted')).map(([source]) => source);
    return sources.sort(compareUtf8);
  }

  readSources(): readonly string[] {
    const sources = [...this.#tables.reads].filter(([, kinds]) => kinds.size > 0).map(([source]) => source);
    return sources.sort(compareUtf8);
  }

  parts(source: string, kind: ReadKind): readonly ReadPart[] | undefined {
    const read = this.#read(source, kind);
    if (read === undefined) return undefined;
    // Asked for a dozen times in each pass: made anew where a part has changed.
    const facts = read.parts.map(({ id }) => this.#tables.parts.get(id)?.facts);
    const { shown } = read;
    if (shown !== undefined && facts.every((one, at) => one === shown.facts[at])) return shown.parts;
    const parts = read.parts.flatMap(({ carried, settled }, at): readonly ReadPart[] => {
      const part = facts[at];
      return part === undefined ? [] : [{ ...part, carried, settled }];
    });
    parts.sort((a, b) => compareUtf8(a.name, b.name) || a.id - b.id);
    read.shown = { facts, parts };
    return parts;
  }

  set(source: string, kind: ReadKind, parts: readonly ChosenPart[], basis?: string): void {
    const kinds = this.#tables.reads.get(source) ?? new Map<ReadKind, ReadRow>();
    this.#tables.reads.set(source, kinds);
    kinds.set(kind, { parts: parts.map(({ id, carried, settled }) => ({ id, carried, settled })), basis });
    if (kind === 'accepted') this.#tables.revision++;
  }

  basis(source: string, kind: ReadKind): string | undefined {
    return this.#read(source, kind)?.basis;
  }

  keepBasis(source: string, kind: ReadKind, basis: string): void {
    const read = this.#read(source, kind);
    if (read !== undefined) read.basis = basis;
  }

  drop(source: string, kind: ReadKind): void {
    this.#tables.reads.get(source)?.delete(kind);
    if (kind === 'accepted') this.#tables.revision++;
  }

  accept(settled: ReadonlyMap<string, readonly string[]>): void {
    for (const [source, names] of settled) this.#accept(source, names);
  }

  #accept(source: string, settled: readonly string[]): void {
    const candidate = this.#read(source, 'candidate');
    const parts = this.parts(source, 'candidate');
    if (candidate === undefined || parts === undefined) return;
    const isSettled = (part: ReadPart): boolean => part.settled || (part.carried && settled.includes(part.name));
    const accepted = parts.map(({ id, carried, ...part }) => ({
      id,
      carried,
      settled: isSettled({ ...part, id, carried }),
    }));
    this.set(source, 'accepted', accepted, candidate.basis);
    if (candidate.summary !== undefined) this.keepSummary(source, 'accepted', candidate.summary);
    this.drop(source, 'candidate');
    this.#nameAccepted(parts);
  }

  /** What cells name by the number of a part that has grown is from now on the part as it was accepted. */
  #nameAccepted(parts: readonly ReadPart[]): void {
    for (const { id, kind, origin, revisedAtMs, hash, endsWithLineEnd, rejects } of parts) {
      const named = this.#tables.origins.get(origin);
      if (kind !== 'part' || id === origin || named === undefined) continue;
      const facts = { revisedAtMs, hash: hash === '' ? undefined : hash, endsWithLineEnd, rejects };
      this.#tables.origins.set(origin, { ...named, ...facts });
    }
  }

  summary(source: string, kind: ReadKind): RunSummary | undefined {
    return this.#read(source, kind)?.summary;
  }

  keepSummary(source: string, kind: ReadKind, summary: RunSummary): void {
    const read = this.#read(source, kind);
    if (read !== undefined) read.summary = summary;
  }

  drivers(source: string, kind: ReadKind): Iterable<PackedDriver> {
    return this.driversOf(source, this.parts(source, kind) ?? []);
  }

  *driversOf(source: string, parts: readonly ReadPart[]): Generator<PackedDriver> {
    const ids = parts.map(({ id }) => id);
    const runs = runsOf(this.#tables, ids).filter((run) => run.source === source);
    const [only] = runs;
    if (only !== undefined && runs.length === 1 && isPlain(sortedFolds(only))) yield* sortedFolds(only);
    else yield* mergedRuns(runs, orderIn(this.#tables, parts));
  }

  #runsOf(source: string, kind: ReadKind): ReturnType<typeof runsOf> {
    const ids = (this.#read(source, kind)?.parts ?? []).map(({ id }) => id);
    return runsOf(this.#tables, ids).filter((run) => run.source === source);
  }

  driver(source: string, id: string): PackedDriver | undefined {
    for (const driver of this.drivers(source, 'accepted')) if (driver.id === id) return driver;
    return undefined;
  }

  mixedRules(source: string, kind: ReadKind): MixedRules | undefined {
    const folds = (this.parts(source, kind) ?? []).flatMap(({ id, name }) =>
      runsOf(this.#tables, [id]).flatMap((run) => run.folds.map((driver) => ({ part: name, driver }))),
    );
    folds.sort((a, b) => compareUtf8(a.driver.id, b.driver.id));
    const months = new Map<Month, { readonly driver: string; readonly part: string; readonly rule: Rule }>();
    for (const { part, driver } of folds) {
      const { id, rule } = driver;
      for (const { month } of unpackDriver(driver).cells) {
        const other = months.get(month);
        if (other?.driver === id && other.rule !== rule) return { driver: id, month, folds: [other, { part, rule }] };
        months.set(month, { driver: id, part, rule });
      }
    }
    return undefined;
  }

  *sharedDrivers(reads: readonly { source: string; kind: ReadKind }[]): Generator<SharedDriver> {
    const owners = new Map<string, Set<string>>();
    for (const { source, kind } of reads) {
      for (const { folds } of this.#runsOf(source, kind)) {
        for (const { id } of folds) owners.set(id, (owners.get(id) ?? new Set()).add(source));
      }
    }
    const shared = [...owners].filter(([, sources]) => sources.size > 1);
    for (const [driver, sources] of shared.sort(([a], [b]) => compareUtf8(a, b))) {
      yield { driver, sources: [...sources] };
    }
  }

  removeDrivers(source: string, ids: Iterable<string>): void {
    const gone = new Set(ids);
    for (const run of this.#tables.runs.values()) {
      if (run.source === source) run.folds = run.folds.filter(({ id }) => !gone.has(id));
    }
    for (const read of this.#tables.reads.get(source)?.values() ?? []) read.summary = undefined;
    for (const part of this.#tables.parts.values()) {
      if (part.facts.source !== source) continue;
      // Once the source is back in the config, such a part is not what its file holds.
      part.facts = { ...part.facts, fingerprint: '' };
      // What is read behind such a part would not have them back.
      part.growth = undefined;
    }
    this.#tables.revision++;
  }

  origins(): readonly OriginFacts[] {
    const isPart = new Map<number, boolean>();
    for (const kinds of this.#tables.reads.values()) {
      for (const { id } of kinds.get('accepted')?.parts ?? []) {
        const part = this.#tables.parts.get(id);
        if (part === undefined) continue;
        isPart.set(part.facts.origin, true);
        for (const [origin, named] of part.origins) isPart.set(origin, named || isPart.get(origin) === true);
      }
    }
    const named = [...isPart].sort(([a], [b]) => a - b);
    return named.flatMap(([id, is]) => {
      const origin = this.#tables.origins.get(id);
      return origin === undefined ? [] : [{ ...origin, isPart: is }];
    });
  }

  revision(): number {
    return this.#tables.revision;
  }
}

function isPlain(folds: readonly PackedDriver[]): boolean {
  return folds.every(({ id }, at) => at === 0 || folds[at - 1]?.id !== id);
}
