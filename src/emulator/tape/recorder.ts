/** Passes requests on to a service, and keeps each exchange in a file. */
import { appendFile, open } from 'node:fs/promises';
import { refuse } from '../answers.ts';
import { TapeError } from './tape-error.ts';
import { serveTape } from './tape-server.ts';
import type { TapeOptions, TapeServer } from './tape-server.ts';
import { tapedBody, tapedHeaders, tapedPath } from './tape.ts';
import type { TapedExchange } from './tape.ts';

export interface RecordOptions extends TapeOptions {
  /** The address of the service, without `/v1`. */
  readonly service: string;
  /** The file that exchanges are added to. */
  readonly file: string;
}

/** Headers between two neighbours, which a proxy does not pass on (RFC 9110, 7.6.1), and those that `fetch` sets. */
const notPassedOn = new Set([
  'connection',
  'content-length',
  'expect',
  'host',
  'keep-alive',
  'origin',
  'proxy-authorization',
  'referer',
  'te',
  'trailer',
  'transfer-encoding',
  'upgrade',
  // `fetch` has decoded the body.
  'content-encoding',
  'accept-encoding',
]);

/** @throws TapeError for an address or a file that cannot be used. */
export async function startRecorder(options: RecordOptions): Promise<TapeServer> {
  const { service, file } = options;
  const base = URL.parse(service);
  if (base === null || !/^https?:$/.test(base.protocol)) {
    throw new TapeError(
      `${JSON.stringify(service)} is not the address of a service`,
      'write it as https://api.example.com',
    );
  }
  // Only its owner may read what was said; created now, so that a wrong place is known at once.
  const handle = await open(file, 'a', 0o600).catch((cause: Error) => {
    throw new TapeError(`${file} cannot be written: ${cause.message}`, 'name a file that can be created', { cause });
  });
  await handle.close();
  let written = Promise.resolve();
  const server = await serveTape(options, async (request) => {
    const url = new URL(request.url);
    const body = new Uint8Array(await request.arrayBuffer());
    const answer = await passOn(
      request,
      new URL(base.pathname.replace(/\/$/, '') + url.pathname + url.search, base),
      body,
    );
    if (answer instanceof Error) return refuse(502, `${service} does not answer: ${answer.message}`);
    const exchange: TapedExchange = {
      method: request.method,
      path: tapedPath(url),
      body: tapedBody(body),
      answer: { status: answer.status, headers: tapedHeaders(answer.headers), body: tapedBody(answer.body) },
    };
    // One after the other, in the order of the answers; whoever waits for an answer finds it in the file.
    written = written.then(() => appendFile(file, `${JSON.stringify(exchange)}\n`));
    await written;
    const isBodiless = answer.body.length === 0;
    return new Response(isBodiless ? null : answer.body, {
      status: answer.status,
      headers: passedHeaders(answer.headers),
    });
  });
  return server;
}

interface PassedAnswer {
  readonly status: number;
  readonly headers: Headers;
  readonly body: Uint8Array<ArrayBuffer>;
}

async function passOn(request: Request, to: URL, body: Uint8Array<ArrayBuffer>): Promise<PassedAnswer | Error> {
  const { method, headers } = request;
  try {
    const answer = await fetch(to, {
      method,
      headers: passedHeaders(headers),
      body: body.length === 0 ? null : body,
      redirect: 'manual',
    });
    return { status: answer.status, headers: answer.headers, body: new Uint8Array(await answer.arrayBuffer()) };
  } catch (error) {
    const { cause } = error as Error;
    return cause instanceof Error ? cause : (error as Error);
  }
}

function passedHeaders(headers: Headers): Headers {
  return new Headers([...headers].filter(([name]) => !notPassedOn.has(name)));
}
