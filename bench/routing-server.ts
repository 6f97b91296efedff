/**
 * A server of its own process for the load of `routing.ts`, which is told its address.
 *
 *   node bench/routing-server.ts emulator
 *   node bench/routing-server.ts bare ANSWER
 */
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { startEmulator } from '../src/emulator/index.ts';

const [kind, answer] = process.argv.slice(2);
if (kind === 'emulator') {
  const { url } = await startEmulator();
  process.send?.(url);
} else {
  const bare = createServer((received, response) => {
    received.resume().on('end', () => response.setHeader('content-type', 'application/json').end(answer));
  });
  bare.listen(0, '127.0.0.1', () => process.send?.(`http://127.0.0.1:${(bare.address() as AddressInfo).port}`));
}
