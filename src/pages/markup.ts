/** Parts of pages: the frame, states, numbers and tables. The status page and the emulator's console are made of them. */
import { html } from 'hono/html';
import type { HtmlEscapedString } from 'hono/utils/html';

/** Markup in which every inserted value is escaped. */
export type Html = ReturnType<typeof html>;

export interface Frame {
  readonly title: string;
  /** What the pages are of, beside the name of the product. */
  readonly product: string;
  /** Where the stylesheet, the script and the icon are, without a trailing slash. */
  readonly assets: string;
  /** Where the script hears of news, and then asks for the page again; `undefined`: nowhere. */
  readonly events?: string | undefined;
  readonly navigation: { readonly label: string; readonly links: readonly NavigationLink[] };
  readonly body: Html;
  /** The script keeps it as the server has it. */
  readonly isLive?: boolean | undefined;
  readonly footer?: Html | undefined;
}

export interface NavigationLink {
  readonly href: string;
  readonly name: string;
  readonly isCurrent: boolean;
}

/** A whole page. The first link of the navigation is where the brand leads to. */
export function showFrame({ title, product, assets, events, navigation, body, isLive, footer }: Frame): string {
  const { label, links } = navigation;
  const text = html`<!doctype html>
    <html lang="en">
      <head>
        <meta charset="utf-8" />
        <meta name="viewport" content="width=device-width, initial-scale=1" />
        <title>${title} · driver-sync ${product}</title>
        <link rel="icon" href="${assets}/icon.svg" type="image/svg+xml" />
        <link rel="stylesheet" href="${assets}/pages.css" />
        <script src="${assets}/pages.js" defer></script>
      </head>
      <body ${events === undefined ? '' : html`data-events="${events}"`}>
        <a class="skip" href="#main">Skip to content</a>
        <header>
          <a class="brand" href="${links[0]?.href}">driver-sync <span>${product}</span></a>
          <nav aria-label="${label}">
            <ul>
              ${links.map(
                ({ href, name, isCurrent }) =>
                  html`<li><a href="${href}" ${isCurrent ? html`aria-current="page"` : ''}>${name}</a></li>`,
              )}
            </ul>
          </nav>
        </header>
        <main id="main" tabindex="-1" ${isLive === true ? html`data-live` : ''}>${body}</main>
        ${footer === undefined ? '' : html`<footer ${isLive === true ? html`data-live` : ''}>${footer}</footer>`}
      </body>
    </html>`;
  return textOf(text);
}

/** The text of markup. No part of a page is asynchronous, so it is there. */
export function textOf(markup: Html | ''): string {
  return (markup as HtmlEscapedString).toString();
}

export const icon =
  '<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 16 16"><path d="M1 12 5 6l4 3 6-7" fill="none" stroke="#2f6fde" stroke-width="2"/></svg>';

/** With a capital at its beginning. */
export function sentence(text: string): string {
  return text.charAt(0).toUpperCase() + text.slice(1);
}

/** The message of an empty page: what would fill it, and a command that does. */
export function showEmpty(what: string, command: string): Html {
  return html`<div class="empty">
    <p>${what}</p>
    ${showCode(command)}
  </div>`;
}

/** Text to be copied: the script adds the button that does it. */
export function showCode(text: string): Html {
  return html`<div class="code">
    <pre><code>${text}</code></pre>
    <button type="button" class="copy">Copy</button>
  </div>`;
}

export type Tone = 'good' | 'bad' | 'busy' | 'idle';

const shapes: Readonly<Record<Tone, string>> = { good: '●', bad: '▲', busy: '◐', idle: '○' };

/** A state as a word and a shape, so that it does not depend on colour. */
export function showState(tone: Tone, word: Html | string): Html {
  return html`<span class="state ${tone}"><span class="shape" aria-hidden="true">${shapes[tone]}</span>${word}</span>`;
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
  /** An id for each row: an address within the page, and how the script knows it again. */
  readonly rowKeys?: readonly string[];
  /** On a phone the fields of a row in `cards` stand below each other, in `lines` behind each other; `columns` keeps the table. */
  readonly onPhone: 'cards' | 'lines' | 'columns';
}

/** A table that scrolls by itself if it is wider than the screen, also by keyboard. */
export function showTable({ caption, columns, rows, rowKeys, onPhone }: Table): Html {
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
          (cells, row) =>
            html`<tr ${rowKeys === undefined ? '' : html`id="${rowKeys[row]}"`}>
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

/** Decimal text with its digits in groups of three: `1 234 567.50`. Not a digit of it changes. */
export function groupDecimal(value: string): string {
  const [, sign = '', whole = '', rest = ''] = /^(-?)(\d+)(.*)$/s.exec(value) ?? [];
  if (whole === '') return value;
  // Counted from the front: a look ahead to the end from each digit takes seconds for a hundred thousand of them.
  const first = whole.length % 3 || 3;
  const groups = [whole.slice(0, first), ...(whole.slice(first).match(/\d{3}/g) ?? [])];
  return `${sign}${groups.join('\u202F')}${rest}`;
}

/** A value to look at, that is copied by a program as it was. */
export function showValue(value: string): Html {
  return html`<data value="${value}">${groupDecimal(value)}</data>`;
}
