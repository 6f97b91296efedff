/** Helpers for routes of the console, whose refusals are pages too. */
import { html } from 'hono/html';
import type { App, Handler } from '../routes.ts';
import { Refusal } from '../routing/refusal.ts';
import { showNotice } from './page.ts';

/** Serves pages at `path`. A thrown `Refusal` and a wrong method are shown as pages. */
export function servePages(app: App, path: string, handlers: Readonly<Partial<Record<'GET' | 'POST', Handler>>>): void {
  for (const [method, handler] of Object.entries(handlers)) {
    app.on(method, path, async (context) => {
      try {
        return await handler(context);
      } catch (error) {
        if (!(error instanceof Refusal)) throw error;
        const title = error.status === 404 ? 'Not found' : 'Refused';
        return showNotice({ title, lines: problemsOf(error), status: error.status });
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

/** The problems of a refusal, one sentence each. */
export function problemsOf({ body, message }: Refusal): string[] {
  const { issues } = body;
  if (!Array.isArray(issues)) return [message];
  return issues.map(({ path, message: problem }: { path: PropertyKey[]; message: string }) =>
    path.length === 0 ? problem : `${labelOf(path.map(String).join('.'))}: ${problem}`,
  );
}

/** The label of the field if there is one, else the path. */
function labelOf(path: string): string {
  if (path === 'slug') return 'Config ID';
  return path === 'name' ? 'Name' : path;
}
