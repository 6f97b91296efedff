/** Style, script and icon of the pages. */
import { icon } from '../pages/markup.ts';
import { script } from '../pages/script.ts';
import { stylesheet } from '../pages/stylesheet.ts';
import type { Answer, Ask } from './answer.ts';
import type { Watched } from './watched.ts';

const assets: Readonly<Record<string, readonly [type: string, text: string]>> = {
  '/assets/pages.css': ['text/css', stylesheet],
  '/assets/pages.js': ['text/javascript', script],
  '/assets/icon.svg': ['image/svg+xml', icon],
};

export async function assetAnswer(_agent: Watched, { path }: Ask): Promise<Answer> {
  const [type, body] = assets[path] ?? ['text/plain', ''];
  return { status: 200, type: `${type}; charset=utf-8`, body };
}
