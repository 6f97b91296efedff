/** Helpers for tests of the console in a real browser. */
import type { Browser, BrowserContextOptions, Page } from 'playwright-core';
import { afterAll, beforeAll, onTestFinished } from 'vitest';
import type { Emulator, EmulatorOptions } from '../../src/emulator/index.ts';
import { emulatorWorld } from './emulator-world.ts';
import { launchBrowser } from './real-browser.ts';

interface BrowserWorld {
  readonly emulator: Emulator;
  readonly page: Page;
  /** Errors of the page, and its requests to other hosts. */
  readonly problems: string[];
}

/** One browser for the suite that calls this; each call of what it returns makes an emulator with a page of its own. */
export function browserWorlds(): (
  options?: BrowserContextOptions,
  emulatorOptions?: EmulatorOptions,
) => Promise<BrowserWorld> {
  let browser: Browser;
  beforeAll(async () => {
    browser = await launchBrowser();
  });
  afterAll(() => browser.close());
  return async (options = {}, emulatorOptions = {}) => {
    const emulator = await emulatorWorld(emulatorOptions);
    const context = await browser.newContext({ baseURL: emulator.url, ...options });
    onTestFinished(() => context.close());
    const page = await context.newPage();
    const problems: string[] = [];
    page.on('pageerror', (error) => problems.push(error.message));
    page.on('console', (message) => message.type() === 'error' && problems.push(message.text()));
    page.on('request', (request) => request.url().startsWith(emulator.url) || problems.push(request.url()));
    return { emulator, page, problems };
  };
}
