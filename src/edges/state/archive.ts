/**
 * Snapshots on disk, one file each, by digest. A file holds the packed drivers in blocks of zstd; the body is made from
 * them again whenever it is needed, which costs less than keeping its bytes: 6 M points are 252 MB of JSON.
 *
 * Layout: a line of text with the counts, padded to 128 bytes. Then blocks, see `snapshot-blocks.ts`. The first block is
 * JSON: the body's format and the parts that cells name, with what is known of them; a file of an older version has only
 * their names and times.
 * Drivers follow in pairs of blocks: in the first each has length-prefixed (u32 LE) JSON of source, id, rule, path and
 * other path, and its points; in the second its origins. A diff and a body skip every second block.
 */
import { createHash } from 'node:crypto';
import { closeSync, fstatSync, fsyncSync, openSync, readdirSync, renameSync, statSync } from 'node:fs';
import path from 'node:path';
import { setImmediate as turn } from 'node:timers/promises';
import { AgentError, isAgentError } from '../../core/errors.ts';
import { type OriginFacts, pointCount } from '../../core/series/packing.ts';
import type { SnapshotBody } from '../../core/ports.ts';
import { atOnce } from '../../core/steps.ts';
import { BodyEncoder, type BodyFormat } from '../../core/series/snapshot.ts';
import type { Archive, Snapshot, SnapshotDriver, SnapshotLog } from '../../core/ledger.ts';
import type { SnapshotFile } from './chain.ts';
import { releaseBuffers } from '../memory.ts';
import { onFile, removeFile, translatedFile } from './file-failure.ts';
import { giveToOwner, makeFolder, syncFolder } from './private-file.ts';
import { release } from '../../core/release.ts';
import { type Block, BlockWriter, readAll, readBlocks, titleBytes, writeAll } from './snapshot-blocks.ts';
import { findDriver, piecesOf, pointsIn, wholeOf } from './snapshot-drivers.ts';

const suffix = '.snapshot';

/** In the directory of an archive. */
export function snapshotFileName(digest: string): string {
  return digest + suffix;
}

/** Of a file that is hashed, between two turns. */
const stepBytes = 4 << 20;

/** Bytes given to a socket, after which those that it has sent are given back. */
const gatheredMax = 8 << 20;

interface Header {
  readonly format: BodyFormat;
  readonly origins: readonly OriginFacts[];
}

interface SnapshotCounts {
  readonly drivers: number;
  readonly points: number;
  readonly bytes: number;
}

/** @param log is told of every file before it gets its name or goes; without it nothing is recorded */
export function openArchive(directory: string, log?: SnapshotLog): Archive {
  const fileOf = (digest: string): string => path.join(directory, digest + suffix);
  return {
    async write(drivers, format, origins) {
      const draft = path.join(directory, `draft-${process.pid}`);
      try {
        makeFolder(directory);
        const digest = await writeSnapshot(draft, drivers, { format, origins });
        await log?.written(digest, await fileSha256Beside(draft));
        renameSync(draft, fileOf(digest));
        syncFolder(directory);
        return openSnapshot(fileOf(digest), digest);
      } catch (error) {
        dropDraft(draft);
        throw translatedFile(draft, error);
      }
    },
    async open(digest) {
      return sizeOf(fileOf(digest)) === undefined ? undefined : openSnapshot(fileOf(digest), digest);
    },
    storedBytes: async (digest) => sizeOf(fileOf(digest)) ?? 0,
    async keepOnly(digests) {
      await log?.keepOnly(digests);
      for (const name of listDirectory(directory)) {
        const isKept = name.endsWith(suffix) && digests.has(name.slice(0, -suffix.length));
        if (!isKept) removeFile(path.join(directory, name));
      }
    },
  };
}

/** The digests of the snapshots that a directory has, in order. */
export function snapshotsIn(directory: string): readonly string[] {
  const names = listDirectory(directory).filter((name) => name.endsWith(suffix));
  return names.map((name) => name.slice(0, -suffix.length)).sort();
}

/** The files of an archive, read one after the other. */
export function* snapshotFiles(directory: string): Generator<SnapshotFile> {
  for (const digest of snapshotsIn(directory)) {
    yield { digest, fileSha256: fileSha256(path.join(directory, digest + suffix)) };
  }
}

/** `undefined` where there is no file of it. */
export function snapshotFileSha256(directory: string, digest: string): string | undefined {
  const file = path.join(directory, digest + suffix);
  return sizeOf(file) === undefined ? undefined : fileSha256(file);
}

