/** The command line as such: help, usage, where the config is found, streams, and the commands that need no state. */
import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, readFileSync, readdirSync } from 'node:fs';
import { mkdir, mkdtemp, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { text } from 'node:stream/consumers';
import { describe, expect, onTestFinished, test } from 'vitest';
import { parse } from 'yaml';
import { z } from 'zod';
import { executable } from '../support/built.ts';
import { commandLine, shapes } from '../support/command-line.ts';
import { csv, place } from '../support/process.ts';
import { openReceiver } from '../support/receiver.ts';
import { longFile } from '../support/world.ts';

const root = path.resolve(import.meta.dirname, '../..');

const commands = [
  'run',
  'sync',
  'check',
  'plan',
  'approve',
  'forget',
  'status',
  'history',
  'diff',
  'rollback',
  'explain',
  'rejects',
  'emulator',
  'init',
  'schema',
];

async function emptyDir(): Promise<string> {
  const dir = await mkdtemp(path.join(tmpdir(), 'driver-sync-commands-'));
  onTestFinished(() => rm(dir, { recursive: true }));
  return dir;
}

/** A config that is right, of a source that is there. */
async function configured(): Promise<{ dir: string; config: string }> {
  const dir = await emptyDir();
  const config = path.join(dir, 'driver-sync.yaml');
  await writeFile(path.join(dir, 'a.csv'), longFile({ North: { '2026-01': 1 } }));
  await writeFile(
    config,
    JSON.stringify({ destination: { url: 'http://127.0.0.1:9' }, sources: { revenue: csv('a.csv') } }),
  );
  return { dir, config };
}

describe('help', () => {
  test('begins with examples, lists every command and its exit codes', async () => {
    const { code, stdout, stderr } = await commandLine('--help');
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
    expect(stdout).toMatch(/^Examples:\n {2}driver-sync /);
    for (const command of commands) expect(stdout).toMatch(new RegExp(`^ {2}${command}\\b`, 'm'));
    for (const exit of [0, 1, 2, 3, 4, 5, 64, 75, 78]) expect(stdout).toMatch(new RegExp(`\\b${exit} `));
  });

  test.each(commands)('of %s begins with examples too', async (command) => {
    const { code, stdout } = await commandLine(command, '--help');
    expect(code).toBe(0);
    expect(stdout).toMatch(new RegExp(`^Examples:\\n {2}driver-sync ${command}`));
    expect(stdout).toContain('--config');
  });

  test('--json is offered by every command that prints data', async () => {
    for (const command of ['sync', 'check', 'plan', 'approve', 'forget', 'status', 'history', 'diff', 'rollback']) {
      expect((await commandLine(command, '--help')).stdout).toContain('--json');
    }
  });
});

test('--version is that of the package', async () => {
  const { version } = JSON.parse(readFileSync(path.join(root, 'package.json'), 'utf8')) as { version: string };
  expect(await commandLine('--version')).toMatchObject({ code: 0, stdout: `${version}\n` });
});

describe('usage that is wrong exits 64 and says so on stderr', () => {
  test.each([
    ['no command', []],
    ['an unknown command', ['synk']],
    ['an unknown option', ['sync', '--hard']],
    ['an option of another command', ['plan', '--force']],
    ['a missing argument', ['approve']],
    ['one argument of two', ['diff', '1']],
    ['an argument too many', ['status', 'now']],
    ['an unknown log level', ['sync', '--log-level', 'loud']],
    ['an option without its value', ['sync', '--config']],
  ])('%s', async (_what, args) => {
    const { code, stdout, stderr } = await commandLine(...args);
    expect({ code, stdout }).toEqual({ code: 64, stdout: '' });
    expect(stderr).not.toBe('');
  });

  test('a command that is nearly right is suggested', async () => {
    expect((await commandLine('synk')).stderr).toContain('sync');
  });

  test.each([
    ['an unknown option', ['sync', '--hard', '--json']],
    ['a missing argument', ['explain', '--json']],
  ])('with --json it is an error as any other: %s', async (_what, args) => {
    const { code, json } = await commandLine(...args);
    expect(code).toBe(64);
    expect(json()).toMatchObject(shapes.failure(64));
  });
});

describe('a command that only looks', () => {
  const looking = [
    ['status'],
    ['history'],
    ['diff', '1', '2'],
    ['explain', 'North'],
    ['rejects'],
    ['approve', '0123456789abcdef'],
    ['forget', 'revenue', '--yes'],
    ['rollback', '1'],
  ];

  test.each(looking)('says where it looked when there is no state: %s', async (...args) => {
    const { dir, config } = await configured();
    const { code, json } = await commandLine(...args, '--config', config, '--json');
    expect(code).toBe(78);
    expect(json()).toMatchObject(shapes.failure(78));
    expect(JSON.stringify(json())).toContain(path.join(dir, '.driver-sync'));
    expect(existsSync(path.join(dir, '.driver-sync'))).toBe(false);
  });

  test('prefers a config that is wrong to an unknown driver', async () => {
    const { config } = await configured();
    await writeFile(config, 'sources: 3\n');
    const { code, json } = await commandLine('explain', 'nobody', '--config', config, '--json');
    expect(code).toBe(78);
    expect(json()).toMatchObject(shapes.failure(78));
  });
});

describe('the config', () => {
  test('that is nowhere is 78, and every place is named', async () => {
    await using at = await place({}, {});
    await at.remove('driver-sync.yaml');
    const { code, stdout, stderr } = await at.command('sync');
    expect({ code, stdout }).toEqual({ code: 78, stdout: '' });
    for (const looked of ['driver-sync.yaml', 'config/driver-sync.yaml', '/etc/driver-sync/config.yaml']) {
      expect(stderr).toContain(looked);
    }
    expect(stderr).toContain('driver-sync init');
  });

  test('is that of --config, else of $DRIVER_SYNC_CONFIG, else the first of the usual places', async () => {
    const named = (name: string): object => ({ destination: 'emulator', sources: { [name]: csv(`${name}.csv`) } });
    await using at = await place(named('local'), {}, { DRIVER_SYNC_CONFIG: 'env.yaml' });
    for (const name of ['env', 'flag', 'below']) {
      await at.write(name === 'below' ? 'config/driver-sync.yaml' : `${name}.yaml`, JSON.stringify(named(name)));
    }
    const sourceOf = async (...args: readonly string[]): Promise<string> => {
      const { code, stdout } = await at.command('check', ...args);
      expect(code).toBe(3); // none of the files is there
      return /^source (\w+)/m.exec(stdout)?.[1] ?? stdout;
    };
    expect(await sourceOf('--config', 'flag.yaml')).toBe('flag');
    expect(await sourceOf()).toBe('env');
  });

  test('below config/ is found where there is none beside', async () => {
    await using at = await place({}, {});
    await at.remove('driver-sync.yaml');
    await at.write('config/driver-sync.yaml', 'destination: emulator\nsources: {}\nwhat: 1\n');
    const { code, stdout } = await at.command('check', '--offline');
    expect(code).toBe(78);
    expect(stdout).toContain('config/driver-sync.yaml:3:1 ');
  });

  test('that a flag names and that is not there is not looked for elsewhere', async () => {
    const { dir } = await configured();
    const missing = path.join(dir, 'other.yaml');
    const { code, json } = await commandLine('status', '--config', missing, '--json');
    expect(code).toBe(78);
    expect(json()).toMatchObject({ ...shapes.failure(78), error: { message: expect.stringContaining(missing) } });
  });
});

describe('streams', () => {
  test('data goes to stdout as one line, talk to stderr, and nothing is coloured for a pipe', async () => {
    await using receiver = await openReceiver();
    await using at = await place(
      { destination: { url: receiver.url }, sources: { revenue: csv('a.csv') } },
      { 'a.csv': longFile({ North: { '2026-01': 1 } }) },
      { FORCE_COLOR: '' },
    );
    const { code, stdout, stderr } = await at.command('sync', '--json', '--log-level', 'debug');
    expect(code).toBe(0);
    expect(stdout.trimEnd().split('\n')).toHaveLength(1);
    expect(JSON.parse(stdout)).toMatchObject({ outcome: 'acknowledged' });
    expect(stdout + stderr).not.toContain('\u001b');
  });

  // `script` of util-linux gives a command a terminal.
  const isScriptThere = spawnSync('bash', ['-c', 'script --version']).status === 0;

  test.skipIf(!isScriptThere && process.env['CI'] === undefined)(
    'a terminal gets colours, but not with NO_COLOR',
    async () => {
      await using receiver = await openReceiver();
      const { config } = await configured();
      await writeFile(
        config,
        JSON.stringify({ destination: { url: receiver.url }, sources: { revenue: csv('a.csv') } }),
      );
      const onTerminal = async (env: NodeJS.ProcessEnv): Promise<string> => {
        // A service that is busy gives the command something to say.
        receiver.answer({ status: 503, headers: { 'retry-after': '0' } });
        const line = `script -qec '${process.execPath} ${executable} sync --force --config ${config}' /dev/null`;
        const child = spawn('bash', ['-c', line], {
          env: { PATH: process.env['PATH'], TERM: 'xterm-256color', ...env },
          stdio: ['ignore', 'pipe', 'ignore'],
        });
        return await text(child.stdout);
      };
      const colour = new RegExp(`${String.fromCodePoint(27)}\\[\\d+m`);
      expect(await onTerminal({})).toMatch(colour);
      const plain = await onTerminal({ NO_COLOR: '1' });
      expect(plain).toContain('tried again');
      expect(plain).not.toMatch(colour);
    },
  );

  test('a closed pipe is no error, on either stream', async () => {
    await using receiver = await openReceiver();
    const { config } = await configured();
    await writeFile(config, JSON.stringify({ destination: { url: receiver.url }, sources: { revenue: csv('a.csv') } }));
    // A service that is busy gives the command something to say.
    receiver.answer({ status: 503, headers: { 'retry-after': '0' } });
    for (const piped of ['schema | true', `sync --config ${config} 2>&1 | true`]) {
      const line = `${process.execPath} ${executable} ${piped}; exit \${PIPESTATUS[0]}`;
      const child = spawn('bash', ['-c', line], { stdio: ['ignore', 'ignore', 'pipe'] });
      const [said, [status]] = await Promise.all([text(child.stderr), once(child, 'exit')]);
      expect({ status, said }).toEqual({ status: 0, said: '' });
    }
    expect(receiver.posts).toHaveLength(2);
  });
});

describe('init', () => {
  test('writes a config and sample data that check finds right, and overwrites nothing', async () => {
    await using at = await place({}, {});
    expect(await at.command('init', 'finance')).toMatchObject({
      code: 0,
      stdout: expect.stringContaining('driver-sync check'),
    });
    const config = path.join(at.dir, 'finance/driver-sync.yaml');
    expect(readFileSync(config, 'utf8').match(/#/g)?.length).toBeGreaterThan(10);

    const checked = await at.command('check', '--config', config, '--json');
    expect(checked.code).toBe(0);
    expect(checked.json()).toMatchObject({ ok: true, problems: [] });
    expect(readdirSync(path.dirname(config))).not.toContain('.driver-sync');

    await writeFile(config, '# mine');
    const again = await at.command('init', 'finance', '--json');
    expect(again.code).toBe(64);
    expect(again.json()).toMatchObject({
      ...shapes.failure(64),
      error: { message: expect.stringContaining('already') },
    });
    expect(readFileSync(config, 'utf8')).toBe('# mine');
  });

  test('is refused, and is no bug, where a link leads nowhere or a file stands in its way', async () => {
    const dir = await emptyDir();
    await symlink(path.join(dir, 'nowhere'), path.join(dir, 'link'));
    await mkdir(path.join(dir, 'sub'));
    await symlink(path.join(dir, 'nowhere'), path.join(dir, 'sub/driver-sync.yaml'));
    await writeFile(path.join(dir, 'file'), '');
    for (const target of ['link', 'sub', 'file', 'file/below']) {
      const { code, json } = await commandLine('init', path.join(dir, target), '--json');
      expect({ target, code }).toEqual({ target, code: 64 });
      expect(json()).toMatchObject(shapes.failure(64));
    }
    expect(existsSync(path.join(dir, 'nowhere'))).toBe(false);
  });

  test('keeps away from a directory with data of the same name', async () => {
    const dir = await emptyDir();
    await mkdir(path.join(dir, 'sample'));
    await writeFile(path.join(dir, 'sample/mine.csv'), 'a\n');
    expect((await commandLine('init', dir)).code).toBe(64);
    expect(readdirSync(dir)).toEqual(['sample']);
    expect(readdirSync(path.join(dir, 'sample'))).toEqual(['mine.csv']);
  });
});

test('schema prints a JSON Schema that takes the sample config and no other keys', async () => {
  const { code, json } = await commandLine('schema');
  expect(code).toBe(0);
  const schema = json();
  expect(schema).toMatchObject({ $schema: expect.stringContaining('json-schema.org'), type: 'object' });
  const sample = parse(readFileSync(path.join(root, 'config/driver-sync.yaml'), 'utf8')) as object;
  const accepts = z.fromJSONSchema(schema);
  expect(accepts.safeParse(sample).error).toBeUndefined();
  expect(accepts.safeParse({ ...sample, sorces: {} }).success).toBe(false);
  expect(accepts.safeParse({ ...sample, destination: undefined }).success).toBe(false);
});
