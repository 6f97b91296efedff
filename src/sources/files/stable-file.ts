/** Files that hold still: quiet before they are read, and proven unchanged after. */
import { constants } from 'node:fs';
import type { BigIntStats } from 'node:fs';
import { open, stat } from 'node:fs/promises';
import type { FileHandle } from 'node:fs/promises';
import { AgentError } from '../../core/errors.ts';
import type { Clock } from '../../core/ports.ts';
import { accessError, codeOf, untilAborted } from './access.ts';

/** How long a file may take to become quiet before a read gives up: `sync` waits for it. */
const quietWaitMaxMs = 60_000;

/** Larger ones are no faster (the loop stands still for 2 ms with these), and 256 KiB cost 30 MB more memory. */
const chunkBytes = 64 * 1024;

/** Equal versions: the same file with the same content, as far as the file system can tell. */
export function versionOf(stats: BigIntStats): string {
  return `${stats.size}-${stats.mtimeNs}-${stats.ctimeNs}-${stats.ino}-${stats.dev}`;
}

/** Whether two versions are of one file of the disk, whatever it held. */
export function isSameFile(a: string, b: string): boolean {
  const nodeOf = (version: string): string => version.split('-').slice(3).join('-');
  return nodeOf(a) === nodeOf(b);
}

/** Milliseconds since 1970, with a fraction. */
export function revisedAtMsOf(stats: BigIntStats): number {
  return Number(stats.mtimeNs) / 1e6;
}

/**
 * For how long a file has been quiet. A modification time ahead of the clock says nothing (a program may set it), and
 * the change time, which the system sets with every change, stands alone; `undefined` where that is ahead too.
 */
function quietMsOf(stats: BigIntStats, now: Date): number | undefined {
  const ages = [revisedAtMsOf(stats), Number(stats.ctimeNs) / 1e6].map((atMs) => now.getTime() - atMs);
  const [, sinceChange = -1] = ages;
  return sinceChange < 0 ? undefined : Math.min(...ages.filter((ageMs) => ageMs >= 0));
}

/** Opening a FIFO would block, and a device never ends. */
export function notAFile(path: string, stats: BigIntStats): AgentError {
  const what = stats.isFIFO()
    ? 'a FIFO'
    : stats.isSocket()
      ? 'a socket'
      : stats.isDirectory()
        ? 'a directory'
        : 'a device';
  return new AgentError('source.unreadable', `${path} is ${what}, not a file`, {
    hint: 'move it away, or narrow the glob',
  });
}

/**
 * Waits until neither size nor times of a file moved for `settleMs`. Gives the version it stood still with.
 * @throws AgentError `part.changing` where that cannot be within 60 s.
 */
export async function waitUntilQuiet(
  path: string,
  settleMs: number,
  clock: Clock,
  signal: AbortSignal,
): Promise<string> {
  const endMs = clock.monotonicMs() + quietWaitMaxMs;
  let stats = await statPart(path, signal);
  for (;;) {
    const quietMs = quietMsOf(stats, clock.now()) ?? standingMs(path, versionOf(stats), clock);
    if (quietMs >= settleMs) return versionOf(stats);
    const waitMs = settleMs - quietMs;
    if (clock.monotonicMs() + waitMs > endMs) {
      throw new AgentError('part.changing', `${path} did not hold still for ${settleMs / 1000} s`, {
        hint: 'it is read once it does; if it is written all the time, export to another name and rename it when done',
      });
    }
    await clock.sleep(waitMs, signal);
    const later = await statPart(path, signal);
    if (versionOf(later) === versionOf(stats)) return versionOf(later);
    stats = later;
  }
}

interface Standing {
  readonly version: string;
  /** Monotonic. */
  readonly sinceMs: number;
}

/** By path. Passes are short: what one has seen standing still counts in the next. */
const standing = new WeakMap<Clock, Map<string, Standing>>();
const standingMax = 10_000;

/** For how long a file was seen in this version, where nothing says when it was written. */
function standingMs(path: string, version: string, clock: Clock): number {
  const seen = standing.get(clock) ?? new Map<string, Standing>();
  standing.set(clock, seen);
  const nowMs = clock.monotonicMs();
  const before = seen.get(path);
  if (before?.version === version) return nowMs - before.sinceMs;
  if (seen.size >= standingMax) seen.clear();
  seen.set(path, { version, sinceMs: nowMs });
  return 0;
}

function statPart(path: string, signal: AbortSignal): Promise<BigIntStats> {
  return statsOf(path, stat(path, { bigint: true }), signal);
}

/** An open file can fail, too: on a share where it was replaced it is stale. */
async function statsOf(path: string, asked: Promise<BigIntStats>, signal: AbortSignal): Promise<BigIntStats> {
  try {
    return await untilAborted(asked, signal);
  } catch (error) {
    signal.throwIfAborted();
    throw partError(path, error);
  }
}

function partError(path: string, cause: unknown): AgentError {
  if (codeOf(cause) !== 'ENOENT') return accessError('part.unreadable', path, cause);
  return new AgentError('part.changing', `${path} was removed before it was read`, { cause });
}

/** What is known of a file that was copied from elsewhere to be read here. */
export interface Original {
  readonly version: string;
  /** Milliseconds since 1970. */
  readonly revisedAtMs: number;
  /** Nobody needs the copy any more. */
  release(): Promise<void>;
}

