/** A request to the emulator for a library that knows only Node's own requests and responses. */
import { IncomingMessage, ServerResponse } from 'node:http';
import { Socket } from 'node:net';

export interface NodeExchange {
  readonly incoming: IncomingMessage;
  readonly outgoing: ServerResponse;
  /** What was written to `outgoing`, when that has ended. */
  readonly response: () => Promise<Response>;
}

/** A request whose body was received already. Works without a network, and so in memory too. */
export function nodeExchangeOf(request: Request, body: Uint8Array): NodeExchange {
  const incoming = incomingOf(request, body);
  const outgoing = new KeptResponse(incoming);
  return { incoming, outgoing, response: () => outgoing.ended.then(() => outgoing.toResponse()) };
}

function incomingOf(request: Request, body: Uint8Array): IncomingMessage {
  const { host, pathname, search } = new URL(request.url);
  const incoming = new IncomingMessage(new Socket());
  incoming.httpVersion = '1.1';
  incoming.httpVersionMajor = 1;
  incoming.httpVersionMinor = 1;
  incoming.method = request.method;
  incoming.url = `${pathname}${search}`;
  incoming.headers = { ...Object.fromEntries(request.headers), host };
  // Of the body as it is here, no longer chunked or compressed.
  for (const name of ['transfer-encoding', 'content-encoding', 'content-length']) delete incoming.headers[name];
  if (body.length > 0) {
    incoming.headers['content-length'] = String(body.length);
    incoming.push(body);
  }
  incoming.push(null);
  incoming.complete = true;
  return incoming;
}

/** Bodiless by definition, and `Response` insists on it. */
const bodilessStatuses = new Set([204, 205, 304]);

/** Keeps what is written in place of sending it. */
class KeptResponse extends ServerResponse {
  readonly ended: Promise<void>;
  readonly #chunks: Uint8Array<ArrayBuffer>[] = [];
  readonly #end: () => void;

  constructor(incoming: IncomingMessage) {
    super(incoming);
    const { promise, resolve } = Promise.withResolvers<void>();
    this.ended = promise;
    this.#end = resolve;
  }

  override write(chunk: unknown): boolean {
    if (typeof chunk === 'string' || chunk instanceof Uint8Array) this.#chunks.push(new Uint8Array(Buffer.from(chunk)));
    return true;
  }

  override end(chunk?: unknown): this {
    this.write(chunk);
    this.finished = true;
    this.emit('finish');
    this.#end();
    return this;
  }

  toResponse(): Response {
    const headers = new Headers();
    for (const [name, value] of Object.entries(this.getHeaders())) {
      // More than one cookie is more than one header.
      for (const one of [value ?? []].flat()) headers.append(name, String(one));
    }
    const body = bodilessStatuses.has(this.statusCode) ? null : new Blob(this.#chunks);
    return new Response(body, { status: this.statusCode, headers });
  }
}
