/** Shared parts of the console's pages: the frame, states, moments, numbers and tables. */
import { html } from 'hono/html';
import type { HtmlEscapedString } from 'hono/utils/html';

/** Markup in which every inserted value is escaped. */
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
  /** The current link of the navigation; undefined on a page that belongs to no section. */
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
  // No part of a page is asynchronous, so this is a string.
  return new Response(text as HtmlEscapedString, { status, headers: { 'content-type': 'text/html; charset=utf-8' } });
}

export interface Notice {
  readonly title: string;
  readonly lines: readonly (Html | string)[];
  readonly status: number;
}

/** A page that consists of a message. */
export function showNotice({ title, lines, status }: Notice): Response {
  const body = html`<h1>${title}</h1>
    ${lines.map((line) => html`<p class="lead">${line}</p>`)}
    <p><a href="/console/drivers">Go to the drivers</a></p>`;
  return showPage({ title, status, body });
}

/** The message of an empty page: what would fill it, and a command that does. */
export function showEmpty(what: string, command: string): Html {
  return html`<div class="empty">
    <p>${what}</p>
    <pre><code>${command}</code></pre>
  </div>`;
}

export type Tone = 'good' | 'bad' | 'busy' | 'idle';

const shapes: Readonly<Record<Tone, string>> = { good: '●', bad: '▲', busy: '◐', idle: '○' };

/** A state as a word and a shape, so that it does not depend on colour. */
export function showState(tone: Tone, word: string): Html {
  return html`<span class="state ${tone}"><span class="shape" aria-hidden="true">${shapes[tone]}</span>${word}</span>`;
}

/** @param iso ISO 8601, UTC */
export function showMoment(iso: string): Html {
  return html`<time datetime="${iso}">${iso.slice(0, 10)} ${iso.slice(11, 19)}</time>`;
}

export interface Column {
  readonly name: string;
  /** `row`: the subject of the row. `word`: is not broken. `prose`: long. `action`: its name is for screen readers only. */
  readonly kind?: 'row' | 'word' | 'number' | 'prose' | 'action';
  /** Left out on a phone. */
  readonly isMinor?: true;
}

export interface Table {
  readonly caption: string;
  readonly columns: readonly Column[];
  /** One cell per column; an empty one is `''`. */
  readonly rows: readonly (readonly (Html | string | number)[])[];
  /** On a phone the fields of a row in `cards` stand below each other; `columns` keeps the table. */
  readonly onPhone: 'cards' | 'columns';
}

/** A table that scrolls by itself if it is wider than the screen, also by keyboard. */
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
  // On a phone the column's name stands before the cell.
  return html`<td class="${classOf(column)}" data-name="${kind === 'action' ? '' : name}">${cell}</td>`;
}

function classOf({ kind, isMinor }: Column): string {
  return `${kind ?? ''} ${isMinor ? 'wide' : ''}`.trim();
}

/** The first of these names that is visible: a name may be blank, and a link must have something to click on. */
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
