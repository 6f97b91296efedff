/** The console: what the emulator holds, for people. Pages are made here and need no script. */
import type { Context } from 'hono';
import type { Driver } from '../../contract/driver-push.ts';
import type { RequestLog } from '../request-log.ts';
import { route } from '../routes.ts';
import type { App, EmulatorEnv } from '../routes.ts';
import type { Routing } from '../routing/routing.ts';
import { serveAssets } from './assets.ts';
import { serveDriverPages } from './driver-pages.ts';
import { showMissing } from './page.ts';
import { servePlayground } from './playground.ts';
import { serveRequestPages } from './request-pages.ts';
import { serveRouterPages } from './router-pages.ts';
import { serveTaskPages } from './task-pages.ts';

/** What the console shows. */
export interface Shown {
  readonly log: RequestLog;
  readonly routing: Routing;
  drivers(): Driver[];
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
    else context.res = new Response(`${obstacle}\n`, { status: 403 });
    for (const [name, value] of Object.entries(headers)) {
      if (!context.res.headers.has(name)) context.res.headers.set(name, value);
    }
  });
  for (const path of ['/console', '/console/']) {
    route(app, path, { GET: (context) => context.redirect('/console/drivers') });
  }
  serveAssets(app);
  serveDriverPages(app, shown);
  serveRouterPages(app, shown.routing);
  servePlayground(app, shown.routing);
  serveTaskPages(app, shown.routing);
  serveRequestPages(app, shown.log);
  app.all('/console/*', () => showMissing('The console has no such page.'));
}

/** Why a request may come from another site's page, which must neither read nor change anything here. */
function obstacleOf({ req }: Context<EmulatorEnv>): string | undefined {
  const { host, hostname } = new URL(req.url);
  if (!isOwnName(hostname)) return `the console does not answer to the name ${hostname}: use localhost or an address`;
  if (req.method === 'GET' || req.method === 'HEAD') return undefined;
  const origin = req.header('origin');
  const site = req.header('sec-fetch-site');
  const isForeign = origin !== undefined && (!URL.canParse(origin) || new URL(origin).host !== host);
  if (isForeign || site === 'cross-site' || site === 'same-site') return 'forms of other sites are refused';
  return undefined;
}

/** Addresses and names that nobody can point elsewhere: DNS rebinding needs a name of the public DNS, which has a dot. */
function isOwnName(hostname: string): boolean {
  if (hostname.startsWith('[') || /^\d+\.\d+\.\d+\.\d+$/.test(hostname)) return true;
  return !hostname.includes('.') || /\.(?:localhost|internal)$/.test(hostname);
}
