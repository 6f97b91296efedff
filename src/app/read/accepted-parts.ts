/** The parts that a source's accepted read stands for, also where all of it is a snapshot, and what is known of them. */
import type { LocalBuffer, ReadPart } from '../../core/buffer.ts';

/** Facts about a part's content. `undefined`: the part is known from a snapshot, which does not say. */
export interface PartFacts {
  readonly name: string;
  readonly hash: string | undefined;
  readonly revisedAtMs: number;
  readonly endsWithLineEnd: boolean | undefined;
  readonly rejects: number | undefined;
}

/** An accepted part: read as it was, or only known from a snapshot that stands for all parts of its source together. */
export type AcceptedPart = PartFacts &
  ({ readonly kind: 'read'; readonly part: ReadPart } | { readonly kind: 'inSnapshot'; readonly snapshot: ReadPart });

type Stores = Pick<LocalBuffer, 'parts' | 'reads'>;

/** The parts of a source's accepted read, by name. */
export function acceptedParts(buffer: Stores, source: string): readonly AcceptedPart[] {
  const accepted = buffer.reads.parts(source, 'accepted') ?? [];
  return accepted.flatMap((part): readonly AcceptedPart[] => {
    if (part.kind === 'snapshot') return partsOfSnapshot(buffer, part);
    return part.kind === 'part' ? [{ ...factsOf(part), kind: 'read', part }] : [];
  });
}

/** A part that a snapshot stands for and that was read into this buffer counts as it was read. */
function partsOfSnapshot(buffer: Stores, snapshot: ReadPart): readonly AcceptedPart[] {
  const { source } = snapshot;
  const reads = (['candidate', 'partial'] as const).flatMap((kind) => buffer.reads.parts(source, kind) ?? []);
  return buffer.parts.originsOf(snapshot.id).map((origin): AcceptedPart => {
    const { id, name, hash, revisedAtMs, endsWithLineEnd, rejects } = origin;
    // An earlier read of a part that has grown since had its number too.
    const part = reads.find((one) => one.kind === 'part' && one.origin === id && one.hash === (hash ?? ''));
    if (part === undefined) return { kind: 'inSnapshot', name, hash, revisedAtMs, endsWithLineEnd, rejects, snapshot };
    // What was approved later than the snapshot does not hold for it.
    return { ...factsOf(part), kind: 'read', part: { ...part, carried: false, settled: false } };
  });
}

function factsOf({ name, hash, revisedAtMs, endsWithLineEnd, rejects }: ReadPart): PartFacts {
  return { name, hash: hash === '' ? undefined : hash, revisedAtMs, endsWithLineEnd, rejects };
}

/**
 * How many rejects the accepted read of a source had, with those of removed sources that it takes drivers over from; `undefined` where
 * that is not known.
 * @param candidate the parts of the read that is compared with it
 */
export function acceptedRejects(
  buffer: Stores,
  { source, gone, candidate }: { source: string; gone: readonly string[]; candidate: readonly ReadPart[] },
): number | undefined {
  const isShown = ({ name, hash }: AcceptedPart): boolean =>
    candidate.some((part) => part.name === name || part.hash === hash);
  let all: number | undefined = 0;
  const add = (rejects: number | undefined): void => {
    all = all === undefined || rejects === undefined ? undefined : all + rejects;
  };
  for (const { rejects } of acceptedParts(buffer, source)) add(rejects);
  for (const from of gone) {
    const parts = acceptedParts(buffer, from);
    const isSamePlace = parts.some(isShown);
    // How many of them lie among the drivers that another place has now, nothing says.
    for (const { rejects } of parts) add(isSamePlace || rejects === 0 ? rejects : undefined);
  }
  return all;
}

/** Facts about the files of a source, from its accepted read and from accepted reads of sources that left the config. */
export interface KnownFacts {
  /** Those of the source, and of removed sources that had parts of the same names: they were the same place. */
  readonly ofPlace: (listed: readonly { readonly name: string }[]) => readonly PartFacts[];
  /**
   * When the content of a part was first seen, by its modification time: known by its name, or by its content where the
   * name is new and the part that had the content is gone.
   */
  readonly firstSeenMs: (
    part: { readonly name: string; readonly hash: string },
    listed: readonly { readonly name: string }[],
  ) => number | undefined;
}

export const noFacts: KnownFacts = { ofPlace: () => [], firstSeenMs: () => undefined };

export function knownFacts(buffer: Stores, source: string, removed: readonly string[]): KnownFacts {
  const own = factsOfSource(buffer, source);
  const others = removed.map((name) => factsOfSource(buffer, name));
  const all = [own, ...others].flatMap(({ accepted, seen }) => [...accepted, ...seen]);
  return {
    ofPlace(listed) {
      const names = new Set(listed.map(({ name }) => name));
      const same = others.filter(({ accepted, seen }) => [...accepted, ...seen].some(({ name }) => names.has(name)));
      return [own, ...same].flatMap(({ accepted }) => accepted);
    },
    firstSeenMs({ name, hash }, listed) {
      const same = all.filter((one) => one.hash === hash);
      const byName = same.find((one) => one.name === name);
      if (byName !== undefined) return byName.revisedAtMs;
      if (all.some((one) => one.name === name)) return undefined;
      return same.find((one) => listed.every((part) => part.name !== one.name))?.revisedAtMs;
    },
  };
}

/** `seen`: files of a source where only the newest part counts, also those that were never accepted. */
function factsOfSource(
  buffer: Stores,
  source: string,
): { readonly accepted: readonly PartFacts[]; readonly seen: readonly PartFacts[] } {
  const seen = [...buffer.parts.seen(source)].map(([name, { hash, revisedAtMs }]) => ({
    name,
    hash,
    revisedAtMs,
    endsWithLineEnd: undefined,
    rejects: undefined,
  }));
  return { accepted: acceptedParts(buffer, source), seen };
}
