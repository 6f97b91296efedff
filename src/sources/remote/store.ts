/** What a place on another machine is asked for, whatever it speaks. */
import path from 'node:path';
import { AgentError } from '../../core/errors.ts';
import { type RemotePattern, showPattern } from './address.ts';

/** A file there, as a list shows it. */
export interface RemoteFile {
  /** As its part is named, such as `s3://bucket/a/b.csv`: without user and password. */
  readonly name: string;
  /** Below the root of the place. */
  readonly path: string;
  /** `undefined` where the place does not say. */
  readonly bytes: number | undefined;
  /** Equal versions: the same content, as far as the place can tell. */
  readonly version: string;
  /** Milliseconds since 1970. */
  readonly revisedAtMs: number;
  /** The place tells neither its time nor a tag: its version is another one at each look. */
  readonly isUndated?: boolean;
  /** Its time is so near that a change may leave it as it is: its version is another one at each look. */
  readonly isYoung?: boolean;
}

/** A connection to such a place. Each method comes back with the signal's reason once that aborts. */
export interface RemoteStore {
  /**
   * All files that the pattern names, or a failure: never some of them.
   * @throws AgentError `source.unreadable`
   */
  find(pattern: RemotePattern, signal: AbortSignal): Promise<readonly RemoteFile[]>;
  /**
   * A file as it is now; `undefined` where it is gone. Absent where a file is there whole or not at all, so that nothing has to
   * be waited for.
   * @throws AgentError `source.unreadable`
   */
  look?(file: RemoteFile, signal: AbortSignal): Promise<RemoteFile | undefined>;
  /**
   * The bytes of the file in this version: its end comes only where it was that all the time.
   * @throws AgentError `part.changing` where it is another one by now; `part.unreadable`
   */
  read(file: RemoteFile, signal: AbortSignal): AsyncIterable<Uint8Array>;
  /** Whether the connection still stands. Absent where none is held open. */
  readonly isOpen?: boolean;
  /** Never throws. */
  close(): void;
}

/** The files of one pattern, and how their place is reached. */
export interface RemoteFiles {
  readonly pattern: RemotePattern;
  /** Who looks at them: the same place may show every user other files. */
  readonly user: string | undefined;
  /** @throws AgentError `source.unreadable` */
  open(signal: AbortSignal): Promise<RemoteStore>;
}

/** Something in a folder. */
export interface FolderEntry {
  readonly name: string;
  /** `undefined` for a folder. */
  readonly file: RemoteFile | undefined;
  /** A link to a folder, which `**` does not follow. */
  readonly isLink?: boolean;
  /** Why the place does not say what it is: a failure where a pattern may mean it. */
  readonly problem?: AgentError | undefined;
}

/** What is in a folder; `undefined` where there is no such folder. */
export type ListFolder = (directory: string, signal: AbortSignal) => Promise<readonly FolderEntry[] | undefined>;

/** A folder with more, or so many folders, is not what a source means. */
const entriesMax = 200_000;

/** @throws AgentError `source.unreadable` where the fixed folder is not there, a folder is listed and does not open, or there is too much */
export async function walkFolders(
  pattern: RemotePattern,
  list: ListFolder,
  signal: AbortSignal,
): Promise<readonly RemoteFile[]> {
  const found = new Map<string, RemoteFile>();
  let entries = 0;
  const inFolder = async (directory: string): Promise<readonly FolderEntry[]> => {
    signal.throwIfAborted();
    const listed = await list(directory, signal);
    if (listed === undefined && directory === pattern.directory) {
      throw new AgentError('source.unreadable', `${pattern.root}${directory} does not exist`, {
        hint: 'check the folder and, where it is a share, whether it is mounted there',
      });
    }
    entries += 1 + (listed?.length ?? 0);
    if (entries > entriesMax) throw tooMuch(pattern);
    if (listed === undefined) await confirmGone(directory);
    return listed ?? [];
  };
  /** Some servers say of a folder that may not be seen, or is not mounted, that it is not there. One that went is not listed either. */
  const confirmGone = async (directory: string): Promise<void> => {
    const { dir, base } = path.posix.parse(directory);
    const around = await list(dir, signal);
    if (around?.some(({ name, file }) => name === base && file === undefined) !== true) return;
    throw new AgentError(
      'source.unreadable',
      `${pattern.root}${directory} is listed, and not there when it is opened`,
      {
        hint: 'check that the agent may see it and, where it is a share, whether it is mounted there',
      },
    );
  };
  const walk = async (directory: string, [segment = '', ...rest]: readonly string[]): Promise<void> => {
    const isDeep = segment === '**';
    if (isDeep) await walk(directory, rest.length === 0 ? ['*'] : rest);
    for (const { name, file, isLink, problem } of await inFolder(directory)) {
      const next = directory === '' ? name : `${directory}/${name}`;
      if (problem !== undefined) {
        // As a folder, `**` would not follow a link; as a file, it is weighed with the segments behind.
        if (isDeep ? isLink !== true && !name.startsWith('.') : isNamed(name, segment)) throw problem;
      } else if (file === undefined) {
        if (isDeep && isLink !== true && !name.startsWith('.')) await walk(next, ['**', ...rest]);
        else if (!isDeep && rest.length > 0 && isNamed(name, segment)) await walk(next, rest);
      } else if (!isDeep && rest.length === 0 && isNamed(name, segment)) found.set(file.name, file);
    }
  };
  await walk(pattern.directory, pattern.segments);
  return [...found.values()];
}

/** Whether a segment of a pattern names it. Office's lock files are no parts. */
function isNamed(name: string, segment: string): boolean {
  if (name.startsWith('~$')) return false;
  return name === segment || path.posix.matchesGlob(name, segment);
}

export function tooMuch(pattern: RemotePattern): AgentError {
  return new AgentError(
    'source.unreadable',
    `${showPattern(pattern)}: there are more than ${entriesMax} files and folders`,
    {
      hint: 'name a folder that holds less',
    },
  );
}

/** Whether two looks at a file saw the same. */
export function isSameLook(a: RemoteFile, b: RemoteFile): boolean {
  if (a.isUndated === true && b.isUndated === true) return a.bytes === b.bytes;
  return a.version === b.version;
}

/** Whether a file that was seen twice did not move in between. */
export function stoodStill(before: RemoteFile, now: RemoteFile): boolean {
  if (isSameLook(before, now)) return true;
  if (before.isYoung !== true || now.isYoung === true) return false;
  return before.bytes === now.bytes && before.revisedAtMs === now.revisedAtMs;
}

export const userHint = 'make it a source for each user: parts are named without the user';

/** One name, and two users who may see other files by it. */
export function twoUsers(name: string, one: RemotePattern, other: RemotePattern): AgentError {
  const why = `is there for two users: by ${showPattern(one)} and by ${showPattern(other)}`;
  return new AgentError('source.unreadable', `${name} ${why}`, { hint: userHint });
}

export function changedFile({ name }: Pick<RemoteFile, 'name'>): AgentError {
  return new AgentError('part.changing', `${name} changed while it was read`, {
    hint: 'it is read again at the next look',
  });
}

export function goneFile({ name }: Pick<RemoteFile, 'name'>): AgentError {
  return new AgentError('part.changing', `${name} was removed before it was read`);
}
