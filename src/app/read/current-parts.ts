/** Which parts of a source count now, and since when each has the content that it has. */
import type { Part } from '../../core/model.ts';
import type { Source } from '../../core/ports.ts';
import type { PartRead, ReadPart, SeenFile } from '../../core/buffer.ts';
import { type KnownFacts, knownFacts, noFacts } from './accepted-parts.ts';
import { isNewer } from './carried.ts';
import { revisedBy } from './revised-at.ts';
import { type KnownSources, removedSources } from './removed-sources.ts';

/** What earlier passes left in the buffer about a source's parts. */
export interface KnownParts {
  /** `undefined`: the source was never accepted. */
  readonly accepted: readonly ReadPart[] | undefined;
  /** The newest read of each part, by name. */
  readonly newest: ReadonlyMap<string, PartRead>;
  readonly seen: ReadonlyMap<string, SeenFile>;
  readonly facts: KnownFacts;
}

export const nothingKnown: KnownParts = {
  accepted: undefined,
  newest: new Map(),
  seen: new Map(),
  facts: noFacts,
};

export function knownParts(sources: KnownSources, source: string): KnownParts {
  const { buffer } = sources;
  const newest = new Map<string, PartRead>();
  for (const kind of ['accepted', 'candidate', 'partial'] as const) {
    for (const part of buffer.reads.parts(source, kind) ?? []) if (part.kind === 'part') newest.set(part.name, part);
  }
  const accepted = buffer.reads.parts(source, 'accepted');
  const facts = knownFacts(buffer, source, removedSources(sources));
  return { accepted, newest, seen: buffer.parts.seen(source), facts };
}

export interface CurrentParts {
  /** All that the source shows. */
  readonly listed: readonly Part[];
  /** Those that count: all of them, or the newest. */
  readonly parts: readonly Part[];
  /** To be remembered, where only the newest counts. */
  readonly seen: ReadonlyMap<string, SeenFile> | undefined;
}

/** @throws AgentError as `Source.parts` and `Source.hash` */
export async function currentParts(
  source: Source,
  known: Pick<KnownParts, 'seen' | 'facts'> & {
    readonly versions: ReadonlyMap<string, string>;
    readonly nowMs: number;
  },
  signal: AbortSignal,
): Promise<CurrentParts> {
  const listed = await source.parts(signal, known.versions);
  signal.throwIfAborted();
  if (source.newestOnly !== true) return { listed, parts: listed, seen: undefined };
  const seen = new Map<string, SeenFile>();
  for (const part of listed) seen.set(part.name, await see(source, part, { ...known, listed, signal }));
  const dated = listed.map((part) => ({ ...part, revisedAtMs: seen.get(part.name)?.revisedAtMs ?? part.revisedAtMs }));
  return { listed, parts: [dated.reduce((best, part) => (isNewer(part, best) ? part : best))], seen };
}

/** A file that was only touched is as old as its content. To know that takes its hash, once for each new version. */
async function see(
  source: Source,
  part: Part,
  known: Pick<KnownParts, 'seen' | 'facts'> & {
    readonly nowMs: number;
    readonly listed: readonly Part[];
    readonly signal: AbortSignal;
  },
): Promise<SeenFile> {
  const { signal, nowMs, listed } = known;
  const before = known.seen.get(part.name);
  if (before?.version === part.version) return before;
  const { hash, version } = (await source.hash?.(part, signal)) ?? { hash: part.version, version: part.version };
  signal.throwIfAborted();
  const firstSeenMs = known.facts.firstSeenMs({ name: part.name, hash }, listed);
  return { version, hash, revisedAtMs: firstSeenMs ?? revisedBy(nowMs, part.revisedAtMs, listed) };
}
