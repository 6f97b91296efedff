/** Answers that a fault lets arrive in pieces, or not to their end. */
import { setTimeout as sleep } from 'node:timers/promises';
import type { HttpBindings } from '@hono/node-server';
import type { Fault } from '../contract/fault-script.ts';
import { wholeOf } from './answers.ts';

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

/** Sends it over the network. A body that is cut declares its whole length, and the connection is closed behind the cut. */
export async function sendBent(response: Response, how: Bend, { outgoing }: HttpBindings): Promise<void> {
  const body = new Uint8Array(await wholeOf(response).arrayBuffer());
  const headers = { ...Object.fromEntries(response.headers), 'content-length': body.length };
  outgoing.writeHead(response.status, headers);
  outgoing.flushHeaders();
  for (const { piece, waitMs } of piecesOf(body, how)) {
    // A client that has left ends the wait at its next piece.
    if (waitMs > 0) await sleep(waitMs);
    if (outgoing.destroyed) return;
    await new Promise<void>((resolve) => outgoing.write(piece, () => resolve()));
  }
  if (isCut(body, how)) outgoing.socket?.end();
  else outgoing.end();
}

/** The same without a network: reading a body that is cut fails. */
export async function bentInMemory(response: Response, how: Bend): Promise<Response> {
  const body = new Uint8Array(await wholeOf(response).arrayBuffer());
  const pieces = piecesOf(body, how);
  const stream = new ReadableStream<Uint8Array>({
    async pull(controller) {
      const { done, value } = pieces.next();
      if (done !== true) {
        if (value.waitMs > 0) await sleep(value.waitMs);
        controller.enqueue(value.piece);
      } else if (isCut(body, how)) controller.error(new TypeError('terminated'));
      else controller.close();
    },
  });
  return new Response(stream, response);
}

function isCut(body: Uint8Array, { truncate }: Bend): boolean {
  return truncate !== undefined && truncate < body.length;
}
