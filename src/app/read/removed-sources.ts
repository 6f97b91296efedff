/**
 * Sources that left the config. What they had accepted stays in the snapshot until it is approved to go, or until another
 * source has the same drivers: then the source was renamed, and the taker is judged against what it takes over.
 */
import { pairDrivers } from '../../core/series/diff.ts';
import type { PackedDriver } from '../../core/series/packing.ts';
import type { SourceSettings } from '../../core/settings.ts';
import type { ChosenPart, ReadPart } from '../../core/stores.ts';
import type { Dependencies } from '../dependencies.ts';
import { carryHistory } from './carried.ts';

export function removedSources(deps: Dependencies): readonly string[] {
  const configured = new Set(deps.settings.sources.map(({ name }) => name));
  return deps.buffer.reads.acceptedSources().filter((source) => !configured.has(source));
}

/** A source's accepted drivers, and those that it takes over from removed sources. */
export function* withInherited(
  deps: Dependencies,
  source: string,
  removed: readonly string[],
): Generator<PackedDriver> {
  let merged: Iterable<PackedDriver> = deps.buffer.reads.drivers(source, 'accepted');
  for (const gone of removed) merged = mergeOrdered(merged, inherited(deps, gone, source));
  yield* merged;
}

function* inherited(deps: Dependencies, from: string, to: string): Generator<PackedDriver> {
  const { buffer } = deps;
  for (const [old, now] of pairDrivers(buffer.reads.drivers(from, 'accepted'), buffer.reads.drivers(to, 'candidate'))) {
    if (old !== undefined && now !== undefined) yield old;
  }
}

function* mergeOrdered(a: Iterable<PackedDriver>, b: Iterable<PackedDriver>): Generator<PackedDriver> {
  for (const [left, right] of pairDrivers(a, b)) yield (left ?? right) as PackedDriver;
}

/** What removed sources carried, parts and history, goes on being carried by the source that takes their drivers over. */
export function inheritCarried(
  deps: Dependencies,
  settings: SourceSettings,
  removed: readonly string[],
): readonly ChosenPart[] {
  const { buffer } = deps;
  const candidate = buffer.reads.parts(settings.name, 'candidate') ?? [];
  const names = new Set(candidate.map(({ name }) => name));
  const parts = candidate.filter(({ kind }) => kind === 'part');
  // Content that is back under another name is not carried beside it; what was there twice stays there twice.
  const present = parts.filter(({ carried }) => !carried).map(({ hash }) => hash);
  return removed.flatMap((gone) => {
    if (!sharesDrivers(deps, gone, settings.name)) return [];
    const accepted = buffer.reads.parts(gone, 'accepted') ?? [];
    const renamed = [...present];
    for (const { hash } of accepted.filter((part) => !part.carried)) take(renamed, hash);
    const carried = accepted.filter((part) => part.carried && !names.has(part.name) && !take(renamed, part.hash));
    const copies = carried.map((part) => copyPart(deps, settings.name, part));
    if (settings.history !== 'carry') return copies;
    return [
      ...copies,
      ...carryHistory(deps, settings, {
        parts: [...parts, ...copies],
        accepted: buffer.reads.drivers(gone, 'accepted'),
      }),
    ];
  });
}

/** Takes one of equal hashes out of a list; whether it was there. */
function take(hashes: string[], hash: string): boolean {
  const at = hashes.indexOf(hash);
  if (at >= 0) hashes.splice(at, 1);
  return at >= 0;
}

function copyPart({ buffer }: Dependencies, source: string, part: ReadPart): ChosenPart {
  const writer = buffer.parts.begin(source, { name: part.name, kind: 'part' }, part.fingerprint);
  writer.add(buffer.parts.drivers(part));
  const { version, hash, revisedAtMs, rows, rejects } = part;
  const { id } = writer.commit({ version, hash, revisedAtMs }, { rows, rejects });
  return { id, carried: true, settled: part.settled };
}

/** Removed sources that have drivers of this one's candidate. */
export function inheritedFrom(deps: Dependencies, source: string, removed: readonly string[]): readonly string[] {
  return removed.filter((gone) => sharesDrivers(deps, gone, source));
}

function sharesDrivers(deps: Dependencies, from: string, to: string): boolean {
  for (const _driver of inherited(deps, from, to)) return true;
  return false;
}
