/** Files of the state directory are for the agent's user alone, whatever the umask, and are never reached through a link. */
import {
  chmodSync,
  closeSync,
  constants,
  existsSync,
  fchmodSync,
  fchownSync,
  fsyncSync,
  lstatSync,
  mkdirSync,
  openSync,
  rmSync,
  statSync,
} from 'node:fs';
import path from 'node:path';

const { O_CREAT, O_DIRECTORY, O_EXCL, O_NOFOLLOW, O_NONBLOCK, O_RDONLY, O_RDWR } = constants;

const own = 0o600;
const ownFolder = 0o700;

/**
 * Makes a database 0600 before SQLite opens it; SQLite gives its mode to the files that it puts beside it. A failure is not
 * thrown: opening the database fails for the same reason, or the file belongs to another user.
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

/**
 * Makes a folder, with those that it is in, which is still there after a crash. One by one: Node's `recursive` never returns where a file
 * system takes no folders and says that there is no such one, as /proc does.
 * @param mode of those that are made: by default they are for this user alone
 */
export function makeFolder(folder: string, mode = ownFolder): void {
  const made = path.resolve(folder);
  if (isFolder(made)) return;
  const parent = path.dirname(made);
  makeFolder(parent, mode);
  try {
    mkdirSync(made, { mode });
  } catch (error) {
    // Another process may have been faster.
    if (isFolder(made)) return;
    throw error;
  }
  if (mode === ownFolder) giveFolderToOwner(made, parent);
  syncReadable(parent);
}

function giveFolderToOwner(folder: string, parent: string): void {
  const fd = openSync(folder, O_DIRECTORY | O_NOFOLLOW);
  try {
    giveToOwner(fd, parent);
  } finally {
    closeSync(fd);
  }
}

function isFolder(name: string): boolean {
  return statSync(name, { throwIfNoEntry: false })?.isDirectory() ?? false;
}

/** A folder in which this user may make others, and may not look, is left to the file system. */
function syncReadable(folder: string): void {
  try {
    syncFolder(folder);
  } catch (error) {
    if (!(error instanceof Error && 'code' in error && error.code === 'EACCES')) throw error;
  }
}

/** Brings the names in a folder to the disk. */
export function syncFolder(folder: string): void {
  const fd = openSync(folder, 'r');
  try {
    fsyncSync(fd);
  } finally {
    closeSync(fd);
  }
}

/** Opens a new file to write. @throws where there is something of that name already */
export function openNew(file: string): number {
  const fd = openSync(file, O_CREAT | O_EXCL | O_RDWR, own);
  fchmodSync(fd, own);
  giveToOwner(fd, path.dirname(file));
  return fd;
}

/** What root makes in a folder of the agent's user belongs to that user too: else a `plan` by root would lock the agent out of its own state. */
export function giveToOwner(fd: number, folder: string): void {
  if (process.geteuid?.() !== 0) return;
  const { uid, gid } = statSync(folder);
  if (uid === 0) return;
  try {
    fchownSync(fd, uid, gid);
  } catch (error) {
    // A root that may not give files away, as in some containers, goes on as before.
    if (!isErrno(error)) throw error;
  }
}

/** Opens a file to overwrite in place. Anything else of that name, such as a link, is removed first. */
export function openInPlace(file: string): number {
  const stat = lstatSync(file, { throwIfNoEntry: false });
  if (stat?.isFile() === true) return openSync(file, O_RDWR | O_NOFOLLOW);
  rmSync(file, { force: true });
  return openNew(file);
}

/** Opens a plain file to read; `undefined` where there is no file of that name, or something else. */
export function openPlain(file: string): number | undefined {
  // Where a file stands in the place of its folder, lstat calls that a failure, and stat does not.
  const stat = existsSync(file) ? lstatSync(file, { throwIfNoEntry: false }) : undefined;
  return stat?.isFile() === true ? openSync(file, O_RDONLY | O_NOFOLLOW | O_NONBLOCK) : undefined;
}

function isErrno(error: unknown): boolean {
  return error instanceof Error && 'errno' in error;
}
