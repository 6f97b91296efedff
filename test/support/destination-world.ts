/** Receivers of every kind on loopback, and a push to one of them. */
import { createHash } from 'node:crypto';
import { once } from 'node:events';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { type IncomingMessage, type RequestListener, type ServerResponse, createServer } from 'node:http';
import { type Server, type Socket, connect, createServer as createRawServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { buffer } from 'node:stream/consumers';
import { onTestFinished } from 'vitest';
import type { Clock, Probe, PushResult, SnapshotBody } from '../../src/core/ports.ts';
import type { DestinationSettings } from '../../src/core/settings.ts';
import { openHttpDestination } from '../../src/edges/push/destination.ts';
import { memoryLog } from './memory-log.ts';

export const never = new AbortController().signal;
export const megabyte = 1024 * 1024;

/** Something to undo when the test has ended, whatever became of it. The last one comes first. */
export function atEnd(cleanup: () => unknown): void {
  onTestFinished(async () => void (await cleanup()));
}

/** Serves until the end of the test and gives its address; connections that are still open then are cut. */
export async function serve(server: Server, scheme = 'http'): Promise<string> {
  const sockets = new Set<Socket>();
  server.on('connection', (socket: Socket) => {
    sockets.add(socket);
    socket.on('error', () => {});
    socket.on('close', () => sockets.delete(socket));
  });
  await once(server.listen(0, '127.0.0.1'), 'listening');
  atEnd(() => {
    for (const socket of sockets) socket.destroy();
    return new Promise((closed) => server.close(closed));
  });
  const address = server.address();
  if (address === null || typeof address === 'string') throw new Error('expected a port');
  return `${scheme}://127.0.0.1:${address.port}`;
}

/** What to do with every request; one that breaks off is of no interest. */
export function handling(handle: (request: IncomingMessage, response: ServerResponse) => unknown): RequestListener {
  const handled = async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
    try {
      await handle(request, response);
    } catch (error) {
      if (!request.destroyed) throw error;
    }
  };
  return (request, response) => void handled(request, response);
}

export function receiver(handle: Parameters<typeof handling>[0]): Promise<string> {
  return serve(createServer(handling(handle)));
}

/** A receiver of connections, which need not speak HTTP. */
export function rawReceiver(listener: (socket: Socket) => void, options = {}): Promise<string> {
  return serve(createRawServer(options, listener));
}

/** A receiver that reads everything and then gives this answer. */
export function answering(status: number, text = '', headers: Record<string, string> = {}): Promise<string> {
  return receiver(async (request, response) => {
    await buffer(request);
    response.writeHead(status, headers).end(text);
  });
}

export interface Received {
  readonly request: IncomingMessage;
  readonly bytes: Buffer;
}

/** A receiver that keeps what it gets. */
export async function keeping(
  answer = (response: ServerResponse): unknown => response.end(),
): Promise<{ url: string; received: Received[] }> {
  const received: Received[] = [];
  const url = await receiver(async (request, response) => {
    received.push({ request, bytes: await buffer(request) });
    answer(response);
  });
  return { url, received };
}

export function snapshotOf(bytes: Buffer, chunkBytes = 64 * 1024): SnapshotBody {
  return {
    digest: createHash('sha256').update(bytes).digest('hex'),
    bytes: bytes.length,
    async *chunks() {
      for (let at = 0; at < bytes.length; at += chunkBytes) yield bytes.subarray(at, at + chunkBytes);
    },
  };
}

export const small = snapshotOf(Buffer.from('{"shouldDeleteMissing":true,"extDrivers":[]}'));
export const large = snapshotOf(Buffer.alloc(24 * megabyte, '0123456789'));

export interface Trial extends Partial<DestinationSettings> {
  readonly env?: NodeJS.ProcessEnv;
  readonly body?: SnapshotBody;
  readonly signal?: AbortSignal;
  readonly clock?: Clock;
}

export const log = memoryLog();

export async function push(url: string, { body = small, signal = never, ...more }: Trial = {}): Promise<PushResult> {
  await using destination = openDestination(url, more);
  return await destination.push(body, signal);
}

export async function probe(url: string, { signal = never, ...more }: Trial = {}): Promise<Probe> {
  await using destination = openDestination(url, more);
  return await destination.probe(signal);
}

/** With `more` in place of the defaults. */
export function openDestination(
  url: string,
  { env = {}, clock, ...more }: Omit<Trial, 'body' | 'signal'>,
): ReturnType<typeof openHttpDestination> {
  const settings = {
    url,
    token: undefined,
    headers: {},
    timeoutMs: 60_000,
    compress: 'none',
    caFile: undefined,
    ...more,
  } as const;
  const options = { version: '0.1.0', env, log, ...(clock && { clock }) };
  return openHttpDestination(settings, options);
}

export function file(name: string, text: string): string {
  const folder = mkdtempSync(join(tmpdir(), 'driver-sync-destination-'));
  atEnd(() => rmSync(folder, { recursive: true }));
  writeFileSync(join(folder, name), text);
  return join(folder, name);
}

export interface Proxy {
  readonly url: string;
  readonly seen: string[];
}

/** A forwarding and tunnelling proxy that knows every host as this machine. */
export async function openProxy(status = 200): Promise<Proxy> {
  const seen: string[] = [];
  const server = createServer(
    handling(async (request, response) => {
      seen.push(`${request.method} ${request.url} ${request.headers['proxy-authorization'] ?? ''}`.trim());
      await buffer(request);
      response.writeHead(status).end();
    }),
  );
  server.on('connect', (request, client: Socket) => {
    seen.push(`CONNECT ${request.url} ${request.headers['proxy-authorization'] ?? ''}`.trim());
    if (status !== 200) return void client.end(`HTTP/1.1 ${status} No\r\n\r\n`);
    const service = connect(Number(request.url?.split(':')[1]), '127.0.0.1', () => {
      client.write('HTTP/1.1 200 OK\r\n\r\n');
      service.pipe(client).pipe(service);
    });
    service.on('error', () => client.destroy());
    client.on('close', () => service.destroy());
  });
  return { url: await serve(server), seen };
}
