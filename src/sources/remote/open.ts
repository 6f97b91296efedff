/** The places of the patterns of `files:` that are on other machines. Nothing is connected before one is looked at. */
import type { RemotePattern } from './address.ts';
import type { RemoteSettings } from './keys.ts';
import type { RemoteFiles, RemoteStore } from './store.ts';
import type { Surroundings } from './stores.ts';

export function remotesOf(
  patterns: readonly RemotePattern[],
  settings: RemoteSettings,
  surroundings: Surroundings,
): readonly RemoteFiles[] {
  return patterns.map((pattern) => {
    const open = async (signal: AbortSignal): Promise<RemoteStore> => {
      const { openStore } = await import('./stores.ts');
      return await openStore(pattern, settings, surroundings, signal);
    };
    return { pattern, user: userOf(pattern, settings), open: pattern.protocol === 'sftp' ? lending(open) : open };
  });
}

/** As `openSftp` and `openDav` have it. */
function userOf({ protocol, user }: RemotePattern, { sftp, dav }: RemoteSettings): string | undefined {
  if (protocol === 's3') return undefined;
  if (protocol === 'sftp') return sftp?.user ?? user;
  const hasToken = dav?.token !== undefined || dav?.tokenFile !== undefined;
  return hasToken ? undefined : (dav?.user ?? user);
}

/** A connection that costs a handshake of keys is kept for as long, for the files that were listed over it. */
const idleMs = 5000;

/** Lends one connection after the other to whoever opens one, as long as it stands. */
function lending(open: RemoteFiles['open']): RemoteFiles['open'] {
  let idle: { readonly store: RemoteStore; readonly timer: NodeJS.Timeout } | undefined;
  const take = (): RemoteStore | undefined => {
    const kept = idle;
    idle = undefined;
    clearTimeout(kept?.timer);
    return kept?.store.isOpen === true ? kept.store : undefined;
  };
  const giveBack = (store: RemoteStore): void => {
    if (store.isOpen !== true || idle !== undefined) {
      store.close();
      return;
    }
    idle = { store, timer: setTimeout(() => take()?.close(), idleMs).unref() };
  };
  return async (signal) => {
    signal.throwIfAborted();
    const store = take() ?? (await open(signal));
    // Whatever did not come to its end may still be on its way.
    let isClean = true;
    const watched = async <T>(work: Promise<T>): Promise<T> => {
      isClean = false;
      const done = await work;
      isClean = true;
      return done;
    };
    return {
      find: (pattern, inner) => watched(store.find(pattern, inner)),
      look: async (file, inner) => await watched(store.look?.(file, inner) ?? Promise.resolve(undefined)),
      async *read(file, inner) {
        isClean = false;
        yield* store.read(file, inner);
        isClean = true;
      },
      close: () => (isClean ? giveBack(store) : store.close()),
    };
  };
}
