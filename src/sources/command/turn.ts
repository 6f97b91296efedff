/** One program at a time for each source, also over several processes of the agent: `check` or `plan` beside the daemon. */
import { createHash } from 'node:crypto';
import { existsSync } from 'node:fs';
import { mkdir, open, readFile, rm, stat } from 'node:fs/promises';
import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { AgentError } from '../../core/errors.ts';
import { codeOf } from '../files/access.ts';
import { isAlive } from '../files/keep.ts';

/** Between two looks whether the other process is done. */
const lookMs = 200;
/** In this time whoever made a file has written into it. */
const writtenMs = 5000;

/**
 * Waits until no other process runs the program of this source.
 * @param state the state directory; where it is not there yet, no other agent is either
 * @returns what ends the turn
 * @throws AgentError `source.unreadable` where the state directory cannot be written, or the signal's reason
 */
export async function takeTurn(
  source: string,
  state: string | undefined,
  signal: AbortSignal,
): Promise<() => Promise<void>> {
  if (state === undefined || !existsSync(state)) return async () => undefined;
  const folder = path.join(state, 'kept');
  await mkdir(folder, { recursive: true, mode: 0o700 }).catch(refuse(folder));
  const file = path.join(folder, `command-${createHash('sha256').update(source).digest('hex').slice(0, 16)}.pid`);
  for (;;) {
    signal.throwIfAborted();
    if (await make(file)) return async () => await rm(file, { force: true });
    if (await isLeft(file)) await rm(file, { force: true });
    else await sleep(lookMs, undefined, { signal }).catch(() => signal.throwIfAborted());
  }
}

async function make(file: string): Promise<boolean> {
  try {
    const handle = await open(file, 'wx', 0o600);
    await handle.writeFile(String(process.pid));
    await handle.close();
    return true;
  } catch (error) {
    if (codeOf(error) === 'EEXIST') return false;
    return refuse(path.dirname(file))(error);
  }
}

function refuse(folder: string): (cause: unknown) => never {
  return (cause) => {
    throw new AgentError(
      'source.unreadable',
      `nothing can be written to ${folder} (${codeOf(cause) ?? String(cause)})`,
      {
        cause,
        hint: 'run the command as the user of the agent, and make room there',
      },
    );
  };
}

/** Whether nobody runs the program: a process that was killed leaves its file. This process has one turn of a source at a time. */
async function isLeft(file: string): Promise<boolean> {
  const text = await readFile(file, 'utf8').catch(() => undefined);
  if (text === undefined) return false;
  if (text !== '') return Number(text) === process.pid || !isAlive(Number(text));
  const stats = await stat(file).catch(() => undefined);
  return stats !== undefined && Date.now() - stats.mtimeMs > writtenMs;
}
