/** Files of the state directory are for the agent's user alone, whatever the umask, and are never reached through a link. */
import { chmodSync, closeSync, constants, fchmodSync, lstatSync, openSync, rmSync, statSync } from 'node:fs';

const { O_CREAT, O_EXCL, O_NOFOLLOW, O_NONBLOCK, O_RDONLY, O_RDWR } = constants;

const own = 0o600;

/**
 * Makes a database that SQLite is about to open 0600; what SQLite puts beside it takes its mode. Where that is not possible
 * opening it fails for the same reason, or another user owns it.
 */
export function makePrivate(file: string): void {
  try {
    closeSync(openNew(file));
  } catch (error) {
    if (!isErrno(error)) throw error;
    for (const one of [file, `${file}-wal`, `${file}-shm`]) closeToOthers(one);
  }
}

function closeToOthers(file: string): void {
  try {
    const stat = statSync(file, { throwIfNoEntry: false });
    if (stat?.isFile() === true && (stat.mode & 0o077) !== 0) chmodSync(file, own);
  } catch (error) {
    if (!isErrno(error)) throw error;
  }
}

/** A new file of that name, to write. @throws where there is something already */
export function openNew(file: string): number {
  const fd = openSync(file, O_CREAT | O_EXCL | O_RDWR, own);
  fchmodSync(fd, own);
  return fd;
}

/** A file to write in place; what stands there and is no file goes. */
export function openInPlace(file: string): number {
  const stat = lstatSync(file, { throwIfNoEntry: false });
  if (stat?.isFile() === true) return openSync(file, O_RDWR | O_NOFOLLOW);
  rmSync(file, { force: true });
  return openNew(file);
}

/** A file to read; `undefined` where none of that name is a plain file. */
export function openPlain(file: string): number | undefined {
  const stat = lstatSync(file, { throwIfNoEntry: false });
  return stat?.isFile() === true ? openSync(file, O_RDONLY | O_NOFOLLOW | O_NONBLOCK) : undefined;
}

function isErrno(error: unknown): boolean {
  return error instanceof Error && 'errno' in error;
}
