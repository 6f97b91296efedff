/** Sends answers in one piece, and so that a client which is still sending sees them. */
import { once } from 'node:events';
import type { IncomingMessage } from 'node:http';
import type { HttpBindings } from '@hono/node-server';
import { RESPONSE_ALREADY_SENT } from '@hono/node-server/utils/response';
import { textOf } from './answers.ts';
import { bendOf, sendBent } from './bent-answer.ts';

/** Limits for reading the rest of a body that was refused. */
const lingerMs = 30_000;
const lingerBytesMax = 1024 ** 3;

/**
 * Sends a response, or returns it if the server should send it as a stream.
 * @param ending aborted when the emulator is closed or what it holds is replaced.
 */
export async function send(response: Response, bindings: HttpBindings, ending: AbortSignal): Promise<Response> {
  const { incoming, outgoing } = bindings;
  const how = bendOf(response);
  if (how !== undefined) {
    await sendBent(response, how, bindings, ending);
    return RESPONSE_ALREADY_SENT;
  }
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
 * Sends the whole answer, and ends it when the request has ended. Closing a connection that has unread bytes resets it, and
 * most clients would then not see the answer.
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
  // The listeners that received the body want no more of it.
  incoming.removeAllListeners('data');
  incoming.on('data', (chunk: Uint8Array) => {
    bytes += chunk.length;
    if (bytes > lingerBytesMax) enough.abort();
  });
  try {
    await once(incoming, 'close', { signal: enough.signal });
  } catch {
    // The client has left or sends for too long: the connection may be reset.
  } finally {
    clearTimeout(timer);
  }
}
