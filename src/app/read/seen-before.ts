/**
 * What kept snapshots say of files of which only the newest counts. A buffer that was lost, or that a source is new in, knows the parts of the last
 * snapshot alone: an older export that was touched since would be the newest file.
 */
import { setImmediate as turn } from 'node:timers/promises';
import type { SeenFile } from '../../core/buffer.ts';
import type { PushRecord } from '../../core/ledger.ts';
import type { Source } from '../../core/ports.ts';
import type { OriginFacts } from '../../core/series/packing.ts';
import type { Dependencies } from '../dependencies.ts';
import { keptDigests, openTitle } from '../push/retention.ts';
import { acceptedParts } from './accepted-parts.ts';
import { removedSources } from './removed-sources.ts';

const dayMs = 86_400_000;

/** Room for the last snapshot of each day of a year and more. To open one on this disk takes 0.1 ms. */
const openedMax = 500;
/** A shared archive fetches a snapshot whole to open it, onto a disk that has to have room for them all. */
const openedBytesMax = 1 << 30;

/** Notes the files of kept snapshots as seen, for sources of which this buffer has seen none. Their hashes are compared at the next look. */
export async function recallSeen(deps: Dependencies, signal: AbortSignal): Promise<void> {
  const { buffer, settings } = deps;
  const removed = removedSources(deps);
  const mayBeKnown = (name: string): boolean =>
    removed.length > 0 || buffer.state().isBare === true || buffer.reads.parts(name, 'accepted') !== undefined;
  const recalled = settings.sources.flatMap((one) => {
    const { name } = one;
    if (buffer.parts.seen(name).size > 0) return [];
    const source = deps.openSource(one);
    return source.newestOnly === true && mayBeKnown(name) ? [new Recalled(deps, { name, source, removed })] : [];
  });
  if (recalled.length === 0) return;
  for (const digest of await toOpen(deps)) {
    const snapshot = await openTitle(deps, digest);
    for (const one of recalled) one.add(snapshot?.origins ?? []);
    await turn();
    signal.throwIfAborted();
  }
  for (const { name, files } of recalled) if (files.size > 0) buffer.parts.setSeen(name, files);
}

/** Of one source. Each file is known as it was last: content that it had before that may come back as new. */
class Recalled {
  readonly name: string;
  readonly files = new Map<string, SeenFile>();
  readonly #source: Source;
  readonly #others: ReadonlySet<string>;
  /** What the buffer knows better. */
  readonly #known: ReadonlySet<string>;

  constructor(
    { buffer, settings }: Dependencies,
    { name, source, removed }: { readonly name: string; readonly source: Source; readonly removed: readonly string[] },
  ) {
    this.name = name;
    this.#source = source;
    this.#others = new Set(settings.sources.map((one) => one.name).filter((one) => one !== name));
    const known = [name, ...removed].flatMap((one) => [
      ...acceptedParts(buffer, one).map((part) => part.name),
      ...buffer.parts.seen(one).keys(),
    ]);
    this.#known = new Set(known);
  }

  /** @param origins those of a source that left the config count too: it may have been this one under another key */
  add(origins: readonly OriginFacts[]): void {
    for (const { source, name, hash = '', revisedAtMs } of origins.toSorted((a, b) => this.#compare(a, b))) {
      const called = this.#source.nowCalled?.(name) ?? name;
      if (hash === '' || this.#others.has(source) || this.#known.has(called) || this.files.has(called)) continue;
      // No file has this version.
      this.files.set(called, { version: '', hash, revisedAtMs });
    }
  }

  /** Parts of the read before those that only older months name, and the one that was read later. */
  #compare(a: OriginFacts, b: OriginFacts): number {
    const rank = ({ source, isPart = true }: OriginFacts): number => Number(source !== this.name) * 2 + Number(!isPart);
    return rank(a) - rank(b) || b.id - a.id;
  }
}

/** Digests, newest first. Where there are many, the last snapshot of each day goes before others: what is touched is mostly days old. */
async function toOpen(deps: Dependencies): Promise<readonly string[]> {
  const { ledger, archive } = deps;
  const kept = await keptDigests(deps, (await ledger.state()).ageing?.agedMs);
  const byDigest = new Map<string, PushRecord>();
  for (const push of await ledger.pushes.all()) {
    const { outcome, rollbackOf, digest } = push;
    // The snapshot of a rollback is that of the push that it went back to, and is as old.
    if (outcome !== 'acknowledged' || rollbackOf !== undefined || !kept.has(digest) || byDigest.has(digest)) continue;
    byDigest.set(digest, push);
  }
  const days = Map.groupBy(byDigest.values(), ({ atMs }) => Math.floor(atMs / dayMs));
  const lastOfDays = [...days.values()].map(([last]) => last!.digest);
  const chosen = new Set<string>();
  let bytes = 0;
  for (const digest of new Set([...lastOfDays, ...byDigest.keys()])) {
    bytes += await archive.storedBytes(digest);
    if (chosen.size >= openedMax || bytes > openedBytesMax) break;
    chosen.add(digest);
  }
  return [...byDigest.keys()].filter((digest) => chosen.has(digest));
}
