/**
 * What a candidate carries: accepted parts that are gone, and accepted months that an export does not show any more. Only
 * what was accepted can be carried: a part that was never accepted leaves nothing behind when it goes.
 */
import type { Month } from '../../core/model.ts';
import { type Cell, type FoldedDriver, type PackedDriver, unpackDriver } from '../../core/series/packing.ts';
import type { SourceSettings } from '../../core/settings.ts';
import type { ChosenPart, PartRead, ReadPart } from '../../core/stores.ts';
import type { Dependencies } from '../dependencies.ts';

/** The version of a part that was taken out of a snapshot: no file has it. */
export const takenOut = 'taken out of a snapshot';

/** What a source showed and what was read of it. */
export interface Found {
  readonly present: readonly PartRead[];
  readonly listed: readonly { readonly name: string }[];
  readonly newestOnly: boolean;
}

/** An accepted part that the source does not show any more: read as it was, or to be taken out of a snapshot. */
export type GonePart =
  | { readonly kind: 'read'; readonly name: string; readonly part: ReadPart }
  | {
      readonly kind: 'inSnapshot';
      readonly name: string;
      readonly revisedAtMs: number;
      readonly snapshot: ReadPart;
    };

export interface DatedPart {
  readonly name: string;
  readonly revisedAtMs: number;
}

/** Which of two parts is newer, where only the newest counts. */
export function isNewer(a: DatedPart, b: DatedPart): boolean {
  return a.revisedAtMs > b.revisedAtMs || (a.revisedAtMs === b.revisedAtMs && a.name > b.name);
}

/** Accepted parts that the source does not show any more; one that was only renamed is not among them. */
export function goneParts(
  deps: Dependencies,
  accepted: readonly ReadPart[],
  { present, listed }: Found,
): readonly GonePart[] {
  const names = new Set(listed.map(({ name }) => name));
  const acceptedNames = new Set(accepted.map(({ name }) => name));
  // One new part is the new name of one old part only.
  const newHashes = present.filter(({ name }) => !acceptedNames.has(name)).map(({ hash }) => hash);
  const isRenamed = (hash: string): boolean => {
    const at = newHashes.indexOf(hash);
    if (at >= 0) newHashes.splice(at, 1);
    return at >= 0;
  };
  const gone: readonly GonePart[] = accepted.flatMap((part) => {
    if (part.kind === 'snapshot') return goneOfSnapshot(deps, part, names);
    if (part.kind === 'history' || names.has(part.name)) return [];
    return [{ kind: 'read', name: part.name, part } as const];
  });
  return gone.filter((one) => one.kind === 'inSnapshot' || !isRenamed(one.part.hash));
}

/**
 * After a rollback, or once the buffer was rebuilt, an accepted read is one `snapshot` part. A part that it stands for and
 * that was read into this buffer is carried as it was read; what else is gone has to be taken out of the snapshot.
 */
function goneOfSnapshot({ buffer }: Dependencies, snapshot: ReadPart, names: ReadonlySet<string>): GonePart[] {
  const { source } = snapshot;
  const reads = (['candidate', 'partial'] as const).flatMap((kind) => buffer.reads.parts(source, kind) ?? []);
  return buffer.parts
    .originsOf(snapshot.id)
    .filter(({ name }) => !names.has(name))
    .map(({ id, name, revisedAtMs }) => {
      const part = reads.find((one) => one.kind === 'part' && one.id === id);
      if (part === undefined) return { kind: 'inSnapshot', name, revisedAtMs, snapshot };
      // What was approved later than the snapshot does not hold for it.
      return { kind: 'read', name, part: { ...part, settled: false } };
    });
}

export function carryPart(deps: Dependencies, gone: GonePart): ChosenPart {
  if (gone.kind === 'read') return { id: gone.part.id, carried: true, settled: gone.part.settled };
  return { id: takeOut(deps, gone), carried: true, settled: false };
}

/** Makes a part of what a snapshot holds of it, which may be nothing: where others were read later, those have its months. */
function takeOut(
  { buffer }: Dependencies,
  { snapshot, name, revisedAtMs }: Extract<GonePart, { kind: 'inSnapshot' }>,
): number {
  const writer = buffer.parts.begin(snapshot.source, { name, kind: 'part' }, snapshot.fingerprint);
  writer.add(ofPart(buffer.parts.drivers(snapshot), (cell) => buffer.parts.origin(cell.part).name === name));
  const content = { version: takenOut, hash: `gone:${name}`, revisedAtMs };
  return writer.commit(content, { rows: 0, rejects: 0 }).id;
}

function* ofPart(drivers: Iterable<FoldedDriver>, isOfPart: (cell: Cell) => boolean): Generator<FoldedDriver> {
  for (const driver of drivers) {
    const cells = driver.cells.filter(isOfPart);
    if (cells.length > 0) yield { ...driver, cells };
  }
}

/**
 * The accepted months before the earliest month of a candidate's parts, for every accepted driver, as a part of it. Where
 * a source may be empty, parts without any month show an empty window: all accepted months lie before it.
 */
export function carryHistory(
  { buffer }: Dependencies,
  { name, mayBeEmpty }: SourceSettings,
  { parts, accepted }: { parts: readonly ChosenPart[]; accepted: Iterable<PackedDriver> },
): readonly ChosenPart[] {
  const isWindow = mayBeEmpty && parts.length > 0;
  const earliest = buffer.parts.earliestMonth(parts.map(({ id }) => id)) ?? (isWindow ? Infinity : undefined);
  if (earliest === undefined) return [];
  const writer = buffer.parts.begin(name, { name: '', kind: 'history' }, '');
  let count = 0;
  let batch: FoldedDriver[] = [];
  for (const packed of accepted) {
    const driver = earlierThan(unpackDriver(packed), earliest);
    if (driver.cells.length === 0) continue;
    count++;
    batch.push(driver);
    if (batch.length >= 1000) {
      writer.add(batch);
      batch = [];
    }
  }
  writer.add(batch);
  if (count === 0) {
    writer.discard();
    return [];
  }
  const { id } = writer.commit({ version: '', hash: '', revisedAtMs: 0 }, { rows: 0, rejects: 0 });
  return [{ id, carried: false, settled: false }];
}

function earlierThan(driver: FoldedDriver, month: Month): FoldedDriver {
  return { ...driver, cells: driver.cells.filter((cell) => cell.month < month) };
}
