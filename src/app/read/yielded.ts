/**
 * Drivers that a source does not show any more and another one does: they move, and nothing is carried of them. A driver of which
 * only a missing file has something does not move, since that file may come back.
 */
import type { PartRead, ReadPart } from '../../core/buffer.ts';
import { type FoldedDriver, unpackDriver } from '../../core/series/packing.ts';
import type { Dependencies } from '../dependencies.ts';
import { acceptedParts } from './accepted-parts.ts';
import { type PartToCarry, isCellOf } from './carried.ts';

/** What the candidate of a source is made of. */
export interface Assembling {
  readonly source: string;
  readonly present: readonly PartRead[];
  readonly carried: readonly PartToCarry[];
  readonly hasHistory: boolean;
}

export interface Yielded {
  readonly drivers: ReadonlySet<string>;
  /** The same by the source that has them now. */
  readonly to: ReadonlyMap<string, ReadonlySet<string>>;
  /** The new parts of other sources that show them. */
  readonly by: readonly (readonly [source: string, parts: readonly number[]])[];
}

/** What each source yields, once all were read. */
export function findYielded(deps: Dependencies, all: readonly Assembling[]): ReadonlyMap<string, Yielded> {
  const givers = all.filter(({ carried, hasHistory }) => hasHistory || carried.length > 0);
  const takers = givers.length === 0 ? [] : all.flatMap((one) => newIn(deps, one));
  return new Map(
    givers.map((giver) => {
      const found = takers
        .filter(({ source }) => source !== giver.source)
        .map((taker) => ({ taker, drivers: movingTo(deps, giver, taker) }))
        .filter(({ drivers }) => drivers.length > 0);
      const drivers = new Set(found.flatMap((one) => one.drivers));
      const to = new Map(found.map((one) => [one.taker.source, new Set(one.drivers)]));
      return [giver.source, { drivers, to, by: found.map(({ taker }) => [taker.source, taker.parts] as const) }];
    }),
  );
}

/** What a source shows that it has not accepted. */
interface Shown {
  readonly source: string;
  readonly parts: readonly number[];
  readonly hashes: ReadonlySet<string>;
}

/** What a source has accepted is its own: no other one has a driver of it. */
function newIn({ buffer }: Dependencies, { source, present }: Assembling): readonly Shown[] {
  const accepted = new Set(buffer.reads.parts(source, 'accepted')?.map(({ id }) => id));
  const shown = present.filter(({ id }) => !accepted.has(id));
  if (shown.length === 0) return [];
  const known = new Set(acceptedParts(buffer, source).map(({ hash }) => hash));
  const hashes = new Set(shown.map(({ hash }) => hash).filter((hash) => hash !== '' && !known.has(hash)));
  return [{ source, parts: shown.map(({ id }) => id), hashes }];
}

function movingTo(
  { buffer }: Dependencies,
  { source, present, carried, hasHistory }: Assembling,
  taker: Shown,
): readonly string[] {
  const sharedBy = (parts: readonly Pick<ReadPart, 'id'>[]): ReadonlySet<string> =>
    new Set(parts.length === 0 ? [] : buffer.parts.sharedDrivers({ source, parts: parts.map(({ id }) => id) }, taker));
  const accepted = buffer.reads.parts(source, 'accepted') ?? [];
  const gone = new Set(carried.map(({ name }) => name));
  const had = sharedBy(accepted.filter(({ kind, name }) => hasHistory || kind === 'snapshot' || gone.has(name)));
  if (had.size === 0) return [];
  const shown = sharedBy(present);
  // A file whose content is there now was moved and is not missing.
  const missing = carried.filter(({ hash }) => hash === undefined || !taker.hashes.has(hash));
  const names = new Set(missing.map(({ name }) => name));
  const ofMissing = sharedBy(accepted.filter(({ kind, name }) => kind === 'part' && names.has(name)));
  const ofOthers = sharedBy(accepted.filter(({ kind, name }) => kind === 'part' && !names.has(name)));
  const isOfSnapshot = accepted.some(({ kind }) => kind === 'snapshot');
  const isMissing = (id: string): boolean => {
    if (!isOfSnapshot) return ofMissing.has(id) && !ofOthers.has(id);
    const driver = buffer.reads.driver(source, id);
    return (
      driver !== undefined && unpackDriver(driver).cells.every(({ part }) => names.has(buffer.parts.origin(part).name))
    );
  };
  return [...had].filter((id) => !shown.has(id) && !isMissing(id));
}

/** What is left to carry where these drivers move: a part of which nothing is left is not carried. */
export function withoutYielded(
  { buffer }: Pick<Dependencies, 'buffer'>,
  carried: readonly PartToCarry[],
  yielded: ReadonlySet<string>,
): readonly PartToCarry[] {
  if (yielded.size === 0) return carried;
  return carried.flatMap((part): readonly PartToCarry[] => {
    const all = idsToCarry({ buffer }, part);
    const left = new Set(all.filter((id) => !yielded.has(id)));
    if (left.size === all.length) return [part];
    return left.size === 0 ? [] : [{ ...part, drivers: left }];
  });
}

/** The drivers of which a part may have something. */
function idsToCarry({ buffer }: Pick<Dependencies, 'buffer'>, part: PartToCarry): readonly string[] {
  const names = new Set([part.name]);
  const isOfPart = (driver: FoldedDriver): boolean =>
    part.kind === 'read' ||
    driver.cells.some((cell) => cell.count > 1 || isCellOf({ buffer }, driver, { cell, names }));
  const ids: string[] = [];
  for (const driver of buffer.parts.drivers(part.kind === 'read' ? part.part : part.snapshot))
    if (part.drivers?.has(driver.id) !== false && isOfPart(driver)) ids.push(driver.id);
  return ids;
}
