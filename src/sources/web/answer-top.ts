/** What an answer says at its top of whether it is all of the rows: half of them would look like all. */
import type { AgentError } from '../../core/errors.ts';
import type { PartFile } from '../files/part-file.ts';
import { parseTexts } from './json.ts';
import type { PagesSetting } from './pages.ts';
import { readTop } from './top-level.ts';
import type { Web, WebAnswer } from './web.ts';

const errorKeys = ['error', 'errors'];
/** Words beside an error, which may be as little as `true`. */
const wordKeys = ['message', 'error_description'];
/** Where servers write the address of a next page, and where they only say that there is one. */
const nextKeys = ['@odata.nextLink', 'nextLink', 'next_url', 'next', 'next_page_url'];
const moreKeys = ['has_more', 'hasMore', 'hasNextPage', 'has_next'];

export interface RowsPlace {
  readonly items?: readonly string[] | undefined;
  readonly rows?: string | undefined;
  readonly keys?: string | undefined;
  readonly pages?: PagesSetting;
}

/**
 * Refuses an answer of JSON that says an error at its top, but where the config says that the rows are there, and one that says that it is a
 * page of several where the config says nothing of pages.
 * @throws AgentError `source.unreadable`, with the words of the server for an error; or as `readTop`
 */
export async function checkAnswer(
  { web, answer }: { readonly web: Web; readonly answer: WebAnswer },
  file: PartFile,
  { items, rows, keys, pages }: RowsPlace,
): Promise<void> {
  const [first] = items ?? rows?.split('/').slice(1) ?? [];
  // Each key at the top is that of a row.
  if (first === undefined && keys !== undefined) return;
  const wanted = errorKeys.filter((key) => key !== first);
  const said = await readTop(file, new Set([...wanted, ...wordKeys, ...nextKeys, ...moreKeys]));
  const errors = wanted.flatMap((key) => said.get(key) ?? []);
  if (errors.length > 0) {
    const words = wordKeys.flatMap((key) => said.get(key) ?? []);
    throw web.refusal(answer, [...errors, ...words].map(wordsOf).join(': '));
  }
  if (pages !== undefined) return;
  const next = nextKeys.find((key) => isAddress(said.get(key)));
  if (next !== undefined) {
    throw onePageError(web, answer, { how: `its "${next}" names a next one`, pages: `{ next: /${next} }` });
  }
  const more = moreKeys.find((key) => said.get(key) === 'true');
  if (more !== undefined) throw onePageError(web, answer, { how: `its "${more}" is true` });
}

/** @param pages what the config could say to read them all */
export function onePageError(
  web: Web,
  { url }: WebAnswer,
  { how, pages }: { readonly how: string; readonly pages?: string },
): AgentError {
  const say = pages === undefined ? 'say with pages how the next one is found' : `say pages: ${pages}`;
  return web.failure(url, {
    why: `the answer is one page of several: ${how}`,
    hint: `${say} to read all of them, or ask for all of it at once, such as by a larger page size in the address; pages: one says that this one is all`,
  });
}

/** An address, or a path of one: what is neither may be the number of a page, or a name. */
function isAddress(json: string | undefined): boolean {
  const text = json === undefined ? undefined : wordsOf(json);
  return text !== undefined && /^\s*(?:https?:\/\/|\.{0,2}\/|[^\s"]*\?[^\s"]+=)\S*\s*$/i.test(text);
}

function wordsOf(json: string): string {
  const text = parseTexts(json);
  if (typeof text === 'string') return text;
  // One that was cut has lost its end.
  return json.startsWith('"') ? json.slice(1) : json;
}
