import { cpSync, lstatSync } from 'node:fs';
import { findPackageJSON } from 'node:module';
import path from 'node:path';
import { makeFolder } from '../compose/place.ts';
import { AgentError } from '../core/errors.ts';
import { shellWord } from '../core/text.ts';
import { type Context, answer } from './context.ts';
import { shortPath, wholePath } from './working-directory.ts';

/** Writes a commented starter config and its sample data into a directory. */
export function init(context: Context, directory: string): number {
  const to = wholePath(context, directory);
  const from = path.join(path.dirname(findPackageJSON(import.meta.url) ?? ''), 'config');
  const config = path.join(to, 'driver-sync.yaml');
  const sample = path.join(to, 'sample');
  try {
    for (const file of [config, sample]) {
      // A link that leads nowhere is there too.
      if (lstatSync(file, { throwIfNoEntry: false }) !== undefined)
        throw new AgentError('usage', `${file} is there already`, { hint: 'name another directory, or move it away' });
    }
    makeFolder(to, 0o777);
    cpSync(path.join(from, 'sample'), sample, { recursive: true });
    cpSync(path.join(from, 'driver-sync.yaml'), config);
  } catch (cause) {
    if (!(cause instanceof Error && 'errno' in cause && 'code' in cause)) throw cause;
    throw new AgentError('usage', `${to} cannot be written (${String(cause.code)})`, {
      cause,
      hint: 'name a directory that you may write; neither a file nor a link that leads nowhere may stand in its place',
    });
  }
  const shown = shortPath(config);
  answer(context, { config, sample }, () => [
    `wrote ${shown} and its sample data`,
    `next: driver-sync check --config ${shellWord(shown)}, then driver-sync run --config ${shellWord(shown)}`,
  ]);
  return 0;
}
