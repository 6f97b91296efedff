/**
 * Threads and child processes that modules start from the built package, not from source: a start takes half. The modules
 * themselves are those of the checkout.
 */
import path from 'node:path';
import { root } from './built.ts';

/** Where a module says which file it starts, and what stands for it. */
const places = [
  {
    module: 'src/sources/databases/child-session.ts',
    says: 'new URL(`${program}${path.extname(import.meta.url)}`, import.meta.url)',
    file: '`${program}.js`',
  },
  {
    module: 'src/sources/formats/scan/threads.ts',
    says: "new URL(import.meta.url.endsWith('.ts') ? './thread.ts' : './thread.js', import.meta.url)",
    file: "'thread.js'",
  },
];

/** For Vite. @throws Error where a module does not say it any more */
export const fromBuilt = {
  name: 'from-built',
  enforce: 'pre' as const,
  transform(code: string, id: string): { code: string; map: null } | undefined {
    const place = places.find(({ module }) => id === path.join(root, module));
    if (place === undefined) return undefined;
    if (!code.includes(place.says)) throw new Error(`${place.module} does not say "${place.says}"`);
    const dist = "new URL('file://' + process.env['DRIVER_SYNC_TESTS_BUILT'] + '/dist/')";
    // No map: each line stays where it was.
    return { code: code.replace(place.says, () => `new URL(${place.file}, ${dist})`), map: null };
  },
};
