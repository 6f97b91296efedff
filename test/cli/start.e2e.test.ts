/**
 * What a command loads: a package that it does not need costs time at every start, and memory while a daemon waits. And what a signal
 * does meanwhile, and how a command ends that waits for nothing.
 */
import { spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { checkout, executable } from '../support/built.ts';
import { one, scene, two } from '../support/daemon-scene.ts';
import { type Place, type Running, csv, place, startProcess } from '../support/process.ts';
import { openReceiver } from '../support/receiver.ts';
import { longFile } from '../support/world.ts';

/** Writes the addresses of all modules that the process loaded to the file that `LOADED` names. */
const recorder = `data:text/javascript,${encodeURIComponent(`
  import { writeFileSync } from 'node:fs';
  import { registerHooks } from 'node:module';
  const urls = [];
  registerHooks({ load: (url, context, next) => (urls.push(url), next(url, context)) });
  process.on('exit', () => writeFileSync(process.env.LOADED, urls.join(' ')));
`)}`;

test('a sync with nothing to send loads no package of the network, of tables, of names of months or of logs', async () => {
  const dir = await mkdtemp(path.join(tmpdir(), 'driver-sync-start-'));
  onTestFinished(() => rm(dir, { recursive: true }));
  const env = { LOADED: path.join(dir, 'loaded'), NODE_OPTIONS: `--import=${recorder}` };
  const loaded = (): string[] => {
    const packages = readFileSync(env.LOADED, 'utf8').matchAll(/node_modules\/([^/ ]+)\//g);
    return [...new Set([...packages].map(([, name = '']) => name))].toSorted();
  };
  await using receiver = await openReceiver();
  const sources = { revenue: csv('a.csv', { drivers: [entry] }) };
  await using at = await place(
    { destination: { url: receiver.url }, sources },
    { 'a.csv': longFile({ North: { '2026-01': 1 } }) },
    env,
    // Built, packages are parts of the agent's own files.
    checkout,
  );
  expect((await at.command('sync')).code).toBe(0);
  // A push that no proxy is named for is sent by Node's own client.
  expect(loaded()).not.toContain('undici');
  expect((await at.command('sync')).stdout).toContain('unchanged');
  expect(loaded()).toEqual(['better-sqlite3', 'commander', 'croner', 're2js', 'yaml', 'zod']);
  // A ledger of its own needs nothing of one that is shared, but whether there was one.
  const shared = readFileSync(env.LOADED, 'utf8').matchAll(
    /\/src\/(edges\/shared\/\S*|core\/election\/\S*|compose\/shared\S*)/g,
  );
  expect([...shared].map(([, file]) => file)).toEqual(['edges/shared/seen.ts']);
});

/** Has no watch left for anybody, as a system whose `fs.inotify.max_user_watches` or `max_user_instances` are used up. */
const unwatched = `data:text/javascript,${encodeURIComponent(`
  import fs from 'node:fs';
  import { syncBuiltinESMExports } from 'node:module';
  fs.watch = () => { throw Object.assign(new Error('ENOSPC: no watches left'), { code: 'ENOSPC', errno: -28 }); };
  syncBuiltinESMExports();
`)}`;

test('a daemon starts where nothing can be watched: it says so, and polls', async () => {
  await using receiver = await openReceiver();
  const sources = { sales: csv('a.csv', { poll: '1s' }) };
  const config = { destination: { url: receiver.url }, pushOnChange: '1s', sources };
  await using at = await place(config, { 'a.csv': one }, { NODE_OPTIONS: `--import=${unwatched}` });
  const daemon = await at.daemon();
  await receiver.post(1);
  expect(daemon.stderr).toContain('commands cannot wake the agent');
  await at.write('a.csv', two);
  await receiver.post(2);
  daemon.kill('SIGTERM');
  expect((await daemon.exit).code).toBe(0);
});

test('a command that waits for what can never come ends as a bug, and not with 0', () => {
  const stuck = `data:text/javascript,${encodeURIComponent(`
    import { registerHooks } from 'node:module';
    const source = 'await new Promise(() => undefined); export const schema = () => 0;';
    const load = (url, context, next) => url.endsWith('/cli/schema.ts') ? { format: 'module', source, shortCircuit: true } : next(url, context);
    registerHooks({ load });
  `)}`;
  const { status, stdout, stderr } = spawnSync(process.execPath, ['--import', stuck, checkout, 'schema', '--json'], {
    encoding: 'utf8',
  });
  expect(status).toBe(1);
  expect(JSON.parse(stdout)).toMatchObject({ error: { code: 'bug' }, exit: 1 });
  expect(stderr).toMatch(/^driver-sync: a bug, please report it\n.*the command has not ended/);
});

const entry = {
  id: '{id}',
  path: ['{id}'],
  time: { from: '{time}', format: 'yyyy-MM' },
  value: '{value}',
};

/** A daemon that gets a signal when the executable takes its first module, long before the agent is there. */
async function signalledEarly(where: Place, signal: NodeJS.Signals): Promise<Running> {
  const early = `const { getBuiltinModule } = process;
    process.getBuiltinModule = (name) => {
      process.getBuiltinModule = getBuiltinModule;
      process.kill(process.pid, '${signal}');
      return getBuiltinModule(name);
    };`;
  await where.write('early.mjs', early);
  return startProcess(['--import', './early.mjs', executable, 'run'], where.dir);
}

test.each(['SIGTERM', 'SIGINT'] as const)('a daemon that is still loading ends with 0 on %s', async (signal) => {
  await using s = await scene();
  await using daemon = await signalledEarly(s.place, signal);
  expect(await daemon.exit).toEqual({ code: 0, signal: undefined });
});

test.each([
  ['SIGHUP', /the config is loaded again/],
  ['SIGUSR2', /"pushed"/],
  ['SIGUSR1', /"pushed"/],
] as const)('a daemon that is still loading lives through %s, and opens no debugger', async (signal, says) => {
  await using s = await scene();
  await using daemon = await signalledEarly(s.place, signal);
  await daemon.says(says);
  expect(daemon.stderr).not.toContain('Debugger');
  daemon.kill('SIGTERM');
  expect(await daemon.exit).toEqual({ code: 0, signal: undefined });
});
