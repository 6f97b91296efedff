/** The story of a bug: it is short, plays again in another process, and ends well once the bug is mended. */
import { execFile } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { promisify } from 'node:util';
import { expect, onTestFinished, test } from 'vitest';

interface Said {
  readonly promise: string;
  readonly steps: number;
  readonly violation?: { readonly promise: string; readonly how: string };
  readonly diverged?: string;
}

const run = promisify(execFile);
const script = path.resolve(import.meta.dirname, '../support/planted-story.ts');

test.each([
  ['a part that is gone is not carried', 'whole'],
  ['an unknown push is followed at once', 'waits'],
  ['a second push is begun beside the first', 'one'],
])('the story of "%s" plays again and shows the same violation, until it is mended', async (name, promise) => {
  const dir = mkdtempSync(path.join(tmpdir(), 'driver-sync-planted-'));
  onTestFinished(() => rmSync(dir, { recursive: true }));
  const file = path.join(dir, 'story.json');
  const story = async (how: string): Promise<Said> =>
    JSON.parse((await run(process.execPath, [script, how, name, file])).stdout) as Said;
  const told = await story('tell');
  expect(told).toMatchObject({ promise, violation: { promise } });
  expect(told.steps).toBeLessThanOrEqual(15);
  expect(await story('again')).toEqual(told);
  const mended = await story('mended');
  expect(mended).not.toHaveProperty('violation');
  expect(mended.diverged).toMatch(/was observed then/);
});
