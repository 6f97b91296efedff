/** Shared by the tests of database servers: failures that must show no password, and connections that are cut. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { type Server, type Socket, connect, createServer } from 'node:net';
import { text } from 'node:stream/consumers';
import { inspect } from 'node:util';
import { expect, onTestFinished } from 'vitest';
import { AgentError } from '../../src/core/errors.ts';
import type { Source } from '../../src/core/ports.ts';
import { calm, readWhole } from './source-world.ts';
import type { TestServer } from './servers.ts';

/** The failure of looking at a source and reading it, which must be one that was foreseen and shows no password. */
export async function failureOf(source: Source, { password }: Pick<TestServer, 'password'>): Promise<AgentError> {
  const error = await readWhole(source).then(
    () => 'no failure',
    (failure: unknown) => failure,
  );
  expect(error).toBeInstanceOf(AgentError);
  expectNoSecret(error, password);
  return error as AgentError;
}

/** Neither in its message and hint nor in its causes, their stacks and whatever hangs on them. */
export function expectNoSecret(error: unknown, password: string): void {
  if (password === '') return;
  const shown = inspect(error, { depth: Infinity, showHidden: true });
  for (const secret of [password, encodeURIComponent(password)]) expect(shown).not.toContain(secret);
}

/** Reads a source up to its first batch, lets `meanwhile` happen and gives what becomes of the rest. */
export async function rowsAfter(source: Source, meanwhile: () => Promise<unknown>): Promise<unknown> {
  const [part] = await source.parts(calm);
  const reading = source.rows(part!, calm);
  expect((await reading.next()).done).toBe(false);
  await meanwhile();
  try {
    for (let next = await reading.next(); next.done !== true; next = await reading.next());
    return 'all rows';
  } catch (error) {
    return error;
  }
}

/** A port that leads to another until `maxBytes` came back from there; then it cuts both sides: by a reset, or as a server ends a connection. */
export async function cuttingProxy(port: number, maxBytes: number, how: 'reset' | 'end' = 'reset'): Promise<number> {
  return await listen((near) => {
    const far = connect(port, '127.0.0.1');
    let bytes = 0;
    const cut = (): void => {
      if (how === 'reset') near.resetAndDestroy();
      else near.end();
      far.destroy();
    };
    near.on('error', cut).on('data', (data) => far.write(data));
    far.on('error', cut).on('data', (data) => {
      bytes += data.length;
      if (bytes > maxBytes) cut();
      else near.write(data);
    });
    near.on('close', () => far.destroy());
  });
}

/** A port of this machine, with whatever answers there. */
export async function listen(answer: (socket: Socket) => void): Promise<number> {
  const sockets = new Set<Socket>();
  const server = createServer((socket) => {
    sockets.add(socket);
    answer(socket);
  });
  await once(server.listen(0, '127.0.0.1'), 'listening');
  onTestFinished(() => {
    for (const socket of sockets) socket.destroy();
    server.close();
  });
  return portOf(server);
}

/** A port where nobody listens. */
export async function closedPort(): Promise<number> {
  const server = createServer();
  await once(server.listen(0, '127.0.0.1'), 'listening');
  const port = portOf(server);
  server.close();
  await once(server, 'close');
  return port;
}

function portOf(server: Server): number {
  const address = server.address();
  return typeof address === 'object' && address !== null ? address.port : 0;
}

/** The failure of looking at a source whose driver's package is not installed. */
export async function failureWithout(driver: string, type: string, url: string): Promise<unknown> {
  const program = `
    import { registerHooks } from 'node:module';
    const resolve = (name, context, next) => next(name === '${driver}' ? '${driver}-that-nobody-installed' : name, context);
    registerHooks({ resolve });
    const { kinds } = await import(${JSON.stringify(new URL('../../src/sources/index.ts', import.meta.url).href)});
    const kind = kinds[${JSON.stringify(type)}];
    const source = kind.open(kind.schema.parse(${JSON.stringify({ url, query: 'SELECT 1 AS a' })}), { baseDir: '/' });
    const error = await source.parts(new AbortController().signal).catch((failure) => failure);
    console.log(JSON.stringify({ code: error.code, message: error.message, hint: error.hint }));`;
  const child = spawn(process.execPath, ['--input-type=module', '--eval', program], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  return JSON.parse(await text(child.stdout));
}
