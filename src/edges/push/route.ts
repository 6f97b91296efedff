/**
 * How one push gets to the service: straight, or through the proxy that the environment names, over connections that
 * nothing else uses and that know what their push needs to know: was anything sent, and does anything still move.
 */
import { Socket } from 'node:net';
import type { Client, Dispatcher, buildConnector } from 'undici';
import { proxiesFor } from '../../http/proxy.ts';

export interface RouteOptions {
  readonly url: URL;
  readonly env: NodeJS.ProcessEnv;
  /** PEM texts of all authorities; `undefined`: the default ones. */
  readonly authorities: readonly string[] | undefined;
  /** Longest time to connect, and longest silence after that. */
  readonly timeoutMs: number;
  /** Whether the silence is our own: nothing moves because the disk has not given the next bytes. */
  readonly isBodyLate: () => boolean;
}

export interface Route {
  readonly dispatcher: Dispatcher;
  /** Whether a connection to the service stood, so that bytes of the request may be on their way. */
  isReached(): boolean;
  /** Host and port of the proxy that the way turned out to lead through. */
  proxy(): string | undefined;
  /** Ends every connection; a request under way fails with `reason`. */
  destroy(reason: Error): void;
}

/** No byte moved for the whole of the timeout, in either direction. */
export class SilenceError extends Error {
  override readonly name = 'SilenceError';
}

type Connect = buildConnector.connector;

/** A fresh route for one request, to be destroyed after it. Never the global dispatcher, which anybody may have set. */
export async function openRoute(options: RouteOptions): Promise<Route> {
  const undici = await import('undici');
  const sockets = new Set<Socket>();
  let reached = false;
  let proxy: string | undefined;
  let destroyed = false;
  let watched: Socket | undefined;

  /** Node's own idle timer sees every byte, also those of a chunk that the kernel takes slowly. */
  const watch = (socket: Socket): void => {
    // Of a tunnel only the inner connection is watched: its bytes are those of the outer one.
    watched?.setTimeout(0);
    watched = socket;
    socket.setTimeout(options.timeoutMs);
    socket.on('timeout', () => {
      if (options.isBodyLate()) socket.setTimeout(options.timeoutMs);
      else socket.destroy(new SilenceError('no byte moved'));
    });
  };
  const through = (connect: Connect, connected: () => void): Connect => {
    return (target, done) => {
      // undici returns the socket that is still connecting, though its types do not say so.
      const opening: unknown = connect(target, (...[error, socket]) => {
        if (error !== null) return done(error, null);
        sockets.add(socket);
        watch(socket);
        connected();
        done(null, socket);
      });
      if (opening instanceof Socket) sockets.add(opening);
    };
  };
  const open = (origin: URL | string, given: object, connected: () => void): Client => {
    const { host, origin: opened } = new URL(origin);
    const connect: Connect = (target, done) => {
      if (opened !== options.url.origin) proxy = host;
      return (given as { connect: Connect }).connect(target, done);
    };
    // The only clocks that count are ours: undici's do not cover a receiver that stops reading.
    return new undici.Client(origin, { connect: through(connect, connected), headersTimeout: 0, bodyTimeout: 0 });
  };
  const tls = {
    allowH2: false,
    timeout: options.timeoutMs,
    ...(options.authorities && { ca: [...options.authorities] }),
  };
  const dispatcher = new undici.EnvHttpProxyAgent({
    ...proxiesFor(options.url, options.env, 'config.invalid'),
    connect: undici.buildConnector(tls),
    requestTls: tls,
    proxyTls: tls,
    clientFactory: (origin, given) => open(origin, given, () => {}),
    factory: (origin, given) => open(origin, given, () => (reached = true)),
  });
  return {
    dispatcher,
    isReached: () => reached,
    proxy: () => proxy,
    destroy(reason) {
      if (destroyed) return;
      destroyed = true;
      void dispatcher.destroy(reason);
      // Those still connecting are not among undici's own, and would keep the process alive.
      for (const socket of sockets) socket.destroy();
    },
  };
}
