/** Passes requests on to a service, and keeps each exchange in a file. */
import { appendFile, open } from 'node:fs/promises';
import { dirname } from 'node:path';
import { refuse } from '../answers.ts';
import { checkBytes } from '../option-checks.ts';
import { passOn } from './pass-on.ts';
import { isDecodable, plainOf } from './plain.ts';
import { Spool, SpoolError } from './spool.ts';
import { TapeError } from './tape-error.ts';
import { serveTape } from './tape-server.ts';
import type { TapeOptions, TapeServer } from './tape-server.ts';
import { passedAnswerHeaders, tapedHeaders } from './tape-headers.ts';
import { recordedBytesMax, tapedPath, tapedPlain } from './tape.ts';
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
    const { status, received } = answer;
    const isDecoded = isDecodable(answer.headers);
    // What is in a coding that nobody here knows is recorded as it was sent.
    await using said = isDecoded ? await plainOf(received, answer.headers, folder) : received;
    const write = async (): Promise<void> => {
      const exchange: TapedExchange = {
        method: request.method,
        path: tapedPath(url),
        body: await tapedPlain(sent, plain, bodyBytesMax),
        answer: {
          status,
          headers: tapedHeaders(answer.headers, isDecoded ? 'decoded' : 'as sent'),
          body: await tapedPlain(received, said, bodyBytesMax),
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
      await received[Symbol.asyncDispose]();
      const why = (error as Error).message;
      return refuse(500, `the service answered ${status}, and ${file} cannot be written: ${why}`);
    }
    const headers = passedAnswerHeaders(answer.headers);
    if (received.bytes > 0) headers.set('content-length', String(received.bytes));
    return new Response(received.handOver(), { status, headers });
  });
}

/** Whether the file, which is created if there is none, ends within a line. Only its owner may read what was said. */
async function breaksOff(file: string): Promise<boolean> {
  await using handle = await open(file, 'a+', 0o600);
  const { size } = await handle.stat();
  const last = Buffer.alloc(1);
  return size > 0 && (await handle.read(last, 0, 1, size - 1)).bytesRead === 1 && last.toString() !== '\n';
}
