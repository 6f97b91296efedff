/** Sends a request to the service as it came, and receives the answer as it is sent. `fetch` would decode its body. */
import { once } from 'node:events';
import http from 'node:http';
import type { IncomingMessage } from 'node:http';
import https from 'node:https';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { Spool, SpoolError } from './spool.ts';
import { passedRequestHeaders } from './tape-headers.ts';

/** How long the service may say nothing. */
const silenceMs = 300_000;

export interface PassedAnswer {
  readonly status: number;
  readonly headers: Headers;
  readonly received: Spool;
}

export interface Passed {
  readonly sent: Spool;
  readonly folder: string;
}

export async function passOn(request: Request, to: URL, { sent, folder }: Passed): Promise<PassedAnswer | Error> {
  const headers = passedRequestHeaders(request.headers);
  // Many services want to know it before.
  if (sent.bytes > 0) headers.set('content-length', String(sent.bytes));
  try {
    const answer = await exchange(to, { method: request.method, headers, body: sent.body() });
    return { status: answer.statusCode ?? 0, headers: headersOf(answer), received: await Spool.of(answer, folder) };
  } catch (error) {
    return error instanceof SpoolError ? error : causeOf(error as Error);
  }
}

interface Sent {
  readonly method: string;
  readonly headers: Headers;
  readonly body: ReturnType<Spool['body']>;
}

async function exchange(to: URL, { method, headers, body }: Sent): Promise<IncomingMessage> {
  const { request } = to.protocol === 'https:' ? https : http;
  const outgoing = request(to, { method, headers: Object.fromEntries(headers), timeout: silenceMs });
  outgoing.on('timeout', () => outgoing.destroy(new Error(`nothing came for ${silenceMs / 1_000} seconds`)));
  // A service may answer and close before it has read everything: its answer counts.
  outgoing.on('error', () => {});
  const answered = once(outgoing, 'response') as Promise<[IncomingMessage]>;
  if (body === null) outgoing.end();
  else if (body instanceof Uint8Array) outgoing.end(body);
  else void pipeline(Readable.fromWeb(body), outgoing).catch(() => {});
  const [answer] = await answered;
  return answer;
}

function headersOf({ rawHeaders }: IncomingMessage): Headers {
  const headers = new Headers();
  for (let at = 0; at + 1 < rawHeaders.length; at += 2) headers.append(rawHeaders[at] ?? '', rawHeaders[at + 1] ?? '');
  return headers;
}

/** A name with several addresses fails with the failures of all of them, and without a word. */
function causeOf(error: Error): Error {
  return error instanceof AggregateError && error.errors[0] instanceof Error ? error.errors[0] : error;
}
