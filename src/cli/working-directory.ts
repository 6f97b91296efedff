/** The directory that a command is started in. It may be gone, and matters only where something is named from there. */
import path from 'node:path';
import { AgentError } from '../core/errors.ts';

/** @throws AgentError `usage` where it was removed, or is closed to this user */
export function workingDirectory(): string {
  try {
    return process.cwd();
  } catch (cause) {
    if (!(cause instanceof Error && 'code' in cause)) throw cause;
    throw new AgentError('usage', `the directory that this was started in is gone or closed (${String(cause.code)})`, {
      cause,
      hint: 'change to another one, or name files by their whole path, as in --config /etc/driver-sync/config.yaml',
    });
  }
}

/** The whole path of a file that somebody named. */
export function wholePath(at: { readonly cwd: string }, file: string): string {
  return path.isAbsolute(file) ? path.normalize(file) : path.resolve(at.cwd, file);
}

/** As a person there would name it; the whole path where there is no such directory. */
export function shortPath(file: string): string {
  try {
    return path.relative(process.cwd(), file);
  } catch {
    return file;
  }
}

/** What a command is given. The directory is asked for where it is needed. */
export function contextHere<Options>(
  options: Options,
  version: string,
): { readonly options: Options; readonly env: NodeJS.ProcessEnv; readonly cwd: string; readonly version: string } {
  return {
    options,
    env: process.env,
    get cwd() {
      return workingDirectory();
    },
    version,
  };
}
