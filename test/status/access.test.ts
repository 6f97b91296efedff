/** Who may ask the status page, and what everybody else is told. */
import { chmod, rm } from 'node:fs/promises';
import { connect } from 'node:net';
import path from 'node:path';
import { text } from 'node:stream/consumers';
import { expect, test } from 'vitest';
import { isOwnHost } from '../../src/status/access.ts';
import { openStatusServer } from '../../src/status/server.ts';
import type { Watched } from '../../src/status/watched.ts';
import { twoPushes } from '../support/commands-world.ts';
import { memoryLog } from '../support/memory-log.ts';
import { statusWorld } from '../support/status-world.ts';

const listening = { host: '127.0.0.1', port: 9464, tokenFile: undefined, hosts: [] };

test.for(['127.0.0.1:9464', 'localhost', 'LOCALHOST:1', '127.8.8.8:80', '[::1]:9464'])(
  'a page on loopback answers by the name %s',
  (host) => {
    expect(isOwnHost(host, listening)).toBe(true);
  },
);

test.for([
  'evil.example',
  'evil.example:9464',
  'localhost.evil.example',
  '127.0.0.1.evil.example',
  '10.0.0.9',
  '',
  'a b',
])('and not by the name %s', (host) => {
  expect(isOwnHost(host, listening)).toBe(false);
});

test('a request without a name is refused', () => {
  expect(isOwnHost(undefined, listening)).toBe(false);
});

test('a page at every address of the machine answers by the one that it was reached at, and by names of the config', () => {
  const wide = { ...listening, host: '0.0.0.0', hosts: ['status.example.com'] };
  expect(isOwnHost('10.0.0.7:9464', wide, '::ffff:10.0.0.7')).toBe(true);
  expect(isOwnHost('10.0.0.8:9464', wide, '10.0.0.7')).toBe(false);
  expect(isOwnHost('status.example.com', wide, '10.0.0.7')).toBe(true);
  expect(isOwnHost('evil.example', wide, '10.0.0.7')).toBe(false);
});

test('a foreign Host is refused with 403 and the way out, on every path', async () => {
  const page = await statusWorld(await twoPushes());
  for (const address of ['/', '/livez', '/metrics', '/api/status', '/nothing']) {
    const { status, body } = await page.ask(address, { headers: { host: 'evil.example' } });
    expect(status, address).toBe(403);
    expect(body).toContain('"evil.example"');
    expect(body).toContain('"hosts" of "status"');
  }
});

test('nothing but GET and HEAD is answered', async () => {
  const page = await statusWorld(await twoPushes());
  for (const method of ['POST', 'PUT', 'DELETE', 'PATCH', 'OPTIONS']) {
    const { status, headers } = await page.ask('/api/status', { method });
    expect(status, method).toBe(405);
    expect(headers['allow']).toBe('GET, HEAD');
  }
  const head = await page.ask('/api/status', { method: 'HEAD' });
  expect(head).toMatchObject({ status: 200, body: '' });
  expect(Number(head.headers['content-length'])).toBeGreaterThan(100);
});

test('every answer forbids scripts, frames and forms of others, and copies', async () => {
  const page = await statusWorld(await twoPushes());
  for (const address of ['/', '/api/status', '/metrics', '/livez', '/nothing']) {
    const { headers } = await page.ask(address);
    expect(headers['content-security-policy'], address).toMatch(/^default-src 'none';.*frame-ancestors 'none'/);
    expect(headers).toMatchObject({ 'x-content-type-options': 'nosniff', 'cache-control': 'no-store' });
  }
});

const basic = (password: string): string => `Basic ${Buffer.from(`anna:${password}`).toString('base64')}`;

test('with a token everything but /livez and /readyz wants it, from a script or a browser', async () => {
  const commands = await twoPushes();
  await commands.at.write('token', 's3cret\n');
  const page = await statusWorld(commands, { tokenFile: path.join(commands.at.dir, 'token') });
  const statusFor = async (address: string, authorization?: string): Promise<number> =>
    (await page.ask(address, { headers: authorization === undefined ? {} : { authorization } })).status;
  for (const address of ['/', '/metrics', '/api/status', '/nothing'])
    expect(await statusFor(address), address).toBe(401);
  for (const address of ['/livez', '/readyz']) expect(await statusFor(address), address).toBe(200);
  for (const right of ['Bearer s3cret', 'bearer s3cret', basic('s3cret')]) {
    expect(await statusFor('/api/status', right), right).toBe(200);
  }
  for (const wrong of ['Bearer s3cre', 'Bearer s3cret2', basic('other'), 'Digest s3cret', 's3cret', 'Bearer ']) {
    expect(await statusFor('/api/status', wrong), wrong).toBe(401);
  }
  const { headers, body } = await page.ask('/');
  expect(headers['www-authenticate']).toMatch(/^Basic realm=/);
  expect(body).toContain('a token is needed');
});

test('a token that is renewed holds at once, and without its file nobody is let in', async () => {
  const commands = await twoPushes();
  const tokenFile = path.join(commands.at.dir, 'token');
  await commands.at.write('token', 'one');
  const page = await statusWorld(commands, { tokenFile });
  const statusFor = async (token: string): Promise<number> =>
    (await page.ask('/api/status', { headers: { authorization: `Bearer ${token}` } })).status;
  expect(await statusFor('one')).toBe(200);
  await commands.at.write('token', 'two');
  expect([await statusFor('one'), await statusFor('two')]).toEqual([401, 200]);
  await commands.at.write('token', '');
  expect(await statusFor('')).toBe(503);
  await rm(tokenFile);
  const { status, body } = await page.ask('/api/status', { headers: { authorization: 'Bearer two' } });
  expect(status).toBe(503);
  expect(body).toContain('ENOENT');
  expect(body).not.toContain(tokenFile);
});

test('a state that cannot be read is a 503 that says so, and no bug', async () => {
  const commands = await twoPushes();
  const page = await statusWorld(commands);
  await rm(path.join(commands.at.state, 'ledger.db'));
  const { status, body } = await page.ask('/api/status');
  expect(status).toBe(503);
  expect(JSON.parse(body)).toMatchObject({
    error: { code: 'state.missing', message: expect.stringContaining('ledger.db is gone') },
  });
  expect((await page.ask('/readyz')).body).toMatch(/the stores do not answer: \S+ledger\.db is gone/);
  expect(page.log).toEqual([]);
  await chmod(commands.at.state, 0o700);
});

test('whoever does not send a request in time is sent away soon after it', async () => {
  const nobody = {} as Watched;
  await using server = await openStatusServer({ ...listening, port: 0 }, nobody, memoryLog(), 50);
  const socket = connect(server.port, '127.0.0.1');
  socket.write('GET /livez HT');
  expect(await text(socket)).toContain('408 Request Timeout');
});
