/** One POST with `node:http`, for the peers. */
import { once } from 'node:events';
import { type IncomingMessage, request } from 'node:http';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';

/** Resolves when the answer is here. */
export async function post(url: string, bytes: number, chunks: Iterable<Uint8Array>): Promise<void> {
  const sending = request(url, { method: 'POST', headers: { 'content-length': bytes } });
  const answered = once(sending, 'response') as Promise<[IncomingMessage]>;
  await pipeline(Readable.from(chunks), sending);
  const [answer] = await answered;
  answer.resume();
  await once(answer, 'end');
}
