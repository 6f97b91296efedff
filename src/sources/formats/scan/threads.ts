/**
 * A delimited file read by several threads, each with a range of its bytes and a fold of its own. Where a range begins is
 * guessed and then held against where the one before really ended: after a wrong guess the range is read again. Rows keep
 * their numbers, so that the result is the same for any number of threads.
 */
import * as workerThreads from 'node:worker_threads';
import type { FoldJob, RowCounts } from '../../../core/ports.ts';
import type { Reject } from '../../../core/model.ts';
import type { HashedBlocks } from '../../files/blocks.ts';
import type { ReadThreads } from '../../kind.ts';
import { type DriverMessage, unpackDrivers } from './driver-message.ts';
import { type ByteRange, type RangeBefore, type RangeEnd, type RangeJob, gridBytesDefault } from './range.ts';

export type ToThread =
  | { readonly kind: 'read'; readonly job: RangeJob; readonly range: ByteRange; readonly fd: number }
  | { readonly kind: 'before'; readonly before: RangeBefore }
  | { readonly kind: 'taken' };

export type FromThread =
  | { readonly kind: 'ended'; readonly end: RangeEnd }
  | { readonly kind: 'drivers'; readonly drivers: DriverMessage }
  | { readonly kind: 'progress'; readonly bytes: number; readonly rows: number }
  | { readonly kind: 'done'; readonly isPlain: boolean };

/** What a thread makes and drops again: most of its objects live as long as a message. */
const youngMb = 16;

/** Idle threads are kept for the next part for as long. While they live, judging and building would be the peak of a pass. */
const idleMs = 300;

/** What a range tells while it is read elsewhere. */
export interface RangeListener {
  /** Comes back when the ranges before it were read. */
  before(): Promise<RangeBefore>;
  ended(end: RangeEnd): void;
  add: FoldJob['add'];
  progress(bytes: number, rows: number): void;
}

/** Reads one range somewhere. @returns whether it is plain */
export type RunRange = (job: RangeJob, range: ByteRange, listener: RangeListener) => Promise<boolean>;

export interface FoldedRanges {
  readonly counts: RowCounts;
  readonly rejects: readonly Reject[];
  /** The blocks of the file that were hashed on the way. */
  readonly hashed: readonly HashedBlocks[];
}

/**
 * Reads the bytes of a file from the first row on in so many ranges at once.
 * @returns `undefined` where a part of it is not plain
 */
export async function foldRanges(
  { job, from, ranges: count }: { readonly job: RangeJob; readonly from: number; readonly ranges: number },
  { add, progress }: Pick<FoldJob, 'add' | 'progress'>,
  run: RunRange,
): Promise<FoldedRanges | undefined> {
  const ranges = rangesOf(job, from, count);
  const ends = ranges.map(() => Promise.withResolvers<RangeEnd>());
  // Nobody waits for the end of the last one.
  for (const { promise } of ends) promise.catch(() => undefined);
  const done = ranges.map(() => ({ bytes: 0, rows: 0 }));
  const results = ranges.map(async (range, at) => {
    try {
      return await run(job, range, {
        before: () => rowsBefore(ends.slice(0, at), from),
        ended: (end) => ends[at]?.resolve(end),
        add,
        progress(bytes, rows) {
          done[at] = { bytes, rows };
          const all = done.reduce((sum, one) => ({ bytes: sum.bytes + one.bytes, rows: sum.rows + one.rows }));
          progress(all.rows, all.bytes / job.bytes);
        },
      });
    } finally {
      // A range that failed or is not plain has no end; the others need not wait for it.
      ends[at]?.reject(notPlain);
    }
  });
  const settled = await Promise.allSettled(results);
  const failed = settled.find((result) => result.status === 'rejected' && result.reason !== notPlain);
  if (failed !== undefined) throw (failed as PromiseRejectedResult).reason;
  if (!settled.every((result) => result.status === 'fulfilled' && result.value)) return undefined;
  const found = await Promise.all(ends.map(({ promise }) => promise));
  const sum = (of: (end: RangeEnd) => number): number => found.reduce((total, end) => total + of(end), 0);
  return {
    counts: {
      rows: sum(({ rows }) => rows),
      passed: sum(({ passed }) => passed),
      rejects: sum(({ rejected }) => rejected),
    },
    rejects: found.flatMap(({ rejects }) => rejects).slice(0, job.rejectsMax),
    hashed: found.flatMap(({ hashed }) => hashed ?? []),
  };
}

