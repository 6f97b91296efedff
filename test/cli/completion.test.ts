/** Completions and the man page are made of the definitions of the commands. */
import { spawnSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { describe, expect, onTestFinished, test } from 'vitest';
import { commandSpecs } from '../../src/cli/program.ts';
import { commandLine } from '../support/command-line.ts';
import { threeSources, twoPushes } from '../support/commands-world.ts';
import { manPage } from '../support/man-page.ts';

const commands = commandSpecs();
/** A laptop may lack it; CI installs it. */
const cannot = (tool: string): boolean => spawnSync(tool).error !== undefined && process.env['CI'] === undefined;

describe.each(['bash', 'zsh', 'fish'])('%s', (shell) => {
  test('knows every command and every option', async () => {
    const { code, stdout } = await commandLine('completion', shell);
    expect(code).toBe(0);
    for (const { name, options } of commands) {
      expect(stdout).toContain(name);
      for (const { long } of options) expect(stdout).toContain(shell === 'fish' ? `-l ${long.slice(2)}` : long);
    }
  });

  test.skipIf(cannot(shell))('is a script that the shell reads', async () => {
    const { stdout } = await commandLine('completion', shell);
    const dir = mkdtempSync(path.join(tmpdir(), 'driver-sync-completion-'));
    onTestFinished(() => rmSync(dir, { recursive: true }));
    const script = path.join(dir, 'script');
    writeFileSync(script, stdout);
    const read = spawnSync(shell, ['-n', script], { encoding: 'utf8' });
    expect(read).toMatchObject({ status: 0, stderr: '' });
  });
});

test('another shell is refused with those that there are', async () => {
  const { code, stderr } = await commandLine('completion', 'tcsh');
  expect(code).toBe(64);
  expect(stderr).toContain('Allowed choices are bash, zsh, fish');
});

describe.skipIf(cannot('bash'))('in bash', () => {
  /** What is offered behind these words. */
  async function offered(...words: readonly string[]): Promise<string[]> {
    const { stdout } = await commandLine('completion', 'bash');
    const typed = words.map((word) => `'${word}'`).join(' ');
    const ask = `COMP_WORDS=(driver-sync ${typed}); COMP_CWORD=${words.length}; _driver_sync; printf '%s\\n' "\${COMPREPLY[@]}"`;
    const done = spawnSync('bash', ['-c', `driver-sync() { local IFS=+; echo "$*"; }\n${stdout}\n${ask}`], {
      encoding: 'utf8',
    });
    expect(done.stderr).toBe('');
    return done.stdout.split('\n').filter((line) => line !== '');
  }

  test('commands, options, choices, and words that are asked for', async () => {
    await expect(offered('ro')).resolves.toEqual(['rollback']);
    await expect(offered('sync', '--f')).resolves.toEqual(['--force']);
    await expect(offered('plan', '--format', '')).resolves.toEqual(['text', 'markdown']);
    await expect(offered('completion', 'f')).resolves.toEqual(['fish']);
    await expect(offered('forget', '')).resolves.toEqual(['complete+sources']);
    await expect(offered('check', 'revenue', 'costs', '')).resolves.toEqual(['complete+sources']);
    await expect(offered('diff', '--config', 'a.yaml', '4', '')).resolves.toEqual(['complete+pushes+--config+a.yaml']);
  });
});

describe('the words that a shell asks for', () => {
  test('sources of the config, pushes and digests of what is held', async () => {
    const { run } = await threeSources();
    expect((await run('complete', 'sources')).stdout).toBe('revenue\ncosts\nstaff\n');
    const pushed = await twoPushes();
    expect((await pushed.run('complete', 'pushes')).stdout).toBe('2\n1\n');
    await pushed.at.write('a.csv', 'id,time,value\n');
    await pushed.run('sync');
    expect((await pushed.run('complete', 'held')).stdout).toMatch(/^[0-9a-f]{12}\n$/);
  });

  test('nothing, and no message, where there is no config', async () => {
    await expect(commandLine('complete', 'sources', '--config', '/nowhere/driver-sync.yaml')).resolves.toMatchObject({
      code: 0,
      stdout: '',
      stderr: '',
    });
  });
});

test('man/driver-sync.1 is up to date; if not: node test/support/update-man-page.ts', () => {
  const page = readFileSync(new URL('../../man/driver-sync.1', import.meta.url), 'utf8');
  expect(page).toBe(manPage(commands));
});

test.skipIf(cannot('mandoc'))('the man page has no fault that a formatter finds', () => {
  const file = new URL('../../man/driver-sync.1', import.meta.url).pathname;
  const { status, stdout, stderr } = spawnSync('mandoc', ['-Tlint', '-Werror', file], { encoding: 'utf8' });
  expect({ status, said: stdout + stderr }).toEqual({ status: 0, said: '' });
});
