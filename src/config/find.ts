/** Where the config file is (DESIGN, section 2). */
import { existsSync } from 'node:fs';
import path from 'node:path';
import { AgentError } from '../core/errors.ts';

const usualPlaces = ['driver-sync.yaml', 'config/driver-sync.yaml', '/etc/driver-sync/config.yaml'];

/**
 * The absolute path of the config file: `flag`, else `$DRIVER_SYNC_CONFIG`, else the first of the usual places. What is
 * named is used or nothing is.
 * @throws AgentError `config.missing`, which lists where it looked
 */
export function findConfigFile(options: { flag?: string; env: NodeJS.ProcessEnv; cwd: string }): string {
  const { flag, env, cwd } = options;
  const named = flag ?? (env['DRIVER_SYNC_CONFIG'] || undefined);
  const places = (named === undefined ? usualPlaces : [named]).map((place) => path.resolve(cwd, place));
  const found = places.find((place) => existsSync(place));
  if (found !== undefined) return found;
  const by = flag === undefined ? ' (from $DRIVER_SYNC_CONFIG)' : '';
  const where = named === undefined ? `looked for ${places.join(', ')}` : `${places.join('')} does not exist${by}`;
  throw new AgentError('config.missing', `no config file: ${where}`, {
    hint: '`driver-sync init` writes one to start with; --config names another place',
  });
}
