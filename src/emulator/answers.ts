/** The shapes of the emulator's answers. */
import type { Issue } from './issues.ts';

/** A refusal: `{ "error", "issues"? }`. `error` is one line for a log; `issues` says each thing and where. */
export function refuse(
  status: number,
  error: string,
  { issues, headers }: { readonly issues?: readonly Issue[]; readonly headers?: Record<string, string> } = {},
): Response {
  return Response.json(issues === undefined ? { error } : { error, issues }, { status, ...(headers && { headers }) });
}

/** Of refusals with issues: the first one and how many there are besides. */
export function summaryOf(issues: readonly Issue[]): string {
  const [first] = issues;
  if (first === undefined) return 'refused';
  const more = issues.length > 1 ? ` (and ${issues.length - 1} more)` : '';
  return `${first.path === '' ? 'the body' : first.path}: ${first.message}${more}`;
}

/** How much text is sent at once. */
const batchCharacters = 64 * 1024;

/** JSON text that is made while it is sent. The pieces are released when it was, also where the client leaves early. */
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
