/**
 * Snapshots on disk, one file each, by digest. A file holds the packed drivers in blocks of zstd; the body is made from
 * them again whenever it is needed, which costs less than keeping its bytes: 6 M points are 252 MB of JSON.
 *
 * Layout: a line of text with the counts, padded to 128 bytes. Then blocks: the length of the compressed and of the plain
 * bytes (u32 LE each) and the compressed bytes. The first block is JSON: the body's format and the parts that cells name,
 * with what is known of them; a file of an older version has only their names and times.
 * Drivers follow in pairs of blocks: in the first each has length-prefixed (u32 LE) JSON of source, id, rule, path and
 * other path, and its points; in the second its origins. A diff and a body skip every second block.
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
import { AgentError } from '../../core/errors.ts';
import type { Rule } from '../../core/model.ts';
import { type OriginFacts, type PackedPoints, pointCount } from '../../core/series/packing.ts';
import type { SnapshotBody } from '../../core/ports.ts';
import { type BodyFormat, encodeBody } from '../../core/series/snapshot.ts';
import type { Archive, Snapshot, SnapshotDriver } from '../../core/ledger.ts';

const blockBytes = 1 << 20;
const titleBytes = 128;
const suffix = '.snapshot';

interface Header {
  readonly format: BodyFormat;
  readonly origins: readonly OriginFacts[];
}

interface SnapshotCounts {
  readonly drivers: number;
  readonly points: number;
  readonly bytes: number;
}

export function openArchive(directory: string): Archive {
  const fileOf = (digest: string): string => path.join(directory, digest + suffix);
  return {
    async write(drivers, format, origins) {
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
    async open(digest) {
      return existsSync(fileOf(digest)) ? openSnapshot(fileOf(digest), digest) : undefined;
    },
    storedBytes: async (digest) => statSync(fileOf(digest), { throwIfNoEntry: false })?.size ?? 0,
    async keepOnly(digests) {
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
  const readPoints = (): Iterable<PackedPoints> => readDrivers(file, counts.drivers, pointsOf);
  const body: SnapshotBody = {
    digest,
    bytes: counts.bytes,
    async *chunks() {
      for (const chunk of encodeBody(readPoints(), header.format)) {
        // A copy: the encoder uses its buffer again, and a socket keeps what it was given.
        yield Buffer.from(chunk);
      }
    },
  };
  const { format, origins } = header;
  const read = (): Iterable<SnapshotDriver> => readDrivers(file, counts.drivers, wholeOf);
  return { digest, format, origins, ...counts, read, readPoints, body: () => body };
}

/** Drivers on their way to the file, in two blocks that are written together. */
class BlockWriter {
  readonly #fd: number;
  readonly #points = new Section();
  readonly #origins = new Section();

  constructor(fd: number) {
    this.#fd = fd;
  }

