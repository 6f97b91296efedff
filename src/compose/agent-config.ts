/** Which config a running daemon has, as a command sees it that has read one itself. */
import { realpathSync } from 'node:fs';
import { AgentError } from '../core/errors.ts';
import type { Settings } from '../core/settings.ts';
import { shellWord } from '../core/text.ts';
import type { LockHolder } from '../edges/state/lock.ts';

/** The config file of a daemon that runs with another one than this; `undefined` also where no daemon runs. */
export function otherConfigFile({ file }: Pick<Settings, 'file'>, holder: LockHolder | undefined): string | undefined {
  const own = holder?.command === 'run' ? holder['configFile'] : undefined;
  return typeof own === 'string' && realPath(own) !== realPath(file) ? own : undefined;
}

/**
 * Whether the config file is not what the running daemon has loaded. That one loads it with its own variables: a file that is written as
 * it was is the same, whatever they are here, and so is one that says the same in other words.
 */
export function configDiffers(settings: Settings, holder: LockHolder | undefined): boolean {
  if (otherConfigFile(settings, holder) !== undefined) return true;
  if (holder?.command !== 'run' || holder.configDigest === undefined) return false;
  return holder.configDigest !== settings.digest && holder.configWrittenDigest !== settings.writtenDigest;
}

/** For what a daemon would do by its own config. @throws AgentError `usage` where that is another file */
export function refuseOtherConfig(settings: Pick<Settings, 'file'>, holder: LockHolder | undefined): void {
  const other = otherConfigFile(settings, holder);
  if (other === undefined) return;
  const message = `the agent with pid ${holder?.pid} runs with another config file, ${other}, and does nothing for ${settings.file}`;
  throw new AgentError('usage', message, {
    hint: `say --config ${shellWord(other)} where that is meant; two configs need a state directory each (state:)`,
  });
}

/** A link may lead to the same file. One that is away, or in another container, is known by its path alone. */
function realPath(file: string): string {
  try {
    return realpathSync(file);
  } catch {
    return file;
  }
}
