/** What changes between two reads or snapshots, both in the order of ids. */
import type { Month } from '../model.ts';
import { type PackedPoints, PointWalk, monthsIn, packMonths } from './packing.ts';
import { compareUtf8 } from './snapshot.ts';

export interface Counts {
  readonly create: number;
  readonly update: number;
  readonly delete: number;
}

export interface Changes {
  readonly drivers: Counts;
  readonly points: Counts;
}

export const noChanges: Changes = {
  drivers: { create: 0, update: 0, delete: 0 },
  points: { create: 0, update: 0, delete: 0 },
};

/** One driver that differs. Months are in order. */
export interface DriverChange {
  readonly kind: 'create' | 'update' | 'delete';
  readonly id: string;
  readonly before: PackedPoints | undefined;
  readonly after: PackedPoints | undefined;
  readonly created: readonly Month[];
  readonly updated: readonly Month[];
  readonly deleted: readonly Month[];
}

/** The drivers that differ, in the order of ids. Equal ones cost a comparison of bytes. */
export function* diffDrivers(before: Iterable<PackedPoints>, after: Iterable<PackedPoints>): Generator<DriverChange> {
  for (const [old, now] of pairDrivers(before, after)) {
    const change = changeBetween(old, now);
    if (change !== undefined) yield change;
  }
}

/** What differs in one driver, of which one may be absent. */
export function changeBetween(old: PackedPoints | undefined, now: PackedPoints | undefined): DriverChange | undefined {
  if (now === undefined) return changeOf('delete', old, now, { deleted: monthsIn((old as PackedPoints).points) });
  if (old === undefined) return changeOf('create', old, now, { created: monthsIn(now.points) });
  if (!isSamePoints(old, now)) return changeOf('update', old, now, diffPoints(old.points, now.points));
  return old.path === now.path ? undefined : changeOf('update', old, now, {});
}

/** Whether two drivers have the same points. */
export function isSamePoints(before: PackedPoints, after: PackedPoints): boolean {
  // Bytes that were given back are empty, so any two such drivers would seem equal.
  if (before.points.length === 0) throw new Error(`driver "${before.id}" is used after its run has moved on`);
  return Buffer.compare(before.points, after.points) === 0;
}

function changeOf(
  kind: DriverChange['kind'],
  before: PackedPoints | undefined,
  after: PackedPoints | undefined,
  points: Partial<Pick<DriverChange, 'created' | 'updated' | 'deleted'>>,
): DriverChange {
  const { id } = (after ?? before) as PackedPoints;
  return { kind, id, before, after, created: [], updated: [], deleted: [], ...points };
}

/** What is left of a change at a service that keeps what a push leaves out; `undefined`: nothing. */
function withoutDeletes(change: DriverChange): DriverChange | undefined {
  const { before, after, created, updated } = change;
  const isNothing = created.length + updated.length === 0 && before?.path === after?.path;
  return after === undefined || isNothing ? undefined : { ...change, deleted: [] };
}

/** Walks two ordered runs side by side; one of each pair may be absent. Drivers are valid until the next pair is asked for. */
export function* pairDrivers<A extends PackedPoints, B extends PackedPoints>(
  before: Iterable<A>,
  after: Iterable<B>,
): Generator<readonly [A | undefined, B | undefined]> {
  const left = before[Symbol.iterator]();
  const right = after[Symbol.iterator]();
  try {
    let a = left.next();
    let b = right.next();
    while (a.done !== true || b.done !== true) {
      const order = a.done === true ? 1 : b.done === true ? -1 : compareUtf8(a.value.id, b.value.id);
      yield [order <= 0 ? (a.value as A) : undefined, order >= 0 ? (b.value as B) : undefined];
      if (order <= 0) a = left.next();
      if (order >= 0) b = right.next();
    }
  } finally {
    left.return?.();
    right.return?.();
  }
}

/** Adds up changes. */
export class ChangeCounts {
  readonly #drivers = { create: 0, update: 0, delete: 0 };
  readonly #points = { create: 0, update: 0, delete: 0 };

  add({ kind, created, updated, deleted }: DriverChange): void {
    this.#drivers[kind]++;
    this.#points.create += created.length;
    this.#points.update += updated.length;
    this.#points.delete += deleted.length;
  }

