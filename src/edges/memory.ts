/** Memory between passes: a daemon waits for hours, with what reading and pushing needed for a second. */
import v8 from 'node:v8';
import { runInNewContext } from 'node:vm';

type Collect = (options: { type: 'major'; execution: 'sync'; flavor: 'last-resort' }) => void;

let collect: Collect | undefined;

/**
 * Gives memory back to the system; takes some 30 ms. V8 would keep it: with nothing to do it has no reason to look. Measured
 * on the sample: 125 MB resident become 90.
 */
export function giveBackMemory(): void {
  if (collect === undefined) {
    v8.setFlagsFromString('--expose-gc');
    collect = runInNewContext('gc') as Collect;
  }
  collect({ type: 'major', execution: 'sync', flavor: 'last-resort' });
}
