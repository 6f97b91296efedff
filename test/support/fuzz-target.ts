/** What is fed with inputs that nobody thought of, and what must stay true whatever they are. */
import { isAgentError } from '../../src/core/errors.ts';
import type { Draw } from './nasty-files.ts';

export interface FuzzTarget {
  /** Valid inputs, which are changed. */
  readonly seeds: () => readonly Buffer[] | Promise<readonly Buffer[]>;
  /** Pieces that mean something here. */
  readonly tokens: readonly string[];
  /** Throws, or rejects, where something is not as it must be. */
  readonly check: (input: Buffer, draw: Draw) => void | Promise<void>;
}

/** Runs something that may refuse its input in words of ours: any other failure is a bug. */
export async function refusing<T>(run: () => Promise<T>): Promise<T | undefined> {
  try {
    return await run();
  } catch (error) {
    if (!isAgentError(error)) throw error;
    // Names in it are as they stand in the file: who prints it makes them visible.
    if (error.message === '') throw new Error('no message', { cause: error });
    return undefined;
  }
}

export function must(isTrue: boolean, what: () => string): void {
  if (!isTrue) throw new Error(what());
}
