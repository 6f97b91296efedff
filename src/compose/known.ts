/** Reads what earlier passes left in the buffer about each source, for `check`, and closes the buffer again. */
import { existsSync } from 'node:fs';
import { type KnownParts, knownParts, nothingKnown } from '../app/read/current-parts.ts';
import { isAgentError } from '../core/errors.ts';
import type { Settings } from '../core/settings.ts';
import { openBuffer } from '../edges/state/buffer.ts';
import { fileIn } from './place.ts';

/** Where the state is missing, or this user or version cannot read it, every source counts as new. */
export function readKnown(settings: Settings): (source: string) => KnownParts {
  const known = new Map<string, KnownParts>();
  const file = fileIn(settings, 'buffer');
  if (existsSync(file)) {
    try {
      using buffer = disposable(openBuffer(file, 'read'));
      for (const { name } of settings.sources) known.set(name, knownParts({ buffer, settings }, name));
    } catch (error) {
      if (!isAgentError(error)) throw error;
    }
  }
  return (source) => known.get(source) ?? nothingKnown;
}

function disposable<T extends { close(): void }>(store: T): T & Disposable {
  return Object.assign(store, { [Symbol.dispose]: () => store.close() });
}
