/** A thread that reads ranges of files, one after the other. Started by `threads.ts`. */
import { readSync } from 'node:fs';
import { setPriority } from 'node:os';
import { type MessagePort, parentPort } from 'node:worker_threads';
import type { PackedDriver } from '../../../core/series/packing.ts';
import { PassingBlocks } from '../../files/blocks.ts';
import { packDrivers } from './driver-message.ts';
import { type ByteRange, type RangeBefore, type RangeJob, type RangePort, readRange } from './range.ts';
import type { FromThread, ToThread } from './threads.ts';

const port = parentPort as MessagePort;
/** Messages of drivers that were not taken yet: else whoever is slower than this thread would hold them all. */
const onTheWayMax = 4;
/** A nice value: with it a thread gets a third of what the main thread gets, where both want the same core. */
const givesWay = 5;
let onTheWay = 0;
let hasRoom: (() => void) | undefined;
let gotBefore: ((before: RangeBefore) => void) | undefined;

giveWay();

port.on('message', (message: ToThread) => {
  if (message.kind === 'before') {
    gotBefore?.(message.before);
    return;
  }
  if (message.kind === 'taken') {
    onTheWay--;
    hasRoom?.();
    return;
  }
  // Anything that it throws ends the thread, and whoever waits for it hears of it.
  void read(message.job, message.range, message.fd).then((isPlain) => tell({ kind: 'done', isPlain }));
});

/** The main thread has timers and requests to serve, so it goes first where there are fewer cores than threads. */
function giveWay(): void {
  // There alone a thread has a priority of its own.
  if (process.platform !== 'linux') return;
  try {
    setPriority(givesWay);
  } catch {
    // The system forbids it: reading is as urgent as everything else then, and gives the same.
  }
}

async function read(job: RangeJob, range: ByteRange, fd: number): Promise<boolean> {
  const before = new Promise<RangeBefore>((resolve) => {
    gotBefore = resolve;
  });
  const blocks = new PassingBlocks(job.bytes);
  const ports: RangePort = {
    read(into, position) {
      const length = readSync(fd, into, 0, into.length, position);
      blocks.take(into.subarray(0, length), position, range.to);
      return length;
    },
    before: async () => await before,
    ended: (end) => tell({ kind: 'ended', end: { ...end, hashed: blocks.all() } }),
    add: async (drivers) => {
      tellDrivers(drivers);
      onTheWay++;
      if (onTheWay < onTheWayMax) return;
      await new Promise<void>((resolve) => {
        hasRoom = resolve;
      });
    },
    progress: (bytes, rows) => tell({ kind: 'progress', bytes, rows }),
  };
  return await readRange(job, range, ports);
}

function tell(message: FromThread): void {
  port.postMessage(message);
}

function tellDrivers(drivers: readonly PackedDriver[]): void {
  const message = packDrivers(drivers);
  port.postMessage({ kind: 'drivers', drivers: message } satisfies FromThread, [message.blobs.buffer as ArrayBuffer]);
}
