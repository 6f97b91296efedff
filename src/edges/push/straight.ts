/**
 * A request to the service itself, by Node's own client. undici could do it as well, and takes 5 MB of a daemon that waits: it is loaded
 * where a proxy is named.
 */
import type { ClientRequest, IncomingMessage } from 'node:http';
import type { Socket } from 'node:net';
import { type Answer, type Line, type PushRequest, type RouteOptions, type Sender, nothing } from './route.ts';

/** Node fires a longer timer at once. */
const timerMaxMs = 2 ** 31 - 1;

export async function openStraight({ url, authorities, timeoutMs }: RouteOptions, line: Line): Promise<Sender> {
  const isSecure = url.protocol === 'https:';
  const { request: open } = isSecure ? await import('node:https') : await import('node:http');
  const trust = authorities && { ca: [...authorities] };
  let opened: ClientRequest | undefined;
  let answer: IncomingMessage | undefined;
  const destroyed = Promise.withResolvers<never>();
  // It is rejected also where nothing is sent.
  destroyed.promise.catch(() => undefined);

  /** The body waits for the connection: what is handed over before is kept here, and counted as sent. */
  const whenConnected = (request: ClientRequest, socket: Socket, begin: () => void): void => {
    line.opening(socket);
    outliveFailedWrites(socket);
    // Or the reader of the answer learns only that it was cut.
    socket.once('error', (error) => answer?.destroy(error));
    socket.once('connect', () => line.note({ isConnected: true }));
    const late = setTimeout(() => request.destroy(new ConnectError()), Math.min(timeoutMs, timerMaxMs));
    socket.once('close', () => clearTimeout(late));
    socket.once(isSecure ? 'secureConnect' : 'connect', () => {
      clearTimeout(late);
      line.connected(socket);
      line.note({ isReached: true });
      begin();
    });
  };

  return {
    async send({ headers, body }: PushRequest) {
      const { promise, resolve, reject } = Promise.withResolvers<Answer>();
      // No agent: no connection outlives its push.
      const request = open(url, { method: 'POST', headers: { ...headers }, agent: false, ...trust });
      opened = request;
      request.once('socket', (socket) => whenConnected(request, socket, () => void body.pipe(request)));
      body.once('error', (error) => request.destroy(error));
      request.once('response', (response) => {
        answer = response;
        const { statusCode: status = 0, statusMessage: reason = '' } = response;
        resolve({ status, reason, headers: response.headers, body: response });
      });
      // 101: nothing of HTTP follows. Without this listener Node closes the connection and tells nobody.
      request.once('upgrade', (head, socket) => {
        socket.destroy();
        const { statusCode: status = 101, statusMessage: reason = '' } = head;
        resolve({ status, reason, headers: head.headers, body: nothing });
      });
      // Once the answer has begun, whoever reads it meets the failure.
      request.on('error', reject);
      request.once('close', () => reject(new CutError('the connection closed without an answer')));
      return Promise.race([promise, destroyed.promise]);
    },
    destroy(reason) {
      answer?.destroy(reason);
      opened?.destroy(reason);
      // A request that has ended already says nothing of this.
      destroyed.reject(reason);
    },
  };
}

/**
 * Has a connection end by what is read from it, and not by a write that fails because the other side has closed. A service that refuses early, such
 * as a proxy with 413, closes while the body is still sent, and its answer lies there unread. Reading gives that answer, or the same failure.
 */
function outliveFailedWrites(socket: Socket): void {
  const write = socket._write.bind(socket);
  const writev = socket._writev?.bind(socket);
  const unlessCut =
    (done: (error?: Error | null) => void) =>
    (error?: (Error & { readonly code?: string }) | null): void => {
      // Without a call of `done` nothing more is written.
      if (error?.code !== 'EPIPE' && error?.code !== 'ECONNRESET') done(error);
    };
  socket._write = (chunk, encoding, done) => write(chunk, encoding, unlessCut(done));
  if (writev !== undefined) socket._writev = (chunks, done) => writev(chunks, unlessCut(done));
}

/** The connection has ended, and no other event said why. */
class CutError extends Error {
  override readonly name = 'CutError';
  readonly code = 'ECONNRESET';
}

/** No connection, its TLS included, within the time for it. */
class ConnectError extends Error {
  override readonly name = 'ConnectError';
  readonly code = 'ETIMEDOUT';
}
