/** Places that cannot be seen, and file system calls that never come back. */
import { AgentError } from '../../core/errors.ts';
import type { ErrorCode } from '../../core/errors.ts';

/** The file system's code of a failure, such as `ENOENT`, where it has one. */
export function codeOf(error: unknown): string | undefined {
  const code: unknown = error instanceof Error && 'code' in error ? error.code : undefined;
  return typeof code === 'string' ? code : undefined;
}

/** What a person may have meant who wrote the path of something that is not there. */
export function missingHint(path: string): string {
  if (/(^|[/\\])~/.test(path)) return '"~" stands for no home directory here: write the whole path';
  if (/(^|[/\\])\$\w/.test(path)) return 'write a variable as ${NAME}';
  return 'paths are relative to the config file; is the share mounted?';
}

/** The failure of `path`, in words that say who may not read it and what to do. */
export function accessError(code: ErrorCode, path: string, cause: unknown): AgentError {
  switch (codeOf(cause)) {
    case 'EACCES':
    case 'EPERM':
      return new AgentError(code, `${path}: user id ${process.geteuid?.() ?? 'unknown'} has no permission to read it`, {
        cause,
        hint: 'give that user permission to read it and to enter the directories above it; in a systemd unit: SupplementaryGroups= or BindReadOnlyPaths=',
      });
    case 'ENOENT':
      return new AgentError(code, `${path} does not exist`, {
        cause,
        hint: missingHint(path),
      });
    case 'ENOTDIR':
      return new AgentError(code, `${path}: not a directory`, { cause });
    case 'ELOOP':
      return new AgentError(code, `${path} is a symbolic link that leads back to itself`, {
        cause,
        hint: 'remove the link, or narrow the glob',
      });
    default: {
      const why = cause instanceof Error ? cause.message : String(cause);
      return new AgentError(code, `${path} cannot be read: ${why}`, { cause });
    }
  }
}

/**
 * What `work` gives, or the signal's reason as soon as it aborts: a call on a share that died never returns, and a
 * timeout must not wait for it.
 */
export async function untilAborted<T>(work: Promise<T>, signal: AbortSignal): Promise<T> {
  const aborted = Promise.withResolvers<never>();
  const abort = (): void => aborted.reject(signal.reason);
  if (signal.aborted) abort();
  signal.addEventListener('abort', abort, { once: true });
  try {
    return await Promise.race([work, aborted.promise]);
  } finally {
    signal.removeEventListener('abort', abort);
  }
}
