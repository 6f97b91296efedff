/** Puts a source's candidate together: the parts that were read, those that are carried, and carried history. */
import type { Cell, FoldedDriver, PackedDriver } from '../../core/series/packing.ts';
import { unpackDriver } from '../../core/series/packing.ts';
import { accumulates } from '../../core/guard/guard.ts';
import { AgentError } from '../../core/errors.ts';
import type { Month } from '../../core/model.ts';
import { formatMonth } from '../../core/time/month.ts';
import type { SourceSettings } from '../../core/settings.ts';
import type { PartRead, ReadPart } from '../../core/stores.ts';
import type { Dependencies } from '../dependencies.ts';

/** The version of a part that was taken out of a snapshot: no file has it. */
const takenOut = 'taken out of a snapshot';

/** A part that a candidate is made of. */
export type Choice = { readonly id: number; readonly carried: boolean };

interface DatedPart {
  readonly name: string;
  readonly revisedAtMs: number;
}

/** What a source showed and what was read of it. */
export interface Found {
  readonly present: readonly PartRead[];
  readonly listed: readonly { readonly name: string }[];
  readonly newestOnly: boolean;
}

/** Sets the source's candidate, or drops it where it would equal the accepted read. */
export function assembleCandidate(
  deps: Dependencies,
  settings: SourceSettings,
  found: Found,
): { disappeared: readonly string[]; mayCountTwice: boolean } {
  const { buffer } = deps;
  const source = settings.name;
  const accepted = buffer.readParts(source, 'accepted');
  const before = buffer.readParts(source, 'candidate') ?? accepted ?? [];
  const gone = settings.removed === 'carry' ? goneParts(deps, before, found) : [];
  // Where only the newest part counts, one that is gone still counts while nothing newer came.
  const newest = found.newestOnly
    ? gone.find((part) => found.present.every((other) => isNewer(part, other)))
    : undefined;
  const carried = found.newestOnly ? (newest === undefined ? [] : [newest]) : gone;
  const present = newest === undefined ? found.present : [];

  const choices: Choice[] = [
    ...present.map(({ id }) => ({ id, carried: false })),
    ...carried.map(({ id }) => ({ id, carried: true })),
  ];
  buffer.keepRejectsOf(
    source,
    [...present, ...carried].map(({ name }) => name),
  );
  if (accepted !== undefined && sameParts(choices, accepted)) {
    buffer.dropRead(source, 'candidate');
  } else if (!isAssembled(deps, source, choices)) {
    const history =
      settings.history === 'carry' && accepted !== undefined
        ? carryHistory(deps, settings, { choices, accepted: buffer.drivers(source, 'accepted') })
        : [];
    buffer.setRead(source, 'candidate', [...choices, ...history]);
    buffer.setFact(`basis ${source}`, basisOf(deps, source));
    buffer.setFact(`inherited ${source}`, 'no');
    if (carried.length > 0 || new Set(settings.mapping.drivers.map(({ rule }) => rule)).size > 1) {
      refuseMixedRules(deps, source, carried);
    }
  }
  buffer.dropRead(source, 'partial');
  return {
    disappeared: carried.filter((part) => !part.carried).map(({ name }) => name),
    mayCountTwice:
      !found.newestOnly && accumulates(settings.mapping) && isSwapped(deps, accepted, { present, carried }),
  };
}

/**
 * Readings of a month that were collapsed by one rule cannot be collapsed on by another. That takes a carried part from
 * before its source's `collapse` changed, or two entries in two files.
 * @throws AgentError `source.unreadable`
 */
function refuseMixedRules({ buffer }: Dependencies, source: string, carried: readonly ReadPart[]): void {
  const mixed = buffer.mixedRules(source, 'candidate');
  if (mixed === undefined) return;
  const { driver, month, folds } = mixed;
  const [first, second] = folds.map(({ part, rule }) => `${rule} in ${part}`);
  const gone = folds.find(({ part }) => carried.some(({ name }) => name === part));
  // So that it can be forgotten, also where it went in this very look.
  const isGone = new Set(carried.map(({ id }) => id));
  const accepted = buffer.readParts(source, 'accepted');
  if (accepted?.some(({ id, carried: isCarried }) => isGone.has(id) && !isCarried) === true) {
    const parts = accepted.map((part) => ({ id: part.id, carried: part.carried || isGone.has(part.id) }));
    buffer.setRead(source, 'accepted', parts);
  }
  throw new AgentError(
    'source.unreadable',
    `driver "${driver}" has two rules in ${formatMonth(month)}: collapse ${first}, and ${second}`,
    {
      hint:
        gone === undefined
          ? 'give the entries that make this id the same collapse, or different ids'
          : `${gone.part} is gone, and what is carried of it cannot be collapsed anew: put it back, or drop it with "driver-sync forget ${source} ${gone.part}"`,
    },
  );
}

/** Whether the candidate is made of these parts already, and on the same accepted read: a held one is not made anew. */
function isAssembled(deps: Dependencies, source: string, choices: readonly Choice[]): boolean {
  const { buffer } = deps;
  const candidate = buffer.readParts(source, 'candidate');
  return (
    candidate !== undefined && sameParts(choices, candidate) && buffer.fact(`basis ${source}`) === basisOf(deps, source)
  );
}

