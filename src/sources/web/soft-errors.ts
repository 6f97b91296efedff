/** Answers of 200 that are none: the rows beside an error may be a part of them, or of those of another shard. */
import type { PartFile } from '../files/part-file.ts';
import { parseTexts } from './json.ts';
import { readTop } from './top-level.ts';
import type { Web, WebAnswer } from './web.ts';

const errorKeys = ['error', 'errors'];
/** Words beside an error, which may be as little as `true`. */
const wordKeys = ['message', 'error_description'];

export interface RowsPlace {
  readonly items?: readonly string[] | undefined;
  readonly rows?: string | undefined;
  readonly keys?: string | undefined;
}

/**
 * Refuses an answer of JSON that says an error at its top, but where the config says that the rows are there.
 * @throws AgentError `source.unreadable` with the words of the server; or as `readTop`
 */
export async function checkAnswer(
  { web, answer }: { readonly web: Web; readonly answer: WebAnswer },
  file: PartFile,
  place: RowsPlace,
): Promise<void> {
  const [first] = place.items ?? place.rows?.split('/').slice(1) ?? [];
  // Each key at the top is that of a row.
  if (first === undefined && place.keys !== undefined) return;
  const wanted = errorKeys.filter((key) => key !== first);
  const said = await readTop(file, new Set([...wanted, ...wordKeys]));
  const errors = wanted.flatMap((key) => said.get(key) ?? []);
  if (errors.length === 0) return;
  const words = wordKeys.flatMap((key) => said.get(key) ?? []);
  throw web.refusal(answer, [...errors, ...words].map(wordsOf).join(': '));
}

function wordsOf(json: string): string {
  const text = parseTexts(json);
  if (typeof text === 'string') return text;
  // One that was cut has lost its end.
  return json.startsWith('"') ? json.slice(1) : json;
}
