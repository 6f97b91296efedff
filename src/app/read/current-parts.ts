/** Which parts of a source count now, and since when each has the content that it has. */
import type { Part } from '../../core/model.ts';
import type { Source } from '../../core/ports.ts';
import type { PartRead, ReadPart, SeenFile } from '../../core/buffer.ts';
import { type KnownFacts, knownFacts, noFacts } from './accepted-parts.ts';
import { isNewer } from './carried.ts';
import { type KnownSources, removedSources } from './removed-sources.ts';

/** What earlier passes left in the buffer about a source's parts. */
export interface KnownParts {
  /** `undefined`: the source was never accepted. */
  readonly accepted: readonly ReadPart[] | undefined;
  /** The accepted read has drivers. */
  readonly hasDrivers: boolean;
  /** The newest read of each part, by name. */
  readonly newest: ReadonlyMap<string, PartRead>;
  readonly seen: ReadonlyMap<string, SeenFile>;
  readonly facts: KnownFacts;
}

export const nothingKnown: KnownParts = {
  accepted: undefined,
  hasDrivers: false,
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
  const hasDrivers = buffer.parts.earliestMonth((accepted ?? []).map(({ id }) => id)) !== undefined;
  const facts = knownFacts(buffer, source, removedSources(sources));
  return { accepted, hasDrivers, newest, seen: buffer.parts.seen(source), facts };
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

/**
 * A file that was only touched is as old as its content. To know that takes its hash, once for each new version. A time that was noted by
 * a clock which was set back since is ahead of it now, and is noted anew: else that file would hide all that come until then.
 */
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
  const isSame = before?.version === part.version;
  if (isSame && before.revisedAtMs <= nowMs) return before;
  const { hash, version } = isSame
    ? before
    : ((await source.hash?.(part, signal)) ?? { hash: part.version, version: part.version });
  signal.throwIfAborted();
  const firstSeenMs = known.facts.firstSeenMs({ name: part.name, hash }, listed) ?? Infinity;
  const revisedAtMs = firstSeenMs <= nowMs ? firstSeenMs : revisedBy(nowMs, part.revisedAtMs, listed);
  return { version, hash, revisedAtMs };
}

/** About a microsecond: the smallest power of two that a moment of our time can be told apart by is a quarter of it. */
const stepMs = 1 / 1024;

/**
 * When content was revised that is first seen now. A time ahead of the clock counts as now: else its part would win every tie from
 * then on. Parts that are ahead together stay in the order of their times, as a clock that is right sees them: whichever is read first.
 */
export function revisedBy(nowMs: number, revisedAtMs: number, listed: readonly Part[]): number {
  if (revisedAtMs <= nowMs) return revisedAtMs;
  const isBefore = (part: Part): boolean => part.revisedAtMs > nowMs && part.revisedAtMs < revisedAtMs;
  return nowMs + listed.filter(isBefore).length * stepMs;
}
