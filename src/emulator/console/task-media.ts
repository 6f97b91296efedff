/** Outputs of tasks in pages. They have a path of their own: a look at a page is not a request to the service. */
import { html } from 'hono/html';
import type { App } from '../routes.ts';
import { outputOf } from '../routing/media.ts';
import { notFound } from '../routing/refusal.ts';
import type { Routing } from '../routing/routing.ts';
import type { Task } from '../routing/tasks.ts';
import { countOf } from '../../pages/markup.ts';
import type { Html } from '../../pages/markup.ts';
import { servePages } from './page-routes.ts';

const thumbnailsMax = 3;

export function serveMedia(app: App, routing: Routing): void {
  servePages(app, '/console/media/:task/:output', {
    GET: ({ req }) => {
      const task = routing.task(req.param('task') ?? '');
      const output = Number(req.param('output'));
      if (!hasOutput(task) || !(output in Array.from({ length: task.outputs })))
        throw notFound('the task has no such output');
      return answerPart(outputOf(task, output), req.header('range'));
    },
  });
}

interface Output {
  readonly bytes: Uint8Array<ArrayBuffer>;
  readonly type: string;
}

/** Players ask for the part from a moment on, and cannot be moved to one where they get all. */
function answerPart({ bytes, type }: Output, range: string | undefined): Response {
  const headers = { 'content-type': type, 'accept-ranges': 'bytes', 'cache-control': 'private, max-age=3600' };
  const [, from, to] = /^bytes=(\d{1,12})-(\d{0,12})$/.exec(range ?? '') ?? [];
  const first = Number(from ?? 0);
  const last = Math.min(to ? Number(to) : Infinity, bytes.length - 1);
  if (from === undefined || first > last)
    return new Response(bytes, { headers: { ...headers, 'content-length': String(bytes.length) } });
  const part = bytes.slice(first, last + 1);
  const where = { 'content-range': `bytes ${first}-${last}/${bytes.length}`, 'content-length': String(part.length) };
  return new Response(part, { status: 206, headers: { ...headers, ...where } });
}

function hasOutput({ ended, ending }: Task): boolean {
  return ended !== null && ending.status === 'SUCCEEDED';
}

function addressesOf({ id, outputs }: Task): string[] {
  return Array.from({ length: outputs }, (_, output) => `/console/media/${id}/${output}`);
}

/** Small, for a list. */
export function showThumbnails(task: Task): Html | '' {
  if (!hasOutput(task)) return '';
  if (task.modality !== 'image') return html`${countOf(task.outputs, task.modality)}`;
  const all = addressesOf(task);
  const more = all.length - thumbnailsMax;
  return html`<span class="thumbnails"
    >${all.slice(0, thumbnailsMax).map((address, index) => html`<img src="${address}" alt="Output ${index + 1}" />`)}
    ${more > 0 ? html`<span class="quiet">+${more}</span>` : ''}</span
  >`;
}

/** As large as they are, or with a player. */
export function showOutputs(task: Task): Html {
  return html`<div class="outputs">
    ${addressesOf(task).map((address, index) => {
      const name = `Output ${index + 1}`;
      if (task.modality === 'image') return html`<a href="${address}"><img src="${address}" alt="${name}" /></a>`;
      if (task.modality === 'audio') return html`<audio controls src="${address}" aria-label="${name}"></audio>`;
      return html`<video controls muted playsinline src="${address}" aria-label="${name}"></video>`;
    })}
  </div>`;
}
