/** The places of the patterns of `files:` that are on other machines. Nothing is connected before one is looked at. */
import { isRemote, parseRemote } from './address.ts';
import type { RemoteSettings } from './keys.ts';
import type { RemoteFiles, RemoteStore } from './store.ts';
import type { Surroundings } from './stores.ts';

export function remotesOf(
  settings: RemoteSettings & { readonly files: readonly string[] },
  surroundings: Surroundings,
): readonly RemoteFiles[] {
  return settings.files.filter(isRemote).flatMap((text) => {
    const pattern = parseRemote(text);
    if ('message' in pattern) return [];
    const open = async (signal: AbortSignal): Promise<RemoteStore> => {
      const { openStore } = await import('./stores.ts');
      return await openStore(pattern, settings, surroundings, signal);
    };
    return [{ pattern, open }];
  });
}
