/** Passes requests on to a service, and keeps each exchange in a file. */
import { appendFile, open } from 'node:fs/promises';
import { dirname } from 'node:path';
import { refuse } from '../answers.ts';
import { checkBytes } from '../option-checks.ts';
import { plainOf } from './plain.ts';
import { Spool, SpoolError } from './spool.ts';
import { TapeError } from './tape-error.ts';
import { serveTape } from './tape-server.ts';
import type { TapeOptions, TapeServer } from './tape-server.ts';
import { passedAnswerHeaders, passedRequestHeaders, tapedHeaders } from './tape-headers.ts';
import { recordedBytesMax, tapedBody, tapedPath, tapedRequest } from './tape.ts';
import type { TapedExchange } from './tape.ts';

export interface RecordOptions extends TapeOptions {
  /** The address of the service, without `/v1`. */
  readonly service: string;
  /** The file that exchanges are added to. */
  readonly file: string;
  /** Bytes up to which a body is recorded; a longer one is passed on and known by its digest alone. Default 4 MiB. */
  readonly bodyBytesMax?: number | undefined;
}

/** @throws TapeError for an address or a file that cannot be used; RangeError */
export async function startRecorder(options: RecordOptions): Promise<TapeServer> {
  const { service, file, bodyBytesMax = recordedBytesMax } = options;
  checkBytes({ bodyBytesMax });
  const base = URL.parse(service);
  if (base === null || !/^https?:$/.test(base.protocol)) {
    throw new TapeError(
      `${JSON.stringify(service)} is not the address of a service`,
      'write it as https://api.example.com',
    );
  }
  let isWithinLine = await breaksOff(file).catch((cause: Error) => {
    throw new TapeError(`${file} cannot be written: ${cause.message}`, 'name a file that can be created', { cause });
  });
  const folder = dirname(file);
  let written: Promise<unknown> = Promise.resolve();
  return serveTape(options, async (request) => {
    const url = new URL(request.url);
    const to = new URL(base.pathname.replace(/\/$/, '') + url.pathname + url.search, base);
    await using sent = await Spool.of(request.body, folder);
    const answer = await passOn(request, to, { sent, folder });
    if (answer instanceof SpoolError) return refuse(500, `the service has answered, and ${answer.message}`);
    if (answer instanceof Error) return refuse(502, `${service} does not answer: ${answer.message}`);
    await using plain = await plainOf(sent, request.headers, folder);
    const write = async (): Promise<void> => {
      const exchange: TapedExchange = {
        method: request.method,
        path: tapedPath(url),
        body: await tapedRequest(sent, plain, bodyBytesMax),
        answer: {
          status: answer.status,
          headers: tapedHeaders(answer.headers),
          body: await tapedBody(answer.received, bodyBytesMax),
        },
      };
      const line = `${isWithinLine ? '\n' : ''}${JSON.stringify(exchange)}\n`;
      // A full disk may take half of it.
      isWithinLine = true;
      await appendFile(file, line);
      isWithinLine = false;
    };
    // One after the other, in the order of the answers; whoever waits for an answer finds it in the file.
    const own = written.then(write, write);
    written = own;
    try {
      await own;
    } catch (error) {
      await answer.received[Symbol.asyncDispose]();
      const why = (error as Error).message;
      return refuse(500, `the service answered ${answer.status}, and ${file} cannot be written: ${why}`);
    }
    const headers = passedAnswerHeaders(answer.headers);
    if (answer.received.bytes > 0) headers.set('content-length', String(answer.received.bytes));
    return new Response(answer.received.handOver(), { status: answer.status, headers });
  });
}

/** Whether the file, which is created if there is none, ends within a line. Only its owner may read what was said. */
async function breaksOff(file: string): Promise<boolean> {
  await using handle = await open(file, 'a+', 0o600);
  const { size } = await handle.stat();
  const last = Buffer.alloc(1);
  return size > 0 && (await handle.read(last, 0, 1, size - 1)).bytesRead === 1 && last.toString() !== '\n';
}

interface PassedAnswer {
  readonly status: number;
  readonly headers: Headers;
  readonly received: Spool;
}

interface Passed {
  readonly sent: Spool;
  readonly folder: string;
}

async function passOn(request: Request, to: URL, { sent, folder }: Passed): Promise<PassedAnswer | Error> {
  const { method } = request;
  const headers = passedRequestHeaders(request.headers);
  // Many services want to know it before.
  if (sent.bytes > 0) headers.set('content-length', String(sent.bytes));
  try {
    const answer = await fetch(to, { method, headers, body: sent.body(), duplex: 'half', redirect: 'manual' });
    const { status, headers: answered, body } = answer;
    return { status, headers: answered, received: await Spool.of(body, folder) };
  } catch (error) {
    if (error instanceof SpoolError) return error;
    const { cause } = error as Error;
    return cause instanceof Error ? cause : (error as Error);
  }
}
