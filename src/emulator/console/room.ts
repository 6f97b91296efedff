/** The console: what the emulator holds, for people. Pages are made here and need no script. */
import type { Context } from 'hono';
import { isOutsideDns } from '../origins.ts';
import type { App, EmulatorEnv } from '../routes.ts';
import type { Routing } from '../routing/routing.ts';
import { serveAssets } from './assets.ts';
import { serveDriverPages } from './driver-pages.ts';
import type { DriversShown } from './driver-pages.ts';
import { serveLogPage } from './log-page.ts';
import { showNotice } from './page.ts';
import { servePages } from './page-routes.ts';
import { servePlayground } from './playground.ts';
import { serveRequestPages } from './request-pages.ts';
import { serveRouterPages } from './router-pages.ts';
import { serveTaskPages } from './task-pages.ts';

/** What the console shows. */
export interface Shown extends DriversShown {
  readonly routing: Routing;
}

const headers: Readonly<Record<string, string>> = {
  'content-security-policy':
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'",
  'x-content-type-options': 'nosniff',
  // With `no-referrer` browsers send the origin of a form as `null`.
  'referrer-policy': 'same-origin',
  'cache-control': 'no-store',
};

/** Stands before everything that records requests or makes them fail: looking is no request to the service. */
export function serveConsole(app: App, shown: Shown): void {
  app.use('/console/*', async (context, next) => {
    const obstacle = obstacleOf(context);
    if (obstacle === undefined) await next();
    else context.res = showNotice({ title: 'Refused', lines: [obstacle], status: 403 });
    for (const [name, value] of Object.entries(headers)) {
      if (!context.res.headers.has(name)) context.res.headers.set(name, value);
    }
  });
  for (const path of ['/console', '/console/']) {
    servePages(app, path, { GET: (context) => context.redirect('/console/drivers') });
  }
  serveAssets(app);
  serveDriverPages(app, shown);
  serveRouterPages(app, shown.routing);
  serveLogPage(app, shown.routing);
  servePlayground(app, shown.routing);
  serveTaskPages(app, shown.routing);
  serveRequestPages(app, shown.log);
  app.all('/console/*', () => {
    return showNotice({ title: 'Not found', lines: ['The console has no such page.'], status: 404 });
  });
}

/** Why a request may come from another site's page, which must neither read nor change anything here. */
function obstacleOf({ req }: Context<EmulatorEnv>): string | undefined {
  const { host, hostname } = new URL(req.url);
  if (!isOwnName(hostname)) return `The console does not answer to the name ${hostname}: use localhost or an address.`;
  if (req.method === 'GET' || req.method === 'HEAD') return undefined;
  const origin = req.header('origin');
  const site = req.header('sec-fetch-site');
  const isForeign = origin !== undefined && (!URL.canParse(origin) || new URL(origin).host !== host);
  if (isForeign || site === 'cross-site' || site === 'same-site') return 'Forms of other sites are refused.';
  return undefined;
}

/** DNS rebinding needs a name of the public DNS. */
function isOwnName(hostname: string): boolean {
  return isOutsideDns(hostname) || /\.(?:localhost|internal)$/.test(hostname);
}