/** About equal ones, which begin at the places that `gridBytes` allows. */
function rangesOf(
  { bytes, gridBytes = gridBytesDefault }: RangeJob,
  from: number,
  count: number,
): readonly ByteRange[] {
  const steps = (offset: number): number => Math.ceil(offset / gridBytes);
  const first = steps(from + 1);
  // At least one, also where nothing stands behind the header.
  const each = Math.max(1, Math.ceil((steps(bytes) - first + 1) / count));
  const starts = [from];
  for (let at = (first + each - 1) * gridBytes; at < bytes; at += each * gridBytes) if (at > from) starts.push(at);
  return starts.map((start, at) => ({ from: start, to: starts[at + 1] ?? bytes, isFirst: at === 0 }));
}

const notPlain = new Error('a range before this one is not plain');

async function rowsBefore(ends: readonly { promise: Promise<RangeEnd> }[], from: number): Promise<RangeBefore> {
  const found = await Promise.all(ends.map(({ promise }) => promise));
  return { end: found.at(-1)?.end ?? from, rows: found.reduce((total, { rows }) => total + rows, 0) };
}

/** Threads that wait for a next part. */
const idle = new Set<workerThreads.Worker>();
let timer: NodeJS.Timeout | undefined;

/** Reads ranges of an open file in threads. @param begin see `ReadThreads` */
export function inThreads(fd: number, signal: AbortSignal, begin?: ReadThreads['begin']): RunRange {
  return async (job, range, listener) => {
    const thread = takeThread();
    const ended = begin?.();
    const running = new AbortController();
    const stop = (): void => running.abort(signal.reason);
    signal.addEventListener('abort', stop, { once: true });
    try {
      signal.throwIfAborted();
      const isPlain = await listen(thread, { job, range, fd }, listener, running.signal);
      giveBack(thread);
      return isPlain;
    } catch (error) {
      // Not awaited: a read that hangs in the kernel would hang this too.
      void thread.terminate();
      throw error;
    } finally {
      signal.removeEventListener('abort', stop);
      ended?.();
    }
  };
}

async function listen(
  thread: workerThreads.Worker,
  read: Omit<Extract<ToThread, { kind: 'read' }>, 'kind'>,
  listener: RangeListener,
  signal: AbortSignal,
): Promise<boolean> {
  const { promise, resolve, reject } = Promise.withResolvers<boolean>();
  const onMessage = (message: FromThread): void => {
    try {
      switch (message.kind) {
        case 'ended':
          listener.ended(message.end);
          break;
        case 'drivers':
          listener.add(unpackDrivers(message.drivers));
          thread.postMessage({ kind: 'taken' } satisfies ToThread);
          break;
        case 'progress':
          listener.progress(message.bytes, message.rows);
          break;
        case 'done':
          resolve(message.isPlain);
      }
    } catch (error) {
      reject(error);
    }
  };
  const onExit = (): void => reject(new Error('a thread that read a file has ended'));
  const onAbort = (): void => reject(signal.reason);
  thread.on('message', onMessage).on('error', reject).on('exit', onExit);
  signal.addEventListener('abort', onAbort, { once: true });
  try {
    thread.postMessage({ kind: 'read', ...read } satisfies ToThread);
    listener.before().then((before) => thread.postMessage({ kind: 'before', before } satisfies ToThread), reject);
    return await promise;
  } finally {
    thread.off('message', onMessage).off('error', reject).off('exit', onExit);
    signal.removeEventListener('abort', onAbort);
  }
}

function takeThread(): workerThreads.Worker {
  clearTimeout(timer);
  const [waiting] = idle;
  if (waiting !== undefined) {
    idle.delete(waiting);
    waiting.ref();
    return waiting;
  }
  const file = new URL(import.meta.url.endsWith('.ts') ? './thread.ts' : './thread.js', import.meta.url);
  return new workerThreads.Worker(file, { resourceLimits: { maxYoungGenerationSizeMb: youngMb } });
}

function giveBack(thread: workerThreads.Worker): void {
  idle.add(thread);
  thread.unref();
  clearTimeout(timer);
  timer = setTimeout(() => {
    for (const one of idle) void one.terminate();
    idle.clear();
  }, idleMs).unref();
}
