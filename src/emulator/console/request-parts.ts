/** What several pages show of a request. */
import type { RequestRecord } from '../request-record.ts';
import { showState } from '../../pages/markup.ts';
import type { Html } from '../../pages/markup.ts';

/** Its answer, as a number and a word. */
export function showStatus({ status }: RequestRecord): Html {
  if (status === null) return showState('idle', 'no answer');
  return status >= 400 ? showState('bad', `${status} refused`) : showState('good', `${status} answered`);
}
