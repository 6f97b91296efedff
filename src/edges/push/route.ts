/** The connections of one push: nothing else uses them, and they tell whether anything was sent and whether anything still moves. */
import type { IncomingHttpHeaders } from 'node:http';
import type { Socket } from 'node:net';
import type { Readable } from 'node:stream';
import { setTimeout as nap } from 'node:timers/promises';
import type { Clock } from '../../core/ports.ts';
import { namesProxy } from '../../http/connection.ts';
import { EndlessError, SilenceError } from '../../http/failures.ts';

export interface RouteOptions {
  readonly url: URL;
  readonly env: NodeJS.ProcessEnv;
  readonly clock: Clock;
  /** PEM texts of all authorities; `undefined`: the default ones. */
  readonly authorities: readonly string[] | undefined;
  /** Longest time to connect, and longest silence after that. */
  readonly timeoutMs: number;
  /** Whether the silence is our own: nothing moves because the disk, or whoever confirms the push, has not given the next bytes. */
  readonly isBodyLate: () => boolean;
}

export interface PushRequest {
  readonly url: URL;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: Readable;
}

export interface Answer {
  readonly status: number;
  readonly reason: string;
  readonly headers: IncomingHttpHeaders;
  readonly body: AsyncIterable<Uint8Array>;
}

/** The body of an answer that changes to another protocol. */
export const nothing: AsyncIterable<Uint8Array> = { [Symbol.asyncIterator]: async function* () {} };

/** What sends the request, one way or the other. */
export interface Sender {
  /** Settles in any case: with the head of the answer, after which the connection is closed, or with what ended it. */
  send(request: PushRequest): Promise<Answer>;
  destroy(reason: Error): void;
}

/** Is told of what a sender opens. */
export interface Line {
  note(news: Partial<Progress>): void;
  /** A socket that is still connecting. */
  opening(socket: Socket): void;
  /** It stands, its TLS included. */
  connected(socket: Socket): void;
}

export interface Route {
  /** The head of the answer. */
  send(request: PushRequest): Promise<Answer>;
  /** How far the request has come. */
  progress(): Progress;
  /**
   * Resolves once this process holds back nothing of what was handed over: the kernel has it. Silence meanwhile is never our own: who does
   * not take it stops reading. Rejects where the route was destroyed: nothing can come after it.
   */
  flushed(): Promise<void>;
  /** More of the request was handed over: the time that the answer has begins anew. */
  moved(): void;
  /** The answer has begun: from now on its time does not begin anew. */
  answered(): void;
  /** Ends every connection, and with them a request under way. */
  destroy(reason: Error): void;
  /** The reason of the first `destroy`: what a request then fails with is not always that. */
  destroyedBy(): Error | undefined;
}

export interface Progress {
  /** Host and port of the proxy that the way turned out to lead through. */
  readonly proxy?: string;
  /** The IP address that the name of the service, or of the proxy, resolved to. Missing where it is one itself. */
  readonly address?: string;
  /** Whether there was a connection to the service: straight, through the tunnel of a proxy, or to a proxy that forwards. */
  readonly isConnected: boolean;
  /** Whether a connection to the service stood, its TLS included: bytes of the request may be on their way. */
  readonly isReached: boolean;
}

/** An answer has this many timeouts in all: one byte now and then would keep a push open without end. */
const answerTimeouts = 10;

/** How often it is looked whether the kernel took everything. */
const flushMs = 5;

/** A new route for one request; destroy it after that. */
export async function openRoute(options: RouteOptions): Promise<Route> {
  const sockets = new Set<Socket>();
  let progress: Progress = { isConnected: false, isReached: false };
  let isFlushing = false;
  const timed = { ...options, isBodyLate: () => !isFlushing && options.isBodyLate() };
  const line = lineOf(timed, sockets, (news) => void (progress = { ...progress, ...news }));
  const isStraight = !namesProxy({ ...options, code: 'config.invalid' });
  const sender = isStraight
    ? await (await import('./straight.ts')).openStraight(options, line)
    : await (await import('./proxied.ts')).openProxied(options, line);
  let destroyedBy: Error | undefined;
  const destroy = (reason: Error): void => {
    if (destroyedBy !== undefined) return;
    destroyedBy = reason;
    answer.stop();
    sender.destroy(reason);
    // Those still connecting are not always the sender's own, and would keep the process alive.
    for (const socket of sockets) socket.destroy();
  };
  const answer = limitAnswer(timed, destroy);
  const { moved, answered } = answer;
  return {
    send: (request) => sender.send(request),
    progress: () => progress,
    async flushed() {
      isFlushing = true;
      while ([...sockets].some((socket) => !socket.destroyed && socket.writableLength > 0)) await nap(flushMs);
      isFlushing = false;
      if (destroyedBy !== undefined) throw destroyedBy;
    },
    moved,
    answered,
    destroy,
    destroyedBy: () => destroyedBy,
  };
}

/** Knows every socket, and gives it up when no byte moves. */
function lineOf(
  { timeoutMs, isBodyLate }: RouteOptions,
  sockets: Set<Socket>,
  note: (news: Partial<Progress>) => void,
): Line {
  let watched: Socket | undefined;
  return {
    note,
    opening(socket) {
      sockets.add(socket);
      socket.once('lookup', (error, address) => error === null && note({ address }));
    },
    // Node's own idle timer sees every byte, also those of a chunk that the kernel takes slowly.
    connected(socket) {
      sockets.add(socket);
      // Only the inner connection of a tunnel is watched: its bytes are those of the outer one.
      watched?.setTimeout(0);
      watched = socket;
      socket.setTimeout(timeoutMs);
      socket.on('timeout', () => {
        if (isBodyLate()) socket.setTimeout(timeoutMs);
        else socket.destroy(new SilenceError('no byte moved'));
      });
    },
  };
}

/** Gives up once neither the request has moved on nor the answer has ended for ten timeouts. */
function limitAnswer(
  { clock, timeoutMs, isBodyLate }: RouteOptions,
  giveUp: (reason: Error) => void,
): Pick<Route, 'moved' | 'answered'> & { stop(): void } {
  const limitMs = answerTimeouts * timeoutMs;
  const stopped = new AbortController();
  let sinceMs = clock.monotonicMs();
  let hasBegun = false;
  const restart = (): void => void (sinceMs = clock.monotonicMs());
  const wait = async (): Promise<void> => {
    for (let leftMs = limitMs; leftMs > 0; leftMs = sinceMs + limitMs - clock.monotonicMs()) {
      await clock.sleep(leftMs, stopped.signal);
      if (!hasBegun && isBodyLate()) restart();
    }
    giveUp(new EndlessError(limitMs));
  };
  void wait().catch((error: unknown) => {
    if (!stopped.signal.aborted) throw error;
  });
  return {
    moved() {
      if (!hasBegun) restart();
    },
    answered() {
      restart();
      hasBegun = true;
    },
    stop: () => stopped.abort(),
  };
}
