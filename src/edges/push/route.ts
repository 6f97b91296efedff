/** The connections of one push: nothing else uses them, and they tell whether anything was sent and whether anything still moves. */
import { Socket } from 'node:net';
import { setTimeout as nap } from 'node:timers/promises';
import type { Client, Dispatcher, buildConnector } from 'undici';
import type { Clock } from '../../core/ports.ts';
import { openDispatcher } from '../../http/connection.ts';
import { EndlessError, SilenceError } from '../../http/failures.ts';

export interface RouteOptions {
  readonly url: URL;
  readonly env: NodeJS.ProcessEnv;
  readonly clock: Clock;
  /** PEM texts of all authorities; `undefined`: the default ones. */
  readonly authorities: readonly string[] | undefined;
  /** Longest time to connect, and longest silence after that. */
  readonly timeoutMs: number;
  /** Whether the silence is our own: nothing moves because the disk has not given the next bytes. */
  readonly isBodyLate: () => boolean;
}

export interface Route {
  readonly dispatcher: Dispatcher;
  /** How far the request has come. */
  progress(): Progress;
  /** Resolves once this process holds back nothing of what was handed over: the kernel has it. */
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

type Connect = buildConnector.connector;

/** A new route for one request; destroy it after that. */
export async function openRoute(options: RouteOptions): Promise<Route> {
  const undici = await import('undici');
  const sockets = new Set<Socket>();
  let progress: Progress = { isConnected: false, isReached: false };
  const note = (news: Partial<Progress>): void => void (progress = { ...progress, ...news });

  const through = connectionsOf(options, sockets, note);
  const open = (origin: URL | string, given: object, connected: () => void): Client => {
    const { host, origin: opened } = new URL(origin);
    const connect: Connect = (target, done) => {
      if (opened !== options.url.origin) note({ proxy: host });
      return (given as { connect: Connect }).connect(target, done);
    };
    // The only clocks that count are ours: undici's do not cover a receiver that stops reading.
    return new undici.Client(origin, { connect: through(connect, connected), headersTimeout: 0, bodyTimeout: 0 });
  };
  const dispatcher = await openDispatcher(
    { ...options, connectMs: options.timeoutMs, code: 'config.invalid' },
    {
      clientFactory: (origin, given) => open(origin, given, () => {}),
      factory: (origin, given) => open(origin, given, () => note({ isReached: true })),
    },
  );
  let destroyedBy: Error | undefined;
  const destroy = (reason: Error): void => {
    if (destroyedBy !== undefined) return;
    destroyedBy = reason;
    answer.stop();
    void dispatcher.destroy(reason);
    // Those still connecting are not among undici's own, and would keep the process alive.
    for (const socket of sockets) socket.destroy();
  };
  const answer = limitAnswer(options, destroy);
  const { moved, answered } = answer;
  return {
    dispatcher,
    progress: () => progress,
    async flushed() {
      while ([...sockets].some((socket) => !socket.destroyed && socket.writableLength > 0)) await nap(flushMs);
    },
    moved,
    answered,
    destroy,
    destroyedBy: () => destroyedBy,
  };
}

/** Wraps a connector, so that its sockets are known and given up when no byte moves. */
function connectionsOf(
  { url, timeoutMs, isBodyLate }: RouteOptions,
  sockets: Set<Socket>,
  note: (news: Partial<Progress>) => void,
): (connect: Connect, connected: () => void) => Connect {
  let watched: Socket | undefined;
  /** Node's own idle timer sees every byte, also those of a chunk that the kernel takes slowly. */
  const watch = (socket: Socket): void => {
    // Only the inner connection of a tunnel is watched: its bytes are those of the outer one.
    watched?.setTimeout(0);
    watched = socket;
    socket.setTimeout(timeoutMs);
    socket.on('timeout', () => {
      if (isBodyLate()) socket.setTimeout(timeoutMs);
      else socket.destroy(new SilenceError('no byte moved'));
    });
  };
  return (connect, connected) => (target, done) => {
    // undici returns the socket that is still connecting, though its types do not say so.
    const opening: unknown = connect(target, (...[error, socket]) => {
      if (error !== null) return done(error, null);
      sockets.add(socket);
      watch(socket);
      connected();
      done(null, socket);
    });
    if (!(opening instanceof Socket)) return;
    sockets.add(opening);
    opening.once('lookup', (error, address) => error === null && note({ address }));
    // Over TLS a connection to a proxy is not yet one to the service: its tunnel comes after it.
    const isTunnel = url.protocol === 'https:' && `${target.protocol}//${target.host}` !== url.origin;
    if (!isTunnel) opening.once('connect', () => note({ isConnected: true }));
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