  add({ source, id, rule, path: driverPath, otherPath, points, origins }: SnapshotDriver): void {
    this.#points.add(Buffer.from(JSON.stringify([source, id, rule, driverPath, otherPath ?? null])));
    this.#points.add(points);
    this.#origins.add(origins);
    if (Math.max(this.#points.bytes, this.#origins.bytes) >= blockBytes) this.flush();
  }

  flush(): void {
    if (this.#points.bytes === 0) return;
    for (const section of [this.#points, this.#origins]) writeBlock(this.#fd, section.take());
  }
}

/** Length-prefixed pieces, one after the other. */
class Section {
  /** How many of them are in use. */
  bytes = 0;
  #buffer = Buffer.allocUnsafe(blockBytes + blockBytes / 4);

  add(piece: Uint8Array): void {
    const end = this.bytes + 4 + piece.length;
    if (end > this.#buffer.length) {
      const larger = Buffer.allocUnsafe(end * 2);
      this.#buffer.copy(larger, 0, 0, this.bytes);
      this.#buffer = larger;
    }
    this.#buffer.writeUInt32LE(piece.length, this.bytes);
    this.#buffer.set(piece, this.bytes + 4);
    this.bytes = end;
  }

  /** All of it, valid until the next `add`; it is empty then. */
  take(): Uint8Array {
    const taken = this.#buffer.subarray(0, this.bytes);
    this.bytes = 0;
    return taken;
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

/** Blocks in the order of the file, unpacked when they are asked for. */
function* readBlocks(file: string): Generator<() => Buffer> {
  const fd = openSync(file, 'r');
  try {
    const lengths = Buffer.allocUnsafe(8);
    for (let at = titleBytes; readAll(fd, lengths, at) > 0;) {
      const start = at + lengths.length;
      const packedBytes = lengths.readUInt32LE(0);
      const plainBytes = lengths.readUInt32LE(4);
      at = start + packedBytes;
      yield () => {
        const packed = Buffer.allocUnsafe(packedBytes);
        if (readAll(fd, packed, start) < packedBytes) throw new Error('it ends too early');
        return zstdDecompressSync(packed, { chunkSize: chunkBytesFor(plainBytes), maxOutputLength: plainBytes });
      };
    }
  } finally {
    closeSync(fd);
  }
}

/** In one piece, as it was packed; but a damaged length must not take the memory of the machine. */
function chunkBytesFor(plainBytes: number): number {
  return Math.min(Math.max(plainBytes, constants.Z_MIN_CHUNK), 4 * blockBytes);
}

/** Up to as many bytes as there is room for, from a place in the file on. */
function readAll(fd: number, into: Uint8Array, from: number): number {
  let at = 0;
  while (at < into.length) {
    const got = readSync(fd, into, at, into.length - at, from + at);
    if (got === 0) break;
    at += got;
  }
  return at;
}

type Unpack = () => Buffer;

/** @throws AgentError `snapshot.damaged`, also where drivers are missing at its end */
function* readDrivers<T>(
  file: string,
  expected: number,
  driversOf: (points: Unpack, origins: Unpack) => Iterable<T>,
): Generator<T> {
  const blocks = readBlocks(file);
  try {
    // The first one is the header.
    blocks.next();
    let found = 0;
    for (const points of blocks) {
      const origins = blocks.next();
      if (origins.done === true) throw new Error('it ends too early');
      for (const driver of driversOf(points, origins.value)) {
        found++;
        yield driver;
      }
    }
    if (found !== expected) throw new Error(`it has ${found} of ${expected} drivers`);
  } catch (error) {
    throw damaged(file, error);
  } finally {
    blocks.return(undefined);
  }
}

function* pointsOf(points: Unpack): Generator<Omit<SnapshotDriver, 'origins'>> {
  const pieces = new Pieces(points());
  while (pieces.hasMore()) {
    const [source, id, rule, driverPath, otherPath] = JSON.parse(pieces.text()) as [
      string,
      string,
      Rule,
      string,
      string | null,
    ];
    yield { source, id, rule, path: driverPath, otherPath: otherPath ?? undefined, points: pieces.bytes() };
  }
}

function* wholeOf(points: Unpack, origins: Unpack): Generator<SnapshotDriver> {
  const pieces = new Pieces(origins());
  for (const driver of pointsOf(points)) yield { ...driver, origins: pieces.bytes() };
}

/** Takes a section apart again. */
class Pieces {
  readonly #section: Buffer;
  #at = 0;

  constructor(section: Buffer) {
    this.#section = section;
  }

  hasMore(): boolean {
    return this.#at < this.#section.length;
  }

  bytes(): Uint8Array {
    const start = this.#next();
    return this.#section.subarray(start, this.#at);
  }

  text(): string {
    const start = this.#next();
    return this.#section.toString('utf8', start, this.#at);
  }

  #next(): number {
    const start = this.#at + 4;
    this.#at = start + this.#section.readUInt32LE(this.#at);
    return start;
  }
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
    const [, version, counts] = /^driver-sync snapshot (\d+) (\{.*\})\n/.exec(title.toString()) ?? [];
    if (version !== '1') throw new Error('it does not begin as a snapshot of this version');
    for (const unpack of readBlocks(file)) {
      const header = JSON.parse(unpack().toString()) as Header;
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
