/** Pages of other sites, which a browser lets write here without having asked: to empty the emulator, or to fill it. */
import { refuse } from './answers.ts';
import { answer } from './routes.ts';
import type { App } from './routes.ts';

/** The console and the agent tools are stricter, and look for themselves. */
const guardedPath = /^\/(?:api|v1|uploads|_emulator)(?:\/|$)/;

const readingMethods = new Set(['GET', 'HEAD', 'OPTIONS']);

/** Only browsers send an origin. A page may have been handed on by a proxy, so it need not be one of the same host. */
export function refuseForeignPages(app: App): void {
  app.use(async (context, next) => {
    const { method, path } = context.req;
    if (readingMethods.has(method) || !guardedPath.test(path)) return next();
    const origin = context.req.header('origin');
    if (origin === undefined || isOwnName(URL.parse(origin)?.hostname)) return next();
    return answer(context, () => refuse(403, `pages of ${origin} may not write here, only those of local names`));
  });
}

function isOwnName(hostname: string | undefined): boolean {
  if (hostname === undefined || hostname === '') return false;
  return isOutsideDns(hostname) || /\.(?:localhost|internal|local|test)$/.test(hostname);
}

/** Addresses, and names that nobody can point elsewhere: those of the public DNS have a dot. */
export function isOutsideDns(hostname: string): boolean {
  return hostname.startsWith('[') || /^\d+\.\d+\.\d+\.\d+$/.test(hostname) || !hostname.includes('.');
}
