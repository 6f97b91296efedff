/** Tries what a config names: the address, as a push would reach it, and everybody who is to be told. */
import type { Log, Probe } from '../core/ports.ts';
import { testNotice } from '../core/telling/words.ts';
import type { Settings } from '../core/settings.ts';
import { openHttpDestination } from '../edges/push/destination.ts';
import { openOutlets } from '../edges/telling/outlets.ts';
import { partsOf } from './parts.ts';

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

export interface TriedChannel {
  readonly channel: string;
  readonly ok: boolean;
  /** One line for a person. No secret. */
  readonly text: string;
}

const tryMs = 30_000;

/** Sends a test message to each channel, at once. The heartbeat is left alone: it would say that all is well. */
export function tryChannels(settings: Settings, log: Log): Promise<readonly TriedChannel[]> {
  const { address, clock } = partsOf(settings, { log });
  const { channels, host } = openOutlets(settings);
  const now = clock.now();
  const notice = testNotice({ at: now.toISOString(), host, address });
  return Promise.all(
    channels.map(async (one): Promise<TriedChannel> => {
      const { name: channel } = one;
      const limit = AbortSignal.timeout(tryMs);
      const came = await one.deliver(notice, `test.${now.getTime()}.${host}`, limit);
      if (came.ok) return { channel, ok: true, text: came.note ?? 'the test message was taken' };
      return { channel, ok: false, text: limit.aborted ? `no answer within ${tryMs / 1000} s` : came.error };
    }),
  );
}
