/** Processes whose clock on the wall is not this machine's, and can be set while they run: by libfaketime. */
import { globSync, renameSync, writeFileSync } from 'node:fs';
import { isChecked } from './servers.ts';

const [library] = globSync('/usr/lib/{*,*/*}/libfaketime.so.1');

export const cannotSetClocks = !isChecked && library === undefined;

export interface OtherClock {
  /** For the processes that go by it. */
  readonly env: NodeJS.ProcessEnv;
  /** How far it is ahead of this machine's; they see it within a second. */
  set(aheadSeconds: number): void;
}

/** @param file says how far it is ahead */
export function otherClock(file: string, aheadSeconds: number): OtherClock {
  if (library === undefined) throw new Error('faketime is not installed, and with CI set nothing is skipped');
  const set: OtherClock['set'] = (seconds) => {
    // Whole at every moment: processes read it again and again.
    writeFileSync(`${file}.draft`, `${seconds < 0 ? '-' : '+'}${Math.abs(seconds)}`);
    renameSync(`${file}.draft`, file);
  };
  set(aheadSeconds);
  return {
    env: {
      LD_PRELOAD: library,
      FAKETIME_TIMESTAMP_FILE: file,
      FAKETIME_CACHE_DURATION: '1',
      // As on any machine: nobody sets the monotonic clock, and a file server has a clock of its own.
      FAKETIME_DONT_FAKE_MONOTONIC: '1',
      DONT_FAKE_MONOTONIC: '1',
      NO_FAKE_STAT: '1',
    },
    set,
  };
}
