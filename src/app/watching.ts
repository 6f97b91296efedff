/** Watches every source that can be watched. Only wakes: polling is the truth. */
import type { Waker } from './waker.ts';
import type { World } from './world.ts';

export type Watching = AsyncDisposable;

export async function watchSources(world: World, waker: Waker): Promise<Watching> {
  const open: AsyncDisposable[] = [];
  for (const settings of world.settings.sources) {
    const watcher = await world.openSource(settings).watch?.(() => waker.wake('source'));
    if (watcher !== undefined) open.push(watcher);
  }
  return {
    async [Symbol.asyncDispose]() {
      await Promise.all(open.map((watcher) => watcher[Symbol.asyncDispose]()));
    },
  };
}
