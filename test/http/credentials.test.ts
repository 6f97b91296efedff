import { execFileSync } from 'node:child_process';
import { open, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { expect, test } from 'vitest';
import { readAuthorities, readToken } from '../../src/http/credentials.ts';
import { calm, tempDir } from '../support/source-world.ts';

const reading = { code: 'source.unreadable', signal: calm } as const;

test('a token is the text without white space around it, or what its file holds now', async () => {
  const file = path.join(await tempDir(), 'token');
  expect(await readToken(undefined, reading)).toBeUndefined();
  expect(await readToken({ kind: 'text', text: ' abc\n' }, reading)).toBe('abc');
  for (const token of ['first', 'second']) {
    await writeFile(file, `${token}\n`);
    expect(await readToken({ kind: 'file', file }, reading)).toBe(token);
  }
});

test('a token that cannot be used fails with the code of whoever reads it, and its path is not told', async () => {
  const file = path.join(await tempDir(), 'a-token-where-a-path-belongs');
  const failing = readToken({ kind: 'file', file }, { ...reading, code: 'config.invalid' });
  await expect(failing).rejects.toMatchObject({
    code: 'config.invalid',
    message: 'the file of tokenFile cannot be read (ENOENT)',
    hint: 'there is no such file: paths are relative to the config file',
  });
});

test('a file on a share that does not answer is given up with the signal', async () => {
  const file = path.join(await tempDir(), 'pipe');
  execFileSync('mkfifo', [file]);
  const controller = new AbortController();
  const reason = new Error('enough');
  const token = readToken({ kind: 'file', file }, { ...reading, signal: controller.signal });
  const authorities = readAuthorities(file, { ...reading, signal: controller.signal });
  controller.abort(reason);
  await expect(token).rejects.toBe(reason);
  await expect(authorities).rejects.toBe(reason);
  // Lets the two reads end, which the kernel holds until somebody writes.
  await (await open(file, 'r+')).close();
});
