/** `mcp`, asked by the official client: everything can be looked at, and nothing changed. */
import { Client } from '@modelcontextprotocol/client';
import { StdioClientTransport } from '@modelcontextprotocol/client/stdio';
import { Client as OlderClient } from '@modelcontextprotocol/sdk/client/index.js';
import { StdioClientTransport as OlderTransport } from '@modelcontextprotocol/sdk/client/stdio.js';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import path from 'node:path';
import { createInterface } from 'node:readline';
import { expect, onTestFinished, test } from 'vitest';
import { MessageLines } from '../../src/cli/mcp-lines.ts';
import { type CommandsWorld, commandsWorld, manyDrivers, twoPushes } from '../support/commands-world.ts';
import { csv } from '../support/process.ts';

const bin = path.join(import.meta.dirname, '../../bin/driver-sync.js');

function serverOf({ at }: CommandsWorld): { command: string; args: string[]; stderr: 'ignore' } {
  const args = [bin, 'mcp', '--config', path.join(at.dir, 'driver-sync.yaml')];
  return { command: process.execPath, args, stderr: 'ignore' };
}

async function clientOf(
  commands: CommandsWorld,
): Promise<(name: string, given?: object) => Promise<Record<string, unknown>>> {
  const client = new Client({ name: 'test', version: '1' });
  await client.connect(new StdioClientTransport(serverOf(commands)));
  onTestFinished(() => client.close());
  return async (name, given = {}) => {
    const { content } = (await client.callTool({ name, arguments: { ...given } })) as { content: { text: string }[] };
    return JSON.parse(content[0]?.text ?? '') as Record<string, unknown>;
  };
}

test('looks at status, history, a difference and where a number came from', async () => {
  const ask = await clientOf(await twoPushes());
  await expect(ask('status')).resolves.toMatchObject({ agent: null, lastAcknowledged: { id: 2 } });
  await expect(ask('history')).resolves.toMatchObject({ pushes: [{ id: 2 }, { id: 1 }] });
  await expect(ask('diff', { from: '1', to: '2' })).resolves.toMatchObject({
    changes: { points: { create: 1, update: 1 } },
  });
  await expect(ask('explain', { driver: 'North', month: '2026-02' })).resolves.toMatchObject({
    points: [{ value: '3', part: 'a.csv', row: 2, text: '3' }],
  });
  await expect(ask('explain', { driver: 'Nowhere' })).resolves.toMatchObject({ error: { code: 'usage' } });
});

test('takes the number of a push as history gives it, and as a text', async () => {
  const client = new Client({ name: 'test', version: '1' });
  await client.connect(new StdioClientTransport(serverOf(await twoPushes())));
  onTestFinished(() => client.close());
  const ask = async (from: unknown, to: unknown): Promise<unknown> =>
    await client.callTool({ name: 'diff', arguments: { from, to } });
  const found = { structuredContent: { from: 1, to: 2, changes: { points: { create: 1, update: 1 } } } };
  for (const [from, to] of [
    [1, 2],
    [1, '2'],
    ['1', '2'],
  ])
    expect(await ask(from, to)).toMatchObject(found);
  for (const wrong of [0, -1, 1.5, '0', '-1', '1.5', 'x', true]) {
    expect(await ask(wrong, 2), String(wrong)).toMatchObject({ isError: true });
  }
  const { tools } = await client.listTools();
  const number = { anyOf: [{ type: 'integer', exclusiveMinimum: 0 }, { type: 'string' }] };
  expect(tools.find(({ name }) => name === 'diff')?.inputSchema.properties).toMatchObject({ from: number, to: number });
});

test('says why something is held, and what a person types to approve it', async () => {
  const commands = await commandsWorld({ revenue: csv('a.csv') }, { 'a.csv': manyDrivers(20) });
  await commands.run('sync');
  await commands.at.write('a.csv', manyDrivers(2));
  const ask = await clientOf(commands);
  await expect(ask('plan')).resolves.toMatchObject({ sources: [{ name: 'revenue', state: 'held' }] });
  await commands.run('sync');
  await expect(ask('why_held')).resolves.toMatchObject({
    sources: [{ name: 'revenue', state: 'held', approve: expect.stringMatching(/^driver-sync approve [0-9a-f]{12}$/) }],
  });
});

