/** The login of an agent in a real browser, in the width of a phone, by keyboard. */
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { UnauthorizedError } from '@modelcontextprotocol/sdk/client/auth.js';
import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { StreamableHTTPClientTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js';
import type { Browser, Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest';
import { type OlderKeeper, olderKeeper } from '../support/agent-older.ts';
import { emulatorWorld } from '../support/emulator-world.ts';
import { browserName, cannotBrowse, launchBrowser } from '../support/real-browser.ts';

describe.skipIf(cannotBrowse)(`a login in ${browserName}`, () => {
  let browser: Browser;

  beforeAll(async () => {
    browser = await launchBrowser();
  });
  afterAll(() => browser.close());

  interface World {
    readonly keeper: OlderKeeper;
    readonly page: Page;
    readonly transport: () => StreamableHTTPClientTransport;
    /** The address that the browser was sent back to. */
    readonly back: () => Promise<URL>;
    /** What the page could not load or run. */
    readonly problems: string[];
  }

  /** An agent that was refused and waits for its person, who has the consent page open. */
  async function world(): Promise<World> {
    const emulator = await emulatorWorld();
    const callback = createServer((_request, response) => response.end('you may close this window'));
    callback.listen(0, '127.0.0.1');
    await once(callback, 'listening');
    onTestFinished(() => void callback.close());
    const keeper = olderKeeper(`http://127.0.0.1:${(callback.address() as AddressInfo).port}/callback`);
    const transport = (): StreamableHTTPClientTransport =>
      new StreamableHTTPClientTransport(new URL('/mcp', emulator.url), { authProvider: keeper });
    const refused = new Client({ name: 'older', version: '1.0.0' }).connect(transport());
    await expect(refused).rejects.toBeInstanceOf(UnauthorizedError);
    const page = await browser.newPage({ viewport: { width: 400, height: 700 } });
    onTestFinished(() => page.close());
    const problems: string[] = [];
    page.on('console', (message) => message.type() === 'error' && problems.push(message.text()));
    await page.goto(keeper.authorizationUrl);
    const back = async (): Promise<URL> => {
      await page.waitForURL(/\/callback\?/);
      return new URL(page.url());
    };
    return { keeper, page, transport, back, problems };
  }

  test('is allowed by keyboard, and the agent has its tools', async () => {
    const { page, transport, back } = await world();
    await page.getByRole('button', { name: 'Allow' }).focus();
    await page.keyboard.press('Enter');
    await transport().finishAuth((await back()).searchParams.get('code') ?? '');
    const client = new Client({ name: 'older', version: '1.0.0' });
    await client.connect(transport());
    onTestFinished(() => client.close());
    expect((await client.listTools()).tools).toHaveLength(11);
  });

  test('is asked for in the dress of the console, and nothing of it is cut off at 400 px', async () => {
    const { page, problems } = await world();
    const ground = await page.evaluate("getComputedStyle(document.querySelector('[value=allow]')).backgroundColor");
    expect(ground).toBe('rgb(31, 95, 208)');
    expect(await page.evaluate('document.documentElement.scrollWidth')).toBeLessThanOrEqual(400);
    expect(problems).toEqual([]);
  });

  test('is denied, and the agent is told so', async () => {
    const { keeper, page, back } = await world();
    await page.getByRole('button', { name: 'Deny' }).click();
    expect((await back()).searchParams.get('error')).toBe('access_denied');
    expect(await keeper.tokens()).toBeUndefined();
  });
});
