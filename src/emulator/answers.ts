/** The shapes of the emulator's answers. */
import { issuesMax } from './issues.ts';
import type { Issue } from './issues.ts';
import type { KeptBody } from './kept-body.ts';

/** A refusal: `{ "error", "issues"? }`. `error` is one line for a log; `issues` lists each problem with its place. */
export function refuse(
  status: number,
  error: string,
  { issues, headers }: { readonly issues?: readonly Issue[]; readonly headers?: Record<string, string> } = {},
): Response {
  return answerJson(issues === undefined ? { error } : { error, issues }, { status, ...(headers && { headers }) });
}

/** The first issue, and how many more there are. Nobody counts beyond those that are kept. */
export function summaryOf(issues: readonly Issue[]): string {
  const [first] = issues;
  if (first === undefined) return 'refused';
  const others = `${issues.length < issuesMax ? '' : 'at least '}${issues.length - 1} more`;
  const more = issues.length > 1 ? ` (and ${others})` : '';
  return `${first.path === '' ? 'the body' : first.path}: ${first.message}${more}`;
}

const texts = new WeakMap<Response, string>();

/**
 * A response whose JSON body is kept beside it, because a body stream costs as much time as routing a request. The sender
 * gets the text from `textOf`, or a response with its body from `wholeOf`.
 */
export function answerJson(
  value: unknown,
  { status = 200, headers }: { readonly status?: number; readonly headers?: Readonly<Record<string, string>> } = {},
): Response {
  const response = new Response(null, { status, headers: { 'content-type': 'application/json', ...headers } });
  texts.set(response, JSON.stringify(value));
  return response;
}

/** The body of an `answerJson`. */
export function textOf(response: Response): string | undefined {
  return texts.get(response);
}

/** The response with its body in it. */
export function wholeOf(response: Response): Response {
  const text = texts.get(response);
  return text === undefined ? response : new Response(text, response);
}

/** Keeps the beginning of a response's body while it is sent. The caller sends the response that is returned. */
export function keepBody(response: Response, kept: KeptBody): Response {
  const watch = new TransformStream<Uint8Array, Uint8Array>({
    transform(chunk, controller) {
      kept.add(chunk);
      controller.enqueue(chunk);
    },
  });
  return new Response(response.body?.pipeThrough(watch) ?? null, response);
}

/** Characters sent at once. */
const batchCharacters = 64 * 1024;

/** JSON text that is made while it is sent. The iterator is closed afterwards, also when the client leaves early. */
export function streamJson(pieces: Iterable<string>): Response {
  return new Response(ReadableStream.from(encodeBatches(pieces)), { headers: { 'content-type': 'application/json' } });
}

function* encodeBatches(pieces: Iterable<string>): Generator<Uint8Array, void, void> {
  const encoder = new TextEncoder();
  let batch = '';
  for (const piece of pieces) {
    batch += piece;
    if (batch.length < batchCharacters) continue;
    yield encoder.encode(batch);
    batch = '';
  }
  yield encoder.encode(batch);
}
