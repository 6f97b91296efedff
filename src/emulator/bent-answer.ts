/** Answers that a fault lets arrive in pieces, or not to their end. */
import { setTimeout as sleep } from 'node:timers/promises';
import type { HttpBindings } from '@hono/node-server';
import type { Fault } from '../contract/fault-script.ts';
import { textOf, wholeOf } from './answers.ts';

export type Bend = Pick<Fault, 'truncate' | 'trickle'>;

const bends = new WeakMap<Response, Bend>();

/** Notes how a response is to be sent. */
export function bend(response: Response, { truncate, trickle }: Bend): void {
  if (truncate !== undefined || trickle !== undefined) bends.set(response, { truncate, trickle });
}

export function bendOf(response: Response): Bend | undefined {
  return bends.get(response);
}

/** The pieces of a body as far as they are sent, each with the time to wait before it. */
function* piecesOf(body: Uint8Array, { truncate, trickle }: Bend): Generator<{ piece: Uint8Array; waitMs: number }> {
  const sent = body.subarray(0, truncate);
  const bytes = trickle?.bytes ?? Math.max(1, sent.length);
  for (let at = 0; at < sent.length; at += bytes) {
    yield { piece: sent.subarray(at, at + bytes), waitMs: at === 0 ? 0 : (trickle?.everyMs ?? 0) };
  }
}

/**
 * Sends it over the network. A body that is cut declares its whole length, and the connection is closed behind the cut.
 * @param ending ends it, as the client does that leaves.
 */
export async function sendBent(
  response: Response,
  how: Bend,
  { outgoing }: HttpBindings,
  ending: AbortSignal,
): Promise<void> {
  const body = new Uint8Array(await wholeOf(response).arrayBuffer());
  const headers = { ...Object.fromEntries(response.headers), 'content-length': body.length };
  outgoing.writeHead(response.status, headers);
  outgoing.flushHeaders();
  const left = new AbortController();
  outgoing.once('close', () => left.abort());
  const ended = AbortSignal.any([ending, left.signal]);
  for (const { piece, waitMs } of piecesOf(body, how)) {
    if (waitMs > 0) await sleepUntil(waitMs, ended);
    // The client sees that it is not whole.
    if (ended.aborted) outgoing.destroy();
    if (outgoing.destroyed) return;
    await new Promise<void>((resolve) => outgoing.write(piece, () => resolve()));
  }
  if (isCut(body, how)) outgoing.socket?.end();
  else outgoing.end();
}

export interface Ends {
  /** Aborted when the emulator is closed or what it holds is replaced. */
  readonly ending: AbortSignal;
  /** Aborted by the client, with what reading then fails with. */
  readonly left: AbortSignal;
}

/** The same without a network: reading a body that is cut, or whose client has left, fails. */
export async function bentInMemory(response: Response, how: Bend, { ending, left }: Ends): Promise<Response> {
  // No stream, not even an empty one, can be the body of a 204.
  if (response.body === null && textOf(response) === undefined) return response;
  const body = new Uint8Array(await wholeOf(response).arrayBuffer());
  const pieces = piecesOf(body, how);
  const cancelled = new AbortController();
  const ended = AbortSignal.any([ending, left, cancelled.signal]);
  const failure = (): unknown => (left.aborted ? left.reason : new TypeError('terminated'));
  const stream = new ReadableStream<Uint8Array>({
    start(controller) {
      if (ended.aborted) controller.error(failure());
      else ended.addEventListener('abort', () => controller.error(failure()), { once: true });
    },
    async pull(controller) {
      const { done, value } = pieces.next();
      if (done !== true) {
        if (value.waitMs > 0) await sleepUntil(value.waitMs, ended);
        if (!ended.aborted) controller.enqueue(value.piece);
      } else if (isCut(body, how)) controller.error(new TypeError('terminated'));
      else controller.close();
    },
    cancel: () => cancelled.abort(),
  });
  return new Response(stream, response);
}

/** Sleeps, and less where the signal aborts. */
async function sleepUntil(ms: number, ended: AbortSignal): Promise<void> {
  await sleep(ms, undefined, { signal: ended }).catch(() => {});
}

function isCut(body: Uint8Array, { truncate }: Bend): boolean {
  return truncate !== undefined && truncate < body.length;
}
