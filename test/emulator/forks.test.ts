/** Where forks are found: at the name of the emulator that they are of, at a port that can be reached from outside. */
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { expect, test } from 'vitest';
import { startEmulator } from '../../src/emulator/index.ts';
import type { Emulator } from '../../src/emulator/index.ts';
import { read } from '../support/console-world.ts';
import { emulatorWorld } from '../support/emulator-world.ts';
import { worldOf } from '../support/routing-world.ts';

async function startFork(emulator: Emulator, origin = ''): Promise<{ status: number; url: string }> {
  const answer = await emulator.fetch(`${origin}/_emulator/forks`, { method: 'POST' });
  const { url = '' } = (await answer.json()) as { url?: string };
  return { status: answer.status, url };
}

/** A port at which something listens until it is let go of. */
async function takenPort(): Promise<{ port: number; letGo: () => Promise<unknown> }> {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  return { port, letGo: () => once(server.close(), 'close') };
}

test.for(['http://emulator:8787', 'http://localhost:8787', 'http://192.168.1.7:8787', 'http://[::1]:8787'])(
  'a fork is found at the name by which its parent was found: %s',
  async (origin) => {
    const emulator = await emulatorWorld();
    const { hostname } = new URL(origin);
    const { url } = await startFork(emulator, origin);
    const { port } = new URL(url);
    expect(url).toBe(`http://${hostname}:${port}`);
    const { forks } = (await (await emulator.fetch(`${origin}/_emulator/forks`)).json()) as { forks: unknown[] };
    expect(forks).toMatchObject([{ url, port: Number(port) }]);
    expect(await read(emulator, `${origin}/console/snapshots`)).toContain(`href="${url}/console"`);
    expect(await read(emulator, `${origin}/console/forks/${port}/end`)).toContain(url);
    expect((await fetch(`http://127.0.0.1:${port}/_emulator/health`)).status).toBe(200);
  },
);

test('a fork is found at the name of the public address, and names its own address in links', async () => {
  const emulator = await emulatorWorld({ publicUrl: 'http://emulator.lan:8787', speed: 0 });
  const fork = await emulator.fork();
  const world = worldOf(fork);
  await world.createRouter('draft');
  const id = await world.generate('image', 'draft', { promptText: 'waves' });
  fork.advance(60);
  const own = `http://emulator.lan:${fork.port}`;
  const links = [expect.stringMatching(`^${own}/media/`)];
  expect(await world.task(id)).toMatchObject({ status: 'SUCCEEDED', output: links });
  expect(await (await fork.fetch('/_emulator/openapi.json')).json()).toMatchObject({ servers: [{ url: own }] });
  const child = await startFork(fork);
  expect(child.url).toMatch(/^http:\/\/emulator\.lan:\d+$/);
  // Both rules for web pages hold at its own address.
  expect((await fork.fetch(`${own}/_emulator/health`, { headers: { origin: own } })).status).toBe(200);
});

test('forks take the ports that were named for them, and are refused where none is free', async () => {
  const { port, letGo } = await takenPort();
  const emulator = await emulatorWorld({ forkPorts: [port, port] });
  expect((await startFork(emulator)).status).toBe(503);
  expect((await emulator.fetch('/console/forks', { method: 'POST', redirect: 'manual' })).status).toBe(503);
  await expect(emulator.fork()).rejects.toMatchObject({ code: 'EADDRINUSE' });
  await letGo();
  const { url } = await startFork(emulator);
  expect(url).toBe(`http://127.0.0.1:${port}`);
  expect((await startFork(emulator)).status).toBe(503);
  await emulator.fetch(`/_emulator/forks/${port}`, { method: 'DELETE' });
  expect((await startFork(emulator)).url).toBe(url);
  // A port that is asked for comes before those.
  const other = await emulator.fork({ port: 0 });
  expect(other.port).not.toBe(port);
});

test.for([[2, 1] as const, [0, 5] as const, [1, 65_536] as const, [1.5, 2] as const])(
  'a range of ports that is none is refused: %o',
  async (forkPorts) => {
    await expect(startEmulator({ forkPorts })).rejects.toThrow('forkPorts must be');
  },
);
