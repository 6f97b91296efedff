/** The streams of a process whose readers are slow, gone or never read, and a disk that is full. */
import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import path from 'node:path';
import { json } from 'node:stream/consumers';
import { expect, onTestFinished, test } from 'vitest';
import { runningAgent } from '../../src/compose/state.ts';
import { executable } from '../support/built.ts';
import { csv, place } from '../support/process.ts';
import { openReceiver } from '../support/receiver.ts';
import { longFile } from '../support/world.ts';

/** Runs a command line whose output goes through a pipe of the shell to a reader that waits for a word. */
function readLate(args: string, cwd: string) {
  const line = `${process.execPath} ${executable} ${args} | { read -r word <&3; cat; }; exit \${PIPESTATUS[0]}`;
  const shell = spawn('bash', ['-c', line], { cwd, stdio: ['ignore', 'pipe', 'pipe', 'pipe'] });
  onTestFinished(() => void shell.kill('SIGKILL'));
  const word = shell.stdio[3] as NodeJS.WritableStream;
  return {
    stdout: shell.stdout as NodeJS.ReadableStream,
    exit: once(shell, 'exit'),
    read: () => void word.end('go\n'),
  };
}

/** 400 sources of a file each: their report is longer than a pipe is. */
function manySources(): object {
  return Object.fromEntries(Array.from({ length: 400 }, (_, index) => [`source-${index}`, csv(`a-${index}.csv`)]));
}

test('all of a long output comes through a pipe', () => {
  const line = `set -o pipefail; ${process.execPath} ${executable} schema | cat`;
  const { status, stdout } = spawnSync('bash', ['-c', line], { encoding: 'utf8', maxBuffer: 10_000_000 });
  expect(status).toBe(0);
  expect(stdout.length).toBeGreaterThan(100_000);
  expect(JSON.parse(stdout)).toMatchObject({ type: 'object' });
});

test('a reader that comes late gets all of it, and holds up neither the push nor the next agent', async () => {
  await using service = await openReceiver();
  await using at = await place(
    { destination: { url: service.url }, sources: manySources() },
    { 'a-0.csv': longFile({ A: { '2026-01': 1 } }) },
  );
  const first = readLate('sync --json', at.dir);
  await expect.poll(() => existsSync(path.join(at.state, 'ledger.db'))).toBe(true);
  await expect.poll(() => runningAgent({ state: at.state })).toBeUndefined();
  const second = readLate('sync --json', at.dir);
  for (const { stdout, exit, read } of [first, second]) {
    read();
    expect(await json(stdout)).toMatchObject({ outcome: 'blocked', exit: 4, sources: { length: 400 } });
    expect(await exit).toEqual([4, null]);
  }
});

test('a reader that has gone changes no exit code', () => {
  const { stdout, status } = spawnSync(
    'bash',
    ['-c', `${process.execPath} ${executable} nonsense --json | true; echo \${PIPESTATUS[0]}`],
    { encoding: 'utf8' },
  );
  expect({ status, stdout }).toEqual({ status: 0, stdout: '64\n' });
});

test.skipIf(!existsSync('/dev/full'))('an output that does not fit on its disk is said, and is not 0', () => {
  const { status, stderr } = spawnSync('bash', ['-c', `${process.execPath} ${executable} schema > /dev/full`], {
    encoding: 'utf8',
  });
  expect(status).toBe(75);
  expect(stderr).toContain('the output could not be written to its end (ENOSPC)');
});

test('a daemon whose log nobody reads any more ends all the same', async () => {
  await using service = await openReceiver();
  const destination = { url: service.url, shouldDeleteMissing: false };
  await using at = await place(
    { destination, sources: manySources() },
    { 'a-0.csv': longFile({ A: { '2026-01': 1 } }) },
  );
  // The log has a line for each of 399 files that are not there, which fills the pipe.
  const line = `exec ${process.execPath} ${executable} run 2> >(read -r word <&3)`;
  const shell = spawn('bash', ['-c', line], { cwd: at.dir, stdio: ['ignore', 'ignore', 'ignore', 'pipe'] });
  onTestFinished(() => void shell.kill('SIGKILL'));
  const exit = once(shell, 'exit');
  await expect.poll(() => service.posts).toHaveLength(1);
  shell.kill('SIGTERM');
  expect(await exit).toEqual([0, null]);
});
