/** Doubts about the parts that a candidate carries: rows may be counted twice, or readings may be missing. */
import { type CarriedDoubt, accumulates } from '../../core/guard/guard.ts';
import { isAdding } from '../../core/series/rule.ts';
import type { Month } from '../../core/model.ts';
import { compareDecimals } from '../../core/numbers/arithmetic.ts';
import { isSamePoints, pairDrivers } from '../../core/series/diff.ts';
import { mergeDriverRuns } from '../../core/series/merge.ts';
import { type Cell, type FoldedDriver, type PackedDriver, unpackDriver } from '../../core/series/packing.ts';
import type { SourceSettings } from '../../core/settings.ts';
import type { LocalBuffer, ReadPart } from '../../core/buffer.ts';
import { formatMonth } from '../../core/time/month.ts';
import type { Dependencies } from '../dependencies.ts';
import { type AcceptedPart, acceptedParts } from '../read/accepted-parts.ts';
import { isCellOf, takenOut } from '../read/carried.ts';
import { withInherited } from '../read/removed-sources.ts';

/** Sources that left the config, and parts of the source that it is judged without. */
interface Beside {
  readonly removed: readonly string[];
  readonly forgotten?: ReadonlySet<string> | undefined;
}

/** The doubts of a source's candidate. What was settled by an approval is not among them. */
export function findCarriedDoubts(
  deps: Dependencies,
  settings: SourceSettings,
  { removed, forgotten }: Beside,
): readonly CarriedDoubt[] {
  const candidate = deps.buffer.reads.parts(settings.name, 'candidate') ?? [];
  const unsettled = candidate.filter((part) => part.carried && !part.settled);
  if (unsettled.length === 0) return [];
  const missing = missingReadings(deps, settings.name, { unsettled, removed, forgotten });
  return [
    ...missing,
    ...(accumulates(settings.mapping) ? countedTwice(deps, settings.name, { candidate, removed }) : []),
  ];
}

/**
 * A part that was taken out of a snapshot has only the readings that counted there. It lacks its share of sums; and where the
 * reading that counted is gone or gives way, one of the part may be the one that counts now.
 */
function missingReadings(
  deps: Dependencies,
  source: string,
  { unsettled, ...beside }: Beside & { readonly unsettled: readonly ReadPart[] },
): readonly CarriedDoubt[] {
  const inPart = unsettled.filter(({ version }) => version === takenOut.inPart);
  const hiding = unsettled.filter(({ version }) => version === takenOut.hiding);
  const shares = inPart.map(({ name }): CarriedDoubt => ({ kind: 'share', carried: name }));
  const weaker = hiding.length === 0 ? undefined : findWeaker(deps, source, beside);
  if (weaker === undefined) return shares;
  return [...shares, ...hiding.map(({ name }): CarriedDoubt => ({ kind: 'hidden', carried: name, ...weaker }))];
}

/** The first point whose accepted reading is gone or gave way to one that would not have counted beside it. */
function findWeaker(
  deps: Dependencies,
  source: string,
  { removed, forgotten }: Beside,
): { readonly driver: string; readonly month: string } | undefined {
  const { reads } = deps.buffer;
  const isOfSnapshot = reads.parts(source, 'accepted')?.some(({ kind }) => kind === 'snapshot') === true;
  const names = isOfSnapshot ? forgotten : undefined;
  // The only reading that there was of its driver and month, and it is to go: no other part had one.
  const isGoing: IsGoing = (driver, cell) =>
    names !== undefined && cell.count === 1 && isCellOf(deps, driver, { cell, names });
  for (const [old, now] of pairDrivers(withInherited(deps, source, removed), reads.drivers(source, 'candidate'))) {
    if (old === undefined || (now !== undefined && isSamePoints(old, now))) continue;
    const month = weakerMonth(old, now, isGoing);
    if (month !== undefined) return { driver: old.id, month: formatMonth(month) };
  }
  return undefined;
}

type Counting = Pick<Cell, 'seconds' | 'nanos' | 'value'>;

