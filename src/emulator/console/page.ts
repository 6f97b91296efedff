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

export interface Notice {
  readonly title: string;
  readonly lines: readonly (Html | string)[];
  readonly status: number;
}

/** A page that has nothing to show but what it says. */
export function showNotice({ title, lines, status }: Notice): Response {
  const body = html`<h1>${title}</h1>
    ${lines.map((line) => html`<p class="lead">${line}</p>`)}
    <p><a href="/console/drivers">Go to the drivers</a></p>`;
  return showPage({ title, status, body });
}

/** What a page says that has nothing to show: what would fill it, and the command that does. */
export function showEmpty(what: string, command: string): Html {
  return html`<div class="empty">
    <p>${what}</p>
    <pre><code>${command}</code></pre>
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

export interface Column {
  readonly name: string;
  /** `row`: what the row is about. `word`: is not broken. `prose`: long. `action`: named for screen readers alone. */
  readonly kind?: 'row' | 'word' | 'number' | 'prose' | 'action';
  /** Left out on a phone. */
  readonly isMinor?: true;
}

export interface Table {
  readonly caption: string;
  readonly columns: readonly Column[];
  /** As many cells as there are columns; an empty one is `''`. */
  readonly rows: readonly (readonly (Html | string | number)[])[];
  /** On a phone the rows of `cards` stand one field below the other; those of `columns` stay as they are. */
  readonly onPhone: 'cards' | 'columns';
}

/** Scrolls by itself where it is wider than the screen all the same; the keyboard reaches it too. */
export function showTable({ caption, columns, rows, onPhone }: Table): Html {
  return html`<div class="scroll" tabindex="0" role="region" aria-label="${caption}">
    <table class="${onPhone}">
      <caption class="unseen">
        ${caption}
      </caption>
      <thead>
        <tr>
          ${columns.map(showHead)}
        </tr>
      </thead>
      <tbody>
        ${rows.map(
          (cells) =>
            html`<tr>
              ${cells.map((cell, index) => showCell(cell, columns[index]))}
            </tr>`,
        )}
      </tbody>
    </table>
  </div>`;
}

function showHead(column: Column): Html {
  const { name, kind } = column;
  const text = kind === 'action' ? html`<span class="unseen">${name}</span>` : name;
  return html`<th scope="col" class="${classOf(column)}">${text}</th>`;
}

function showCell(cell: Html | string | number, column: Column | undefined): Html {
  if (column === undefined) throw new RangeError('a row has more cells than the table has columns');
  const { name, kind } = column;
  if (kind === 'row') return html`<th scope="row" class="row">${cell}</th>`;
  // On a phone the name stands before the cell.
  return html`<td class="${classOf(column)}" data-name="${kind === 'action' ? '' : name}">${cell}</td>`;
}

function classOf({ kind, isMinor }: Column): string {
  return `${kind ?? ''} ${isMinor ? 'wide' : ''}`.trim();
}

/** The first of these in which there is anything to see: names may be blanks, and a link must be something to click on. */
export function visibleOf(...texts: readonly string[]): string {
  const seen = texts.find((text) => /[^\p{White_Space}\p{Default_Ignorable_Code_Point}\p{Cc}]/u.test(text));
  return seen ?? JSON.stringify(texts[0] ?? '');
}

/** `1 thing`, `2 things`. */
export function countOf(count: number, noun: string): string {
  return `${groupDigits(count)} ${noun}${count === 1 ? '' : 's'}`;
}

export function groupDigits(count: number): string {
  return count.toLocaleString('en-US').replaceAll(',', '\u202F');
}
