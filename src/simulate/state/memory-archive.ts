/** Snapshots in memory, for the simulated world. */
import { createHash } from 'node:crypto';
import { AgentError } from '../../core/errors.ts';
import type { Archive, Snapshot, SnapshotDriver, SnapshotLog } from '../../core/ledger.ts';
import { type OriginFacts, pointCount } from '../../core/series/packing.ts';
import { type BodyFormat, encodeBody } from '../../core/series/snapshot.ts';
import { kept } from './memory-parts.ts';

/** A snapshot as it lies in the archive. */
export interface KeptSnapshot {
  readonly drivers: readonly SnapshotDriver[];
  readonly format: BodyFormat;
  readonly origins: readonly OriginFacts[];
  readonly body: Uint8Array;
  /** A disk has changed it since it was written. */
  isDamaged: boolean;
}

/** @param log is told of every snapshot before it is there or goes */
export function memoryArchive(files: Map<string, KeptSnapshot>, log: SnapshotLog): Archive {
  return {
    async write(drivers, format, origins) {
      const copies: SnapshotDriver[] = [];
      // As on disk, a snapshot keeps neither ties nor the entry that made a driver.
      for (const driver of drivers) copies.push(kept({ ...driver, entry: undefined, ties: undefined }));
      const chunks: Uint8Array[] = [];
      // The encoder uses its bytes again.
      encodeBody(copies, format, (chunk) => chunks.push(Uint8Array.from(chunk)));
      const body = chunks.length === 1 ? (chunks[0] as Uint8Array) : Buffer.concat(chunks);
      const digest = createHash('sha256').update(body).digest('hex');
      await log.written(digest, digest);
      const file = { drivers: copies, format, origins, body, isDamaged: false };
      files.set(digest, file);
      return opened(digest, file);
    },
    async open(digest) {
      const file = files.get(digest);
      return file === undefined ? undefined : opened(digest, file);
    },
    storedBytes: async (digest) => files.get(digest)?.body.length ?? 0,
    async keepOnly(digests) {
      await log.keepOnly(digests);
      for (const digest of files.keys()) if (!digests.has(digest)) files.delete(digest);
    },
  };
}

function opened(digest: string, file: KeptSnapshot): Snapshot {
  const { drivers, format, origins, body } = file;
  const readable = (): readonly SnapshotDriver[] => {
    if (!file.isDamaged) return drivers;
    throw new AgentError('snapshot.damaged', `the snapshot ${digest.slice(0, 12)} is damaged`);
  };
  return {
    digest,
    format,
    drivers: drivers.length,
    points: drivers.reduce((sum, { points }) => sum + pointCount(points), 0),
    bytes: body.length,
    origins,
    *read() {
      yield* readable();
    },
    driver: (id) => readable().find((one) => one.id === id),
    // All of it is one block, which other snapshots do not have.
    blocks: () => new Set([digest]),
    *readPoints(without) {
      if (without?.has(digest) !== true) yield* readable();
    },
    body: () => ({
      digest,
      bytes: body.length,
      async *chunks() {
        readable();
        yield body;
      },
    }),
  };
}
