import { spawnSync } from 'node:child_process';
import { cp, mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { existsSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { parse } from 'yaml';

const root = join(import.meta.dirname, '../..');
const bin = join(root, 'bin/driver-sync.js');

let scratch: string;
beforeEach(async () => {
  scratch = await mkdtemp(join(tmpdir(), 'driver-sync-packaging-'));
});
afterEach(async () => {
  await rm(scratch, { recursive: true });
});

describe('the package', () => {
  test('has one version in package.json, the lock file and the command', async () => {
    const { version } = await json('package.json');
    const lock = await json('package-lock.json');
    expect(lock.version).toBe(version);
    expect(lock.packages[''].version).toBe(version);
    expect(run(process.execPath, [bin, '--version'])).toMatchObject({ stdout: `${version}\n`, status: 0 });
  });

  test('ships the command, the sample and the unit, and no state of an agent that ran in the checkout', async () => {
    for (const place of ['package.json', '.gitignore', 'LICENSE', 'bin', 'config', 'systemd', 'src', 'test']) {
      await cp(join(root, place), join(scratch, place), { recursive: true });
    }
    await mkdir(join(scratch, 'config/.driver-sync'), { recursive: true });
    await writeFile(join(scratch, 'config/.driver-sync/state'), 'secret figures');
    await mkdir(join(scratch, 'dist'));
    await writeFile(join(scratch, 'dist/main.js'), '');

    const packed = run('npm', ['pack', '--dry-run', '--json', '--ignore-scripts'], { cwd: scratch });
    const files = JSON.parse(packed.stdout)[0].files.map((file: { path: string }) => file.path);
    expect(files).toEqual(
      expect.arrayContaining([
        'LICENSE',
        'bin/driver-sync.js',
        'dist/main.js', // what bin/driver-sync.js imports where there is no src/main.ts
        'config/driver-sync.yaml',
        'config/sample/costs-by-month.csv',
        'systemd/driver-sync.service',
        'systemd/driver-sync.yaml',
      ]),
    );
    expect(files.filter((file: string) => /^(src|test)\/|\.driver-sync\//.test(file))).toEqual([]);
  });

  test('says in one line what an older Node lacks, and exits 64', async () => {
    const { engines } = await json('package.json');
    expect(engines.node).toBe('>=22.22.0');
    const pretend = "Object.defineProperty(process, 'versions', { value: { ...process.versions, node: '22.21.9' } });";
    const refused = run(process.execPath, ['--import', `data:text/javascript,${pretend}`, bin, 'status']);
    expect(refused).toMatchObject({ status: 64, stdout: '' });
    expect(refused.stderr).toMatch(/^driver-sync needs Node 22\.22 or newer and this is 22\.21\.9; .*\n$/);
  });
});

describe('the image', () => {
  test('copies only what is in the tree and let through by .dockerignore', async () => {
    const allowed = lines(await text('.dockerignore'));
    expect(allowed[0]).toBe('*');
    const sources = copies(await text('Dockerfile')).filter((copy) => copy.from === undefined);
    expect(sources.length).toBeGreaterThan(0);
    for (const source of sources.flatMap((copy) => copy.sources)) {
      expect(existsSync(join(root, source)), `${source} is in the tree`).toBe(true);
      expect(allowed, `${source} is let through`).toContain(`!${source.replace(/^\.\//, '')}`);
    }
  });

  test('takes from the build stage only what npm and the compiler put there', async () => {
    const { outDir } = parse(await text('tsconfig.build.json')).compilerOptions;
    const built = copies(await text('Dockerfile')).filter((copy) => copy.from !== undefined);
    expect(built.flatMap((copy) => copy.sources).toSorted()).toEqual([`/app/${outDir}`, '/app/node_modules']);
  });

  test('has every package that is left to whoever uses it but DuckDB, in the version that is asked for', async () => {
    const { peerDependencies } = await json('package.json');
    const [, installed = ''] = /npm install --ignore-scripts ([^]+?)\n\n/.exec(await text('Dockerfile')) ?? [];
    const wanted = Object.entries<string>(peerDependencies)
      .filter(([name]) => name !== '@duckdb/node-api')
      .map(([name, range]) => `${name}@${/^\^(\d+)/.exec(range)?.[1]}`);
    expect(installed.match(/[^\s\\]+/g)?.toSorted()).toEqual(wanted.toSorted());
  });

  test('runs as a user without a name on a Node that the package accepts, and is asked for life by exec', async () => {
    const dockerfile = await text('Dockerfile');
    expect(dockerfile).toMatch(/^USER \d+:\d+$/m);
    expect([...dockerfile.matchAll(/^FROM node:(\d+)-slim/gm)].map((match) => match[1])).toEqual(['24', '24']);
    const [emulator = '', agent = ''] = dockerfile.split(/^FROM runtime/m).slice(1);
    const listOf = (pattern: RegExp, stage: string): string[] => JSON.parse(pattern.exec(stage)?.[1] ?? '[]');
    const entry = /^ENTRYPOINT (\[.*\])$/m;
    expect(listOf(entry, agent)).toEqual(['node', '/app/bin/driver-sync.js']);
    const [volume = ''] = /(?<=^VOLUME )\S+$/m.exec(dockerfile) ?? [];
    expect(listOf(/^\s+CMD (\[.*\])$/m, agent).slice(-4)).toEqual(['status', '--live', '--state', volume]);
    expect(listOf(entry, emulator)).toEqual(['node', '/app/bin/driver-sync.js', 'emulator']);
    expect(listOf(/^\s+CMD (\[.*\])$/m, emulator).at(-1)).toContain('/_emulator/health');
  });
});

test('the Compose file of docs/INSTALL.md has what the image asks for', async () => {
  const [, dockerfile = ''] = (await text('Dockerfile')).split(/^FROM runtime$/m);
  const [, compose = ''] = /## As a container\n[^]*?```yaml\n([^]*?)```/.exec(await text('docs/INSTALL.md')) ?? [];
  const {
    services: { 'driver-sync': service },
    volumes,
  } = parse(compose);
  const mounts = (service.volumes as string[]).map((mount) => mount.split(':'));
  const config = /^ENV DRIVER_SYNC_CONFIG=(.+)$/m.exec(dockerfile)?.[1] ?? '';
  expect(mounts.map(([, inside]) => inside)).toContain(dirname(config));
  expect(mounts.find(([, inside]) => inside === '/var/lib/driver-sync')?.[0]).toBe(Object.keys(volumes)[0]);
  expect(service).toMatchObject({ read_only: true, tmpfs: ['/tmp'], stop_grace_period: '30s' });
});

describe('the systemd unit', () => {
  test('keeps its state and finds its token where its config says', async () => {
    const unit = await text('systemd/driver-sync.service');
    const config = parse(await text('systemd/driver-sync.yaml'));
    const directory = /^StateDirectory=(.+)$/m.exec(unit)?.[1];
    const credential = /^LoadCredential=(\w+):/m.exec(unit)?.[1];
    expect(config.state).toBe(`/var/lib/${directory}`);
    expect(config.destination.tokenFile).toBe(`/run/credentials/driver-sync.service/${credential}`);
  });

  test('is not restarted for what only a person can repair', async () => {
    expect(await text('systemd/driver-sync.service')).toMatch(/^RestartPreventExitStatus=64 78$/m);
  });
});

// A laptop may lack systemd; there these two are reported as skipped. CI installs it, and must not skip.
const hasSystemd = spawnSync('systemd-analyze', ['--version']).status === 0;
describe.skipIf(!hasSystemd && process.env['CI'] === undefined)('the systemd unit, as systemd reads it', () => {
  test('is accepted by systemd-analyze verify', async () => {
    // The command need not be installed here, so the path of something that is stands in for it.
    const unit = (await text('systemd/driver-sync.service')).replaceAll(
      /^(Exec\w+=-?)driver-sync /gm,
      `$1${process.execPath} `,
    );
    const file = join(scratch, 'driver-sync.service');
    await writeFile(file, unit);
    expect(run('systemd-analyze', ['verify', file])).toEqual({ stdout: '', stderr: '', status: 0 });
  });

  test('is exposed by at most 1.5 of 10, as systemd-analyze security counts', () => {
    const unit = join(root, 'systemd/driver-sync.service');
    const scored = run('systemd-analyze', ['security', '--offline=true', '--threshold=15', '--no-pager', unit]);
    expect(scored.stdout).toMatch(/Overall exposure level for driver-sync\.service: \d+\.\d/);
    expect(scored.status, scored.stdout).toBe(0);
  });
});

describe('the sample', () => {
  test('is read without a reject: 21 drivers over the 24 months of two years', async () => {
    const inPlace = (await text('config/driver-sync.yaml')).replaceAll('sample/', `${root}/config/sample/`);
    const planned = run(process.execPath, [bin, 'plan', '--json', '--config', await configOf(inPlace)]);
    const { sources, changes } = JSON.parse(planned.stdout);
    expect(sources).toMatchObject([
      { name: 'orders', rejects: 0, drivers: 8, points: 8 * 24 },
      { name: 'costs', rejects: 0, drivers: 5, points: 5 * 24 - 4 }, // four months without travel
      { name: 'subscriptions', rejects: 0, drivers: 5, points: 5 * 24 },
      { name: 'balances', rejects: 0, drivers: 3, points: 3 * 24 },
    ]);
    expect(changes).toMatchObject({ drivers: { create: 21 }, points: { create: 500 } });
  });

  test('and the config of the unit have no problem that check could find offline', async () => {
    const token = join(scratch, 'token');
    await writeFile(token, 'a-token\n');
    for (const file of ['config/driver-sync.yaml', 'systemd/driver-sync.yaml']) {
      const config = await configOf((await text(file)).replace(/tokenFile: \/run.*/, `tokenFile: ${token}`));
      const checked = run(process.execPath, [bin, 'check', '--offline', '--json', '--config', config]);
      expect(JSON.parse(checked.stdout), file).toMatchObject({ ok: true, problems: [] });
    }
  });
});

/** Writes a config into a folder of its own, where its state will be too. */
async function configOf(content: string): Promise<string> {
  const file = join(await mkdtemp(join(scratch, 'config-')), 'driver-sync.yaml');
  await writeFile(file, content);
  return file;
}

function run(command: string, args: readonly string[], options: { cwd?: string } = {}) {
  const { stdout, stderr, status } = spawnSync(command, args, { encoding: 'utf8', ...options });
  return { stdout, stderr, status };
}

async function text(path: string): Promise<string> {
  return readFile(join(root, path), 'utf8');
}

async function json(path: string) {
  return JSON.parse(await text(path));
}

function lines(content: string): string[] {
  return content.split('\n').filter((line) => line !== '' && !line.startsWith('#'));
}

/** The COPY instructions of a Dockerfile: the stage they take from, if any, and what they take. */
function copies(dockerfile: string): { from: string | undefined; sources: string[] }[] {
  return lines(dockerfile)
    .filter((line) => line.startsWith('COPY '))
    .map((line) => {
      const words = line.split(/\s+/).slice(1);
      const from = words.find((word) => word.startsWith('--from='))?.slice('--from='.length);
      return { from, sources: words.filter((word) => !word.startsWith('--')).slice(0, -1) };
    });
}
