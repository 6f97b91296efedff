/**
 * Whether the paths of a state directory still lead to the files that an agent has open. A file that was removed or replaced can
 * be written and locked as before, and nobody else will ever see it: the next agent opens what it finds.
 */
import { statSync } from 'node:fs';
import path from 'node:path';
import { AgentError } from '../../core/errors.ts';
import { onFile } from './file-failure.ts';

/** Names of files, and what tells them from others that take their place. */
export type OpenedFiles = readonly (readonly [name: string, identity: string | undefined])[];

/** Takes note of files that are open now. */
export function noteInPlace(stateDir: string, names: readonly string[]): OpenedFiles {
  return names.map((name) => [name, identity(path.join(stateDir, name))] as const);
}

/** Makes sure that they are still in place. @throws AgentError `state.lost`, `state.unwritable` */
export function confirmInPlace(stateDir: string, opened: OpenedFiles): void {
  for (const [name, was] of opened) {
    const is = identity(path.join(stateDir, name));
    if (is !== was) throw lost(stateDir, name, is === undefined ? 'removed' : 'replaced');
  }
}

function identity(file: string): string | undefined {
  const stats = onFile(file, () => statSync(file, { bigint: true, throwIfNoEntry: false }));
  return stats && `${stats.dev} ${stats.ino}`;
}

function lost(stateDir: string, name: string, how: string): AgentError {
  return new AgentError('state.lost', `${name} in ${stateDir} was ${how} while this agent had it open`, {
    hint: 'nothing is pushed, since no other agent could know of it: put back what was there, or end this agent and start it anew on what is there now',
  });
}
