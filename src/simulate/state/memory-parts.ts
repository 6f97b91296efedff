/** Parts in memory, collapsed and packed per driver. The same as `SqliteParts`, held so by one suite of tests over both. */
import type {
  Growth,
  PartRead,
  PartStore,
  PartWriter,
  PartsOfSource,
  SeenFile,
  SharedPoint,
} from '../../core/buffer.ts';
import type { Content, Month } from '../../core/model.ts';
import { monthsIn } from '../../core/series/packing.ts';
import { isAdding } from '../../core/series/rule.ts';
import {
  type FoldedDriver,
  type OriginFacts,
  type PackedDriver,
  type PartOrigin,
  packDriver,
  unpackDriver,
} from '../../core/series/packing.ts';
import { mergedRuns, orderIn, originOf } from './merged.ts';
import { type PartRow, type Run, type Tables, dropPart, earliestOf, runsOf } from './tables.ts';

export class MemoryParts implements PartStore {
  readonly #tables: Tables;

  constructor(tables: Tables) {
    this.#tables = tables;
  }

  begin(
    source: string,
    { name, kind }: { readonly name: string; readonly kind: PartRead['kind'] },
    fingerprint: string,
    base?: PartRead,
  ): PartWriter {
    return openWriter(this.#tables, { source, name, kind, fingerprint }, base);
  }

  setVersion(id: number, version: string): void {
    const part = this.#tables.parts.get(id);
    if (part !== undefined) part.facts = { ...part.facts, version };
  }

  setFiles(id: number, files: readonly string[]): void {
    const part = this.#tables.parts.get(id);
    if (part !== undefined) part.facts = { ...part.facts, files };
  }

  rename(source: string, names: ReadonlyMap<string, string>): void {
    const { parts, origins, seen, rejects } = this.#tables;
    for (const part of parts.values()) {
      const now = part.facts.source === source ? names.get(part.facts.name) : undefined;
      if (now !== undefined) part.facts = { ...part.facts, name: now };
    }
    for (const [id, origin] of origins) {
      const now = origin.source === source ? names.get(origin.name) : undefined;
      if (now !== undefined) origins.set(id, { ...origin, name: now });
    }
    const renamed = <V>(all: ReadonlyMap<string, V> | undefined): Map<string, V> =>
      new Map([...(all ?? [])].map(([name, value]) => [names.get(name) ?? name, value]));
    seen.set(source, renamed(seen.get(source)));
    rejects.set(source, renamed(rejects.get(source)));
  }

  *drivers(part: PartRead): Generator<FoldedDriver> {
    const order = orderIn(this.#tables, [part]);
    for (const packed of mergedRuns(runsOf(this.#tables, [part.id]), order)) yield unpackDriver(packed);
  }

  earliestMonth(ids: readonly number[]): Month | undefined {
    return earliestOf(runsOf(this.#tables, ids));
  }

  *sharedDrivers(one: PartsOfSource, other: PartsOfSource): Generator<string> {
    const ids = (parts: PartsOfSource): Set<string> =>
      new Set(
        runsOf(this.#tables, parts.parts)
          .filter(({ source }) => source === parts.source)
          .flatMap(({ folds }) => folds.map(({ id }) => id)),
      );
    const others = ids(other);
    for (const id of ids(one)) if (others.has(id)) yield id;
  }

  sharedPoints(source: string, parts: readonly number[], others: readonly number[]): readonly SharedPoint[] {
    return parts.flatMap((part) => {
      for (const driver of this.#adding(source, part)) {
        const months = new Set(monthsIn(driver.points));
        for (const other of others) {
          for (const { id, points } of this.#folds(source, other)) {
            const month = id === driver.id ? monthsIn(points).find((one) => months.has(one)) : undefined;
            if (month !== undefined) return [{ part, other, driver: id, month }];
          }
        }
      }
      return [];
    });
  }

  *#adding(source: string, part: number): Generator<PackedDriver> {
    for (const driver of this.#folds(source, part)) if (isAdding(driver.rule)) yield driver;
  }

  *#folds(source: string, part: number): Generator<PackedDriver> {
    for (const run of runsOf(this.#tables, [part])) if (run.source === source) yield* run.folds;
  }

  origin(id: number): PartOrigin {
    return originOf(this.#tables, id);
  }

  addRestoredOrigin({ id, source, name, revisedAtMs, hash, endsWithLineEnd, rejects }: OriginFacts): number {
    const same = [...this.#tables.origins.values()].filter(
      (one) =>
        one.source === source &&
        one.name === name &&
        one.revisedAtMs === revisedAtMs &&
        one.hash === (hash ?? undefined),
    );
    // In the buffer that made the snapshot it has the same number.
    const known = same.find((one) => one.id === id) ?? same.toSorted((a, b) => b.id - a.id)[0];
    if (known !== undefined) return known.id;
    const made = this.#tables.nextId++;
    this.#tables.origins.set(made, { id: made, source, name, revisedAtMs, hash, endsWithLineEnd, rejects });
    return made;
  }

  originsOf(id: number): readonly OriginFacts[] {
    const parts = this.#tables.parts.get(id)?.origins ?? new Map<number, boolean>();
    return [...parts].flatMap(([origin, isPart]) => {
      const facts = this.#tables.origins.get(origin);
      return isPart && facts !== undefined ? [{ ...facts, isPart }] : [];
    });
  }

  seen(source: string): ReadonlyMap<string, SeenFile> {
    return this.#tables.seen.get(source) ?? new Map<string, SeenFile>();
  }

  setSeen(source: string, files: ReadonlyMap<string, SeenFile>): void {
    this.#tables.seen.set(source, new Map(files));
  }

  timesAfter(timeMs: number): readonly number[] {
    const { parts, origins, seen } = this.#tables;
    const facts = [...parts.values()].map((part) => part.facts);
    const files = [...seen.values()].flatMap((of) => [...of.values()]);
    const times = [...facts, ...origins.values(), ...files].map(({ revisedAtMs }) => revisedAtMs);
    return [...new Set(times.filter((one) => one > timeMs))].sort((a, b) => a - b);
  }

  redate(times: ReadonlyMap<number, number>): void {
    const { parts, origins, seen } = this.#tables;
    const dated = <T extends { readonly revisedAtMs: number }>(one: T): T => ({
      ...one,
      revisedAtMs: times.get(one.revisedAtMs) ?? one.revisedAtMs,
    });
    for (const part of parts.values()) part.facts = dated(part.facts);
    for (const [id, origin] of origins) origins.set(id, dated(origin));
    for (const [source, files] of seen)
      seen.set(source, new Map([...files].map(([name, file]) => [name, dated(file)])));
  }

  hadLineEnd(source: string, file: string): boolean | undefined {
    return this.#tables.lineEnds.get(JSON.stringify([source, file]));
  }

  noteLineEnd(source: string, file: string, ended: boolean): void {
    this.#tables.lineEnds.set(JSON.stringify([source, file]), ended);
  }

  prune(): void {
    const { parts, origins, reads } = this.#tables;
    const used = new Set<number>();
    for (const kinds of reads.values())
      for (const read of kinds.values()) for (const { id } of read.parts) used.add(id);
    for (const id of parts.keys()) if (!used.has(id)) dropPart(this.#tables, id);
    const named = new Set([...parts.values()].flatMap((part) => [part.facts.origin, ...part.origins.keys()]));
    for (const id of origins.keys()) if (!named.has(id)) origins.delete(id);
  }
}

function openWriter(
  tables: Tables,
  part: Pick<PartRead, 'source' | 'name' | 'kind' | 'fingerprint'>,
  base?: PartRead,
): PartWriter {
  const id = tables.nextId++;
  const named = base?.origin ?? id;
  const run: Run = { id, source: part.source, folds: [], isSorted: true };
  const read = { version: '', hash: '', revisedAtMs: 0, rows: 0, rejects: 0, endsWithLineEnd: undefined };
  const row: PartRow = {
    facts: { ...part, ...read, id, origin: named },
    isReady: false,
    runs: [...(base === undefined ? [] : (tables.parts.get(base.id)?.runs ?? [])), id],
    origins: new Map(),
  };
  tables.runs.set(id, run);
  tables.parts.set(id, row);
  const add = (driver: PackedDriver): void => {
    run.folds.push(driver);
    run.isSorted = false;
  };
  const noteOrigin = (origin: number): void => {
    if (origin !== named && !row.origins.has(origin)) row.origins.set(origin, false);
  };
  return {
    id: named,
    add(drivers) {
      for (const driver of drivers) {
        if (driver.cells.length === 0) continue;
        for (const origin of originsOf(driver)) noteOrigin(origin);
        add(packDriver(driver));
      }
    },
    addPacked(drivers) {
      for (const driver of drivers) add(kept(driver));
    },
    commit: (content, counts, growth) => commit(tables, row, { content, counts, growth, isBased: base !== undefined }),
    addOrigin: (origin) => void row.origins.set(origin, true),
    discard() {
      if (!row.isReady) dropPart(tables, id);
    },
  };
}

/** The bytes of a driver that is on its way may be taken back. */
export function kept<T extends PackedDriver>(driver: T): T {
  const { points, origins, ties } = driver;
  return { ...driver, points: points.slice(), origins: origins.slice(), ties: ties?.slice() };
}

function commit(
  tables: Tables,
  row: PartRow,
  {
    content,
    counts,
    growth,
    isBased,
  }: {
    readonly content: Content;
    readonly counts: { readonly rows: number; readonly rejects: number };
    readonly growth: Growth | undefined;
    readonly isBased: boolean;
  },
): PartRead {
  const { version, hash, revisedAtMs, endsWithLineEnd, files } = content;
  const { rows, rejects } = counts;
  const read = { version, hash, revisedAtMs, endsWithLineEnd, rows, rejects };
  row.facts = { ...row.facts, ...read, ...(files !== undefined && { files }) };
  row.isReady = true;
  row.growth = growth;
  const { id, source, name, kind } = row.facts;
  if (kind === 'part' && !isBased) {
    const known = { revisedAtMs, hash: hash === '' ? undefined : hash, endsWithLineEnd, rejects };
    tables.origins.set(id, { id, source, name, ...known });
  }
  return row.facts;
}

/** The parts that a driver names. Its path may be of a reading whose month is not among the cells. */
function* originsOf({ pathPlace, cells }: FoldedDriver): Generator<number, void, void> {
  yield pathPlace.part;
  for (const { part, tie } of cells) {
    yield part;
    if (tie === undefined) continue;
    yield tie.left.part;
    yield tie.kept.part;
  }
}
