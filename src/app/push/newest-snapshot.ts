/** The newest snapshot: what every source has accepted, built once. */
import { isAgentError } from '../../core/errors.ts';
import { mergeDriverRuns } from '../../core/series/merge.ts';
import type { Snapshot, SnapshotDriver } from '../../core/ledger.ts';
import type { Dependencies } from '../dependencies.ts';
import { openTitle } from './retention.ts';

/** Builds what sources have accepted into a snapshot in the archive, or finds that it is there already. */
export async function buildSnapshot(deps: Dependencies): Promise<Snapshot> {
  const { buffer, archive, settings } = deps;
  const { shouldDeleteMissing, stamp } = settings;
  const digest = builtDigest(deps);
  const known = digest === undefined ? undefined : await openTitle(deps, digest);
  if (known !== undefined) return known;
  const from = madeFrom(deps);
  const snapshot = await archive.write(acceptedDrivers(deps), { shouldDeleteMissing, stamp }, buffer.reads.origins());
  buffer.setState({ built: { from, digest: snapshot.digest } });
  deps.observe({ kind: 'snapshot.written', digest: snapshot.digest });
  return snapshot;
}

/** Reads the newest snapshot, which was built. One that is damaged is built anew, since the sources have all of it. */
export async function withNewest<T>(
  deps: Dependencies,
  snapshot: Snapshot,
  read: (snapshot: Snapshot) => Promise<T>,
): Promise<T> {
  try {
    return await read(snapshot);
  } catch (error) {
    if (!isAgentError(error, 'snapshot.damaged')) throw error;
    const { digest } = snapshot;
    deps.log.warn('the snapshot to push was damaged and is built again', { digest, cause: error.message });
    deps.buffer.setState({ built: undefined });
    return await read(await buildSnapshot(deps));
  }
}

/** The digest of the newest snapshot, where it was built already. */
export function builtDigest(deps: Dependencies): string | undefined {
  const { built } = deps.buffer.state();
  return built?.from === madeFrom(deps) ? built.digest : undefined;
}

function madeFrom({ buffer, settings }: Dependencies): string {
  return JSON.stringify([buffer.reads.revision(), settings.shouldDeleteMissing, settings.stamp]);
}

/** All drivers that sources have accepted, in order, with their sources. */
export function acceptedDrivers(deps: Dependencies): Iterable<SnapshotDriver> {
  return mergeDriverRuns(deps.buffer.reads.acceptedSources().map((source) => withSource(deps, source)));
}

function* withSource(deps: Dependencies, source: string): Generator<SnapshotDriver> {
  for (const driver of deps.buffer.reads.drivers(source, 'accepted')) yield { ...driver, source };
}

/** Notes which revision of the data the service has: a later one is a change that was not pushed. A buffer that had nothing knows that much now. */
export function notePushed(deps: Dependencies): void {
  const { buffer, address } = deps;
  if (hasUnpushed(deps)) buffer.setState({ pushed: { revision: buffer.reads.revision(), address }, isBare: undefined });
}

export function hasUnpushed({ buffer, address }: Dependencies): boolean {
  const { pushed } = buffer.state();
  return pushed?.revision !== buffer.reads.revision() || pushed.address !== address;
}
