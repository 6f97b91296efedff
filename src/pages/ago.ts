/** Moments as people say them: how long ago. The moment itself is in the markup, for programs and for a pointer. */
import { html } from 'hono/html';
import type { Html } from './markup.ts';

/** `now`, `12 s ago`, `5 min ago`, `3 h ago`, `6 days ago`. Browsers run this function too, so it refers to nothing outside of itself. */
export function agoOf(ms: number): string {
  const seconds = Math.floor(ms / 1000);
  if (seconds < 1) return 'now';
  if (seconds < 60) return `${seconds} s ago`;
  const minutes = Math.floor(seconds / 60);
  if (minutes < 90) return `${minutes} min ago`;
  const hours = Math.round(minutes / 60);
  return hours < 36 ? `${hours} h ago` : `${Math.round(hours / 24)} days ago`;
}

/**
 * A moment of real time, which the script of the page keeps up.
 * @param at ISO 8601, UTC
 */
export function showAgo(at: string, nowMs: number): Html {
  return html`<time datetime="${at}" title="${exactly(at)}" data-ago>${agoOf(nowMs - Date.parse(at))}</time>`;
}

/** The same of a clock that may run at another speed than the browser's. */
export function showAgoBy(at: string, nowMs: number): Html {
  return html`<time datetime="${at}" title="${exactly(at)}">${agoOf(nowMs - Date.parse(at))}</time>`;
}

/** `2026-03-14 02:15:07 UTC` */
export function exactly(at: string): string {
  return `${at.slice(0, 10)} ${at.slice(11, 19)} UTC`;
}
