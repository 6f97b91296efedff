/** The built files, as a package has them: they do what the checkout does, and load little. */
import { spawnSync } from 'node:child_process';
import { mkdir, mkdtemp, readFile, readdir, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { builtFolder, root } from '../support/built.ts';
import { csv, place } from '../support/process.ts';
import { openReceiver } from '../support/receiver.ts';

async function emptyFolder(): Promise<string> {
  const folder = await mkdtemp(path.join(tmpdir(), 'driver-sync-built-'));
  onTestFinished(() => rm(folder, { recursive: true }));
  return folder;
}

test('load no package but the binary of SQLite, and few files, for a sync with nothing to send', async () => {
  const env = { LOADED: path.join(await emptyFolder(), 'loaded'), NODE_OPTIONS: `--import=${recorder}` };
  await using receiver = await openReceiver();
  const config = { destination: { url: receiver.url }, sources: { revenue: csv('a.csv') } };
  await using at = await place(config, { 'a.csv': 'id,time,value\na,2026-03-01,1.50\n' }, env);
  for (const outcome of ['acknowledged', 'unchanged']) {
    expect((await at.command('sync', '--json')).json()).toMatchObject({ outcome });
    // Parts of Node that an import of node:http would load: HTTP/2 and fetch.
    const ofNode = (await readFile(env.LOADED, 'utf8')).split('\n');
    expect(ofNode).toContain('NativeModule zlib');
    expect(ofNode.filter((name) => /http2|undici/.test(name))).toEqual([]);
  }
  const all = (await readFile(env.LOADED, 'utf8')).split('\n');
  // Asked for where a program, a process or a thread is started.
  expect(all.filter((name) => /child_process|worker_threads/.test(name))).toEqual([]);
  const loaded = all.filter((url) => url.startsWith('file:'));
  const packages = loaded.flatMap((url) => /node_modules\/([^/]+)\//.exec(url)?.[1] ?? []);
  expect(packages).toEqual([]);
  expect(loaded.length).toBeLessThan(16);
  // What Node loads once a flag of V8 is set is compiled from its text.
  const flag = all.indexOf('a flag of V8');
  expect(flag).toBeGreaterThan(0);
  const late = ofNodeAt(all).filter((name) => !ofNodeAt(all.slice(0, flag)).includes(name));
  expect(late.length).toBeLessThan(10);
});

test('load nothing that reads a config to say a version, how a command is used, or that there is none', async () => {
  const env = { LOADED: path.join(await emptyFolder(), 'loaded'), NODE_OPTIONS: `--import=${recorder}` };
  await using at = await place({}, {}, env);
  for (const words of [['--version'], ['sync', '--help'], ['snyc']]) {
    await at.command(...words);
    const loaded = (await readFile(env.LOADED, 'utf8')).split('\n').filter((url) => url.startsWith('file:'));
    expect(loaded.map((url) => path.basename(url))).toContain('main.js');
    expect(loaded.length).toBeLessThan(8);
  }
});

test('load for a page of the status page, or its metrics, nothing of what most commands need', async () => {
  const dist = path.join(builtFolder, 'dist');
  const loads = async (name: string, known = new Set<string>()): Promise<ReadonlySet<string>> => {
    if (known.has(name)) return known;
    known.add(name);
    const code = await readFile(path.join(dist, name), 'latin1');
    for (const [, other = ''] of code.matchAll(/^(?:import|export)\b[^;]*"\.\/([^"]+)";$/gm)) await loads(other, known);
    return known;
  };
  const names = (await readdir(dist)).filter((name) => name.endsWith('.js'));
  const [commands, ...others] = names.filter((name) => /^agent-[\w-]{8}\.js$/.test(name));
  expect(others).toEqual([]);
  expect(await loads(names.find((name) => name.startsWith('check-')) ?? '')).toContain(commands);
  const pages = names.filter((name) =>
    /^(?:status-thread|metrics-|(?:overview|source|held)-page-|(?:driver|push)-pages-)/.test(name),
  );
  expect(pages.length).toBeGreaterThan(6);
  for (const page of pages) expect(await loads(page), page).not.toContain(commands);
});

const ofNodeAt = (names: readonly string[]): string[] => names.filter((name) => name.startsWith('NativeModule '));

/** Writes the addresses of all modules that the process loaded, and what of Node itself until the first flag of V8 was set and in the end, to the file that `LOADED` names. */
const recorder = `data:text/javascript,${encodeURIComponent(`
  import { writeFileSync } from 'node:fs';
  import { registerHooks } from 'node:module';
  const urls = [];
  const before = [];
  const v8 = process.getBuiltinModule('node:v8');
  const set = v8.setFlagsFromString;
  v8.setFlagsFromString = (flag) => {
    if (before.length === 0) before.push(...process.moduleLoadList, 'a flag of V8');
    set(flag);
  };
  registerHooks({ load: (url, context, next) => (urls.push(url), next(url, context)) });
  process.on('exit', () => writeFileSync(process.env.LOADED, [...urls, ...before, ...process.moduleLoadList].join('\\n')));
`)}`;

test('write a starter config with its sample, and run it with the emulator, whose films and pages are there', async () => {
  await using at = await place({}, {});
  expect((await at.command('init', 'finance')).code).toBe(0);
  const started = at.start('run', '--config', 'finance/driver-sync.yaml');
  const [, url = ''] = await started.says(/emulator: (http:\/\/\S+)/);
  await started.says(/pushed: +21 drivers/);
  for (const asset of ['pages.css', 'pages.js']) {
    expect((await fetch(`${url}/console/assets/${asset}`)).status).toBe(200);
  }
  started.kill('SIGTERM');
  expect(await started.exit).toMatchObject({ code: 0 });
  expect(await readdir(path.join(builtFolder, 'dist/films'))).toEqual(
    await readdir(path.join(root, 'src/emulator/routing/films')),
  );
});

test('are ASCII, so that V8 keeps one byte a character', async () => {
  const files = (await readdir(path.join(builtFolder, 'dist'))).filter((name) => name.endsWith('.js'));
  expect(files).toContain('main.js');
  for (const file of files) {
    const bytes = await readFile(path.join(builtFolder, 'dist', file));
    expect([file, bytes.findIndex((byte) => byte > 0x7f)]).toEqual([file, -1]);
  }
});

test('have the licence of every package that is part of them', async () => {
  const notices = await readFile(path.join(builtFolder, 'dist/THIRD-PARTY-LICENSES.txt'), 'utf8');
  for (const name of ['better-sqlite3', 'commander', 'undici', 'yaml', 'zod'])
    expect(notices).toMatch(new RegExp(`^${name} \\d`, 'm'));
  expect(notices).not.toMatch(/^pino /m);
});

test('give the emulator to a program that imports it', async () => {
  const project = await emptyFolder();
  await mkdir(path.join(project, 'node_modules'), { recursive: true });
  await symlink(builtFolder, path.join(project, 'node_modules/driver-sync'));
  const program = `
    import { startEmulator } from 'driver-sync/emulator';
    await using emulator = await startEmulator({ port: 0 });
    console.log((await fetch(emulator.url + '/console')).status);`;
  await writeFile(path.join(project, 'program.mjs'), program);
  const ran = spawnSync(process.execPath, ['program.mjs'], { cwd: project, encoding: 'utf8' });
  expect(ran).toMatchObject({ stdout: '200\n', status: 0 });
});
