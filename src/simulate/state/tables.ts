/** What a buffer in memory holds: the tables of the one on SQLite, as maps. It outlives a process of the simulated agent. */
import type { BufferState, Growth, PartRead, ReadKind, ReadPart, SeenFile } from '../../core/buffer.ts';
import type { Reject } from '../../core/model.ts';
import type { RunSummary } from '../../core/series/compare.ts';
import type { ChosenPart } from '../../core/buffer.ts';
import { firstMonth } from '../../core/series/packing.ts';
import type { OriginFacts, PackedDriver } from '../../core/series/packing.ts';
import { compareUtf8 } from '../../core/series/snapshot.ts';
import type { Month } from '../../core/model.ts';

/** Drivers that were written one after the other; several pieces may have one driver. */
export interface Run {
  readonly id: number;
  readonly source: string;
  folds: PackedDriver[];
  /** `folds` are in the order of ids, each once. */
  isSorted: boolean;
  /** Of so many folds; asked for in each pass. */
  earliest?: { readonly of: number; readonly month: Month | undefined };
}

export interface PartRow {
  facts: PartRead;
  isReady: boolean;
  runs: number[];
  /** The parts that its cells name, and whether they are parts of the read that it stands for. */
  readonly origins: Map<number, boolean>;
  growth?: Growth | undefined;
}

export interface ReadRow {
  readonly parts: readonly ChosenPart[];
  basis: string | undefined;
  summary?: RunSummary | undefined;
  /** Its parts as they were last asked for, and the facts that these were made of. */
  shown?: { readonly facts: readonly (PartRead | undefined)[]; readonly parts: readonly ReadPart[] };
}

export interface KeptRejects {
  /** In the order of rows. */
  readonly first: readonly Reject[];
  readonly total: number;
}

export interface Tables {
  nextId: number;
  readonly parts: Map<number, PartRow>;
  readonly runs: Map<number, Run>;
  readonly origins: Map<number, OriginFacts>;
  /** By source, then by kind. */
  readonly reads: Map<string, Map<ReadKind, ReadRow>>;
  readonly seen: Map<string, ReadonlyMap<string, SeenFile>>;
  readonly lineEnds: Map<string, boolean>;
  /** By source, then by part. */
  readonly rejects: Map<string, Map<string, KeptRejects>>;
  revision: number;
  state: BufferState;
}

export function emptyTables(): Tables {
  return {
    nextId: 1,
    parts: new Map(),
    runs: new Map(),
    origins: new Map(),
    reads: new Map(),
    seen: new Map(),
    lineEnds: new Map(),
    rejects: new Map(),
    revision: 0,
    state: {},
  };
}

/** The folds of some parts, each run once, in the order that the runs were begun in. */
export function runsOf(tables: Tables, parts: Iterable<number>): readonly Run[] {
  const ids = new Set<number>();
  for (const part of parts) for (const run of tables.parts.get(part)?.runs ?? []) ids.add(run);
  return [...ids].sort((a, b) => a - b).flatMap((id) => tables.runs.get(id) ?? []);
}

/** By the UTF-8 bytes of ids; pieces of one driver stay in the order that they were written in. */
export function sortedFolds(run: Run): readonly PackedDriver[] {
  if (!run.isSorted) {
    run.folds.sort((a, b) => compareUtf8(a.id, b.id));
    run.isSorted = true;
  }
  return run.folds;
}

export function earliestOf(runs: readonly Run[]): Month | undefined {
  let earliest: Month | undefined;
  for (const run of runs) {
    const month = earliestIn(run);
    if (month !== undefined && (earliest === undefined || month < earliest)) earliest = month;
  }
  return earliest;
}

function earliestIn(run: Run): Month | undefined {
  const { folds } = run;
  if (run.earliest?.of !== folds.length) {
    const months = folds.map(({ points }) => firstMonth(points));
    run.earliest = { of: folds.length, month: months.length === 0 ? undefined : Math.min(...months) };
  }
  return run.earliest?.month;
}

/** Takes a part away, and the runs that no other part is made of. */
export function dropPart(tables: Tables, id: number): void {
  const part = tables.parts.get(id);
  if (part === undefined) return;
  tables.parts.delete(id);
  dropRuns(tables, part.runs);
}

export function dropRuns(tables: Tables, runs: readonly number[]): void {
  const used = new Set([...tables.parts.values()].flatMap((part) => part.runs));
  for (const run of runs) if (!used.has(run)) tables.runs.delete(run);
}
