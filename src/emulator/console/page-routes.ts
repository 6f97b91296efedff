/** Helpers for routes of the console, whose refusals are pages too. */
import { html } from 'hono/html';
import type { App, Handler } from '../routes.ts';
import { Refusal } from '../routing/refusal.ts';
import { showNotice } from './page.ts';
import { problemsOf } from './problems.ts';

/** Serves pages at `path`. A thrown `Refusal` and a wrong method are shown as pages. */
export function servePages(app: App, path: string, handlers: Readonly<Partial<Record<'GET' | 'POST', Handler>>>): void {
  for (const [method, handler] of Object.entries(handlers)) {
    app.on(method, path, async (context) => {
      try {
        return await handler(context);
      } catch (error) {
        if (!(error instanceof Refusal)) throw error;
        const title = error.status === 404 ? 'Not found' : 'Refused';
        return showNotice({ title, lines: problemsOf(error).map(({ text }) => text), status: error.status });
      }
    });
  }
  app.all(path, ({ req }) => {
    const lines = [html`There is nothing to <code>${req.method}</code> here.`];
    const response = showNotice({ title: 'Refused', lines, status: 405 });
    // Hono answers HEAD by GET.
    response.headers.set('allow', Object.keys(handlers).join(', ').replace('GET', 'GET, HEAD'));
    return response;
  });
}
