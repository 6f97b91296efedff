/** JSON answers of an API, whose numbers stay the texts that they are. */
import type { z } from 'zod';
import { AgentError } from '../../core/errors.ts';
import type { Web, WebAnswer } from './web.ts';
import { connectionError, pageError } from './words.ts';

/** More than any page of a list has. */
const bytesMax = 16_000_000;

/**
 * The body of an answer as `schema` makes it; every number in it comes as its text.
 * @throws AgentError `source.unreadable` where it did not come whole, is no JSON or is something else
 */
export async function readJson<Schema extends z.ZodType>(
  web: Web,
  answer: WebAnswer,
  { schema, what }: { schema: Schema; what: string },
  signal: AbortSignal,
): Promise<z.output<Schema>> {
  const peer = web.peerOf(answer.url);
  const text = await readText(web, answer, signal);
  if (/^\s*</.test(text)) throw pageError(peer);
  const result = schema.safeParse(parseTexts(text));
  if (result.success) return result.data;
  const [issue] = result.error.issues;
  const where = issue === undefined || issue.path.length === 0 ? '' : ` at ${issue.path.join('.')}`;
  throw new AgentError('source.unreadable', `the answer of ${peer.origin} is not ${what}${where}`, {
    hint: 'check url: is this the address of the service?',
  });
}

async function readText(web: Web, { url, body }: WebAnswer, signal: AbortSignal): Promise<string> {
  const peer = web.peerOf(url);
  const chunks: Buffer[] = [];
  let bytes = 0;
  try {
    for await (const chunk of body as AsyncIterable<Buffer>) {
      chunks.push(chunk);
      bytes += chunk.length;
      if (bytes > bytesMax) break;
    }
  } catch (error) {
    signal.throwIfAborted();
    const what = `the answer did not come whole (${bytes} bytes were read)`;
    throw connectionError('source.unreadable', peer, error, { what, silenceMs: web.silenceMs });
  }
  signal.throwIfAborted();
  if (bytes > bytesMax) {
    throw new AgentError('source.unreadable', `an answer of ${peer.origin} has more than ${bytesMax} bytes`, {
      hint: 'check url: is this the address of the service?',
    });
  }
  return Buffer.concat(chunks).toString('utf8');
}

type Revive = (key: string, value: unknown, context: { readonly source: string }) => unknown;

/** `undefined` where it is no JSON. */
function parseTexts(text: string): unknown {
  const revive: Revive = (_key, value, { source }) => (typeof value === 'number' ? source : value);
  try {
    // The platform gives a reviver the source text; its types do not say so yet.
    return JSON.parse(text, revive as (key: string, value: unknown) => unknown);
  } catch (error) {
    if (error instanceof SyntaxError) return undefined;
    throw error;
  }
}
