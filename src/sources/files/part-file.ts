/** The bytes of one part as a format reads them, expanded where they are stored compressed, hashed as they are stored. */
import path from 'node:path';
import { AgentError } from '../../core/errors.ts';
import type { SharedTexts } from '../../core/model.ts';
import type { Compression } from './archive.ts';
import { BlockHasher, type HashedBlocks, blockBytes, blockHash, contentHash, hashAt, hashBytes } from './blocks.ts';
import { compressionOf, expand } from './compressed.ts';
import type { StableFile } from './stable-file.ts';

/** How much of a compressed file is kept in memory for a format that reads here and there. */
const keptBytesMax = 256_000_000;

/** Read at once for the hash alone. */
const hashedBytes = 2 * blockBytes;

/** May be read over as often as a format likes: an open file is one content until `StableFile.verify` says otherwise. */
export class PartFile {
  /** As the part's name says it, for messages. */
  readonly name: string;
  /** In the file, as it is stored. */
  readonly bytes: number;
  readonly #file: StableFile;
  readonly #compression: Compression | undefined;
  readonly #expandedMax: number;
  #kept: Promise<Buffer> | undefined;
  /** The hashes of the first blocks, where they are known. */
  readonly #hashed: Uint8Array;
  #blocks: Uint8Array | undefined;
  /** The present pass; one that was given up may still be reading. */
  #pass = { bytesRead: 0 };

  /**
   * @param expandedMax what a compressed file may expand to, in bytes
   * @param hashed the hashes of its first blocks, where they are known
   */
  constructor(file: StableFile, expandedMax: number, hashed: Uint8Array = new Uint8Array(0)) {
    this.#hashed = hashed;
    this.#file = file;
    this.#expandedMax = expandedMax;
    this.#compression = compressionOf(file.name);
    this.name = file.name;
    this.bytes = file.bytes;
  }

