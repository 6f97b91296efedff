/** The preview of a pull request, as the jobs in docs/preview run it. */
import { spawnSync } from 'node:child_process';
import { chmod, cp, mkdir, readFile, readdir, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect, test } from 'vitest';
import { parse } from 'yaml';
import { executable } from '../support/built.ts';
import { commandsWorld } from '../support/commands-world.ts';
import { csv } from '../support/process.ts';
import { longFile } from '../support/world.ts';

const root = fileURLToPath(new URL('../..', import.meta.url));
const nothing = 'nothing would change';

/** A driver pushed, a copy of the state, and a config that names the state by the variable. */
async function previewWorld() {
  const { at, run } = await commandsWorld(
    { a: csv('a.csv') },
    { 'a.csv': longFile({ North: { '2026-01': '1.50' } }) },
    { state: '${DRIVER_SYNC_STATE:-.driver-sync}' },
  );
  await run('sync');
  const backup = path.join(at.dir, 'backup');
  await cp(at.state, backup, { recursive: true });
  const bin = path.join(at.dir, 'bin');
  await mkdir(bin);
  const command = async (script: string): Promise<void> => {
    await writeFile(path.join(bin, 'driver-sync'), `#!/bin/sh\n${script}\n`);
    await chmod(path.join(bin, 'driver-sync'), 0o755);
  };
  await command(`exec '${process.execPath}' '${executable}' "$@"`);
  const preview = async (state = backup) => {
    const file = path.join(at.dir, 'comment.md');
    const args = [path.join(root, 'docs/preview/preview.sh'), state, path.join(at.dir, 'driver-sync.yaml'), file];
    const { status } = spawnSync('sh', args, { env: { ...process.env, PATH: `${bin}:${process.env['PATH']}` } });
    return { exit: status, comment: await readFile(file, 'utf8') };
  };
  return { at, backup, command, preview };
}

test('says what a config changes, and leaves the copy of the state as it is', async () => {
  const { at, backup, preview } = await previewWorld();
  const before = await readdir(backup);
  expect(await preview()).toMatchObject({ exit: 0, comment: expect.stringContaining(nothing) });
  const text = await readFile(path.join(at.dir, 'driver-sync.yaml'), 'utf8');
  await at.write('driver-sync.yaml', text.replace(/value: "?\{value\}"?/, 'value: { from: "{value}", scale: 1000 }'));
  const { exit, comment } = await preview();
  expect(exit).toBe(0);
  expect(comment).toContain(
    '| <code>North</code> | <code>North</code> | <code>2026-01</code> | 1.50 | 1500.00 | +1498.50 |',
  );
  expect(await readdir(backup)).toEqual(before);
});

test('without a preview it says that nobody knows, and ends with what went wrong', async () => {
  const { at, command, preview } = await previewWorld();
  const loud = expect.stringMatching(/^<!-- driver-sync -->\n### driver-sync: the preview could not be made\n/);
  expect(await preview(path.join(at.dir, 'nowhere'))).toEqual({ exit: 78, comment: loud });
  await command('exit 0');
  expect(await preview()).toEqual({ exit: 1, comment: loud });
  await command('kill -9 $$');
  expect(await preview()).toEqual({ exit: 137, comment: loud });
  await command(`exec '${process.execPath}' '${executable}' "$@"`);
  await at.write('driver-sync.yaml', 'sources: []\n');
  expect(await preview()).toEqual({ exit: 78, comment: loud });
});

test('a source that was not read makes the check red', async () => {
  const { at, preview } = await previewWorld();
  await at.remove('a.csv');
  const { exit, comment } = await preview();
  expect([exit, comment.includes(nothing)]).toEqual([3, false]);
});

test('the jobs run that script, for branches of the own repository, and comment whatever happened', async () => {
  const job = async (name: string) => parse(await readFile(path.join(root, 'docs/preview', name), 'utf8')) as object;
  const run = 'sh preview.sh /srv/backup/driver-sync driver-sync.yaml comment.md';
  expect(await job('github.yml')).toMatchObject({
    on: { pull_request: {} },
    jobs: { preview: { if: expect.stringContaining('head.repo'), steps: [{}, { run }, { if: 'always()' }] } },
  });
  expect(await job('gitlab.yml')).toMatchObject({
    'driver-sync preview': { script: [run], rules: [{ if: expect.stringContaining('SOURCE_PROJECT_ID') }] },
  });
});