  sum(): Changes {
    return { drivers: { ...this.#drivers }, points: { ...this.#points } };
  }
}

/** Adds up changes; `each` sees every one of them on the way. */
export function countChanges(changes: Iterable<DriverChange>, each?: (change: DriverChange) => void): Changes {
  const counts = new ChangeCounts();
  for (const change of changes) {
    counts.add(change);
    each?.(change);
  }
  return counts.sum();
}

/** What a service makes of a change: one that keeps what a push leaves out deletes nothing. */
export type Effect = (change: DriverChange) => DriverChange | undefined;

/** @param shouldDeleteMissing of the push */
export function effectAt({ shouldDeleteMissing }: { readonly shouldDeleteMissing: boolean }): Effect {
  return shouldDeleteMissing ? (change) => change : withoutDeletes;
}

/** The months of a driver that a push creates or updates, as `packMonths` packs them. */
export interface CarriedMonths {
  readonly driver: string;
  readonly months: Uint8Array;
}

/**
 * Adds up what a push changes, and what of it the push will have been the first to carry, in one look. A step is a driver, so that others
 * may have their turn between them.
 */
export function* countingCarried(
  before: Iterable<PackedPoints>,
  after: Iterable<PackedPoints>,
  effect: Effect,
): Generator<void, { changes: Changes; carried: readonly CarriedMonths[] }> {
  const counts = new ChangeCounts();
  const carried: CarriedMonths[] = [];
  let last: Uint8Array = new Uint8Array(0);
  for (const [old, now] of pairDrivers(before, after)) {
    const found = changeBetween(old, now);
    const change = found && effect(found);
    if (change !== undefined) {
      const { id, created, updated } = change;
      counts.add(change);
      if (created.length + updated.length > 0) {
        const packed = packMonths(updated.length === 0 ? created : [...created, ...updated].sort((a, b) => a - b));
        // Most drivers of a first push have the same months: then they share them, and each costs 90 bytes.
        if (Buffer.compare(last, packed) !== 0) last = packed;
        carried.push({ driver: id, months: last });
      }
    }
    yield;
  }
  return { changes: counts.sum(), carried };
}

export function hasChanges(changes: Changes): boolean {
  const { drivers, points } = changes;
  return [drivers, points].some((counts) => counts.create + counts.update + counts.delete > 0);
}

/** The values of a `points` blob by month. */
export function valuesByMonth(points: Uint8Array): Map<Month, string> {
  const values = new Map<Month, string>();
  const bytes = Buffer.from(points.buffer, points.byteOffset, points.byteLength);
  for (const walk = new PointWalk(points); walk.next();) {
    values.set(walk.month, bytes.toString('latin1', walk.start, walk.end));
  }
  return values;
}

/** Walks the bytes: texts of all values of a driver would take ten times as long. */
function diffPoints(before: Uint8Array, after: Uint8Array): Pick<DriverChange, 'created' | 'updated' | 'deleted'> {
  const created: Month[] = [];
  const updated: Month[] = [];
  const deleted: Month[] = [];
  const [old, now] = [new PointWalk(before), new PointWalk(after)];
  let [isOld, isNow] = [old.next(), now.next()];
  while (isOld || isNow) {
    const order = !isOld ? 1 : !isNow ? -1 : old.month - now.month;
    if (order < 0) deleted.push(old.month);
    else if (order > 0) created.push(now.month);
    else if (!isSameText(before, old, after, now)) updated.push(now.month);
    if (order <= 0) isOld = old.next();
    if (order >= 0) isNow = now.next();
  }
  return { created, updated, deleted };
}

function isSameText(before: Uint8Array, old: PointWalk, after: Uint8Array, now: PointWalk): boolean {
  const length = old.end - old.start;
  if (now.end - now.start !== length) return false;
  for (let i = 0; i < length; i++) if (before[old.start + i] !== after[now.start + i]) return false;
  return true;
}

/** An id that another one took the place of, under the same path: the service sees a delete and a create. */
export interface RenamedId {
  readonly from: string;
  readonly to: string;
}
