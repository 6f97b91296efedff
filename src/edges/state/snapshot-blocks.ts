/**
 * The blocks of a snapshot's file: the length of the compressed and of the plain bytes (u32 LE each) and the compressed
 * bytes. They are compressed and unpacked on threads of their own, beside whatever makes or needs the drivers.
 */
import { closeSync, fstatSync, openSync, readSync, writeSync } from 'node:fs';
import { finished } from 'node:stream/promises';
import { promisify } from 'node:util';
import { constants, crc32, createZstdCompress, zstdDecompress, zstdDecompressSync } from 'node:zlib';
import type { SnapshotDriver } from '../../core/ledger.ts';
import { release } from '../../core/release.ts';

const blockBytes = 1 << 20;
export const titleBytes = 128;
const decompress = promisify(zstdDecompress);

/** A block shrinks to a third: all pieces of a result share the memory of one chunk. */
const packedChunkBytes = blockBytes / 2;
const zstdOptions = {
  chunkSize: packedChunkBytes,
  params: { [constants.ZSTD_c_compressionLevel]: 1, [constants.ZSTD_c_checksumFlag]: 1 },
};

/** In pieces as they come: in one they would be copied, and their memory left to the collector. */
async function compress(plain: Uint8Array): Promise<Buffer[]> {
  const stream = createZstdCompress(zstdOptions);
  const pieces: Buffer[] = [];
  stream.on('data', (piece: Buffer) => pieces.push(piece));
  stream.end(plain);
  await finished(stream);
  return pieces;
}

/** Blocks on their way to the file: compressed beside each other, written in their order. */
class BlockQueue {
  readonly #fd: number;
  readonly #underWay: {
    readonly plainBytes: number;
    readonly packed: Promise<Buffer[]>;
    readonly written: () => void;
  }[] = [];

  constructor(fd: number) {
    this.#fd = fd;
  }

  get length(): number {
    return this.#underWay.length;
  }

  /** `plain` must stay as it is until it was written: `written` is told then. */
  add(plain: Uint8Array, written: () => void): void {
    const packed = compress(plain);
    // `drain` throws what went wrong here; until it is called, nobody listens, and that would end the process.
    packed.catch(() => {});
    this.#underWay.push({ plainBytes: plain.length, packed, written });
  }

  /** Writes the first ones until no more than so many are left. */
  async drain(left: number): Promise<void> {
    while (this.#underWay.length > left) {
      const { plainBytes, packed, written } = this.#underWay[0]!;
      const pieces = await packed;
      this.#underWay.shift();
      const lengths = Buffer.allocUnsafe(8);
      lengths.writeUInt32LE(
        pieces.reduce((sum, { length }) => sum + length, 0),
        0,
      );
      lengths.writeUInt32LE(plainBytes, 4);
      for (const bytes of [lengths, ...pieces]) writeAll(this.#fd, bytes);
      for (const bytes of pieces) release(bytes, packedChunkBytes);
      written();
    }
  }
}

/** A pair: it is compressed while the next one is filled. */
const waitingMax = 2;

/** A header and then drivers on their way to the file, in two blocks that are written together. */
export class BlockWriter {
  readonly #queue: BlockQueue;
  readonly #points = new Section();
  readonly #origins = new Section();
  readonly #filled: (points: Buffer) => void;

  /** @param filled sees each section of points, which is written over later */
  constructor(fd: number, header: Uint8Array, filled: (points: Buffer) => void) {
    this.#queue = new BlockQueue(fd);
    this.#filled = filled;
    this.#queue.add(header, () => {});
  }

