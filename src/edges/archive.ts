/**
 * Snapshots on disk, one file each, by digest. A file holds the packed drivers in blocks of zstd; the body is made from
 * them again whenever it is needed, which costs less than keeping its bytes: 6 M points are 252 MB of JSON.
 *
 * Layout: a line of text with the counts, padded to 128 bytes. Then blocks: the length of the compressed and of the plain
 * bytes (u32 LE each) and the compressed bytes. The first block is JSON: the body's format and the parts that cells name.
 * Drivers follow, each as length-prefixed (u32 LE) JSON of source, id, rule, path and other path, points, and origins.
 */
import { createHash } from 'node:crypto';
import {
  closeSync,
  existsSync,
  fsyncSync,
  mkdirSync,
  openSync,
  readSync,
  readdirSync,
  renameSync,
  rmSync,
  statSync,
  writeSync,
} from 'node:fs';
import path from 'node:path';
import { constants, zstdCompressSync, zstdDecompressSync } from 'node:zlib';
import { AgentError } from '../core/errors.ts';
import type { Rule } from '../core/model.ts';
import { type PartOrigin, pointCount } from '../core/packing.ts';
import type { SnapshotBody } from '../core/ports.ts';
import { type BodyFormat, encodeBody } from '../core/snapshot.ts';
import type { Archive, Snapshot, SnapshotDriver } from '../core/stores.ts';

const blockBytes = 1 << 20;
const titleBytes = 128;
const suffix = '.snapshot';

interface Header {
  readonly format: BodyFormat;
  readonly origins: readonly PartOrigin[];
}

interface SnapshotCounts {
  readonly drivers: number;
  readonly points: number;
  readonly bytes: number;
}

export function openArchive(directory: string): Archive {
  const fileOf = (digest: string): string => path.join(directory, digest + suffix);
  return {
    write(drivers, format, origins) {
      const draft = path.join(directory, `draft-${process.pid}`);
      try {
        mkdirSync(directory, { recursive: true, mode: 0o700 });
        const digest = writeSnapshot(draft, drivers, { format, origins });
        renameSync(draft, fileOf(digest));
        syncDirectory(directory);
        return openSnapshot(fileOf(digest), digest);
      } catch (error) {
        rmSync(draft, { force: true });
        throw translatedFs(draft, error);
      }
    },
    open(digest) {
      return existsSync(fileOf(digest)) ? openSnapshot(fileOf(digest), digest) : undefined;
    },
    storedBytes: (digest) => statSync(fileOf(digest), { throwIfNoEntry: false })?.size ?? 0,
    keepOnly(digests) {
      for (const name of listDirectory(directory)) {
        const isKept = name.endsWith(suffix) && digests.has(name.slice(0, -suffix.length));
        if (!isKept) rmSync(path.join(directory, name), { force: true });
      }
    },
  };
}

/** Returns the digest of the body. */
function writeSnapshot(file: string, drivers: Iterable<SnapshotDriver>, header: Header): string {
  const fd = openSync(file, 'w', 0o600);
  try {
    writeAll(fd, Buffer.alloc(titleBytes, ' '));
    writeBlock(fd, Buffer.from(JSON.stringify(header)));
    const hash = createHash('sha256');
    const counts = { drivers: 0, points: 0, bytes: 0 };
    const pack = new BlockWriter(fd);
    // The body is encoded once on the way, for its digest and length; each driver passes both.
    const passing = function* (): Generator<SnapshotDriver> {
      for (const driver of drivers) {
        counts.drivers++;
        counts.points += pointCount(driver.points);
        pack.add(driver);
        yield driver;
      }
    };
    for (const chunk of encodeBody(passing(), header.format)) {
      counts.bytes += chunk.length;
      hash.update(chunk);
    }
    pack.flush();
    const title = `driver-sync snapshot 1 ${JSON.stringify(counts)}\n`;
    writeSync(fd, Buffer.from(title), 0, title.length, 0);
    fsyncSync(fd);
    return hash.digest('hex');
  } finally {
    closeSync(fd);
  }
}

/** @throws AgentError `snapshot.damaged` */
function openSnapshot(file: string, digest: string): Snapshot {
  const { header, counts } = readTitle(file);
  const read = (): Iterable<SnapshotDriver> => readDrivers(file, counts.drivers);
  const body: SnapshotBody = {
    digest,
    bytes: counts.bytes,
    async *chunks() {
      for (const chunk of encodeBody(read(), header.format)) {
        // A copy: the encoder uses its buffer again, and a socket keeps what it was given.
        yield Buffer.from(chunk);
      }
    },
  };
  const { format, origins } = header;
  return { digest, format, origins, ...counts, read, body: () => body };
}

class BlockWriter {
  readonly #fd: number;
  #parts: Uint8Array[] = [];
  #bytes = 0;

  constructor(fd: number) {
    this.#fd = fd;
  }