test('answers what is no message of the protocol as the protocol says, and goes on', async () => {
  const { command, args } = serverOf(await twoPushes());
  const child = spawn(command, args, { stdio: ['pipe', 'pipe', 'ignore'] });
  onTestFinished(() => void child.kill('SIGKILL'));
  const ping = { jsonrpc: '2.0', id: 7, method: 'ping' };
  const lines = [
    'hello',
    '',
    '{"a":1}',
    '{"id":3}',
    '[]',
    'x'.repeat(3_000_000),
    '{"jsonrpc":"2.0"',
    JSON.stringify(ping),
  ];
  child.stdin.write(`${lines.join('\n')}\n`);
  const answers: string[] = [];
  for await (const line of createInterface({ input: child.stdout })) if (answers.push(line) === 7) break;
  const refused = (code: number, message: string, id: number | null = null): object => ({
    jsonrpc: '2.0',
    id,
    error: { code, message },
  });
  const [unread, invalid] = [refused(-32_700, 'Parse error'), refused(-32_600, 'Invalid Request')];
  expect(answers.map((line) => JSON.parse(line) as object)).toEqual([
    unread,
    invalid,
    refused(-32_600, 'Invalid Request', 3),
    invalid,
    unread,
    unread,
    { jsonrpc: '2.0', id: 7, result: {} },
  ]);
});

test('answers all that was asked before stdin ended, also behind no line end', async () => {
  const { command, args } = serverOf(await twoPushes());
  const child = spawn(command, args, { stdio: ['pipe', 'pipe', 'ignore'] });
  onTestFinished(() => void child.kill('SIGKILL'));
  const request = (id: number, method: string, params: object): string =>
    JSON.stringify({ jsonrpc: '2.0', id, method, params });
  const hello = { protocolVersion: '2025-06-18', capabilities: {}, clientInfo: { name: 'test', version: '1' } };
  child.stdin.end(
    [
      request(1, 'initialize', hello),
      request(2, 'tools/call', { name: 'plan', arguments: {} }),
      request(3, 'tools/call', { name: 'status', arguments: {} }),
    ].join('\n'),
  );
  const answers: { id: number; result?: object }[] = [];
  for await (const line of createInterface({ input: child.stdout })) answers.push(JSON.parse(line) as never);
  expect(answers.map(({ id }) => id).toSorted((a, b) => a - b)).toEqual([1, 2, 3]);
  expect(answers.every(({ result }) => result !== undefined)).toBe(true);
  expect(child.exitCode ?? (await once(child, 'exit'))[0]).toBe(0);
});

test.each(['SIGTERM', 'SIGINT'] as const)('%s ends it', async (signal) => {
  const { command, args } = serverOf(await twoPushes());
  const child = spawn(command, args, { stdio: ['pipe', 'pipe', 'pipe'] });
  onTestFinished(() => void child.kill('SIGKILL'));
  for await (const line of createInterface({ input: child.stderr })) if (line.includes('tools on stdin')) break;
  child.kill(signal);
  expect((await once(child, 'exit'))[0]).toBe(0);
});

test('a subscription and what was called off keep nobody waiting', async () => {
  const lines = new MessageLines(
    () => true,
    () => undefined,
  );
  const finished = once(lines, 'finish');
  let isFinished = false;
  lines.once('finish', () => (isFinished = true));
  lines.resume();
  const requests = [1, 2].map((id) => `{"id":${id},"method":"tools/call"}\n`).join('');
  lines.end(
    `${requests}{"id":"s","method":"subscriptions/listen"}\n{"method":"notifications/cancelled","params":{"requestId":1}}`,
  );
  await new Promise(setImmediate);
  expect(isFinished).toBe(false);
  lines.sent({ id: 2, result: {} });
  await finished;
  expect(isFinished).toBe(true);
});

test('offers tools that only read, to clients of either protocol', async () => {
  const commands = await twoPushes();
  const older = new OlderClient({ name: 'test', version: '1' });
  await older.connect(new OlderTransport(serverOf(commands)));
  onTestFinished(() => older.close());
  const { tools } = await older.listTools();
  expect(tools.map(({ name }) => name)).toEqual(['status', 'why_held', 'explain', 'plan', 'history', 'diff']);
  expect(tools.every(({ annotations }) => annotations?.readOnlyHint === true)).toBe(true);
  const result = await older.callTool({ name: 'status', arguments: {} });
  expect(result.structuredContent).toMatchObject({ lastAcknowledged: { id: 2 } });
});
