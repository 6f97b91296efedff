/** Colours are for a terminal alone, and the word stays without them. */
import { expect, onTestFinished, test, vi } from 'vitest';
import { commandsWorld } from '../support/commands-world.ts';
import { csv } from '../support/process.ts';
import { longFile } from '../support/world.ts';

const files = { 'a.csv': longFile({ North: { '2026-01': '1.50' } }) };

function onTerminal(isTerminal: boolean): void {
  const before = Object.getOwnPropertyDescriptor(process.stdout, 'isTTY');
  Object.defineProperty(process.stdout, 'isTTY', { value: isTerminal, configurable: true });
  onTestFinished(() => {
    if (before === undefined) delete (process.stdout as { isTTY?: boolean }).isTTY;
    else Object.defineProperty(process.stdout, 'isTTY', before);
  });
}

test('a state is a word, in a colour on a terminal', async () => {
  vi.stubEnv('NO_COLOR', undefined);
  const { run } = await commandsWorld({ revenue: csv('a.csv') }, files);
  onTerminal(true);
  const { stdout } = await run('sync');
  expect(stdout).toContain('\u001b[32maccepted\u001b[39m');
  expect(stdout).toContain('\u001b[32macknowledged\u001b[39m push 1');
});

test('no colours with NO_COLOR, in a pipe, or with --json', async () => {
  const { run } = await commandsWorld({ revenue: csv('a.csv') }, files);
  vi.stubEnv('NO_COLOR', undefined);
  onTerminal(false);
  expect((await run('sync')).stdout).not.toContain('\u001b');
  onTerminal(true);
  expect((await run('status', '--json')).stdout).not.toContain('\u001b');
  vi.stubEnv('NO_COLOR', '1');
  expect((await run('status')).stdout).not.toContain('\u001b');
});
