/** How answers leave: in one piece, and such that a client which is still sending sees them. */
import { once } from 'node:events';
import type { IncomingMessage } from 'node:http';
import type { HttpBindings } from '@hono/node-server';
import { RESPONSE_ALREADY_SENT } from '@hono/node-server/utils/response';
import { textOf } from './answers.ts';

/** How long, and how much, is read of a body that nobody wants any more. */
const lingerMs = 30_000;
const lingerBytesMax = 1024 ** 3;

/** Sends a response, or gives back one that the server is to send as a stream. */
export async function send(response: Response, bindings: HttpBindings): Promise<Response> {
  const { incoming, outgoing } = bindings;
  const text = textOf(response);
  if (!incoming.complete) await sendEarly(response, text ?? (await response.text()), bindings);
  else if (text === undefined) return response;
  // In one piece, which is twice as fast as a stream of one.
  else outgoing.writeHead(response.status, headersOf(response, text)).end(text);
  return RESPONSE_ALREADY_SENT;
}

function headersOf(response: Response, text: string): Record<string, string | number> {
  return { ...Object.fromEntries(response.headers), 'content-length': Buffer.byteLength(text) };
}

/**
 * Sends the whole answer, and ends it when the request has ended: a connection that is closed on bytes that were not read
 * is reset, and most clients then do not see the answer.
 */
async function sendEarly(response: Response, text: string, { incoming, outgoing }: HttpBindings): Promise<void> {
  outgoing.writeHead(response.status, { ...headersOf(response, text), connection: 'close' });
  outgoing.write(text);
  await readRest(incoming);
  outgoing.end();
}

async function readRest(incoming: IncomingMessage): Promise<void> {
  const enough = new AbortController();
  const timer = setTimeout(() => enough.abort(), lingerMs);
  let bytes = 0;
  // Whoever received it has had enough.
  incoming.removeAllListeners('data');
  incoming.on('data', (chunk: Uint8Array) => {
    bytes += chunk.length;
    if (bytes > lingerBytesMax) enough.abort();
  });
  try {
    await once(incoming, 'close', { signal: enough.signal });
  } catch {
    // Its client has left, or goes on for too long: then the connection may be reset.
  } finally {
    clearTimeout(timer);
  }
}
