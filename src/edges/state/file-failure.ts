/** What the file system says of the files of the state directory, in our words. */
import { unlinkSync } from 'node:fs';
import { AgentError } from '../../core/errors.ts';

/** Runs something on a file. @throws AgentError `state.full`, `state.unwritable` for what the file system refuses */
export function onFile<T>(file: string, run: () => T): T {
  try {
    return run();
  } catch (error) {
    throw translatedFile(file, error);
  }
}

export function translatedFile(file: string, error: unknown): unknown {
  if (!(error instanceof Error) || !('errno' in error)) return error;
  const code = 'code' in error ? String(error.code) : '';
  if (code === 'ENOSPC' || code === 'EDQUOT') {
    return new AgentError('state.full', `${file} cannot be written: the disk is full`, {
      cause: error,
      hint: 'free some space; nothing was lost and the next pass tries again',
    });
  }
  if (code === 'EACCES' || code === 'EROFS' || code === 'EPERM') {
    return new AgentError('state.unwritable', `${file} cannot be written (${error.message})`, {
      cause: error,
      hint: 'let the agent own its state directory',
    });
  }
  return new AgentError('state.full', `${file} cannot be used: the disk fails (${error.message})`, {
    cause: error,
    hint: 'look at the disk; nothing was lost and the next pass tries again',
  });
}

/**
 * Removes a file that may be gone already. `rmSync` would hide why it failed: all that it does not know has no code.
 * @throws AgentError as `onFile`
 */
export function removeFile(file: string): void {
  onFile(file, () => {
    try {
      unlinkSync(file);
    } catch (error) {
      if (!(error instanceof Error && 'code' in error && error.code === 'ENOENT')) throw error;
    }
  });
}
