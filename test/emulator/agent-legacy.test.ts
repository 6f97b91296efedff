/** The older official client, `@modelcontextprotocol/sdk` 1.32.2, against the agent tools. */
import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { UnauthorizedError } from '@modelcontextprotocol/sdk/client/auth.js';
import { StreamableHTTPClientTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js';
import { expect, onTestFinished, test } from 'vitest';
import { olderKeeper } from '../support/agent-older.ts';
import { browser, redirectUri } from '../support/agent-world.ts';
import { emulatorWorld } from '../support/emulator-world.ts';

test('discovers, registers, logs in through the browser and calls tools', async () => {
  const emulator = await emulatorWorld();
  const authProvider = olderKeeper(redirectUri);
  const connect = async (): Promise<Client> => {
    const client = new Client({ name: 'older', version: '1.0.0' });
    await client.connect(transport());
    onTestFinished(() => client.close());
    return client;
  };
  const transport = (): StreamableHTTPClientTransport =>
    new StreamableHTTPClientTransport(new URL('/mcp', emulator.url), { authProvider });
  await expect(connect()).rejects.toBeInstanceOf(UnauthorizedError);
  const back = await browser().decide(authProvider.authorizationUrl, 'allow');
  await transport().finishAuth(back.searchParams.get('code') ?? '');

  const client = await connect();
  expect((await client.listTools()).tools).toHaveLength(11);
  const created = await client.callTool({ name: 'create_model_router', arguments: { slug: 'older', name: 'Older' } });
  expect(created.structuredContent).toMatchObject({ slug: 'older', version: 1 });
  const [text] = created.content as { text: string }[];
  expect(JSON.parse(text?.text ?? '')).toEqual(created.structuredContent);
});
