/** JSON answers of an API; numbers stay the text as written. */
import type { z } from 'zod';
import { readStart } from '../../http/answer.ts';
import { pageFailure } from '../../http/failures.ts';
import type { Web, WebAnswer } from './web.ts';

/** No page of a list is as large. */
const bytesMax = 16_000_000;

interface Wanted<Schema extends z.ZodType> {
  readonly schema: Schema;
  /** Such as `a token of OAuth`. */
  readonly what: string;
  readonly hint?: string;
  /** Where answers may say an error with status 200: its words. */
  readonly refusal?: { readonly of: (value: unknown) => string | undefined; readonly hint: string };
}

/**
 * The body of an answer as `schema` makes it; every number in it comes as its text.
 * @throws AgentError `source.unreadable` where it did not come whole, is not JSON or not what was asked for
 */
export async function readJson<Schema extends z.ZodType>(
  web: Web,
  answer: WebAnswer,
  { schema, what, hint, refusal }: Wanted<Schema>,
  signal: AbortSignal,
): Promise<z.output<Schema>> {
  const text = await readText(web, answer, signal);
  if (/^\s*</.test(text)) {
    throw hint === undefined ? web.pageFailure(answer.url) : web.failure(answer.url, { ...pageFailure, hint });
  }
  const value = parseTexts(text);
  const said = refusal?.of(value);
  if (said !== undefined) throw web.refusal(answer, said, refusal?.hint);
  const result = schema.safeParse(value);
  if (result.success) return result.data;
  const [issue] = result.error.issues;
  const where = issue === undefined || issue.path.length === 0 ? '' : ` at ${issue.path.join('.')}`;
  throw web.failure(answer.url, { why: `the answer is not ${what}${where}`, hint: hint ?? checkUrl });
}

const checkUrl = 'check url: is this the address of the service?';

async function readText(web: Web, { url, body }: WebAnswer, signal: AbortSignal): Promise<string> {
  const { text, bytes, cut } = await readStart(body as AsyncIterable<Buffer>, bytesMax);
  signal.throwIfAborted();
  if (cut !== undefined) {
    const what = `the answer did not come whole (${bytes} bytes were read)`;
    throw web.networkFailure(url, cut, { code: 'source.unreadable', what });
  }
  if (bytes > bytesMax) throw web.failure(url, { why: `the answer has more than ${bytesMax} bytes`, hint: checkUrl });
  return text;
}

type Revive = (key: string, value: unknown, context: { readonly source: string }) => unknown;

/** `undefined` where the text is not JSON. */
export function parseTexts(text: string): unknown {
  const revive: Revive = (_key, value, { source }) => (typeof value === 'number' ? source : value);
  try {
    // The platform gives a reviver the source text; its types do not say so yet.
    return JSON.parse(text, revive as (key: string, value: unknown) => unknown);
  } catch (error) {
    if (error instanceof SyntaxError) return undefined;
    throw error;
  }
}