  add({ source, id, rule, path: driverPath, otherPath, points, origins }: SnapshotDriver): void {
    this.#points.addText(JSON.stringify([source, id, rule, driverPath, otherPath ?? null]));
    this.#points.add(points);
    this.#origins.add(origins);
    const bytes = Math.max(this.#points.bytes, this.#origins.bytes);
    if (bytes >= blockBytes || (bytes >= blockBytes / 2 && isBorder(id))) this.#flush();
  }

  /** Drivers come faster than they are compressed: `drain` before the next one. */
  get isFull(): boolean {
    return this.#queue.length > waitingMax;
  }

  drain(): Promise<void> {
    return this.#queue.drain(waitingMax);
  }

  /** Resolves when everything is written. */
  end(): Promise<void> {
    this.#flush();
    return this.#queue.drain(0);
  }

  #flush(): void {
    if (this.#points.bytes === 0) return;
    const [points, origins] = [this.#points.take(), this.#origins.take()];
    for (const { bytes, again } of [points, origins]) this.#queue.add(bytes, again);
    // While they are compressed.
    this.#filled(points.bytes);
  }
}

/**
 * Whether a block may end behind this driver. Ids decide, so that two snapshots that differ here have the same blocks, byte for
 * byte, further on.
 */
function isBorder(id: string): boolean {
  return crc32(id) % 64 === 0;
}

const sectionBytes = blockBytes + blockBytes / 4;

/** Length-prefixed pieces, one after the other. */
class Section {
  /** How many of them are in use. */
  bytes = 0;
  #buffer: Buffer = Buffer.allocUnsafeSlow(sectionBytes);
  readonly #spare: Buffer[] = [];

  add(piece: Uint8Array): void {
    const at = this.#reserve(piece.length);
    this.#buffer.set(piece, at);
    this.#end(piece.length);
  }

  /** The same of a text, as UTF-8. */
  addText(text: string): void {
    const at = this.#reserve(text.length * 3);
    this.#end(this.#buffer.write(text, at));
  }

  /** Makes room for a piece. @returns where it begins, behind its length */
  #reserve(length: number): number {
    const end = this.bytes + 4 + length;
    if (end > this.#buffer.length) {
      const larger = Buffer.allocUnsafeSlow(end * 2);
      this.#buffer.copy(larger, 0, 0, this.bytes);
      this.#buffer = larger;
    }
    return this.bytes + 4;
  }

  #end(length: number): void {
    this.#buffer.writeUInt32LE(length, this.bytes);
    this.bytes += 4 + length;
  }

  /** All of it; it is empty then. `again` says that these bytes may be written over. */
  take(): { readonly bytes: Buffer; readonly again: () => void } {
    const taken = this.#buffer;
    const bytes = taken.subarray(0, this.bytes);
    this.#buffer = this.#spare.pop() ?? Buffer.allocUnsafeSlow(sectionBytes);
    this.bytes = 0;
    return { bytes, again: () => void this.#spare.push(taken) };
  }
}

/** Takes a section apart again. */
export class Pieces {
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

/** Writes where the file stands, or at this place of it. */
export function writeAll(fd: number, bytes: Uint8Array, place?: number): void {
  for (let at = 0; at < bytes.length;)
    at += writeSync(fd, bytes, at, bytes.length - at, place === undefined ? null : place + at);
}

/** A block of a file that is open. All but `release` throw where it is damaged. */
export interface Block {
  /** Its bytes in the file. */
  packed(): Buffer;
  unpack(): Buffer;
  /** On another thread. */
  unpackBeside(): Promise<Buffer>;
  /** Gives back the memory of what was unpacked. */
  release(section: Buffer): void;
}

/** Blocks in the order of the file, read when they are unpacked. */
export function* readBlocks(file: string): Generator<Block> {
  const fd = openSync(file, 'r');
  try {
    yield* blocksIn(fd);
  } finally {
    closeSync(fd);
  }
}

/** All blocks of a file at once, for whoever looks for one of them. */
export function openBlocks(file: string): Disposable & { readonly blocks: readonly Block[] } {
  const fd = openSync(file, 'r');
  const close = (): void => closeSync(fd);
  try {
    return { blocks: [...blocksIn(fd)], [Symbol.dispose]: close };
  } catch (error) {
    close();
    throw error;
  }
}

function* blocksIn(fd: number): Generator<Block> {
  const { size } = fstatSync(fd);
  const lengths = Buffer.allocUnsafe(8);
  for (let at = titleBytes; readAll(fd, lengths, at) > 0;) {
    const start = at + lengths.length;
    const packedBytes = lengths.readUInt32LE(0);
    const plainBytes = lengths.readUInt32LE(4);
    at = start + packedBytes;
    const packed = (): Buffer => {
      if (start + packedBytes > size) throw new Error('it ends too early');
      const bytes = Buffer.allocUnsafeSlow(packedBytes);
      readAll(fd, bytes, start);
      return bytes;
    };
    const chunkSize = chunkBytesFor(plainBytes);
    const options = { chunkSize, maxOutputLength: plainBytes };
    yield {
      packed,
      unpack: () => {
        const bytes = packed();
        const section = zstdDecompressSync(bytes, options);
        release(bytes);
        return section;
      },
      unpackBeside: async () => {
        const bytes = packed();
        const section = await decompress(bytes, options);
        release(bytes);
        return section;
      },
      release: (section) => release(section, chunkSize),
    };
  }
}

/**
 * In one piece, and one byte more: zlib takes memory for another piece once the last byte of one is written. A damaged length must
 * not take the memory of the machine.
 */
function chunkBytesFor(plainBytes: number): number {
  return Math.min(Math.max(plainBytes + 1, constants.Z_MIN_CHUNK), 4 * blockBytes);
}

/** Up to as many bytes as there is room for, from a place in the file on. */
export function readAll(fd: number, into: Uint8Array, from: number): number {
  let at = 0;
  while (at < into.length) {
    const got = readSync(fd, into, at, into.length - at, from + at);
    if (got === 0) break;
    at += got;
  }
  return at;
}