  /** What its rows share, whatever its format. */
  get shared(): SharedTexts {
    // Of a member of an archive its own: `2026.zip#march/revenue.csv`.
    return { file: path.posix.basename(this.name.replace(/^.*\.zip#/i, '')) };
  }

  /** The open file; `undefined` where its bytes are not those that `chunks` gives. */
  get fd(): number | undefined {
    return this.#compression === undefined ? this.#file.fd : undefined;
  }

  /** How much of the file, as it is stored, the present pass has read, 0 to 1. */
  get share(): number {
    return this.bytes === 0 ? 1 : this.#pass.bytesRead / this.bytes;
  }

  /**
   * The bytes from the start, in chunks of any size.
   * @param into see `StableFile.chunks`; of a compressed file only their number counts
   * @throws AgentError as `StableFile.chunks` and `expand`
   */
  chunks(into?: readonly Buffer[]): AsyncGenerator<Buffer, void, void> {
    return this.#compression === undefined ? this.#stored(into) : this.#expanded(this.#compression, into?.length);
  }

  /** For work on bytes that were read earlier. @throws the signal's reason */
  throwIfAborted(): void {
    this.#file.throwIfAborted();
  }

  /** One byte of what `chunks` gives; `undefined` past its end. Of a compressed file this costs a pass up to there. */
  async byteAt(offset: number): Promise<number | undefined> {
    if (this.#compression === undefined) return await this.#file.byteAt(offset);
    let passed = 0;
    for await (const chunk of this.chunks()) {
      if (offset < passed + chunk.length) return chunk[offset - passed];
      passed += chunk.length;
    }
    return undefined;
  }

  /** The first four bytes of what `chunks` gives, and the last two. Of a compressed file this costs a pass. */
  async ends(): Promise<{ readonly start: Buffer; readonly end: Buffer }> {
    if (this.#compression === undefined) {
      const start = await this.#file.slice(0, 4);
      return { start, end: await this.#file.slice(Math.max(0, this.bytes - 2), this.bytes) };
    }
    let start = Buffer.alloc(0);
    let end = Buffer.alloc(0);
    for await (const chunk of this.chunks()) {
      if (start.length < 4) start = Buffer.concat([start, chunk.subarray(0, 4)]);
      end = Buffer.concat([end, chunk.subarray(-2)]).subarray(-2);
    }
    return { start, end };
  }

  /** How many bytes `chunks` gives. @throws AgentError as `slice` */
  async size(): Promise<number> {
    return this.#compression === undefined ? this.bytes : (await this.#keep()).length;
  }

  /**
   * The bytes of what `chunks` gives from `start` to before `end`, as many of them as there are. A compressed file is
   * expanded into memory for the first of these.
   * @throws AgentError `part.unreadable` where that would be over 256 MB, or as `chunks`
   */
  async slice(start: number, end: number): Promise<Buffer> {
    if (this.#compression === undefined) return await this.#file.slice(start, end);
    return (await this.#keep()).subarray(start, end);
  }

  /** The hash (hex) of the file's content. Costs a pass of its own only where no pass came to its end. */
  async hash(): Promise<string> {
    return contentHash(await this.blocks());
  }

  /** The hashes of the file's blocks, one behind the other. Costs what `hash` does. */
  async blocks(): Promise<Uint8Array> {
    if (this.#blocks !== undefined) return this.#blocks;
    const hasher = new BlockHasher(this.#hashed);
    // One for all of them: new ones by the thousand would keep the garbage collector busy.
    const buffer = Buffer.allocUnsafe(hashedBytes);
    for (let position = (this.#hashed.length / hashBytes) * blockBytes; ;) {
      const chunk = await this.#file.readInto(buffer, position);
      if (chunk.length === 0) return (this.#blocks ??= hasher.end());
      position += chunk.length;
      if (position > this.bytes) throw this.#file.changed();
      hasher.update(chunk);
    }
  }

  /** Hashes the blocks that others did not read whole. @throws AgentError `part.changing` where the file is shorter than it was */
  async hashRest(read: readonly HashedBlocks[]): Promise<void> {
    const blocks = Buffer.alloc(Math.ceil(this.bytes / blockBytes) * hashBytes);
    const known = new Set<number>();
    for (const { numbers, hashes } of read) {
      for (const [at, block] of numbers.entries()) {
        blocks.set(hashAt(hashes, at), block * hashBytes);
        known.add(block);
      }
    }
    const buffer = Buffer.allocUnsafe(blockBytes);
    for (let position = 0; position < this.bytes; position += blockBytes) {
      const block = position / blockBytes;
      if (known.has(block)) continue;
      const length = Math.min(blockBytes, this.bytes - position);
      const chunk = await this.#file.readInto(buffer.subarray(0, length), position);
      if (chunk.length < length) throw this.#file.changed();
      blocks.set(blockHash(chunk), block * hashBytes);
    }
    this.#blocks ??= blocks;
  }

  /** The bytes as they are stored from there on. */
  async *storedFrom(start: number, bytes: number): AsyncGenerator<Buffer, void, void> {
    for (let position = start; position < this.bytes;) {
      const chunk = await this.#file.slice(position, Math.min(this.bytes, position + bytes));
      if (chunk.length === 0) throw this.#file.changed();
      position += chunk.length;
      yield chunk;
    }
  }

  async #keep(): Promise<Buffer> {
    this.#kept ??= this.#expandAll();
    return await this.#kept;
  }

  async #expandAll(): Promise<Buffer> {
    const chunks: Buffer[] = [];
    let bytes = 0;
    for await (const chunk of this.chunks()) {
      bytes += chunk.length;
      if (bytes > keptBytesMax) {
        throw new AgentError(
          'part.unreadable',
          `${this.name} expands to more than 256 MB, too much to keep in memory`,
          {
            hint: 'store it uncompressed: this kind of file is read here and there, and is compressed in itself',
          },
        );
      }
      chunks.push(chunk);
    }
    return Buffer.concat(chunks);
  }

  async *#expanded(compression: Compression, heldMax?: number): AsyncGenerator<Buffer, void, void> {
    const stored = this.#stored();
    const archive = { name: this.name, compression, stored, expandedMax: this.#expandedMax };
    for await (const chunk of expand(archive, heldMax)) {
      // A few bytes in the file may be hours of expanding.
      this.#file.throwIfAborted();
      yield chunk;
    }
  }

  async *#stored(into?: readonly Buffer[]): AsyncGenerator<Buffer, void, void> {
    const hasher = this.#blocks === undefined ? new BlockHasher() : undefined;
    const pass = { bytesRead: 0 };
    this.#pass = pass;
    for await (const chunk of this.#file.chunks(into)) {
      hasher?.update(chunk);
      pass.bytesRead += chunk.length;
      yield chunk;
    }
    this.#blocks ??= hasher?.end();
  }
}
