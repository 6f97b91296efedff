/** The HTTP server of the emulator and of recordings: requests of Node become requests of the web, or are refused. */
import { createServer } from 'node:http';
import type { Server, ServerOptions } from 'node:http';
import { getRequestListener, RequestError } from '@hono/node-server';
import type { HttpBindings } from '@hono/node-server';
import { refuse, wholeOf } from './answers.ts';

type Fetch = (request: Request, bindings: HttpBindings) => Promise<Response>;

export function createHttpServer(fetch: Fetch, options: ServerOptions = {}): Server {
  const listener = getRequestListener((request, bindings) => fetch(request, bindings as HttpBindings), {
    overrideGlobalObjects: false,
    errorHandler: (error) => wholeOf(answerTo(error)),
  });
  // Node would answer without a reason where `Host` is missing.
  return createServer({ ...options, requireHostHeader: false }, (incoming, outgoing) => {
    void listener(incoming, outgoing);
  });
}

function answerTo(error: unknown): Response {
  if (!(error instanceof RequestError)) return refuse(500, `a bug of the emulator: ${(error as Error).message}`);
  if (error.message === 'Missing host header') {
    return refuse(400, 'the request has no Host header: send one, such as "Host: localhost"');
  }
  return refuse(400, `the address of the request cannot be read: ${error.message}`);
}
