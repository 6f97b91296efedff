/** A buffer in memory, for the simulated world. What it holds is in its tables, which another one may be opened on. */
import type {
  DriverNames,
  Growth,
  GrowthStore,
  LocalBuffer,
  PartRead,
  RejectCount,
  RejectStore,
} from '../../core/buffer.ts';
import type { Reject } from '../../core/model.ts';
import { compareUtf8 } from '../../core/series/snapshot.ts';
import { mergedRuns, orderIn } from './merged.ts';
import { MemoryParts } from './memory-parts.ts';
import { MemoryReads } from './memory-reads.ts';
import { type KeptRejects, type PartRow, type Tables, dropRuns, runsOf } from './tables.ts';

export function memoryBuffer(tables: Tables): LocalBuffer {
  return {
    parts: new MemoryParts(tables),
    growths: new MemoryGrowths(tables),
    reads: new MemoryReads(tables),
    names: driverNames(tables),
    rejects: new MemoryRejects(tables),
    state: () => tables.state,
    setState: (changed) => {
      tables.state = { ...tables.state, ...changed };
    },
    shrink: () => undefined,
    copyTo: () => {
      throw new Error('a buffer in memory is no file');
    },
    close: () => undefined,
  };
}

class MemoryGrowths implements GrowthStore {
  readonly #tables: Tables;

  constructor(tables: Tables) {
    this.#tables = tables;
  }

  of(part: number): Growth | undefined {
    return this.#tables.parts.get(part)?.growth;
  }

  unproven(): readonly PartRead[] {
    return this.#used(({ growth }) => growth?.isProven === false);
  }

  setProven(part: number): void {
    const row = this.#tables.parts.get(part);
    if (row?.growth !== undefined) row.growth = { ...row.growth, isProven: true };
  }

  disprove(part: number): void {
    const row = this.#tables.parts.get(part);
    if (row === undefined) return;
    row.growth = undefined;
    row.facts = { ...row.facts, version: '' };
  }

  continues(part: number, earlier: number): boolean {
    const [now, before] = [this.#tables.parts.get(part), this.#tables.parts.get(earlier)];
    if (now === undefined || before === undefined || now.facts.origin !== before.facts.origin) return false;
    return before.runs.every((run) => now.runs.includes(run));
  }

  scattered(runsMax: number): readonly PartRead[] {
    return this.#used(({ runs }) => runs.length > runsMax);
  }

  *compact(part: PartRead): Generator<void, void, void> {
    const row = this.#tables.parts.get(part.id);
    if (row === undefined) return;
    const before = row.runs;
    const folds = [...mergedRuns(runsOf(this.#tables, [part.id]), orderIn(this.#tables, [part]))];
    yield;
    const id = this.#tables.nextId++;
    this.#tables.runs.set(id, { id, source: part.source, folds, isSorted: true });
    row.runs = [id];
    dropRuns(this.#tables, before);
  }

  /** Parts of accepted reads and candidates. */
  #used(is: (row: PartRow) => boolean): readonly PartRead[] {
    const ids = new Set<number>();
    for (const kinds of this.#tables.reads.values()) {
      for (const kind of ['accepted', 'candidate'] as const)
        for (const { id } of kinds.get(kind)?.parts ?? []) ids.add(id);
    }
    return [...ids]
      .sort((a, b) => a - b)
      .flatMap((id) => {
        const row = this.#tables.parts.get(id);
        return row !== undefined && is(row) ? [row.facts] : [];
      });
  }
}

function driverNames(tables: Tables): DriverNames {
  const all = (source: string): { id: string; path: string }[] => {
    const parts = tables.reads.get(source)?.get('accepted')?.parts ?? [];
    // Of several parts that have a driver, the one that was read last names it.
    const paths = new Map<string, string>();
    for (const run of runsOf(
      tables,
      parts.map((part) => part.id),
    ))
      for (const driver of run.folds) paths.set(driver.id, driver.path);
    return [...paths].sort(([a], [b]) => compareUtf8(a, b)).map(([id, path]) => ({ id, path }));
  };
  return {
    after(source, from, limit) {
      return all(source)
        .filter(({ id }) => compareUtf8(id, from) > 0)
        .slice(0, limit)
        .map(({ id, path }) => ({ source, id, path: JSON.parse(path) as readonly string[] }));
    },
    all,
  };
}

class MemoryRejects implements RejectStore {
  readonly #tables: Tables;

  constructor(tables: Tables) {
    this.#tables = tables;
  }

  keep(source: string, part: string, rejects: readonly Reject[], total: number): void {
    const parts = this.#tables.rejects.get(source) ?? new Map<string, KeptRejects>();
    this.#tables.rejects.set(source, parts);
    if (rejects.length === 0) parts.delete(part);
    else parts.set(part, { first: rejects.toSorted((a, b) => a.row - b.row), total });
  }

  keepOnly(source: string, parts: readonly string[]): void {
    const rejects = this.#tables.rejects.get(source);
    for (const part of rejects?.keys() ?? []) if (!parts.includes(part)) rejects?.delete(part);
  }

  copy(part: string, from: string, to: string): void {
    const { first, total } = this.#tables.rejects.get(from)?.get(part) ?? { first: [], total: 0 };
    this.keep(to, part, first, total);
  }

  *all(source?: string): Generator<Reject & { source: string; part: string }> {
    for (const { source: name, part, first } of this.#parts(source)) {
      for (const reject of first) yield { source: name, part, ...reject };
    }
  }

  counts(source?: string): readonly RejectCount[] {
    return [...this.#parts(source)].map(({ source: name, part, first, total }) => {
      return { source: name, part, total, kept: first.length };
    });
  }

  *#parts(source?: string): Generator<KeptRejects & { source: string; part: string }> {
    const inOrder = <T>(map: ReadonlyMap<string, T>): [string, T][] => [...map].sort(([a], [b]) => compareUtf8(a, b));
    for (const [name, parts] of inOrder(this.#tables.rejects)) {
      if (source !== undefined && name !== source) continue;
      for (const [part, kept] of inOrder(parts)) yield { source: name, part, ...kept };
    }
  }
}
