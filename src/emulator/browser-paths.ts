/** What a browser asks for by itself beside a page: the person who looks at the page has sent none of it. */
import { icon } from '../pages/markup.ts';
import { refuse } from './answers.ts';
import type { App } from './routes.ts';

const iconPath = '/favicon.ico';
const otherPath =
  /^\/(?:apple-touch-icon[\w-]*\.png|robots\.txt|\.well-known\/appspecific\/com\.chrome\.devtools\.json)$/;

/** To be served before exchanges are recorded, so that no fault is for such a request. */
export function serveBrowserPaths(app: App): void {
  app.on('GET', iconPath, () => new Response(icon, { headers: { 'content-type': 'image/svg+xml; charset=utf-8' } }));
  app.use(async ({ req }, next) => {
    if (req.method !== 'GET' && req.method !== 'HEAD') return next();
    return otherPath.test(req.path) ? refuse(404, `there is nothing at ${req.path}`) : next();
  });
}
