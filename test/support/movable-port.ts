/** A port that leads to another, and later to yet another: what a cluster has for an address. */
import { once } from 'node:events';
import { type AddressInfo, type Socket, connect, createServer } from 'node:net';

export interface MovablePort extends AsyncDisposable {
  readonly port: number;
  /** Connections that are there are cut. */
  moveTo(port: number): void;
}

export async function movablePort(first: number): Promise<MovablePort> {
  let target = first;
  const sockets = new Set<Socket>();
  const server = createServer((near) => {
    const far = connect(target, '127.0.0.1');
    const cut = (): void => {
      near.destroy();
      far.destroy();
    };
    for (const socket of [near, far]) {
      sockets.add(socket);
      socket.on('error', cut).on('close', () => {
        sockets.delete(socket);
        cut();
      });
    }
    near.pipe(far);
    far.pipe(near);
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const cutAll = (): void => sockets.forEach((socket) => socket.destroy());
  return {
    port: (server.address() as AddressInfo).port,
    moveTo(port) {
      target = port;
      cutAll();
    },
    async [Symbol.asyncDispose]() {
      const closed = once(server, 'close');
      server.close();
      cutAll();
      await closed;
    },
  };
}
