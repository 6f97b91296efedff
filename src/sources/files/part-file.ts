/** The bytes of one part as a format reads them, hashed as they are in the file. */
import { createHash } from 'node:crypto';
import type { StableFile } from './stable-file.ts';

/** May be read over as often as a format likes: an open file is one content until `StableFile.verify` says otherwise. */
export class PartFile {
  /** As the part's name says it, for messages. */
  readonly name: string;
  /** In the file. */
  readonly bytes: number;
  readonly #file: StableFile;
  #hash: string | undefined;
  #bytesRead = 0;

  constructor(file: StableFile) {
    this.#file = file;
    this.name = file.name;
    this.bytes = file.bytes;
  }

  /** How much of the file the present pass has read, 0 to 1. */
  get share(): number {
    return this.bytes === 0 ? 1 : this.#bytesRead / this.bytes;
  }

  /** The bytes from the start, in chunks of any size. @throws AgentError as `StableFile.chunks` */
  chunks(): AsyncGenerator<Buffer, void, void> {
    return this.#stored();
  }

  /** One byte of what `chunks` gives; `undefined` past its end. */
  byteAt(offset: number): Promise<number | undefined> {
    return this.#file.byteAt(offset);
  }

  /** sha256 (hex) of the file's bytes. Costs a pass of its own only where no pass came to its end. */
  async hash(): Promise<string> {
    if (this.#hash === undefined) for await (const _chunk of this.#stored());
    return this.#hash as unknown as string;
  }

  async *#stored(): AsyncGenerator<Buffer, void, void> {
    const hash = this.#hash === undefined ? createHash('sha256') : undefined;
    this.#bytesRead = 0;
    for await (const chunk of this.#file.chunks()) {
      hash?.update(chunk);
      this.#bytesRead += chunk.length;
      yield chunk;
    }
    this.#hash ??= hash?.digest('hex');
  }
}
