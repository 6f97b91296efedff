/** Converts a request for a library that takes only Node's own requests and responses. */
import type { IncomingMessage, ServerResponse } from 'node:http';
import { Socket } from 'node:net';
import { FetchIncomingMessage, toFetchResponse, toReqRes } from 'fetch-to-node';

export interface NodeExchange {
  readonly incoming: IncomingMessage;
  readonly outgoing: ServerResponse;
  /** The response that is written to `outgoing`. */
  readonly response: () => Promise<Response>;
}

/** Converts a request whose body was received already. It needs no network. */
export function nodeExchangeOf(request: Request, body: Uint8Array<ArrayBuffer>): NodeExchange {
  const headers = new Headers(request.headers);
  headers.set('host', new URL(request.url).host);
  // The body that was received is neither chunked nor compressed.
  for (const name of ['transfer-encoding', 'content-encoding', 'content-length']) headers.delete(name);
  if (body.length > 0) headers.set('content-length', String(body.length));
  const { method, url } = request;
  const received = new Request(url, { method, headers, body: body.length > 0 ? body : null });
  const { req, res } = toReqRes(received, { createIncomingMessage: () => new UnconnectedRequest(url) });
  return { incoming: req, outgoing: res, response: () => toFetchResponse(res) };
}

/** Koa asks the socket of a request whether it is encrypted, and the library has none. */
class UnconnectedRequest extends FetchIncomingMessage {
  readonly #socket: Socket;

  constructor(url: string) {
    super();
    this.#socket = Object.assign(new Socket(), { encrypted: url.startsWith('https:') });
  }

  override get socket(): Socket {
    return this.#socket;
  }
}
