/**
 * Long work of a pass in steps, between which timers and sockets have their turn. Drivers are counted and not milliseconds, so that the
 * same data takes the same turns each time: a simulated history depends on it.
 */
import { setImmediate as turn } from 'node:timers/promises';
import type { PartWriter } from '../core/buffer.ts';
import type { PackedDriver } from '../core/series/packing.ts';
import { pieceFrom } from '../core/steps.ts';

/** With 60 points each they take 10 ms to be packed and written. */
const writtenInTurn = 250;
/** With 60 points each they take 1 ms, and 13 where all values are others and each is judged. */
const comparedInTurn = 64;

/** Runs steps, one for each driver, to their end. */
export async function inTurns<T>(steps: Iterator<unknown, T>): Promise<T> {
  for (let count = 1; ; count++) {
    const step = steps.next();
    if (step.done === true) return step.value;
    if (count % comparedInTurn === 0) await turn();
  }
}

/** Writes drivers in pieces, which are packed as they are written. */
export async function addInTurns(
  writer: Pick<PartWriter, 'addPacked'>,
  drivers: Iterable<PackedDriver>,
  signal: AbortSignal,
): Promise<void> {
  const left = drivers[Symbol.iterator]();
  for (let next = left.next(); next.done !== true;) {
    writer.addPacked(pieceFrom(next.value, left, writtenInTurn));
    next = left.next();
    if (next.done === true) return;
    await turn();
    signal.throwIfAborted();
  }
}
