/** What several pages show of a request. */
import { html } from 'hono/html';
import type { RequestRecord } from '../request-record.ts';
import { showState } from '../../pages/markup.ts';
import type { Html } from '../../pages/markup.ts';

export const requestsPath = '/console/requests';

/** Its answer, as a number and a word. */
export function showStatus({ status }: RequestRecord): Html {
  if (status === null) return showState('idle', 'no answer');
  return status >= 400 ? showState('bad', `${status} refused`) : showState('good', `${status} answered`);
}

export function requestLink({ id, method, path }: RequestRecord): Html {
  return html`<a href="${requestsPath}/${id}"><code>${method} ${path}</code></a>`;
}
