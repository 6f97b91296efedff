/** Stories as files, which `simulate --story` plays again. */
import { accessSync, constants, writeFileSync } from 'node:fs';
import { makeFolder } from '../compose/place.ts';
import { AgentError, isAgentError } from '../core/errors.ts';
import type { Context } from './context.ts';
import { wholePath } from './working-directory.ts';

/** Where a story lies, or why it could not be kept: it is told all the same, since many histories may have been played for it. */
export type Kept = { readonly file: string } | { readonly unkept: string };

/** Before anything is played. @throws AgentError `usage` where no story can be written */
export function openStories(directory: string): void {
  try {
    makeFolder(directory, 0o777);
    accessSync(directory, constants.W_OK | constants.X_OK);
  } catch (cause) {
    throw new AgentError('usage', `no story can be kept in ${directory} (${codeOf(cause)})`, {
      cause,
      hint: '--stories names a directory that you may write',
    });
  }
}

export function keepStory(at: Pick<Context, 'cwd'>, name: string, story: object): Kept {
  try {
    const file = wholePath(at, name);
    writeFileSync(file, `${JSON.stringify(story, null, 1)}\n`);
    return { file };
  } catch (error) {
    return { unkept: isAgentError(error) ? error.message : `${name} cannot be written (${codeOf(error)})` };
  }
}

function codeOf(error: unknown): string {
  if (error instanceof Error && 'code' in error) return String(error.code);
  throw error;
}
