/**
 * The archive that agents of several machines share: the same files as in a state directory, in pieces, in the database. A
 * snapshot is written to the agent's own directory first, and one that is opened is copied there, so that what reads it
 * reads a local file.
 */
import { createHash, randomUUID } from 'node:crypto';
import { closeSync, existsSync, fsyncSync, openSync, renameSync, rmSync, rmdirSync } from 'node:fs';
import path from 'node:path';
import { AgentError, isAgentError } from '../../core/errors.ts';
import type { Archive, Snapshot } from '../../core/ledger.ts';
import { openArchive, snapshotFileName, snapshotFileSha256 } from '../state/archive.ts';
import { translatedFile } from '../state/file-failure.ts';
import { makeFolder } from '../state/private-file.ts';
import type { ArchiveFiles } from '../state/verify.ts';
import { readAll, writeAll } from '../state/snapshot-blocks.ts';
import { scratchDirectory } from '../state/state-directory.ts';
import { type SharedSnapshots, pieceBytes } from './snapshot-log.ts';

/** @param directory of copies: what is missing there is fetched */
export function sharedArchive(directory: string, log: SharedSnapshots): Archive {
  const local = openArchive(directory);
  /** Files that were compared with the database once: hashing 50 MB takes 50 ms. */
  const known = new Map<string, string>();
  return {
    async write(...what) {
      const snapshot = await local.write(...what);
      await upload(directory, snapshot.digest, log);
      return snapshot;
    },
    async open(digest) {
      const sha256 = await log.fileOf(digest);
      if (sha256 === undefined) return undefined;
      const isKnown = known.get(digest) === sha256 && existsSync(path.join(directory, snapshotFileName(digest)));
      if (!isKnown && snapshotFileSha256(directory, digest) !== sha256) {
        await fetchFile(directory, digest, { log, sha256 });
      }
      known.set(digest, sha256);
      return local.open(digest);
    },
    storedBytes: (digest) => log.storedBytes(digest),
    async keepOnly(digests) {
      await log.keepOnly(digests);
      await local.keepOnly(digests);
    },
  };
}

/** Writes all pieces of a file, and then that it is there. */
export async function upload(directory: string, digest: string, log: SharedSnapshots): Promise<void> {
  const sha256 = snapshotFileSha256(directory, digest);
  if (sha256 === undefined) throw new Error(`there is no file of the snapshot ${digest}`);
  const fd = openSync(path.join(directory, snapshotFileName(digest)), 'r');
  try {
    for (let n = 0; ; n++) {
      const bytes = Buffer.allocUnsafe(pieceBytes);
      const got = readAll(fd, bytes, n * pieceBytes);
      if (got > 0) await log.addPiece(sha256, n, bytes.subarray(0, got));
      if (got < pieceBytes) break;
    }
  } finally {
    closeSync(fd);
  }
  await log.written(digest, sha256);
}

/** Copies a file from the database, whole or not at all. @throws AgentError `snapshot.damaged` */
export async function fetchFile(
  directory: string,
  digest: string,
  { log, sha256 }: { readonly log: SharedSnapshots; readonly sha256: string },
): Promise<void> {
  // Dropped by the next agent should this process be killed. The status page may fetch at the same moment, and a plan has its copy there.
  const parent = scratchDirectory(path.dirname(directory));
  const scratch = path.join(parent, `fetched-${randomUUID()}`);
  const draft = path.join(scratch, snapshotFileName(digest));
  try {
    for (const needed of [directory, scratch]) makeFolder(needed);
    const fd = openSync(draft, 'w', 0o600);
    const hash = createHash('sha256');
    try {
      for await (const piece of log.pieces(sha256)) {
        hash.update(piece);
        writeAll(fd, piece);
      }
      fsyncSync(fd);
    } finally {
      closeSync(fd);
    }
    if (hash.digest('hex') !== sha256) {
      throw new AgentError('snapshot.damaged', `the snapshot ${digest.slice(0, 12)} is damaged in the shared archive`, {
        hint: 'restore the database of the ledger from a backup, or go on without this snapshot',
      });
    }
    renameSync(draft, path.join(directory, snapshotFileName(digest)));
  } catch (error) {
    if (isAgentError(error)) throw error;
    throw translatedFile(draft, error);
  } finally {
    rmSync(scratch, { recursive: true, force: true });
    removeEmpty(parent);
  }
}

function removeEmpty(folder: string): void {
  try {
    rmdirSync(folder);
  } catch (error) {
    // It is gone already, or somebody uses it.
    if (!(error instanceof Error && 'errno' in error)) throw error;
  }
}

/** The files of the shared archive, fetched one at a time into a directory. */
export function filesOf(log: SharedSnapshots, directory: string): ArchiveFiles {
  const fetched = async (digest: string): Promise<void> => {
    const sha256 = await log.fileOf(digest);
    rmSync(directory, { recursive: true, force: true });
    if (sha256 !== undefined) await fetchFile(directory, digest, { log, sha256 });
  };
  return {
    list: () => log.kept(),
    async sha256(digest) {
      await fetched(digest);
      return snapshotFileSha256(directory, digest);
    },
    open: (digest) => openArchive(directory).open(digest),
  };
}

/** What an agent that does not lead keeps: its own drafts, and copies of what was pushed. */
export function followingArchive(directory: string, shared: Archive): Archive {
  const local = openArchive(directory);
  return {
    ...shared,
    write: (...what) => local.write(...what),
    open: async (digest): Promise<Snapshot | undefined> => (await shared.open(digest)) ?? (await local.open(digest)),
    keepOnly: (digests) => local.keepOnly(digests),
  };
}