/** What a candidate takes carried data from: the accepted reads of its source, and of those that left the config. */
function basisOf({ buffer, settings }: Dependencies, source: string): string {
  const configured = new Set(settings.sources.map(({ name }) => name));
  const others = buffer.acceptedSources().filter((name) => name === source || !configured.has(name));
  return JSON.stringify(others.map((name) => [name, buffer.readParts(name, 'accepted')?.map(({ id }) => id)]));
}

/** The newer of two parts of which only one counts. */
export function isNewer(a: DatedPart, b: DatedPart): boolean {
  return a.revisedAtMs > b.revisedAtMs || (a.revisedAtMs === b.revisedAtMs && a.name > b.name);
}

/** Against what was accepted, a part went and another came; or what a snapshot held of a gone part was taken out of it. */
function isSwapped(
  { buffer }: Dependencies,
  accepted: readonly ReadPart[] | undefined,
  { present, carried }: { present: readonly PartRead[]; carried: readonly PartRead[] },
): boolean {
  if (accepted === undefined) return false;
  if (carried.some(({ version }) => version === takenOut)) return true;
  const known = new Set(
    accepted.flatMap(({ id, name }) => [name, ...buffer.partOrigins(id).map((origin) => origin.name)]),
  );
  const wasCarried = new Set(accepted.filter((part) => part.carried).map(({ name }) => name));
  return carried.some(({ name }) => !wasCarried.has(name)) && present.some(({ name }) => !known.has(name));
}

function sameParts(choices: readonly Choice[], accepted: readonly ReadPart[]): boolean {
  if (accepted.some(({ kind }) => kind === 'snapshot')) return false;
  const parts = accepted.filter(({ kind }) => kind === 'part');
  if (parts.length !== choices.length) return false;
  return choices.every(({ id, carried }) => parts.some((part) => part.id === id && part.carried === carried));
}

/** Parts of the read before that the source does not show any more; a part that was only renamed is not among them. */
function goneParts(deps: Dependencies, before: readonly ReadPart[], { present, listed }: Found): readonly ReadPart[] {
  const names = new Set(listed.map(({ name }) => name));
  const beforeNames = new Set(before.map(({ name }) => name));
  // One new part is the new name of one old part only.
  const newHashes = present.filter(({ name }) => !beforeNames.has(name)).map(({ hash }) => hash);
  const gone = before.filter(({ kind, name, hash }) => {
    if (kind !== 'part' || names.has(name)) return false;
    const renamed = newHashes.indexOf(hash);
    if (renamed >= 0) newHashes.splice(renamed, 1);
    return renamed < 0;
  });
  const fromSnapshots = before.flatMap((part) => (part.kind === 'snapshot' ? partsOfSnapshot(deps, part, names) : []));
  return [...gone, ...fromSnapshots];
}

/**
 * After the buffer was rebuilt, an accepted read is one `snapshot` part. What it holds of parts that the source does not
 * show any more is taken out of it, so that those can be carried; a part that no point came from is still one that is gone.
 */
function partsOfSnapshot(
  { buffer }: Dependencies,
  snapshot: ReadPart,
  names: ReadonlySet<string>,
): readonly ReadPart[] {
  const origins = buffer.partOrigins(snapshot.id).filter(({ name }) => !names.has(name));
  const found = new Map<string, FoldedDriver[]>(origins.map(({ name }) => [name, []]));
  if (found.size === 0) return [];
  for (const driver of buffer.partDrivers(snapshot)) {
    const byPart = Map.groupBy(driver.cells, (cell: Cell) => buffer.origin(cell.part).name);
    for (const [name, cells] of byPart) found.get(name)?.push({ ...driver, cells });
  }
  return [...found].map(([name, drivers]) => {
    const writer = buffer.beginPart(snapshot.source, { name, kind: 'part' }, snapshot.fingerprint);
    writer.add(drivers);
    const content = { version: takenOut, hash: `gone:${name}`, revisedAtMs: snapshot.revisedAtMs };
    return { ...writer.commit(content, { rows: 0, rejects: 0 }), carried: false };
  });
}

/**
 * The accepted months before the earliest month of a candidate's parts, for every accepted driver, as a part of it. Where
 * a source may be empty, parts without any month show a window that is: all accepted months lie before it.
 */
export function carryHistory(
  { buffer }: Dependencies,
  { name, mayBeEmpty }: SourceSettings,
  { choices, accepted }: { choices: readonly Choice[]; accepted: Iterable<PackedDriver> },
): readonly Choice[] {
  const isWindow = mayBeEmpty && choices.length > 0;
  const earliest = buffer.earliestMonth(choices.map(({ id }) => id)) ?? (isWindow ? Infinity : undefined);
  if (earliest === undefined) return [];
  const writer = buffer.beginPart(name, { name: '', kind: 'history' }, '');
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
  return [{ id, carried: false }];
}

function earlierThan(driver: FoldedDriver, month: Month): FoldedDriver {
  return { ...driver, cells: driver.cells.filter((cell) => cell.month < month) };
}
