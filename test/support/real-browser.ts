/** Debian's Chromium for tests. Without it they are skipped with a message, and fail in CI. */
import { existsSync } from 'node:fs';
import { type Browser, chromium } from 'playwright-core';

const executablePath = '/usr/bin/chromium';
export const cannotBrowse = !existsSync(executablePath) && process.env['CI'] === undefined;
/** For the name of a suite. */
export const browserName = cannotBrowse ? `${executablePath}, which is not installed` : executablePath;

export function launchBrowser(...further: readonly string[]): Promise<Browser> {
  const args = '--no-sandbox --disable-gpu --disable-background-networking --disable-component-update --disable-sync';
  return chromium.launch({ executablePath, args: [...args.split(' '), ...further] });
}
