/** Tries the address of the config, as a push would reach it. */
import type { Log, Probe } from '../core/ports.ts';
import type { Settings } from '../core/settings.ts';
import { openHttpDestination } from '../edges/push/destination.ts';

/**
 * `undefined` where the emulator is embedded: it is only there while `run` or `sync` is.
 * @throws AgentError `config.invalid` for a token, CA file or proxy that cannot be used
 */
export async function probeDestination(
  { destination }: Settings,
  options: { readonly log: Log; readonly version: string; readonly env: NodeJS.ProcessEnv },
  signal: AbortSignal,
): Promise<Probe | undefined> {
  if (destination === 'emulator') return undefined;
  await using opened = openHttpDestination(destination, options);
  return await opened.probe(signal);
}
