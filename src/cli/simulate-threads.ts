/** Plays seeds in several threads. What they come to is the same for any number of them. */
import { Worker } from 'node:worker_threads';
import type { Ranged, Seeds } from '../simulate/campaign.ts';

/** What a thread needs to make its stage: settings hold patterns, which do not cross. */
export interface SimulateThreadData {
  readonly file: string;
  readonly env: Readonly<Record<string, string | undefined>>;
}

export interface FromSimulateThread extends Seeds, Omit<Ranged, 'failed'> {
  readonly failedSeed: number | undefined;
}

/** So many histories at a time: a thread is asked anew every second or so. */
const rangeSeeds = 50;

/** @param progress is told how many histories were played */
export async function playInThreads(
  data: SimulateThreadData,
  { from, count, threads }: Seeds & { readonly threads: number },
  progress: (done: number) => void,
): Promise<Omit<FromSimulateThread, keyof Seeds>> {
  const played = new Map<number, FromSimulateThread>();
  let next = from;
  let done = 0;
  let failedSeed: number | undefined;
  const takeRange = (): Seeds | undefined => {
    // What comes behind a broken promise is not played; what comes before it is played to its end.
    if (next >= Math.min(from + count, failedSeed ?? Infinity)) return undefined;
    const range = { from: next, count: Math.min(rangeSeeds, from + count - next) };
    next += range.count;
    return range;
  };
  const file = new URL(
    import.meta.url.endsWith('.ts') ? './simulate-thread.ts' : './simulate-thread.js',
    import.meta.url,
  );
  const running = Array.from({ length: threads }, async () => {
    const thread = new Worker(file, { workerData: data });
    try {
      for (let range = takeRange(); range !== undefined; range = takeRange()) {
        const result = await ask(thread, range);
        played.set(range.from, result);
        done += result.digests.length;
        if (result.failedSeed !== undefined) failedSeed = Math.min(failedSeed ?? Infinity, result.failedSeed);
        progress(done);
      }
    } finally {
      await thread.terminate();
    }
  });
  await Promise.all(running);
  const inOrder = [...played.values()].sort((a, b) => a.from - b.from);
  const ranges = inOrder.filter((range) => failedSeed === undefined || range.from <= failedSeed);
  const marks = new Map<string, number>();
  for (const range of ranges) for (const [mark, times] of range.marks) marks.set(mark, (marks.get(mark) ?? 0) + times);
  const steps = ranges.reduce((sum, range) => sum + range.steps, 0);
  return { steps, digests: ranges.flatMap(({ digests }) => digests), marks, failedSeed };
}

function ask(thread: Worker, range: Seeds): Promise<FromSimulateThread> {
  return new Promise((resolve, reject) => {
    const over = (): void => {
      thread.off('message', onMessage).off('error', onError).off('exit', onExit);
    };
    const onMessage = (message: FromSimulateThread): void => {
      over();
      resolve(message);
    };
    const onError = (error: Error): void => {
      over();
      reject(error);
    };
    const onExit = (): void => onError(new Error('a thread that played histories has ended'));
    thread.on('message', onMessage).on('error', onError).on('exit', onExit);
    thread.postMessage(range);
  });
}
