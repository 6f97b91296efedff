/**
 * Sources that left the config. What they had accepted stays in the snapshot until it is approved to go, or until another
 * source has the same drivers: then the source was renamed, and the taker is judged against what it takes over.
 */
import { pairDrivers } from '../../core/series/diff.ts';
import type { PackedDriver } from '../../core/series/packing.ts';
import type { SourceSettings } from '../../core/settings.ts';
import { compareUtf8 } from '../../core/series/snapshot.ts';
import type { ReadPart } from '../../core/stores.ts';
import { type Choice, carryHistory } from '../read/candidate.ts';
import type { Dependencies } from '../dependencies.ts';

export function departedSources(deps: Dependencies): readonly string[] {
  const configured = new Set(deps.settings.sources.map(({ name }) => name));
  return deps.buffer.acceptedSources().filter((source) => !configured.has(source));
}

/** A source's accepted drivers, and those that it takes over from departed sources. */
export function* withInherited(
  deps: Dependencies,
  source: string,
  departed: readonly string[],
): Generator<PackedDriver> {
  let merged: Iterable<PackedDriver> = deps.buffer.drivers(source, 'accepted');
  for (const gone of departed) merged = mergeOrdered(merged, inherited(deps, gone, source));
  yield* merged;
}

function* inherited(deps: Dependencies, from: string, to: string): Generator<PackedDriver> {
  const { buffer } = deps;
  for (const [old, now] of pairDrivers(buffer.drivers(from, 'accepted'), buffer.drivers(to, 'candidate'))) {
    if (old !== undefined && now !== undefined) yield old;
  }
}

function* mergeOrdered(a: Iterable<PackedDriver>, b: Iterable<PackedDriver>): Generator<PackedDriver> {
  for (const [left, right] of pairDrivers(a, b)) yield (left ?? right) as PackedDriver;
}

/** What a departed source carried, parts and history, goes on being carried by the source that takes its drivers over. */
export function inheritCarried(deps: Dependencies, settings: SourceSettings, departed: readonly string[]): void {
  const { buffer } = deps;
  const source = settings.name;
  // A candidate that was held has it since the pass that put it together.
  if (departed.length === 0 || buffer.fact(`inherited ${source}`) === 'yes') return;
  const candidate = buffer.readParts(source, 'candidate') ?? [];
  const names = new Set(candidate.map(({ name }) => name));
  const choices: Choice[] = [...candidate];
  const parts = candidate.filter(({ kind }) => kind === 'part');
  for (const gone of departed) {
    if (!sharesDrivers(deps, gone, source)) continue;
    for (const part of buffer.readParts(gone, 'accepted') ?? []) {
      if (part.carried && !names.has(part.name)) choices.push(copyPart(deps, source, part));
    }
    if (settings.history !== 'carry') continue;
    choices.push(...carryHistory(deps, settings, { choices: parts, accepted: buffer.drivers(gone, 'accepted') }));
  }
  if (choices.length > candidate.length) buffer.setRead(source, 'candidate', choices);
  buffer.setFact(`inherited ${source}`, 'yes');
}

function copyPart({ buffer }: Dependencies, source: string, part: ReadPart): Choice {
  const writer = buffer.beginPart(source, { name: part.name, kind: 'part' }, part.fingerprint);
  writer.add(buffer.partDrivers(part));
  const { version, hash, revisedAtMs, rows, rejects } = part;
  const { id } = writer.commit({ version, hash, revisedAtMs }, { rows, rejects });
  return { id, carried: true };
}

function sharesDrivers(deps: Dependencies, from: string, to: string): boolean {
  for (const _driver of inherited(deps, from, to)) return true;
  return false;
}

/** The drivers of several reads in one order. */
export function* mergeSources<T extends PackedDriver>(runs: readonly Iterable<T>[]): Generator<T> {
  const iterators = runs.map((run) => run[Symbol.iterator]());
  try {
    const heads = iterators.map((iterator) => iterator.next());
    for (;;) {
      let first = -1;
      for (const [index, head] of heads.entries()) {
        const best = heads[first];
        if (head.done === true) continue;
        if (best === undefined || best.done === true || compareUtf8(head.value.id, best.value.id) < 0) first = index;
      }
      const head = heads[first];
      if (head === undefined || head.done === true) return;
      yield head.value;
      heads[first] = (iterators[first] as Iterator<T>).next();
    }
  } finally {
    for (const iterator of iterators) iterator.return?.();
  }
}
