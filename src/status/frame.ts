/** The frame of the status pages, and the words that several of them use. */
import { html } from 'hono/html';
import type { Changes, Counts } from '../core/series/diff.ts';
import type { SourceReport } from '../core/report.ts';
import { type Now, showTime } from '../core/time/spoken.ts';
import { type Html, type Tone, groupDigits, showFrame, showState } from '../pages/markup.ts';
import type { Answer } from './answer.ts';
import type { Watched } from './watched.ts';

const sections = [
  ['/', 'Overview'],
  ['/drivers', 'Drivers'],
  ['/pushes', 'Pushes'],
] as const;

export interface StatusPage {
  readonly title: string;
  /** The current link of the navigation. */
  readonly section?: (typeof sections)[number][0];
  readonly body: Html;
  readonly footer?: Html;
  readonly status?: number;
}

export function pageAnswer({ title, section, body, footer, status = 200 }: StatusPage): Answer {
  const links = sections.map(([href, name]) => ({ href, name, isCurrent: href === section }));
  const text = showFrame({
    title,
    product: 'status',
    assets: '/assets',
    events: '/events',
    navigation: { label: 'Status', links },
    body,
    footer,
    isLive: true,
  });
  // The layout of the markup is for those who read the code.
  return { status, type: 'text/html; charset=utf-8', body: text.replaceAll(/\n\s+/g, '\n') };
}

/** A page that consists of a message. */
export function noticeAnswer(title: string, lines: readonly string[], status: number): Answer {
  const body = html`<h1>${title}</h1>
    ${lines.map((line) => html`<p class="lead">${line}</p>`)}
    <p><a href="/">Go to the overview</a></p>`;
  return pageAnswer({ title, body, status });
}

export function nowOf({ settings }: Watched): Now {
  return { nowMs: Date.now(), timezone: settings.timezone };
}

/** `02:15 today, 5 min ago`, and the moment itself for a program. @param at ISO 8601, UTC */
export function showWhen(at: string, now: Now): Html {
  return html`<time datetime="${at}">${showTime(at, now)}</time>`;
}

const sourceTones: Readonly<Record<SourceReport['state'], Tone>> = {
  accepted: 'good',
  unchanged: 'good',
  held: 'bad',
  unread: 'bad',
};

export function showSourceState(state: SourceReport['state']): Html {
  return showState(sourceTones[state], state === 'unread' ? 'not read' : state);
}

const outcomeTones: Readonly<Record<string, Tone>> = {
  acknowledged: 'good',
  refused: 'bad',
  unreachable: 'bad',
  unknown: 'busy',
};

export function showOutcome(outcome: string): Html {
  return showState(outcomeTones[outcome] ?? 'idle', outcome);
}

/** `2 created, 1 deleted`, or `none`, in the words of the commands. */
export function countsText(counts: Counts): string {
  const kinds = [
    [counts.create, 'created'],
    [counts.update, 'updated'],
    [counts.delete, 'deleted'],
  ] as const;
  const shown = kinds.filter(([count]) => count > 0).map(([count, kind]) => `${groupDigits(count)} ${kind}`);
  return shown.length === 0 ? 'none' : shown.join(', ');
}

export function changesText({ drivers, points }: Changes): string {
  return `drivers: ${countsText(drivers)}; points: ${countsText(points)}`;
}

export function driverLink(id: string, name: string): Html {
  return html`<a href="/driver?id=${encodeURIComponent(id)}"><bdi>${name}</bdi></a>`;
}

export function sourceLink(name: string): Html {
  return html`<a href="/source?name=${encodeURIComponent(name)}"><bdi>${name}</bdi></a>`;
}