type IsGoing = (driver: FoldedDriver, cell: Cell) => boolean;

function weakerMonth(old: PackedDriver, now: PackedDriver | undefined, isGoing: IsGoing): Month | undefined {
  const cells = new Map((now === undefined ? [] : unpackDriver(now).cells).map((cell) => [cell.month, cell]));
  const driver = unpackDriver(old);
  return driver.cells.find((cell) => isWeaker(driver, cell, cells.get(cell.month)) && !isGoing(driver, cell))?.month;
}

/** Whether a reading would not have counted beside the one that is gone, so that another one may count that only the snapshot's part had. */
export function isWeaker({ rule }: Pick<FoldedDriver, 'rule'>, old: Counting, now: Counting | undefined): boolean {
  if (isAdding(rule)) return false;
  if (now === undefined) return true;
  const later = now.seconds - old.seconds || now.nanos - old.nanos;
  switch (rule) {
    case 'last':
      return later < 0;
    case 'first':
      return later > 0;
    case 'min':
      return compareDecimals(now.value, old.value) > 0;
    default:
      return compareDecimals(now.value, old.value) < 0;
  }
}

/** Parts that are new or changed since a carried one went, and have a point of it. */
function countedTwice(
  { buffer }: Dependencies,
  source: string,
  { candidate, removed }: { readonly candidate: readonly ReadPart[]; readonly removed: readonly string[] },
): readonly CarriedDoubt[] {
  const carried = candidate.filter((part) => part.carried);
  const accepted = [source, ...removed].flatMap((one) => acceptedParts(buffer, one));
  const isChanged = changedSince(buffer, accepted);
  // A part that has taken over the content of a carried one is changed, though that content was accepted once.
  const moved = new Set(carried.map(({ hash }) => hash));
  const hasMoved = ({ name, hash }: ReadPart): boolean =>
    moved.has(hash) && !accepted.some((one) => one.name === name && one.hash === hash);
  const others = candidate.filter(
    (part) => part.kind === 'part' && !part.carried && (hasMoved(part) || isChanged(part)),
  );
  const ids = carried.filter(({ settled }) => !settled).map(({ id }) => id);
  if (others.length === 0) return [];
  const nameOf = (id: number): string => candidate.find((part) => part.id === id)?.name ?? '';
  const shared = buffer.parts.sharedPoints(
    source,
    ids,
    others.map(({ id }) => id),
  );
  return shared.map(({ part, other, driver, month }) => ({
    kind: 'twice',
    carried: nameOf(part),
    other: { part: nameOf(other), driver, month: formatMonth(month) },
  }));
}

/** Whether a part has other readings than were accepted of its content: that was another one, or read another way. */
export function changedSince(buffer: LocalBuffer, accepted: readonly AcceptedPart[]): (part: ReadPart) => boolean {
  return (now) => {
    const same = accepted.filter(({ hash }) => hash === now.hash);
    if (same.some((one) => one.kind === 'inSnapshot' || one.part.fingerprint === now.fingerprint)) return false;
    // Two sources may have read one file, each its own drivers of it.
    const before = new Map(same.flatMap((one) => (one.kind === 'read' ? [[one.part.source, one.part] as const] : [])));
    const runs = [...before.values()].map((part) => buffer.parts.drivers(part));
    return !isSameRun(mergeDriverRuns(runs), buffer.parts.drivers(now));
  };
}

function isSameRun(before: Iterable<FoldedDriver>, now: Iterable<FoldedDriver>): boolean {
  const others = now[Symbol.iterator]();
  try {
    for (const driver of before) {
      const other = others.next();
      if (other.done === true || pointsOf(driver) !== pointsOf(other.value)) return false;
    }
    return others.next().done === true;
  } finally {
    others.return?.();
  }
}

function pointsOf(driver: FoldedDriver): string {
  return JSON.stringify([driver.id, driver.rule, driver.cells.map(({ month, value, count }) => [month, value, count])]);
}
