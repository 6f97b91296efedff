/** Answers requests from a file of exchanges, without the service. */
import { tmpdir } from 'node:os';
import { refuse } from '../answers.ts';
import { plainOf } from './plain.ts';
import { Spool } from './spool.ts';
import { TapeIndex } from './tape-index.ts';
import { serveTape } from './tape-server.ts';
import type { TapeOptions, TapeServer } from './tape-server.ts';
import { bytesOf, tapedPath, tapedPlain } from './tape.ts';

export interface ReplayOptions extends TapeOptions {
  readonly file: string;
}

export interface ReplayServer extends TapeServer {
  /** Numbers of the lines of the file that break off, and are left out. */
  readonly leftOut: readonly number[];
}

/**
 * Equal requests get their answers in the order of the file, and the last of them again and again: a client that polls more
 * often than the recorded one sees the end for longer. A request that the file does not have is answered with 501.
 * @throws TapeError for a file that cannot be read or is none of exchanges.
 */
export async function startReplay(options: ReplayOptions): Promise<ReplayServer> {
  const index = await TapeIndex.of(options.file);
  const server = await serveTape(options, async (request) => {
    const { method } = request;
    const path = tapedPath(new URL(request.url));
    await using sent = await Spool.of(request.body, tmpdir());
    await using plain = await plainOf(sent, request.headers, tmpdir());
    // A request as long as one that was recorded by its digest is looked for by its digest.
    const answer =
      (await index.next(method, path, await tapedPlain(sent, plain, 0))) ??
      (await index.next(method, path, await tapedPlain(sent, plain, index.bodyBytesMax)));
    if (answer === undefined) return refuse(501, missing(index, method, path));
    const bytes = bytesOf(answer.body);
    if (bytes === undefined)
      return refuse(501, `the answer to ${method} ${path} was too long to be recorded, or could not be decoded`);
    const headers = new Headers(answer.headers);
    if (bytes.length > 0) headers.set('content-length', String(bytes.length));
    return new Response(bytes.length === 0 ? null : bytes, { status: answer.status, headers });
  }).catch(async (error: unknown) => {
    await index[Symbol.asyncDispose]();
    throw error;
  });
  const close = async (): Promise<void> => {
    await server.close();
    await index[Symbol.asyncDispose]();
  };
  return { url: server.url, leftOut: index.leftOut, close, [Symbol.asyncDispose]: close };
}

function missing(index: TapeIndex, method: string, path: string): string {
  const alike = index.alike(method, path);
  const why = alike === 0 ? 'no request to this path' : `${alike} with another body`;
  return `the recording has no such request: ${method} ${path} (${why})`;
}