/** One open file, which is known to be one content once `verify` has come back. */
export class StableFile {
  /** As the part's name says it, for messages. */
  readonly name: string;
  /** Of a copy: that of its original. */
  readonly version: string;
  readonly bytes: number;
  readonly path: string;
  /** As it was opened. */
  readonly stats: BigIntStats;
  readonly #original: Original | undefined;
  readonly #handle: FileHandle;
  readonly #signal: AbortSignal;
  #isReading = false;

  private constructor(
    path: string,
    name: string,
    opened: { handle: FileHandle; stats: BigIntStats; signal: AbortSignal; original: Original | undefined },
  ) {
    this.path = path;
    this.name = name;
    this.stats = opened.stats;
    this.#handle = opened.handle;
    this.#signal = opened.signal;
    this.#original = opened.original;
    this.version = opened.original?.version ?? versionOf(opened.stats);
    this.bytes = Number(opened.stats.size);
  }

  /** @throws AgentError `part.unreadable`, or `part.changing` where it is gone. */
  static async open(path: string, name: string, signal: AbortSignal, original?: Original): Promise<StableFile> {
    // Without O_NONBLOCK a FIFO that took the file's place would block the open for ever.
    const opening = open(path, constants.O_RDONLY | constants.O_NONBLOCK);
    let handle: FileHandle;
    try {
      handle = await untilAborted(opening, signal);
    } catch (error) {
      if (signal.aborted) void opening.then((late) => late.close()).catch(() => undefined);
      signal.throwIfAborted();
      throw partError(path, error);
    }
    try {
      const stats = await statsOf(path, handle.stat({ bigint: true }), signal);
      if (!stats.isFile()) throw notAFile(path, stats);
      return new StableFile(path, name, { handle, stats, signal, original });
    } catch (error) {
      await handle.close().catch(() => undefined);
      throw error;
    }
  }

  /** The rows of a file elsewhere lie here only while they are read. */
  get isCopy(): boolean {
    return this.#original !== undefined;
  }

  /** Milliseconds since 1970, with a fraction. */
  get revisedAtMs(): number {
    return this.#original?.revisedAtMs ?? revisedAtMsOf(this.stats);
  }

  /** See `quietMsOf`. Of a file elsewhere only the time of its last change is known. */
  quietMs(now: Date): number | undefined {
    if (this.#original === undefined) return quietMsOf(this.stats, now);
    const quietMs = now.getTime() - this.#original.revisedAtMs;
    return quietMs < 0 ? undefined : quietMs;
  }

  get fd(): number {
    return this.#handle.fd;
  }

  /**
   * The bytes from the start, in full chunks; may be asked for again.
   * @param into buffers that are filled in turn, so that a chunk holds until the others were; else each chunk is a new one
   */
  async *chunks(into?: readonly Buffer[]): AsyncGenerator<Buffer, void, void> {
    for (let position = 0, count = 0; ; count++) {
      const buffer = into?.[count % into.length] ?? Buffer.allocUnsafe(chunkBytes);
      const chunk = await this.readInto(buffer, position);
      if (chunk.length === 0) return;
      position += chunk.length;
      // Somebody appends as fast as it is read: this would have no end.
      if (position > this.bytes) throw this.changed();
      yield chunk;
    }
  }

  /** For work on bytes that were read earlier. @throws the signal's reason */
  throwIfAborted(): void {
    this.#signal.throwIfAborted();
  }

  async byteAt(offset: number): Promise<number | undefined> {
    return (await this.slice(offset, offset + 1))[0];
  }

  /** The bytes from `start` to before `end`, as many of them as there are. */
  async slice(start: number, end: number): Promise<Buffer> {
    return await this.readInto(Buffer.allocUnsafe(end - start), start);
  }

  /** The bytes from `start` on, as many as there are and the buffer holds. */
  async readInto(buffer: Buffer, start: number): Promise<Buffer> {
    let length = 0;
    while (length < buffer.length) {
      this.#signal.throwIfAborted();
      this.#isReading = true;
      const reading = this.#handle.read(buffer, length, buffer.length - length, start + length);
      const settled = reading.finally(() => {
        this.#isReading = false;
      });
      const { bytesRead } = await untilAborted(settled, this.#signal).catch((error: unknown) => {
        this.#signal.throwIfAborted();
        throw accessError('part.unreadable', this.path, error);
      });
      if (bytesRead === 0) break;
      length += bytesRead;
    }
    return buffer.subarray(0, length);
  }

  /**
   * Comes back only if the open file and what now has its name are both still what was opened.
   * @throws AgentError `part.changing`
   */
  async verify(): Promise<void> {
    const held = await statsOf(this.path, this.#handle.stat({ bigint: true }), this.#signal);
    const opened = versionOf(this.stats);
    if (versionOf(held) !== opened) throw this.changed();
    const named = await statPart(this.path, this.#signal);
    if (versionOf(named) !== opened) throw this.changed();
  }

  changed(): AgentError {
    return new AgentError('part.changing', `${this.isCopy ? this.name : this.path} changed while it was read`, {
      hint: 'it is read again once it holds still; a longer settle helps where it is written slowly',
    });
  }

  async close(): Promise<void> {
    // What was read was read, also where a share that is gone by now says no to this.
    const closing = this.#handle.close().catch(() => undefined);
    // Closing waits for a read that may hang on a dead share for ever.
    if (!this.#isReading) await closing;
    await this.#original?.release();
  }
}
