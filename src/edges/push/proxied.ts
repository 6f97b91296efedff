/** Requests through the proxy that the environment names, or past it where `NO_PROXY` says so: undici knows both. */
import { Socket } from 'node:net';
import type { Client, buildConnector } from 'undici';
import { openDispatcher } from '../../http/connection.ts';
import { type Line, type RouteOptions, type Sender, nothing } from './route.ts';

/** What undici makes of 101, an answer of another protocol that nobody asked for. */
const badUpgrade = 'bad upgrade';

type Connect = buildConnector.connector;

export async function openProxied(options: RouteOptions, line: Line): Promise<Sender> {
  const undici = await import('undici');
  const open = (origin: URL | string, given: object, connected: () => void): Client => {
    const { host, origin: opened } = new URL(origin);
    const connect: Connect = (target, done) => {
      if (opened !== options.url.origin) line.note({ proxy: host });
      return (given as { connect: Connect }).connect(target, done);
    };
    // The only clocks that count are ours: undici's do not cover a receiver that stops reading.
    const clocks = { headersTimeout: 0, bodyTimeout: 0 };
    return new undici.Client(origin, { connect: watched(options.url, line, connect, connected), ...clocks });
  };
  const dispatcher = await openDispatcher(
    { ...options, connectMs: options.timeoutMs, code: 'config.invalid' },
    {
      clientFactory: (origin, given) => open(origin, given, () => {}),
      factory: (origin, given) => open(origin, given, () => line.note({ isReached: true })),
    },
  );
  return {
    async send({ url, headers, body }) {
      const { origin, pathname, search } = url;
      const answering = dispatcher.request({
        origin,
        path: pathname + search,
        method: 'POST',
        headers,
        body,
        // No connection outlives its push: one kept alive may be closed by the service just as the next push begins.
        reset: true,
      });
      const answer = await answering.catch((error: unknown) => {
        if (!(error instanceof undici.errors.SocketError) || error.message !== badUpgrade) throw error;
        return undefined;
      });
      if (answer === undefined) return { status: 101, reason: 'Switching Protocols', headers: {}, body: nothing };
      return { status: answer.statusCode, reason: answer.statusText, headers: answer.headers, body: answer.body };
    },
    destroy: (reason) => void dispatcher.destroy(reason),
  };
}

/** Wraps a connector, so that its sockets are known and given up when no byte moves. */
function watched(url: URL, line: Line, connect: Connect, connected: () => void): Connect {
  return (target, done) => {
    // undici returns the socket that is still connecting, though its types do not say so.
    const opening: unknown = connect(target, (...[error, socket]) => {
      if (error !== null) return done(error, null);
      line.connected(socket);
      connected();
      done(null, socket);
    });
    if (!(opening instanceof Socket)) return;
    line.opening(opening);
    // Over TLS a connection to a proxy is not yet one to the service: its tunnel comes after it.
    const isTunnel = url.protocol === 'https:' && `${target.protocol}//${target.host}` !== url.origin;
    if (!isTunnel) opening.once('connect', () => line.note({ isConnected: true }));
  };
}