/** `undefined` where there is no such file. @throws AgentError where nobody knows, since the disk fails */
function sizeOf(file: string): number | undefined {
  return onFile(file, () => statSync(file, { throwIfNoEntry: false })?.size);
}

/** sha256 (hex) of a file's bytes, as `sha256sum` prints it. */
function fileSha256(file: string): string {
  return atOnce(hashingFile(file));
}

/** The same, with turns for others on the way. */
async function fileSha256Beside(file: string): Promise<string> {
  const hashing = hashingFile(file);
  for (;;) {
    const step = hashing.next();
    if (step.done === true) return step.value;
    await turn();
  }
}

/** A step is so many bytes that hashing them takes some milliseconds. */
function* hashingFile(file: string): Generator<void, string> {
  const fd = openSync(file, 'r');
  try {
    const hash = createHash('sha256');
    const bytes = Buffer.allocUnsafe(1 << 20);
    let at = 0;
    for (let got; (got = readAll(fd, bytes, at)) > 0; at += got) {
      hash.update(bytes.subarray(0, got));
      if (got === bytes.length && at % stepBytes === 0) yield;
    }
    // What is recorded in the ledger stands for ever, so a disk that gives half of a file must not be believed.
    const { size } = fstatSync(fd);
    if (at !== size) {
      const message = `${file} has ${size} bytes, and only ${at} could be read`;
      throw new AgentError('state.full', message, { hint: 'look at the disk; the next pass tries again' });
    }
    return hash.digest('hex');
  } finally {
    closeSync(fd);
  }
}

/** Returns the digest of the body. */
async function writeSnapshot(file: string, drivers: Iterable<SnapshotDriver>, header: Header): Promise<string> {
  const fd = openSync(file, 'w', 0o600);
  try {
    giveToOwner(fd, path.dirname(file));
    writeAll(fd, Buffer.alloc(titleBytes, ' '));
    const digest = createHash('sha256');
    const counts = { drivers: 0, points: 0, bytes: 0 };
    // The body is encoded once on the way, for its digest and length.
    const body = new BodyEncoder(header.format, (chunk) => {
      counts.bytes += chunk.length;
      digest.update(chunk);
    });
    const pack = new BlockWriter(fd, Buffer.from(JSON.stringify(header)), (points) => {
      for (const piece of piecesOf(points)) body.addSection(piece);
    });
    for (const driver of drivers) {
      counts.drivers++;
      counts.points += pointCount(driver.points);
      pack.add(driver);
      if (pack.isFull) await pack.drain();
    }
    await pack.end();
    body.end();
    const title = `driver-sync snapshot 1 ${JSON.stringify(counts)}\n`;
    writeAll(fd, Buffer.from(title), 0);
    fsyncSync(fd);
    return digest.digest('hex');
  } finally {
    closeSync(fd);
  }
}

/** @throws AgentError `snapshot.damaged` */
function openSnapshot(file: string, digest: string): Snapshot {
  const { header, counts } = readTitle(file);
  const { format, origins } = header;
  const body: SnapshotBody = { digest, bytes: counts.bytes, chunks: () => readBody(file, counts.drivers, format) };
  let names: ReadonlySet<string> | undefined;
  const blocks = (): ReadonlySet<string> => (names ??= nameBlocks(file));
  return {
    digest,
    format,
    origins,
    ...counts,
    read: () => readDrivers(file, counts.drivers, wholeOf),
    driver: (id) => {
      try {
        return findDriver(file, id);
      } catch (error) {
        throw damaged(file, error);
      }
    },
    blocks,
    readPoints(without) {
      if (without === undefined) return readDrivers(file, counts.drivers, pointsIn);
      const isWanted = Array.from(blocks(), (name) => !without.has(name));
      return readDrivers(file, counts.drivers, pointsIn, (index) => isWanted[index] !== false);
    },
    body: () => body,
  };
}

/** @throws AgentError `snapshot.damaged`, also where drivers are missing at its end and all blocks are wanted */
function* readDrivers<T>(
  file: string,
  expected: number,
  driversOf: (points: Block, origins: Block) => Iterable<T>,
  isWanted?: (index: number) => boolean,
): Generator<T> {
  try {
    let found = 0;
    let index = 0;
    for (const [points, origins] of pairsOf(file)) {
      if (isWanted?.(index++) === false) continue;
      for (const driver of driversOf(points, origins)) {
        found++;
        yield driver;
      }
    }
    if (isWanted === undefined) checkCount(found, expected);
  } catch (error) {
    throw damaged(file, error);
  }
}

