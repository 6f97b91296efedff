/** Debian's Chromium for tests. Without it they are skipped with a message, and fail in CI. */
import { existsSync } from 'node:fs';
import { type Browser, chromium } from 'playwright-core';

const executablePath = '/usr/bin/chromium';
export const cannotBrowse = !existsSync(executablePath) && process.env['CI'] === undefined;
/** For the name of a suite. */
export const browserName = cannotBrowse ? `${executablePath}, which is not installed` : executablePath;

/** Only what hangs takes as long, also on a machine that is busy with something else. */
const patienceMs = 120_000;

export async function launchBrowser(...further: readonly string[]): Promise<Browser> {
  const args = '--no-sandbox --disable-gpu --disable-background-networking --disable-component-update --disable-sync';
  const browser = await chromium.launch({
    executablePath,
    args: [...args.split(' '), ...further],
    timeout: patienceMs,
  });
  browser.on('context', (context) => context.setDefaultTimeout(patienceMs));
  return browser;
}
