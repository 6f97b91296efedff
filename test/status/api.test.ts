/** What scripts get: the same as the commands print. */
import { expect, test } from 'vitest';
import { twoPushes } from '../support/commands-world.ts';
import { statusWorld } from '../support/status-world.ts';

test('/api/status is what "status --json" prints, of an agent that runs', async () => {
  const commands = await twoPushes();
  const page = await statusWorld(commands);
  const printed = await commands.json<object>('status');
  const { nextPush, nextPushWhy, ...served } = await page.json<Record<string, unknown>>('/api/status');
  expect(served).toEqual({ ...printed, agent: { pid: 7, since: '2026-03-01T00:00:00.000Z' } });
  expect({ nextPush, nextPushWhy }).toEqual({ nextPush: expect.any(String), nextPushWhy: expect.any(String) });
});
