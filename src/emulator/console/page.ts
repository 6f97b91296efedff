/** The frame of the console's pages, and pages that are a message. */
import { html } from 'hono/html';
import { type Html, showFrame } from '../../pages/markup.ts';

export const sections = [
  ['', 'Overview'],
  ['drivers', 'Drivers'],
  ['routers', 'Routers'],
  ['playground', 'Playground'],
  ['tasks', 'Tasks'],
  ['requests', 'Requests'],
  ['snapshots', 'Snapshots'],
  ['faults', 'Faults'],
] as const;
export type Section = (typeof sections)[number][0];

export interface Page {
  readonly title: string;
  /** The current link of the navigation; undefined on a page that belongs to no section. */
  readonly section?: Section;
  readonly body: Html;
  readonly status?: number;
  /** Pages with forms are left alone. */
  readonly isLive?: boolean;
}

export function showPage({ title, section, body, status = 200, isLive }: Page): Response {
  const links = sections.map(([path, name]) => ({
    href: path === '' ? '/console' : `/console/${path}`,
    name,
    isCurrent: path === section,
  }));
  const text = showFrame({
    title,
    product: 'emulator',
    assets: '/console/assets',
    events: isLive === true ? '/console/events' : undefined,
    isLive,
    navigation: { label: 'Console', links },
    body,
  });
  return new Response(text, { status, headers: { 'content-type': 'text/html; charset=utf-8' } });
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
    <p><a href="/console">Go to the overview</a></p>`;
  return showPage({ title, status, body });
}
