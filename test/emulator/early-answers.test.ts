/** Answers before the request has ended: a client that is still sending must see them too. */
import { once } from 'node:events';
import { connect } from 'node:net';
import { text } from 'node:stream/consumers';
import { describe, expect, test } from 'vitest';
import { updatePath } from '../../src/contract/update-path.ts';
import { emulatorWorld } from '../support/emulator-world.ts';

const piece = Buffer.alloc(1_000_000, ' ');
const pieces = 12;

interface Upload {
  readonly path: string;
  readonly headers: string;
  /** Around each piece of the body. */
  readonly frame: readonly [before: string, after: string];
}

/** Sends all of a body of 12 MB before it looks for an answer, as most clients do, and gives the answer's first line. */
async function answerOf(port: number, { path, headers, frame: [before, after] }: Upload): Promise<string> {
  const socket = connect(port, '127.0.0.1');
  socket.pause();
  const failed = new Promise<never>((_resolve, reject) => socket.once('error', reject));
  const sent = async (): Promise<string> => {
    socket.write(`POST ${path} HTTP/1.1\r\nhost: 127.0.0.1:${port}\r\n${headers}\r\n\r\n`);
    for (let index = 0; index < pieces; index++) {
      socket.write(before);
      socket.write(piece);
      if (!socket.write(after)) await once(socket, 'drain');
    }
    if (before !== '') socket.write('0\r\n\r\n');
    // The server ends the connection.
    return /^HTTP.*/.exec(await text(socket))?.[0] ?? '';
  };
  return Promise.race([sent(), failed]);
}

test.for([
  ['GET / HTTP/1.0', 'the request has no Host header: send one, such as "Host: localhost"'],
  ['GET / HTTP/1.1', 'the request has no Host header: send one, such as "Host: localhost"'],
  ['GET / HTTP/1.1\r\nhost: a/b', 'the address of the request cannot be read: Invalid host header'],
  ['GET * HTTP/1.1\r\nhost: localhost', 'the address of the request cannot be read: Invalid URL'],
] as const)('a request that says not where it is sent is told so: %j', async ([head, error]) => {
  const { port } = await emulatorWorld();
  const socket = connect(port, '127.0.0.1');
  socket.write(`${head}\r\nconnection: close\r\n\r\n`);
  const answer = await text(socket);
  expect(answer).toMatch(/^HTTP\/1\.1 400 /);
  expect(answer).toContain(JSON.stringify({ error }));
});

describe('a client that sends to the end before it reads', () => {
  test.for([
    [updatePath, 413],
    ['/v1/routers', 413],
    ['/uploads/4d5c0d1e-8f2a-4f3b-9c57-1b2a3c4d5e6f', 413],
    ['/mcp', 413],
    ['/register', 413],
    ['/console/routers', 413],
  ] as const)('sees that its body is too long, at %s', async ([path, status]) => {
    const { port } = await emulatorWorld({ bodyBytesMax: 1_000_000 });
    const length = `content-length: ${piece.length * pieces}`;
    expect(await answerOf(port, { path, headers: length, frame: ['', ''] })).toContain(`HTTP/1.1 ${status} `);
    const chunked = { path, headers: 'transfer-encoding: chunked', frame: ['f4240\r\n', '\r\n'] as const };
    expect(await answerOf(port, chunked)).toContain(`HTTP/1.1 ${status} `);
  });

  test('sees any other refusal too', async () => {
    const { port } = await emulatorWorld();
    const headers = `content-length: ${piece.length * pieces}`;
    for (const [path, more, status] of [
      [updatePath, 'content-encoding: br', 415],
      ['/_emulator/reset', 'origin: http://elsewhere.example', 403],
      ['/console/routers', 'sec-fetch-site: cross-site', 403],
      ['/console/nothing', 'connection: close', 404],
    ] as const) {
      const answered = await answerOf(port, { path, headers: `${headers}\r\n${more}`, frame: ['', ''] });
      expect(answered).toContain(`HTTP/1.1 ${status} `);
    }
  });
});

test('a client that leaves after such an answer, or never ends, keeps nobody from closing', async () => {
  const emulator = await emulatorWorld({ bodyBytesMax: 100 });
  for (const leaves of [true, false]) {
    const socket = connect(emulator.port, '127.0.0.1');
    socket.on('error', () => {});
    socket.write(`POST /v1/routers HTTP/1.1\r\nhost: a\r\ncontent-length: 1000000\r\n\r\n`);
    const [answer] = (await once(socket, 'data')) as [Buffer];
    expect(answer.toString()).toContain('HTTP/1.1 413 ');
    if (leaves) socket.destroy();
  }
  await emulator.close();
});

describe('a client that does not go on', () => {
  test.for([
    ['with its headers', 'GET /_emulator/drivers HTTP/1.1\r\nhost: localhost\r\nx-half: '],
    ['after its first line', 'POST /api/extDrivers/update HTTP/1.1\r\n'],
    ['once it has connected', ''],
  ] as const)('%s loses its connection after a time', async ([, sent]) => {
    const emulator = await emulatorWorld({ headersTimeoutMs: 50 });
    const socket = connect(emulator.port, '127.0.0.1');
    socket.write(sent);
    // The server ends the connection.
    expect(await text(socket)).toMatch(/^HTTP\/1\.1 408 /);
  });

  test('with its body keeps its connection: a large one may take its time', async () => {
    // Its headers have to come in time, also on a machine that is busy.
    const emulator = await emulatorWorld({ headersTimeoutMs: 1000 });
    const body = '{"extDrivers":[]}';
    const half = connect(emulator.port, '127.0.0.1');
    half.write(
      `POST ${updatePath} HTTP/1.1\r\nhost: localhost\r\nconnection: close\r\ncontent-length: ${body.length}\r\n\r\n`,
    );
    // When this connection has ended, the first one would have ended too.
    const silent = connect(emulator.port, '127.0.0.1');
    await text(silent);
    half.write(body);
    expect(await text(half)).toMatch(/^HTTP\/1\.1 200 /);
  });
});
