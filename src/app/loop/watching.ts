/** Watches every source that can be watched. Only wakes: polling is the truth. */
import type { Dependencies } from '../dependencies.ts';

export type Watching = AsyncDisposable;

/** @param changed is told which source is worth a look */
export async function watchSources(deps: Dependencies, changed: (source: string) => void): Promise<Watching> {
  const open: AsyncDisposable[] = [];
  for (const settings of deps.settings.sources) {
    const watcher = await deps.openSource(settings).watch?.(() => changed(settings.name));
    if (watcher !== undefined) open.push(watcher);
  }
  return {
    async [Symbol.asyncDispose]() {
      await Promise.all(open.map((watcher) => watcher[Symbol.asyncDispose]()));
    },
  };
}
