/** Styles and scripts of the console. Pages load nothing from another host. */
import { icon } from '../../pages/markup.ts';
import { route } from '../routes.ts';
import type { App } from '../routes.ts';
import { script } from './script.ts';
import { stylesheet } from './stylesheet.ts';

const assets = {
  'pages.css': ['text/css', stylesheet],
  'pages.js': ['text/javascript', script],
  'icon.svg': ['image/svg+xml', icon],
} as const;

export function serveAssets(app: App): void {
  for (const [name, [type, text]] of Object.entries(assets)) {
    route(app, `/console/assets/${name}`, {
      GET: () => new Response(text, { headers: { 'content-type': `${type}; charset=utf-8` } }),
    });
  }
}
