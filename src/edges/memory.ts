/** Memory between passes: a daemon waits for hours and would keep what reading and pushing needed for a second. */
import v8 from 'node:v8';
import { runInNewContext } from 'node:vm';

type Collect = (options: { type: 'major'; execution: 'sync'; flavor: 'last-resort' }) => void;

let collect: Collect | undefined;

/**
 * Returns memory to the system, in about 30 ms. V8 alone would keep it: it collects only while a program allocates. Measured
 * on the sample: 125 MB resident become 90.
 */
export function releaseMemory(): void {
  if (collect === undefined) {
    v8.setFlagsFromString('--expose-gc');
    collect = runInNewContext('gc') as Collect;
  }
  collect({ type: 'major', execution: 'sync', flavor: 'last-resort' });
}
