/** The process that reads an embedded database for another one, found in /proc. */
import { readFile, readdir, readlink } from 'node:fs/promises';
import { expect } from 'vitest';

export type Reader = 'sqlite-child' | 'duckdb-child';

const interval = 10;

/** The reader that this process has started, as soon as there is one. */
export async function readerOf(parent: number, reader: Reader): Promise<number> {
  const find = async (): Promise<number | undefined> => {
    const children = await readFile(`/proc/${parent}/task/${parent}/children`, 'utf8');
    for (const child of children.split(' ').filter(Boolean).map(Number)) {
      if (await isReader(child, reader)) return child;
    }
    return undefined;
  };
  let found: number | undefined;
  await expect.poll(async () => (found = await find()), { interval }).toBeDefined();
  return found as number;
}

/** The same reader once it works on its query: starting takes less than half of this time. */
export async function busyReaderOf(parent: number, reader: Reader): Promise<number> {
  const pid = await readerOf(parent, reader);
  // In hundredths of a second.
  const userTime = async (): Promise<number> => Number((await readFile(`/proc/${pid}/stat`, 'utf8')).split(' ')[13]);
  await expect.poll(userTime, { interval }).toBeGreaterThanOrEqual(reader === 'duckdb-child' ? 70 : 40);
  return pid;
}

/** The readers that work for a process which was started in this folder. */
export async function readersIn(dir: string, reader: Reader): Promise<number[]> {
  const pids = (await readdir('/proc')).map(Number).filter(Boolean);
  const found: number[] = [];
  for (const pid of pids) {
    // One that has ended meanwhile has no folder.
    const folder = await readlink(`/proc/${pid}/cwd`).catch(() => '');
    if (folder === dir && (await isReader(pid, reader))) found.push(pid);
  }
  return found;
}

/** Whether this is such a process; one that has ended has no command line. */
export async function isReader(pid: number, reader: Reader): Promise<boolean> {
  return (await readFile(`/proc/${pid}/cmdline`, 'utf8').catch(() => '')).includes(reader);
}
