/** `driver-sync emulator`, as a process. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { appendFile, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { text } from 'node:stream/consumers';
import { expect, onTestFinished, test } from 'vitest';
import { executable } from '../support/built.ts';
import { commandLine } from '../support/command-line.ts';
import { openReceiver } from '../support/receiver.ts';

async function emptyDir(): Promise<string> {
  const dir = await mkdtemp(path.join(tmpdir(), 'driver-sync-emulator-'));
  onTestFinished(() => rm(dir, { recursive: true }));
  return dir;
}

test('it serves the driver endpoint until SIGTERM, with a token where one is named', async () => {
  const child = spawn(process.execPath, [executable, 'emulator', '--listen', '127.0.0.1:0', '--token', 'open sesame']);
  onTestFinished(() => void child.kill('SIGKILL'));
  const printed = text(child.stderr);
  const [first] = (await once(child.stdout, 'data')) as [Buffer];
  const url = /http:\/\/\S+/.exec(first.toString())?.[0] ?? '';
  const body = JSON.stringify({ shouldDeleteMissing: true, extDrivers: [] });
  const push = async (headers: Record<string, string>): Promise<number> => {
    const answer = await fetch(`${url}/api/extDrivers/update`, { method: 'POST', body, headers });
    return answer.status;
  };
  expect(await push({})).toBe(401);
  expect(await push({ authorization: 'Bearer open sesame' })).toBe(200);
  expect(await (await fetch(`${url}/_emulator/drivers`)).json()).toEqual({ drivers: [] });
  child.kill('SIGTERM');
  expect(await once(child, 'exit')).toEqual([0, null]);
  expect(await printed).toBe('');
});

test('it says where it listens as JSON, for a script that asked for any port', async () => {
  const child = spawn(process.execPath, [executable, 'emulator', '--listen', '127.0.0.1:0', '--json']);
  onTestFinished(() => void child.kill('SIGKILL'));
  const [first] = (await once(child.stdout, 'data')) as [Buffer];
  const places = JSON.parse(first.toString()) as Record<string, string>;
  expect(Object.keys(places)).toEqual([
    'emulator',
    'listens',
    'console',
    'drivers',
    'routers',
    'catalog',
    'agentTools',
  ]);
  for (const name of ['console', 'drivers', 'routers', 'catalog'])
    expect((await fetch(places[name]!)).status, name).toBe(200);
});

test('it takes its token from a file or the environment too, where others cannot read it', async () => {
  const file = path.join(await emptyDir(), 'token');
  await writeFile(file, 'open sesame\n');
  for (const [args, env] of [
    [['--token-file', file], {}],
    [[], { DRIVER_SYNC_EMULATOR_TOKEN: 'open sesame' }],
    [['--token-file', file], { DRIVER_SYNC_EMULATOR_TOKEN: 'another' }],
  ] as const) {
    const child = spawn(process.execPath, [executable, 'emulator', '--listen', '127.0.0.1:0', ...args], {
      env: { ...process.env, ...env },
    });
    onTestFinished(() => void child.kill('SIGKILL'));
    const [first] = (await once(child.stdout, 'data')) as [Buffer];
    const url = /http:\/\/\S+/.exec(first.toString())?.[0] ?? '';
    const statusWith = async (token: string): Promise<number> =>
      (await fetch(`${url}/v1/routers`, { headers: { authorization: `Bearer ${token}` } })).status;
    expect(await statusWith('open sesame')).toBe(200);
    expect(await statusWith('another')).toBe(401);
    child.kill('SIGTERM');
    expect(await once(child, 'exit')).toEqual([0, null]);
  }
});

test('it warns where it listens to others without a token, and prints its public address and where it listens', async () => {
  for (const [args, warning] of [
    [['--listen', '0.0.0.0:0', '--public-url', 'http://emulator.lan:8787/'], 'everybody who can reach 0.0.0.0:0'],
    [['--listen', '0.0.0.0:0', '--token', 'open sesame'], ''],
    [['--listen', '127.0.0.1:0'], ''],
  ] as const) {
    const child = spawn(process.execPath, [executable, 'emulator', ...args]);
    onTestFinished(() => void child.kill('SIGKILL'));
    const [said, printed] = [text(child.stderr), text(child.stdout)];
    child.stdout.once('data', () => child.kill('SIGTERM'));
    await once(child, 'exit');
    expect(await said).toMatch(warning === '' ? /^$/ : new RegExp(warning));
    expect((await printed).includes('http://emulator.lan:8787/console')).toBe(warning !== '');
    expect(/^listens: +http:\/\/\S+:[1-9]\d*$/m.test(await printed)).toBe(warning !== '');
  }
});

test('it refuses an address without a host in its brackets', async () => {
  expect(await commandLine('emulator', '--listen', '[]:0')).toMatchObject({
    code: 64,
    stderr: expect.stringContaining('"[]:0" is not an address to listen on'),
  });
});

test('it records what a service answers, and plays it without the service', async () => {
  const file = path.join(await emptyDir(), 'recording.jsonl');
  const started = async (...args: readonly string[]) => {
    const child = spawn(process.execPath, [executable, 'emulator', '--listen', '127.0.0.1:0', ...args]);
    onTestFinished(() => void child.kill('SIGKILL'));
    const [first] = (await once(child.stdout, 'data')) as [Buffer];
    return { child, url: /http:\/\/\S+/.exec(first.toString())?.[0] ?? '' };
  };
  const ask = async (url: string): Promise<string> => (await fetch(`${url}/v1/organization`)).text();
  const service = await started('--credits', '4711');
  const recorder = await started('--record', service.url, file);
  const heard = await ask(recorder.url);
  for (const { child } of [recorder, service]) child.kill('SIGTERM');
  await appendFile(file, '{"method":"GET","pa');
  const replay = await started('--replay', file);
  const [warned] = (await once(replay.child.stderr, 'data')) as [Buffer];
  expect(warned.toString()).toBe(`warning: line 2 of ${file} breaks off, and is left out\n`);
  expect(await ask(replay.url)).toBe(heard);
  expect(heard).toContain('4711');
  const mixed = await commandLine('emulator', '--record', service.url);
  expect(mixed).toMatchObject({ code: 64, stderr: expect.stringContaining('not clear') });
});

test.for([
  ['--token', 'T', '--record', 'http://127.0.0.1:9', 'tape.jsonl'],
  ['--keep-bodies', '5', '--record', 'http://127.0.0.1:9', 'tape.jsonl'],
  ['--strict', '--replay', 'tape.jsonl'],
  ['--fixtures', 'fixtures.json', '--replay', 'tape.jsonl'],
])('an option of the emulator that a recording has no use for is refused: %o', async (args) => {
  const refused = await commandLine('emulator', '--listen', 'nowhere:0', ...args);
  const mode = args.includes('--record') ? '--record' : '--replay';
  const message = `driver-sync: ${args[0]} does nothing with ${mode}\n  leave it out\n`;
  expect(refused).toMatchObject({ code: 64, stderr: message });
});

test('it refuses a token that is empty, given twice or cannot be read, and an origin that is none', async () => {
  const dir = await emptyDir();
  const empty = path.join(dir, 'empty');
  await writeFile(empty, '\n');
  const script = path.join(dir, 'script.json');
  await writeFile(script, '{"faults":[{"status":503,"probability":2}]}');
  for (const [args, message] of [
    [['--token', ''], '--token is empty'],
    [['--token', 'a', '--token-file', empty], '--token and --token-file were both given'],
    [['--token-file', empty], `the token file ${empty} is empty`],
    [['--token-file', path.join(dir, 'none')], `the token file ${path.join(dir, 'none')} cannot be read: ENOENT`],
    [['--origin', 'emulator.example.com'], '--origin: "emulator.example.com" is not an origin'],
    [['--fork-ports', '8797-8788'], '--fork-ports 8797-8788 is not understood'],
    [
      ['--public-url', 'local'],
      '--public-url: "local" is not an origin\n  write it as https://emulator.example.com or http://localhost:3000, without a path\n',
    ],
    [['--keep-bodies', 'all'], '--keep-bodies all is not understood'],
    [['--speed', '1000001'], '--speed 1000001 is not understood\n  from 0 to 1000000, such as 100\n'],
    [['--state', ''], '--state is empty'],
    [['--faults', script], `the script of faults ${script} is not valid at faults.0.probability: `],
    [['--faults', empty], `the script of faults ${empty} cannot be read: `],
  ] as const) {
    const { code, stderr } = await commandLine('emulator', '--listen', '127.0.0.1:0', ...args);
    expect({ code, stderr }).toEqual({ code: 64, stderr: expect.stringContaining(message) });
  }
});

test('it refuses an address that is none with 64, and a port that is taken with 75', async () => {
  expect((await commandLine('emulator', '--listen', 'nowhere')).code).toBe(64);
  await using receiver = await openReceiver();
  const { code, stderr } = await commandLine('emulator', '--listen', new URL(receiver.url).host);
  expect(code).toBe(75);
  expect(stderr).toContain('in use');
});

test('an address that this machine does not have is refused with 64 and says so, and is no bug', async () => {
  // Of a network that is kept for examples.
  const elsewhere = '192.0.2.1:8787';
  const { code, stderr } = await commandLine('emulator', '--listen', elsewhere);
  expect({ code, stderr }).toEqual({
    code: 64,
    stderr: [
      `driver-sync: the emulator cannot listen at ${elsewhere}: this machine has no such address`,
      '  choose one that it has with --listen, such as 127.0.0.1:8787',
      '',
    ].join('\n'),
  });
});

test('it reads its catalog again, whenever the signal comes after its address', async () => {
  const dir = await emptyDir();
  const file = path.join(dir, 'catalog.json');
  await writeFile(file, '{"remove":["wan3"]}');
  const child = spawn(process.execPath, [executable, 'emulator', '--listen', '127.0.0.1:0', '--catalog', file]);
  onTestFinished(() => void child.kill('SIGKILL'));
  await once(child.stdout, 'data');
  child.kill('SIGHUP');
  const [again] = (await once(child.stdout, 'data')) as [Buffer];
  expect(again.toString()).toContain(`${file} was read again`);
  child.kill('SIGTERM');
  expect(await once(child, 'exit')).toEqual([0, null]);
});

test('it begins with fixtures, also above a state directory and beside faults, and can go back to them', async () => {
  const dir = await emptyDir();
  const file = path.join(dir, 'fixtures.json');
  const drivers = [{ id: 'a', path: ['A'], timeSeries: [{ time: '0', value: '1.50' }] }];
  await writeFile(file, `\uFEFF${JSON.stringify({ drivers, routers: [{ slug: 'draft', name: 'Draft' }] })}`);
  const script = path.join(dir, 'faults.json');
  await writeFile(script, '{"faults":[{"status":503}]}');
  for (let start = 0; start < 2; start++) {
    const state = path.join(dir, 'state');
    const args = ['--listen', '127.0.0.1:0', '--state', state, '--fixtures', file, '--faults', script];
    const child = spawn(process.execPath, [executable, 'emulator', ...args]);
    onTestFinished(() => void child.kill('SIGKILL'));
    const [first] = (await once(child.stdout, 'data')) as [Buffer];
    const url = /http:\/\/\S+/.exec(first.toString())?.[0] ?? '';
    const held = async () => (await fetch(`${url}/_emulator/drivers`)).json();
    expect(await held()).toEqual({ drivers });
    expect((await fetch(`${url}/v1/routers`)).status).toBe(503);
    await fetch(`${url}/_emulator/reset`, { method: 'POST' });
    expect(await held()).toEqual({ drivers: [] });
    await fetch(`${url}/_emulator/snapshots/fixtures/restore`, { method: 'POST' });
    expect(await held()).toEqual({ drivers });
    child.kill('SIGTERM');
    await once(child, 'exit');
  }
  const refusalOf = async (...more: readonly string[]) =>
    (await commandLine('emulator', '--listen', '127.0.0.1:0', '--fixtures', file, ...more)).stderr;
  await writeFile(file, '{"faults":{"faults":[]}}');
  expect(await refusalOf('--faults', script)).toBe(
    `driver-sync: --faults ${script} is given, and the fixtures file ${file} has faults too\n  leave out --faults, or take "faults" out of the fixtures\n`,
  );
  await writeFile(file, Buffer.from('{"drivers":[{"id":"\xe9"}]}', 'latin1'));
  expect(await refusalOf()).toContain('cannot be read: not JSON: invalid UTF-8 at byte 19');
  await writeFile(file, '{"speed":0,"speed":1}');
  expect(await refusalOf()).toContain('cannot be read: not clear: speed is given twice');
  await writeFile(file, '{"routers":[{"slug":"Draft","name":"Draft"}]}');
  const { code, stderr } = await commandLine('emulator', '--listen', '127.0.0.1:0', '--fixtures', file);
  expect({ code, stderr }).toMatchObject({
    code: 64,
    stderr: expect.stringContaining(`the fixtures file ${file} is not valid at routers.0.slug`),
  });
  await writeFile(file, '{"routers":[{"slug":"a","name":"A"},{"slug":"a","name":"A"}]}');
  expect(await refusalOf('--faults', script)).toContain(`${file} is not valid at routers.1: the slug "a" is in use`);
});
