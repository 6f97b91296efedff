/**
 * Content from elsewhere (a program, another machine), kept in a file that only this user may read: nothing of it counts before
 * all of it has come, and every format reads it like any other file.
 */
import { createHash } from 'node:crypto';
import { existsSync, rmSync } from 'node:fs';
import { mkdir, mkdtemp, open, readdir, rm, stat } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { AgentError, isAgentError } from '../../core/errors.ts';
import { codeOf } from './access.ts';

export interface KeptFile {
  /** Absolute. */
  readonly file: string;
  readonly bytes: number;
  /** sha256 (hex) of its bytes. */
  readonly hash: string;
  /** Never fails: see `removeKept`. */
  remove(): Promise<void>;
}

export interface Keeping {
  /** What the content is, for messages: `the output of export.sh`. */
  readonly what: string;
  /** The state directory; where it is not there yet, the system's directory for temporary files is taken. */
  readonly state: string | undefined;
  readonly bytesMax: number;
}

/** @throws AgentError `part.unreadable` where it has more than `bytesMax` or cannot be kept, and what `content` throws */
export async function keepContent(content: AsyncIterable<Uint8Array>, keeping: Keeping): Promise<KeptFile> {
  const { what, state, bytesMax } = keeping;
  const parent = await folderIn(state).catch((error: unknown) => {
    throw notKept(keeping, error);
  });
  const directory = await mkdtemp(path.join(parent, `${prefix}${process.pid}-`)).catch((error: unknown) => {
    throw notKept(keeping, error);
  });
  left.add(directory);
  const remove = (): Promise<void> => removeKept(directory);
  try {
    const file = path.join(directory, 'content');
    const handle = await open(file, 'wx', 0o600);
    const hash = createHash('sha256');
    let bytes = 0;
    try {
      for await (const chunk of content) {
        bytes += chunk.length;
        if (bytes > bytesMax) {
          throw new AgentError('part.unreadable', `${what} has more than ${bytesMax} bytes (expandedMax)`, {
            hint: 'raise expandedMax if it is meant to be that large',
          });
        }
        hash.update(chunk);
        await handle.appendFile(chunk);
      }
    } finally {
      await handle.close();
    }
    return { file, bytes, hash: hash.digest('hex'), remove };
  } catch (error) {
    await remove();
    throw isAgentError(error) || codeOf(error) === undefined ? error : notKept(keeping, error);
  }
}

const prefix = 'kept-';

/** What a process that ends leaves behind is removed then. */
const left = new Set<string>();
process.on('exit', () => {
  for (const directory of left) {
    try {
      rmSync(directory, { recursive: true, force: true });
    } catch {
      // The next agent sweeps the folder, and this one has nobody left to tell.
    }
  }
});

/**
 * Removes a directory that is not needed any more. No read and no agent fails for one that cannot be removed: it is tried again when the
 * process ends.
 */
export async function removeKept(directory: string): Promise<void> {
  left.add(directory);
  await rm(directory, { recursive: true, force: true }).then(
    () => left.delete(directory),
    () => undefined,
  );
}

async function folderIn(state: string | undefined): Promise<string> {
  if (state === undefined || !existsSync(state)) return tmpdir();
  const folder = path.join(state, 'kept');
  await mkdir(folder, { recursive: true, mode: 0o700 });
  await sweep(folder);
  return folder;
}

/** Removes what an agent left behind that was killed. */
async function sweep(folder: string): Promise<void> {
  for (const name of await readdir(folder)) {
    const [, pid] = /^kept-(\d+)-/.exec(name) ?? [];
    const directory = path.join(folder, name);
    if (pid !== undefined && (await isLeft(Number(pid), directory)))
      await rm(directory, { recursive: true, force: true });
  }
}

/** In a container each agent may have the same number, so that its own is told by the time. */
async function isLeft(pid: number, directory: string): Promise<boolean> {
  if (pid !== process.pid) return !isAlive(pid);
  const stats = await stat(directory).catch(() => undefined);
  return stats !== undefined && stats.mtimeMs < Date.now() - process.uptime() * 1000 - 1000;
}

function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return codeOf(error) !== 'ESRCH';
  }
}

function notKept({ what, state }: Keeping, cause: unknown): AgentError {
  const why = codeOf(cause) ?? (cause instanceof Error ? cause.message : String(cause));
  const place = state === undefined || !existsSync(state) ? tmpdir() : state;
  return new AgentError('part.unreadable', `${what} cannot be kept in ${place} while it is read (${why})`, {
    cause,
    hint: 'make room there',
  });
}