/** The bytes of the body; while those of one block are used the next is unpacked. @throws as `readDrivers` */
async function* readBody(file: string, expected: number, format: BodyFormat): AsyncGenerator<Uint8Array> {
  const pairs = pairsOf(file);
  const begin = (): { readonly block: Block; readonly section: Promise<Buffer> } | undefined => {
    const pair = pairs.next();
    if (pair.done === true) return undefined;
    const [block] = pair.value;
    const section = block.unpackBeside();
    // Whoever awaits it sees what went wrong. A push that was stopped does not, and that must not end the process.
    section.catch(() => {});
    return { block, section };
  };
  try {
    let found = 0;
    const full: Uint8Array[] = [];
    let gathered = 0;
    // A socket keeps what it was given until it is sent.
    const take = (chunk: Uint8Array): void => {
      full.push(chunk);
      gathered += chunk.length;
    };
    const encoder = new BodyEncoder(format, take, 'kept');
    for (let now = begin(); now !== undefined;) {
      const { block } = now;
      const section = await now.section;
      now = begin();
      for (const piece of piecesOf(section)) {
        found += encoder.addSection(piece);
        yield* full.splice(0);
      }
      block.release(section);
      if (gathered < gatheredMax) continue;
      releaseBuffers();
      gathered = 0;
    }
    checkCount(found, expected);
    encoder.end();
    yield* full;
  } catch (error) {
    throw damaged(file, error);
  } finally {
    pairs.return(undefined);
  }
}

/** In their order. Each has other drivers, so that no two have one name. */
function nameBlocks(file: string): ReadonlySet<string> {
  try {
    const names = new Set<string>();
    for (const [points] of pairsOf(file)) {
      const packed = points.packed();
      names.add(createHash('sha256').update(packed).digest('base64'));
      release(packed);
    }
    return names;
  } catch (error) {
    throw damaged(file, error);
  }
}

/** Blocks of points, each with that of its origins. */
function* pairsOf(file: string): Generator<readonly [points: Block, origins: Block]> {
  const blocks = readBlocks(file);
  try {
    // The first one is the header.
    blocks.next();
    for (const points of blocks) {
      const origins = blocks.next();
      if (origins.done === true) throw new Error('it ends too early');
      yield [points, origins.value];
    }
  } finally {
    blocks.return(undefined);
  }
}

function checkCount(found: number, expected: number): void {
  if (found !== expected) throw new Error(`it has ${found} of ${expected} drivers`);
}

function readTitle(file: string): { header: Header; counts: SnapshotCounts } {
  try {
    const fd = openSync(file, 'r');
    const title = Buffer.alloc(titleBytes);
    try {
      readAll(fd, title, 0);
    } finally {
      closeSync(fd);
    }
    const counts = readCounts(title.toString('latin1'));
    for (const block of readBlocks(file)) {
      return { header: JSON.parse(block.unpack().toString()) as Header, counts };
    }
    throw new Error('it is empty');
  } catch (error) {
    throw damaged(file, error);
  }
}

/** No sum guards the title as one guards each block, so it has to be exactly what was written but for its digits. */
function readCounts(title: string): SnapshotCounts {
  const found = /^driver-sync snapshot 1 (\{"drivers":\d{1,15},"points":\d{1,15},"bytes":\d{1,15}\})\n *$/.exec(title);
  if (found === null) throw new Error('it does not begin as a snapshot of this version');
  return JSON.parse(found[1] as string) as SnapshotCounts;
}

function damaged(file: string, error: unknown): AgentError {
  if (error instanceof Error && 'code' in error && (error.code === 'EACCES' || error.code === 'EPERM')) {
    const message = `${file} cannot be read: user id ${process.getuid?.()} has no permission`;
    const hint = "give the state directory back to the agent's user (chown -R): was a command run as another one?";
    return new AgentError('state.unwritable', message, { cause: error, hint });
  }
  const why = error instanceof Error ? error.message : String(error);
  return new AgentError('snapshot.damaged', `the snapshot in ${file} cannot be read: ${why}`, {
    cause: error,
    hint: 'restore the file from a backup; snapshots of other pushes are not affected',
  });
}

function listDirectory(directory: string): string[] {
  try {
    return readdirSync(directory);
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'ENOENT') return [];
    throw translatedFile(directory, error);
  }
}

/** After a write that failed; a disk that does not let it go either leaves it to the next `keepOnly`. */
function dropDraft(draft: string): void {
  try {
    removeFile(draft);
  } catch (error) {
    if (!isAgentError(error)) throw error;
  }
}
