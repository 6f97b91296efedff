/** Answers requests from a file of exchanges, without the service. */
import { readFile } from 'node:fs/promises';
import { refuse } from '../answers.ts';
import { TapeError } from './tape-error.ts';
import { serveTape } from './tape-server.ts';
import type { TapeOptions, TapeServer } from './tape-server.ts';
import { bytesOf, exchangeSchema, keyOf, tapedBody, tapedPath } from './tape.ts';
import type { TapedExchange } from './tape.ts';

export interface ReplayOptions extends TapeOptions {
  readonly file: string;
}

/**
 * Equal requests get their answers in the order of the file, and the last of them again and again: a client that polls more
 * often than the recorded one sees the end for longer. A request that the file does not have is answered with 501.
 * @throws TapeError for a file that cannot be read or is none of exchanges.
 */
export async function startReplay(options: ReplayOptions): Promise<TapeServer> {
  const exchanges = await readTape(options.file);
  const answers = new Map<string, TapedExchange['answer'][]>();
  for (const { method, path, body, answer } of exchanges) {
    const key = keyOf(method, path, body);
    const known = answers.get(key);
    if (known === undefined) answers.set(key, [answer]);
    else known.push(answer);
  }
  return serveTape(options, async (request) => {
    const path = tapedPath(new URL(request.url));
    const body = tapedBody(new Uint8Array(await request.arrayBuffer()));
    const left = answers.get(keyOf(request.method, path, body));
    const answer = left !== undefined && left.length > 1 ? left.shift() : left?.[0];
    if (answer === undefined) return refuse(501, missing(exchanges, request.method, path));
    const bytes = bytesOf(answer.body);
    return new Response(bytes.length === 0 ? null : bytes, { status: answer.status, headers: answer.headers });
  });
}

function missing(exchanges: readonly TapedExchange[], method: string, path: string): string {
  const alike = exchanges.filter((exchange) => exchange.method === method && exchange.path === path).length;
  const why = alike === 0 ? 'no request to this path' : `${alike} with another body`;
  return `the recording has no such request: ${method} ${path} (${why})`;
}

async function readTape(file: string): Promise<TapedExchange[]> {
  const hint = 'record one with --record';
  const text = await readFile(file, 'utf8').catch((cause: Error) => {
    throw new TapeError(`${file} cannot be read: ${cause.message}`, hint, { cause });
  });
  return text.split('\n').flatMap((line, index) => {
    if (line === '') return [];
    try {
      return [exchangeSchema.parse(JSON.parse(line))];
    } catch (cause) {
      throw new TapeError(`${file} line ${index + 1} is no exchange`, hint, { cause });
    }
  });
}
