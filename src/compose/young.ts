/** When the young generation of V8 gets its size: see `edges/memory.ts`. */
import { statSync } from 'node:fs';
import type { Dependencies } from '../app/dependencies.ts';
import type { Settings } from '../core/settings.ts';
import { settleYoungGeneration } from '../edges/memory.ts';
import { onFile } from '../edges/state/file-failure.ts';
import { fileIn } from './place.ts';

/** Some 100 000 points: with fewer there is nothing that would need memory. */
const bufferBytesMin = 4_000_000;
const rowsMin = 50_000;

type Observe = Dependencies['observe'];

/**
 * A daemon waits for hours with what it has, so its size is settled at once. A command ends as a rule before that pays, and settles when it
 * turns out that there is much to do.
 * @returns what is to be told of how far passes are
 */
export function settleYoung(command: string, settings: Settings, observe: Observe = () => undefined): Observe {
  let isSettled = false;
  const settle = (): void => {
    if (!isSettled) settleYoungGeneration();
    isSettled = true;
  };
  const file = fileIn(settings, 'buffer');
  const buffer = onFile(file, () => statSync(file, { throwIfNoEntry: false }));
  if (command === 'run' || (buffer?.size ?? 0) >= bufferBytesMin) settle();
  return (event) => {
    if (event.kind === 'part.reading' && event.rows >= rowsMin) settle();
    observe(event);
  };
}
