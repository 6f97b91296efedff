/**
 * Sources that left the config. What they had accepted stays in the snapshot until it is approved to go, or until another
 * source has the same drivers: then the source was renamed, and the taker is judged against what it takes over.
 */
import { pairDrivers } from '../../core/series/diff.ts';
import { mergeDriverRuns } from '../../core/series/merge.ts';
import type { PackedDriver } from '../../core/series/packing.ts';
import type { PartRead, ReadPart } from '../../core/buffer.ts';
import type { Dependencies } from '../dependencies.ts';
import { type AcceptedPart, acceptedParts } from './accepted-parts.ts';
import { type Found, acceptedWithout } from './carried.ts';

/** The sources of the config, and what earlier passes left of any source. */
export interface KnownSources {
  readonly settings: Pick<Dependencies['settings'], 'sources'>;
  readonly buffer: Pick<Dependencies['buffer'], 'parts' | 'reads'>;
}

export function removedSources({ settings, buffer }: KnownSources): readonly string[] {
  return notIn(settings, buffer.reads.acceptedSources());
}

/** Sources that left the config and were read before, whatever became of that. */
export function formerSources({ settings, buffer }: KnownSources): readonly string[] {
  return notIn(settings, buffer.reads.readSources());
}

function notIn({ sources }: KnownSources['settings'], names: readonly string[]): readonly string[] {
  const configured = new Set(sources.map(({ name }) => name));
  return names.filter((name) => !configured.has(name));
}

/** A source's accepted drivers, and those that it takes over from removed sources. @param forgotten parts of its own that are left out */
export function withInherited(
  deps: Dependencies,
  source: string,
  removed: readonly string[],
  forgotten?: ReadonlySet<string>,
): Iterable<PackedDriver> {
  const { reads } = deps.buffer;
  return mergeDriverRuns([
    forgotten === undefined ? reads.drivers(source, 'accepted') : acceptedWithout(deps, source, forgotten),
    ...removed.map((gone) => inherited(deps, gone, source)),
  ]);
}

function* inherited({ buffer }: Dependencies, from: string, to: string): Generator<PackedDriver> {
  for (const [old, now] of pairDrivers(buffer.reads.drivers(from, 'accepted'), buffer.reads.drivers(to, 'candidate'))) {
    if (old !== undefined && now !== undefined) yield old;
  }
}

/** Drivers that a source of the config has accepted are not the removed one's any more. */
export function yieldTaken({ buffer, settings }: KnownSources, source: string): void {
  const present = [...settings.sources.map(({ name }) => name), source].map(
    (name) => ({ source: name, kind: 'accepted' }) as const,
  );
  const taken = [...buffer.reads.sharedDrivers(present)].filter(({ sources }) => sources.includes(source));
  if (taken.length === 0) return;
  buffer.reads.removeDrivers(
    source,
    taken.map(({ driver }) => driver),
  );
}

/** What a source takes over of a removed one. */
export interface Takeover {
  readonly from: string;
  /** The accepted parts of the removed source that have drivers of the taker. */
  readonly parts: readonly AcceptedPart[];
  /** The taker shows some of these parts: it is the same place under another key, and the others are gone from it. */
  readonly isSamePlace: boolean;
  /** Where several sources share in it, each takes the drivers that it has itself; `undefined`: it takes all. */
  readonly drivers: ReadonlySet<string> | undefined;
}

interface Read {
  readonly source: string;
  readonly found: Found;
}

/** What every source takes over of removed ones, once all of them were read: a driver of theirs is in its present parts. */
export function findTakeovers(deps: Dependencies, reads: readonly Read[]): ReadonlyMap<string, readonly Takeover[]> {
  const { buffer } = deps;
  const takeovers = new Map<string, Takeover[]>();
  for (const from of removedSources(deps)) {
    // A crash may have come between the accepted read of a taker and this.
    yieldTaken(deps, from);
    const shared = ({ source, found }: Read, parts: readonly ReadPart[]): Iterable<string> =>
      buffer.parts.sharedDrivers({ source, parts: idsOf(found.present) }, { source: from, parts: idsOf(parts) });
    const accepted = buffer.reads.parts(from, 'accepted') ?? [];
    const takers = reads.filter((read) => hasAny(shared(read, accepted)));
    const all = acceptedParts(buffer, from);
    const seen = buffer.parts.seen(from);
    for (const taker of takers) {
      const others = takers.filter((one) => one !== taker);
      // Which drivers a part has that is only known from a snapshot is not known: who shows the part has them.
      const isShared = (part: AcceptedPart): boolean =>
        part.kind === 'read' ? hasAny(shared(taker, [part.part])) : others.every(({ found }) => !shows(found, part));
      const takeover = {
        from,
        parts: others.length === 0 ? all : all.filter((part) => shows(taker.found, part) || isShared(part)),
        isSamePlace:
          all.some((part) => shows(taker.found, part)) || taker.found.listed.some(({ name }) => seen.has(name)),
        drivers: others.length === 0 ? undefined : new Set(shared(taker, accepted)),
      };
      takeovers.set(taker.source, [...(takeovers.get(taker.source) ?? []), takeover]);
    }
  }
  return takeovers;
}

/** Whether a source has a part, under its name or another one. */
function shows({ listed, present }: Found, { name, hash }: AcceptedPart): boolean {
  return listed.some((one) => one.name === name) || present.some((one) => one.hash === hash);
}

function idsOf(parts: readonly PartRead[]): readonly number[] {
  return parts.map(({ id }) => id);
}

/** Removed sources that have drivers of this one's candidate. */
export function inheritedFrom(deps: Dependencies, source: string, removed: readonly string[]): readonly string[] {
  return removed.filter((gone) => hasAny(inherited(deps, gone, source)));
}

function hasAny(items: Iterable<unknown>): boolean {
  for (const _item of items) return true;
  return false;
}
