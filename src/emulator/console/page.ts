/** What all pages of the console share: their frame, and how states, moments and numbers are shown. */
import { html } from 'hono/html';
import type { HtmlEscapedString } from 'hono/utils/html';

/** Text that is safe to send: whatever `html` was given as a value is escaped in it. */
export type Html = ReturnType<typeof html>;

export const sections = [
  ['drivers', 'Drivers'],
  ['routers', 'Routers'],
  ['playground', 'Playground'],
  ['tasks', 'Tasks'],
  ['requests', 'Requests'],
] as const;
export type Section = (typeof sections)[number][0];

export interface Page {
  readonly title: string;
  /** Which link of the navigation is the current one; none on a page that is in none of them. */
  readonly section?: Section;
  readonly body: Html;
  readonly status?: number;
}

export function showPage({ title, section, body, status = 200 }: Page): Response {
  const links = sections.map(
    ([path, name]) =>
      html`<li><a href="/console/${path}" ${path === section ? html`aria-current="page"` : ''}>${name}</a></li>`,
  );
  const text = html`<!doctype html>
    <html lang="en">
      <head>
        <meta charset="utf-8" />
        <meta name="viewport" content="width=device-width, initial-scale=1" />
        <title>${title} · driver-sync emulator</title>
        <link rel="icon" href="/console/assets/icon.svg" type="image/svg+xml" />
        <link rel="stylesheet" href="/console/assets/uplot.css" />
        <link rel="stylesheet" href="/console/assets/console.css" />
        <script src="/console/assets/uplot.js" defer></script>
        <script src="/console/assets/console.js" defer></script>
      </head>
      <body>
        <a class="skip" href="#main">Skip to content</a>
        <header>
          <a class="brand" href="/console/drivers">driver-sync <span>emulator</span></a>
          <nav aria-label="Console">
            <ul>
              ${links}
            </ul>
          </nav>
        </header>
        <main id="main" tabindex="-1">${body}</main>
      </body>
    </html>`;
  // No part of a page waits for anything, so it is no promise.
  return new Response(text as HtmlEscapedString, { status, headers: { 'content-type': 'text/html; charset=utf-8' } });
}

export function showMissing(what: string): Response {
  return showPage({
    title: 'Not found',
    status: 404,
    body: html`<h1>Not found</h1>
      <p class="lead">${what}</p>
      <p><a href="/console/drivers">Go to the drivers</a></p>`,
  });
}

/** What a page says that has nothing to show: what would fill it, and the command that does. */
export function showEmpty(what: string, command: string): Html {
  return html`<div class="empty">
    <p>${what}</p>
    <pre tabindex="0" role="region" aria-label="Command"><code>${command}</code></pre>
  </div>`;
}

export type Tone = 'good' | 'bad' | 'busy' | 'idle';

const shapes: Readonly<Record<Tone, string>> = { good: '●', bad: '▲', busy: '◐', idle: '○' };

/** A word and a shape, so that no state is told by its colour alone. */
export function showState(tone: Tone, word: string): Html {
  return html`<span class="state ${tone}"><span class="shape" aria-hidden="true">${shapes[tone]}</span>${word}</span>`;
}

/** @param iso ISO 8601, UTC */
export function showMoment(iso: string): Html {
  return html`<time datetime="${iso}">${iso.slice(0, 10)} ${iso.slice(11, 19)}</time>`;
}

/** A table that scrolls by itself where it is wider than the screen; the keyboard reaches it too. */
export function showTable(caption: string, head: Html, rows: readonly Html[]): Html {
  return html`<div class="scroll" tabindex="0" role="region" aria-label="${caption}">
    <table>
      <caption class="unseen">
        ${caption}
      </caption>
      <thead>
        <tr>
          ${head}
        </tr>
      </thead>
      <tbody>
        ${rows}
      </tbody>
    </table>
  </div>`;
}

/** `1 thing`, `2 things`. */
export function countOf(count: number, noun: string): string {
  return `${groupDigits(count)} ${noun}${count === 1 ? '' : 's'}`;
}

export function groupDigits(count: number): string {
  return count.toLocaleString('en-US').replaceAll(',', '\u202F');
}