  add(driver: SnapshotDriver): void {
    const head = JSON.stringify([driver.source, driver.id, driver.rule, driver.path, driver.otherPath ?? null]);
    for (const part of [Buffer.from(head), driver.points, driver.origins]) {
      const length = Buffer.allocUnsafe(4);
      length.writeUInt32LE(part.length);
      this.#parts.push(length, part);
      this.#bytes += 4 + part.length;
    }
    if (this.#bytes >= blockBytes) this.flush();
  }

  flush(): void {
    if (this.#bytes > 0) writeBlock(this.#fd, Buffer.concat(this.#parts, this.#bytes));
    this.#parts = [];
    this.#bytes = 0;
  }
}

const zstdOptions = {
  // The result in one piece: Node's own 16 KB would be 64 pieces of a block, and another copy of it.
  chunkSize: blockBytes,
  params: { [constants.ZSTD_c_compressionLevel]: 1, [constants.ZSTD_c_checksumFlag]: 1 },
};

function writeBlock(fd: number, plain: Uint8Array): void {
  const packed = zstdCompressSync(plain, zstdOptions);
  const lengths = Buffer.allocUnsafe(8);
  lengths.writeUInt32LE(packed.length, 0);
  lengths.writeUInt32LE(plain.length, 4);
  writeAll(fd, lengths);
  writeAll(fd, packed);
}

function writeAll(fd: number, bytes: Uint8Array): void {
  for (let at = 0; at < bytes.length;) at += writeSync(fd, bytes, at);
}

/** Blocks as plain bytes, in order. */
function* readBlocks(file: string): Generator<Uint8Array> {
  const fd = openSync(file, 'r');
  try {
    readAll(fd, Buffer.allocUnsafe(titleBytes));
    const lengths = Buffer.allocUnsafe(8);
    while (readAll(fd, lengths) > 0) {
      const packed = Buffer.allocUnsafe(lengths.readUInt32LE(0));
      if (readAll(fd, packed) < packed.length) throw new Error('it ends too early');
      const plainBytes = lengths.readUInt32LE(4);
      yield zstdDecompressSync(packed, { chunkSize: Math.max(plainBytes, 64), maxOutputLength: plainBytes });
    }
  } finally {
    closeSync(fd);
  }
}

function readAll(fd: number, into: Uint8Array): number {
  let at = 0;
  while (at < into.length) {
    const got = readSync(fd, into, at, into.length - at, null);
    if (got === 0) break;
    at += got;
  }
  return at;
}

/** @throws AgentError `snapshot.damaged`, also where drivers are missing at its end */
function* readDrivers(file: string, expected: number): Generator<SnapshotDriver> {
  const blocks = readBlocks(file);
  try {
    // The first one is the header.
    nextBlock(file, blocks);
    let found = 0;
    for (let block = nextBlock(file, blocks); block !== undefined; block = nextBlock(file, blocks)) {
      for (const driver of driversOf(block)) {
        found++;
        yield driver;
      }
    }
    if (found !== expected) throw damaged(file, new Error(`it has ${found} of ${expected} drivers`));
  } finally {
    blocks.return(undefined);
  }
}

function nextBlock(file: string, blocks: Generator<Uint8Array>): Uint8Array | undefined {
  try {
    const next = blocks.next();
    return next.done === true ? undefined : next.value;
  } catch (error) {
    throw damaged(file, error);
  }
}

function* driversOf(block: Uint8Array): Generator<SnapshotDriver> {
  const bytes = Buffer.from(block.buffer, block.byteOffset, block.byteLength);
  let at = 0;
  const take = (): Buffer => {
    const start = at + 4;
    at = start + bytes.readUInt32LE(at);
    return bytes.subarray(start, at);
  };
  while (at < bytes.length) {
    const [source, id, rule, driverPath, otherPath] = JSON.parse(take().toString()) as [
      string,
      string,
      Rule,
      string,
      string | null,
    ];
    yield { source, id, rule, path: driverPath, otherPath: otherPath ?? undefined, points: take(), origins: take() };
  }
}

function readTitle(file: string): { header: Header; counts: SnapshotCounts } {
  try {
    const fd = openSync(file, 'r');
    const title = Buffer.alloc(titleBytes);
    try {
      readAll(fd, title);
    } finally {
      closeSync(fd);
    }
    const [, version, counts] = /^driver-sync snapshot (\d+) (\{.*\})\n/.exec(title.toString()) ?? [];
    if (version !== '1') throw new Error('it does not begin as a snapshot of this version');
    for (const block of readBlocks(file)) {
      const header = JSON.parse(Buffer.from(block).toString()) as Header;
      return { header, counts: JSON.parse(counts as string) as SnapshotCounts };
    }
    throw new Error('it is empty');
  } catch (error) {
    throw damaged(file, error);
  }
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

function translatedFs(file: string, error: unknown): unknown {
  if (!(error instanceof Error) || !('code' in error)) return error;
  if (error.code === 'ENOSPC' || error.code === 'EDQUOT') {
    return new AgentError('state.full', `${file} cannot be written: the disk is full`, {
      cause: error,
      hint: 'free some space; nothing was lost and the next pass tries again',
    });
  }
  if (error.code === 'EACCES' || error.code === 'EROFS' || error.code === 'EPERM') {
    return new AgentError('state.unwritable', `${file} cannot be written (${error.message})`, {
      cause: error,
      hint: 'let the agent own its state directory',
    });
  }
  return error;
}

function listDirectory(directory: string): string[] {
  try {
    return readdirSync(directory);
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'ENOENT') return [];
    throw error;
  }
}

function syncDirectory(directory: string): void {
  const fd = openSync(directory, 'r');
  try {
    fsyncSync(fd);
  } finally {
    closeSync(fd);
  }
}
