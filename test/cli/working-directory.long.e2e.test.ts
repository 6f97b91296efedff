/** Commands in a directory that was removed under them. */
import { spawnSync } from 'node:child_process';
import { mkdtempSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { expect, test } from 'vitest';
import { twoPushes } from '../support/commands-world.ts';

const bin = path.join(import.meta.dirname, '../../bin/driver-sync.js');

function fromNowhere(...args: readonly string[]): { status: number | null; stdout: string; stderr: string } {
  const gone = mkdtempSync(path.join(tmpdir(), 'driver-sync-gone-'));
  const script = 'cd "$1" && rmdir "$1" && shift && exec "$@"';
  return spawnSync('sh', ['-c', script, 'sh', gone, process.execPath, bin, ...args], { encoding: 'utf8' });
}

test('what names a file from there is refused, and says what helps', () => {
  for (const args of [['status'], ['status', '--config', 'driver-sync.yaml'], ['init', 'here']]) {
    expect(fromNowhere(...args), args.join(' ')).toMatchObject({
      status: 64,
      stderr: expect.stringMatching(
        /^driver-sync: the directory that this was started in is gone .*\n {2}change to another one, /,
      ),
    });
  }
});

test('what needs no file from there goes on', async () => {
  const { at } = await twoPushes();
  const config = path.join(at.dir, 'driver-sync.yaml');
  expect(fromNowhere('--version')).toMatchObject({ status: 0, stderr: '' });
  expect(fromNowhere('--help')).toMatchObject({ status: 0, stderr: '' });
  expect(fromNowhere('nonsense').status).toBe(64);
  for (const command of ['status', 'plan', 'sync', 'verify']) {
    const { status, stderr } = fromNowhere(command, '--config', config);
    expect({ status, stderr: stderr.includes('a bug') }, `${command}: ${stderr}`).toEqual({ status: 0, stderr: false });
  }
  await at.write('driver-sync.yaml', 'sources: nothing\n');
  expect(fromNowhere('check', '--config', config)).toMatchObject({
    status: 78,
    stdout: expect.stringContaining(`${config}:`),
  });
});
