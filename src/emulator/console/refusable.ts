/** Pages of what area A refuses. */
import { html } from 'hono/html';
import { Refusal } from '../routing/refusal.ts';
import { showPage } from './page.ts';

/** Shows what `act` throws as a `Refusal`. */
export async function refusable(act: () => Response | Promise<Response>): Promise<Response> {
  try {
    return await act();
  } catch (error) {
    if (!(error instanceof Refusal)) throw error;
    return showPage({
      title: 'Refused',
      status: error.status,
      body: html`<h1>${error.status === 404 ? 'Not found' : 'Refused'}</h1>
        ${problemsOf(error).map((problem) => html`<p class="lead">${problem}</p>`)}`,
    });
  }
}

/** What a refusal says, one sentence a thing. */
export function problemsOf({ body, message }: Refusal): string[] {
  const { issues } = body;
  if (!Array.isArray(issues)) return [message];
  return issues.map(({ path, message: problem }: { path: PropertyKey[]; message: string }) =>
    path.length === 0 ? problem : `${labelOf(path.map(String).join('.'))}: ${problem}`,
  );
}

/** As the field is labelled, where there is one. */
function labelOf(path: string): string {
  if (path === 'slug') return 'Config ID';
  return path === 'name' ? 'Name' : path;
}
