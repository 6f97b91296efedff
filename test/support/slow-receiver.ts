/** A receiver that leaves the body of its first request unread until it is told: a push stays in the middle for as long. */
import { once } from 'node:events';
import { type IncomingMessage, createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { buffer } from 'node:stream/consumers';

/** More than the buffers of a connection hold. */
const drivers = 60_000;

/** A file whose snapshot does not fit into them. */
export function manyRows(value: string): string {
  const rows = Array.from({ length: drivers }, (_, n) => `account/${String(n).padStart(8, '0')},2026-01,${value}`);
  return ['id,time,value', ...rows, ''].join('\n');
}

export interface SlowReceiver extends AsyncDisposable {
  readonly url: string;
  /** The value of each snapshot that came whole. */
  readonly whole: readonly string[];
  /** The first request has begun. */
  readonly came: Promise<void>;
  /** A request broke off. */
  readonly broken: Promise<void>;
  /** Reads the first body. */
  goOn(): void;
}

export async function openSlowReceiver(): Promise<SlowReceiver> {
  const whole: string[] = [];
  const came = Promise.withResolvers<void>();
  const goOn = Promise.withResolvers<void>();
  const broken = Promise.withResolvers<void>();
  let requests = 0;
  const read = async (request: IncomingMessage): Promise<void> => {
    if (++requests === 1) {
      came.resolve();
      await goOn.promise;
    }
    const bytes = await buffer(request);
    whole.push(/"value":"(\d)"/.exec(bytes.toString())?.[1] ?? '');
  };
  const server = createServer((request, response) => {
    read(request).then(
      () => response.end(),
      () => broken.resolve(),
    );
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    whole,
    came: came.promise,
    broken: broken.promise,
    goOn: () => goOn.resolve(),
    async [Symbol.asyncDispose]() {
      const closed = once(server, 'close');
      server.close();
      server.closeAllConnections();
      await closed;
    },
  };
}
