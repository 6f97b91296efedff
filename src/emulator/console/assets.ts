/** Styles and scripts of the console. Pages load nothing from another host. */
import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { route } from '../routes.ts';
import type { App } from '../routes.ts';
import { script } from './script.ts';
import { stylesheet } from './stylesheet.ts';

const require = createRequire(import.meta.url);

const icon =
  '<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 16 16"><path d="M1 12 5 6l4 3 6-7" fill="none" stroke="#2f6fde" stroke-width="2"/></svg>';

export function serveAssets(app: App): void {
  const assets = {
    'console.css': ['text/css', () => stylesheet],
    'console.js': ['text/javascript', () => script],
    'icon.svg': ['image/svg+xml', () => icon],
    'uplot.css': ['text/css', () => readFileSync(require.resolve('uplot/dist/uPlot.min.css'), 'utf8')],
    'uplot.js': ['text/javascript', () => readFileSync(require.resolve('uplot/dist/uPlot.iife.min.js'), 'utf8')],
  } as const;
  for (const [name, [type, read]] of Object.entries(assets)) {
    route(app, `/console/assets/${name}`, {
      GET: () => new Response(read(), { headers: { 'content-type': `${type}; charset=utf-8` } }),
    });
  }
}
