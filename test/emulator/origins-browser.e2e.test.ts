/** A page of another address in a real browser against the emulator. */
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { Browser, Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest';
import { updatePath } from '../../src/contract/update-path.ts';
import type { Emulator } from '../../src/emulator/index.ts';
import { driver, emulatorWorld, push } from '../support/emulator-world.ts';
import { browserName, cannotBrowse, launchBrowser } from '../support/real-browser.ts';

describe.skipIf(cannotBrowse)(`a page in ${browserName}`, () => {
  let browser: Browser;

  beforeAll(async () => {
    // The name leads to this machine, as DNS rebinding has it do after the page was loaded from elsewhere.
    browser = await launchBrowser('--host-resolver-rules=MAP rebound.example 127.0.0.1');
  });
  afterAll(() => browser.close());

  async function emulatorWithDriver(): Promise<Emulator> {
    const emulator = await emulatorWorld();
    await push(emulator, { extDrivers: [driver('a')] });
    return emulator;
  }

  /** A page of the address 127.0.0.2. */
  async function foreignPage(): Promise<Page> {
    const server = createServer((_request, response) => {
      response.setHeader('content-type', 'text/html');
      response.end('<!doctype html><title>elsewhere</title>');
    });
    server.listen(0, '127.0.0.2');
    await once(server, 'listening');
    onTestFinished(() => void server.close());
    const page = await browser.newPage();
    onTestFinished(() => page.close());
    await page.goto(`http://127.0.0.2:${(server.address() as AddressInfo).port}/`);
    return page;
  }

  test('of another address empties nothing', async () => {
    const emulator = await emulatorWithDriver();
    const page = await foreignPage();
    const isSent = await page.evaluate(
      async ([url = '', update = '']) => {
        await fetch(`${url}/_emulator/reset`, { method: 'POST', mode: 'no-cors' });
        const body = '{"shouldDeleteMissing":true,"extDrivers":[]}';
        await fetch(`${url}${update}`, { method: 'POST', mode: 'no-cors', body });
        return true;
      },
      [emulator.url, updatePath],
    );
    expect(isSent).toBe(true);
    expect(emulator.drivers()).toHaveLength(1);
  });

  test('whose name leads here is shown nothing', async () => {
    const emulator = await emulatorWithDriver();
    const page = await browser.newPage();
    onTestFinished(() => page.close());
    const response = await page.goto(`http://rebound.example:${emulator.port}/_emulator/drivers`);
    expect(response?.status()).toBe(403);
    expect(await page.content()).not.toContain('timeSeries');
  });
});
