/** What takes a program a second to make and is the same each time: made once for a run, and copied from there. */
import { createHash, randomUUID } from 'node:crypto';
import { existsSync, renameSync, rmSync } from 'node:fs';
import path from 'node:path';
import { folderOfRun } from './temporary-folder.ts';

/**
 * A folder that `make` has filled, which goes with the run. `undefined` outside of one: nothing would take it away.
 * @param what tells it from all else that is prepared: the program, by its path, and what it is told
 */
export async function preparedFolder(
  what: readonly string[],
  make: (folder: string) => Promise<void>,
): Promise<string | undefined> {
  const run = folderOfRun();
  if (run === undefined) return undefined;
  const name = createHash('sha256').update(JSON.stringify(what)).digest('hex').slice(0, 16);
  const prepared = path.join(run, `prepared-${name}`);
  if (existsSync(prepared)) return prepared;
  const own = path.join(run, `preparing-${randomUUID()}`);
  await make(own);
  try {
    renameSync(own, prepared);
  } catch (error) {
    // Another worker was faster.
    if (!existsSync(prepared)) throw error;
    rmSync(own, { recursive: true });
  }
  return prepared;
}
