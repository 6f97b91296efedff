/** The bytes of a body that is passed on: in memory while they are few, and beyond that in a file without a name. */
import { createHash, randomUUID } from 'node:crypto';
import { open, unlink } from 'node:fs/promises';
import type { FileHandle } from 'node:fs/promises';
import { join } from 'node:path';
import { Readable } from 'node:stream';

/** So that thousands of exchanges at a time fit into memory. */
const inMemoryBytesMax = 64 * 1024;

type Body = Uint8Array<ArrayBuffer> | ReadableStream<Uint8Array>;

/** A body that cannot be put into its file, as on a full disk. */
export class SpoolError extends Error {
  override readonly name = 'SpoolError';
}

export class Spool implements AsyncDisposable {
  readonly #folder: string;
  readonly #hash = createHash('sha256');
  readonly #chunks: Uint8Array[] = [];
  #file: FileHandle | undefined;
  #bytes = 0;
  #sha256 = '';

  private constructor(folder: string) {
    this.#folder = folder;
  }

  /**
   * Receives a body. @throws SpoolError
   * @param folder where a long one is put; only its owner can read it, and it is gone with the process.
   */
  static async of(body: AsyncIterable<Uint8Array> | null, folder: string): Promise<Spool> {
    const spool = new Spool(folder);
    try {
      for await (const chunk of body ?? []) await spool.#add(chunk);
    } catch (error) {
      await spool[Symbol.asyncDispose]();
      throw error;
    }
    spool.#sha256 = spool.#hash.digest('hex');
    return spool;
  }

  get bytes(): number {
    return this.#bytes;
  }

  /** Hex. */
  get sha256(): string {
    return this.#sha256;
  }

  /** All of it in memory. */
  async whole(): Promise<Uint8Array<ArrayBuffer>> {
    if (this.#file === undefined) return this.#together();
    const whole = new Uint8Array(this.#bytes);
    for (let at = 0; at < whole.length;) {
      const { bytesRead } = await this.#file.read(whole, at, whole.length - at, at);
      if (bytesRead === 0) throw new Error(`a body of ${whole.length} bytes ends after ${at} on disk`);
      at += bytesRead;
    }
    return whole;
  }

  /** To be sent, before the spool is disposed of; null if it is empty. */
  body(): Body | null {
    if (this.#bytes === 0) return null;
    return this.#file === undefined ? this.#together() : streamOf(this.#file, { autoClose: false });
  }

  /** To be sent, however long that takes: its end disposes of the spool. Null if it is empty. */
  handOver(): Body | null {
    const file = this.#file;
    this.#file = undefined;
    return file === undefined ? this.body() : streamOf(file, { autoClose: true });
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#file?.close();
    this.#file = undefined;
  }

  #together(): Uint8Array<ArrayBuffer> {
    return Uint8Array.from(Buffer.concat(this.#chunks));
  }

  async #add(chunk: Uint8Array): Promise<void> {
    this.#hash.update(chunk);
    this.#bytes += chunk.length;
    this.#chunks.push(chunk);
    if (this.#bytes <= inMemoryBytesMax) return;
    try {
      this.#file ??= await openUnnamed(this.#folder);
      await writeAll(this.#file, Buffer.concat(this.#chunks.splice(0)));
    } catch (cause) {
      const why = (cause as Error).message;
      throw new SpoolError(`a body cannot be kept in ${this.#folder}: ${why}`, { cause });
    }
  }
}

function streamOf(file: FileHandle, { autoClose }: { readonly autoClose: boolean }): ReadableStream<Uint8Array> {
  return Readable.toWeb(file.createReadStream({ start: 0, autoClose })) as ReadableStream<Uint8Array>;
}

async function openUnnamed(folder: string): Promise<FileHandle> {
  const path = join(folder, `.driver-sync-${randomUUID()}`);
  const file = await open(path, 'wx+', 0o600);
  await unlink(path);
  return file;
}

async function writeAll(file: FileHandle, bytes: Uint8Array): Promise<void> {
  for (let at = 0; at < bytes.length;) at += (await file.write(bytes, at)).bytesWritten;
}
