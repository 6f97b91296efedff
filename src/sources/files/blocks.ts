/** The content of a file as the hashes of its blocks: a file that has grown is compared with those of an earlier read. */
import { type Hash, createHash, hash } from 'node:crypto';

/** Small enough to look at several of them within a millisecond; their hashes are 80 KB for a file of 600 MB. */
export const blockBytes = 256 * 1024;

/** The length of a sha256. */
export const hashBytes = 32;

/** Takes the bytes of a file in their order. */
export class BlockHasher {
  readonly #blocks: Uint8Array[];
  /** The hash of the block that is not full yet. */
  #hash: Hash | undefined;
  #bytes = 0;

  /** @param before the hashes of the blocks before the first byte */
  constructor(before: Uint8Array = new Uint8Array(0)) {
    this.#blocks = [before];
  }

  update(chunk: Uint8Array): void {
    for (let at = 0; at < chunk.length;) {
      const piece = chunk.subarray(at, at + blockBytes - this.#bytes);
      at += piece.length;
      if (piece.length === blockBytes) {
        this.#blocks.push(blockHash(piece));
        continue;
      }
      this.#hash ??= createHash('sha256');
      this.#hash.update(piece);
      this.#bytes += piece.length;
      if (this.#bytes === blockBytes) this.#endBlock();
    }
  }

  /** The hashes of all blocks, one behind the other. An empty file is one empty block. */
  end(): Uint8Array {
    if (this.#bytes > 0) this.#endBlock();
    const blocks = Buffer.concat(this.#blocks);
    return blocks.length === 0 ? blockHash(blocks) : blocks;
  }

  #endBlock(): void {
    this.#blocks.push((this.#hash as Hash).digest());
    this.#hash = undefined;
    this.#bytes = 0;
  }
}

/** The hashes of some blocks: which these are, and their hashes one behind the other. Can be cloned. */
export interface HashedBlocks {
  readonly numbers: readonly number[];
  readonly hashes: Uint8Array;
}

/** Hashes the blocks of a file that are read whole on the way, by whoever reads parts of it. */
export class PassingBlocks {
  readonly #bytes: number;
  readonly #hashes = new Map<number, Uint8Array>();

  /** @param bytes of the file */
  constructor(bytes: number) {
    this.#bytes = bytes;
  }

  /** @param position where the bytes stand in the file; @param end no block is taken that begins there or later */
  take(chunk: Uint8Array, position: number, end: number): void {
    if (position % blockBytes !== 0) return;
    for (let at = 0; at < chunk.length && position + at < end; at += blockBytes) {
      const block = (position + at) / blockBytes;
      const piece = chunk.subarray(at, at + blockBytes);
      const isWhole = piece.length === blockBytes || position + at + piece.length === this.#bytes;
      if (isWhole && !this.#hashes.has(block)) this.#hashes.set(block, blockHash(piece));
    }
  }

  all(): HashedBlocks {
    return { numbers: [...this.#hashes.keys()], hashes: Buffer.concat([...this.#hashes.values()]) };
  }
}

export function blockHash(block: Uint8Array): Buffer {
  return hash('sha256', block, 'buffer');
}

/** The hash of one of the blocks. */
export function hashAt(blocks: Uint8Array, block: number): Uint8Array {
  return blocks.subarray(block * hashBytes, (block + 1) * hashBytes);
}

/** The hashes of the first so many blocks. */
export function firstHashes(blocks: Uint8Array, count: number): Uint8Array {
  return blocks.subarray(0, count * hashBytes);
}

/** The hash (hex) of the content of a file: the sha256 of its bytes where they are one block, else of its blocks' hashes. */
export function contentHash(blocks: Uint8Array): string {
  if (blocks.length === hashBytes) return Buffer.from(blocks).toString('hex');
  return createHash('sha256').update('blocks\n').update(blocks).digest('hex');
}
