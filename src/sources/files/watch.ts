/** Wakes when files that globs name come, change or go. Only a hint: network shares send no events, polling does the work. */
import type { Glob } from './glob.ts';
import { isMatch } from './glob.ts';

/** Resolves once changes are seen. Polling does the rest where something cannot be watched. */
export async function watchGlobs(globs: readonly Glob[], changed: () => void): Promise<AsyncDisposable> {
  const { watch } = await import('chokidar');
  const isOurs = (file: string): boolean => globs.some((glob) => isMatch(glob, file));
  const watcher = watch([...new Set(globs.map((glob) => glob.directory))], {
    persistent: true,
    ignoreInitial: true,
    // Every file that is watched costs a kernel watch: only ours are worth one.
    ignored: (file, stats) => stats?.isFile() === true && !isOurs(file),
    ...depthOf(globs),
  });
  watcher.on('all', (event, file) => {
    if (event === 'addDir' || event === 'unlinkDir' || isOurs(file)) changed();
  });
  const ready = Promise.withResolvers<void>();
  watcher.once('ready', () => ready.resolve());
  // No watches left, a directory without permission: a look by polling finds out and says so.
  watcher.on('error', () => {
    ready.resolve();
    changed();
  });
  await ready.promise;
  return { [Symbol.asyncDispose]: () => watcher.close() };
}

/** How far below their fixed directories globs without `**` look. */
function depthOf(globs: readonly Glob[]): { depth?: number } {
  if (globs.some((glob) => glob.segments.includes('**'))) return {};
  return { depth: Math.max(...globs.map((glob) => glob.segments.length)) - 1 };
}
