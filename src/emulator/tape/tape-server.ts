/** Listens for the recorder and the player. The same web pages are kept out as by the emulator. */
import { once } from 'node:events';
import type { AddressInfo } from 'node:net';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import type { HttpBindings } from '@hono/node-server';
import { RESPONSE_ALREADY_SENT } from '@hono/node-server/utils/response';
import { refuse, wholeOf } from '../answers.ts';
import { createHttpServer } from '../listener.ts';
import type { AddressOptions } from '../options.ts';
import { nameOfHost, OwnAddresses } from '../origins.ts';

export interface TapeOptions extends AddressOptions {
  /** Default 0: any free port. */
  readonly port?: number | undefined;
}

export interface TapeServer extends AsyncDisposable {
  /** Without a trailing slash. */
  readonly url: string;
  /** Ends every connection at once. */
  close(): Promise<void>;
}

/** @throws OriginError, Error with the system's `code`. */
export async function serveTape(
  options: TapeOptions,
  answer: (request: Request) => Promise<Response>,
): Promise<TapeServer> {
  const { host = '127.0.0.1', port = 0 } = options;
  const own = new OwnAddresses(options);
  const server = createHttpServer(async (request, { outgoing }) => {
    const obstacle = own.obstacleOf(request);
    if (obstacle !== undefined) return wholeOf(refuse(403, obstacle));
    const answered = wholeOf(await answer(request).catch((error: Error) => refuse(500, error.message)));
    const { body, headers } = answered;
    return body === null || headers.has('content-type') ? answered : sendUntyped(answered, body, outgoing);
  });
  server.listen(port, host);
  // Rejects with the error of `listen`.
  await once(server, 'listening');
  const address = server.address() as AddressInfo;
  const close = async (): Promise<void> => {
    if (!server.listening) return;
    const ended = new Promise<void>((resolve) => server.close(() => resolve()));
    server.closeAllConnections();
    await ended;
  };
  return { url: `http://${nameOfHost(host)}:${address.port}`, close, [Symbol.asyncDispose]: close };
}

/** The listener would declare that an answer without `Content-Type` is text. */
async function sendUntyped(
  { status, headers }: Response,
  body: ReadableStream<Uint8Array>,
  outgoing: HttpBindings['outgoing'],
): Promise<Response> {
  outgoing.writeHead(status, [...headers].flat());
  // A client that leaves early has what it wanted.
  await pipeline(Readable.fromWeb(body), outgoing).catch(() => {});
  return RESPONSE_ALREADY_SENT;
}
