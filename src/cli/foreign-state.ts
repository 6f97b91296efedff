/** A state directory that another config uses: what was read for that one would be carried, and pushed to the address of this one. */
import { existsSync } from 'node:fs';
import { lastConfig } from '../compose/state.ts';
import { loadConfig } from '../config/load.ts';
import { AgentError } from '../core/errors.ts';
import { type Settings, addressOf, unsetAddress } from '../core/settings.ts';
import type { Context } from './context.ts';

/** @throws AgentError `config.invalid` */
export function refuseForeignState(context: Context, settings: Settings): void {
  const trouble = foreignState(context, settings);
  if (trouble !== undefined) throw trouble;
}

/**
 * `undefined` where the state directory is this config's own, also under another name: then its old file is gone, or reads the same sources, or
 * pushes to the same address.
 */
export function foreignState({ env }: Context, settings: Settings): AgentError | undefined {
  const file = lastConfig(settings);
  if (file === undefined || file === settings.file || !existsSync(file)) return undefined;
  const { settings: other } = loadConfig(file, { env, secrets: 'unused' });
  if (other === undefined || other.state !== settings.state) return undefined;
  const [there, here] = [addressOf(other), addressOf(settings)];
  if (there === here || there === unsetAddress || sourcesOf(other) === sourcesOf(settings)) return undefined;
  return new AgentError(
    'config.invalid',
    `the state directory ${settings.state} is that of ${file}, which reads other sources and pushes to ${there}: their numbers would go to ${here}`,
    {
      hint: 'name another directory with "state:" in one of the two; if this config takes the place of that one, move that file away',
    },
  );
}

/** What they read, whatever is made of it. */
function sourcesOf({ sources }: Settings): string {
  return JSON.stringify(sources.map(({ name, type, kind }) => [name, type, kind]));
}
