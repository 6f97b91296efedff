/** Routes of the console, which shows what the emulator holds. Its pages need no script. */
import type { App } from '../routes.ts';
import { serveAssets } from './assets.ts';
import { type Newsworthy, serveEvents } from './events.ts';
import { serveDriverPages } from './driver-pages.ts';
import { serveLogPage } from './log-page.ts';
import { serveOverview } from './overview-page.ts';
import type { OverviewShown } from './overview-page.ts';
import { showNotice } from './page.ts';
import { servePages } from './page-routes.ts';
import { servePlayground } from './playground.ts';
import { serveRequestPages } from './request-pages.ts';
import { serveRouterPages } from './router-pages.ts';
import { serveFaultPages } from './fault-pages.ts';
import type { FaultsShown } from './fault-pages.ts';
import { serveFixturePages } from './fixture-pages.ts';
import type { FixturesShown } from './fixture-pages.ts';
import { serveSnapshotPages } from './snapshot-pages.ts';
import type { SnapshotsShown } from './snapshot-pages.ts';
import { serveTaskPages } from './task-pages.ts';

export interface Shown extends OverviewShown, Newsworthy, SnapshotsShown, FaultsShown, FixturesShown {}

const headers: Readonly<Record<string, string>> = {
  'content-security-policy':
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; media-src 'self'; connect-src 'self'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'",
  'x-content-type-options': 'nosniff',
  // With `no-referrer` browsers send the origin of a form as `null`.
  'referrer-policy': 'same-origin',
  'cache-control': 'no-store',
};

/** To be registered before the request log and the faults: a look at the console is not a request to the service. */
export function serveConsole(app: App, shown: Shown): void {
  app.use('/console/*', async (context, next) => {
    await next();
    addHeaders(context.res);
    if (context.req.method === 'POST') shown.tellNews();
  });
  servePages(app, '/console/', { GET: (context) => context.redirect('/console') });
  // A person who opens the address of the service is looking for its pages; a program gets the service's answer.
  app.get('/', (context, next) => {
    return context.req.header('accept')?.includes('text/html') === true
      ? Promise.resolve(context.redirect('/console'))
      : next();
  });
  const { removals } = shown;
  removals.serve(app);
  serveAssets(app);
  serveOverview(app, shown);
  serveEvents(app, shown);
  serveDriverPages(app, shown);
  serveRouterPages(app, shown, removals);
  serveLogPage(app, shown);
  servePlayground(app, shown);
  serveTaskPages(app, shown, removals);
  serveRequestPages(app, shown);
  serveSnapshotPages(app, shown);
  serveFixturePages(app, shown);
  serveFaultPages(app, shown);
  app.all('/console/*', () => {
    return showNotice({ title: 'Not found', lines: ['The console has no such page.'], status: 404 });
  });
}

export function isConsole(path: string): boolean {
  return path === '/console' || path.startsWith('/console/');
}

/** The answer to a request that may not see the console. */
export function refusalPage(reason: string): Response {
  return addHeaders(showNotice({ title: 'Refused', lines: [reason], status: 403 }));
}

/** The headers of every page: nothing from elsewhere, nothing in a frame. */
export function addHeaders(response: Response): Response {
  for (const [name, value] of Object.entries(headers)) {
    if (!response.headers.has(name)) response.headers.set(name, value);
  }
  return response;
}
