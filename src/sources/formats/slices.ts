/** A file for a library that reads here and there, and whose every failure is the content's fault but for one. */
import { AgentError, isAgentError } from '../../core/errors.ts';
import { visible } from '../../core/text.ts';
import type { PartFile } from '../files/part-file.ts';

/** Keeps the failure of a read, above all an abort: the library may wrap it in a failure of its own. */
export class Slices {
  readonly file: PartFile;
  /** The size of the content, expanded where the file is compressed. */
  readonly byteLength: number;
  #failure: { readonly cause: unknown } | undefined;

  constructor(file: PartFile, byteLength: number) {
    this.file = file;
    this.byteLength = byteLength;
  }

  /** All the bytes from `start` to before `end`. */
  async read(start: number, end: number): Promise<Buffer> {
    if (!(start >= 0 && start <= end && end <= this.byteLength)) {
      throw new RangeError(`it speaks of bytes ${start} to ${end} of ${this.byteLength}`);
    }
    const bytes = await this.#slice(start, end);
    if (bytes.length < end - start) throw new RangeError(`it ends at byte ${start + bytes.length}`);
    return bytes;
  }

  async #slice(start: number, end: number): Promise<Buffer> {
    try {
      return await this.file.slice(start, end);
    } catch (cause) {
      this.#failure = { cause };
      throw cause;
    }
  }

  /** The failure to pass on for `error`: what reading threw, an AgentError, or `damaged` with the library's own words. */
  blame(error: unknown, hint: string): unknown {
    if (this.#failure !== undefined) return this.#failure.cause;
    if (isAgentError(error)) return error;
    // They may show what stands in the file.
    const why = visible(error instanceof Error ? error.message : String(error));
    return new AgentError('part.unreadable', `${this.file.name} is damaged: ${why}`, { cause: error, hint });
  }
}
