/** `support`: what a person may send to somebody else. */
import { mkdtemp, readFile, readdir, rm, truncate, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { parseTarGzip } from 'nanotar';
import { expect, onTestFinished, test, vi } from 'vitest';
import { parse } from 'yaml';
import { commandLine } from '../support/command-line.ts';
import { commandsWorld, twoPushes } from '../support/commands-world.ts';
import { csv } from '../support/process.ts';
import { longFile } from '../support/world.ts';

/** The texts of an archive by their names. */
async function textsOf(file: string): Promise<Readonly<Record<string, string>>> {
  const entries = await parseTarGzip(await readFile(file));
  return Object.fromEntries(entries.map(({ name, text }) => [path.basename(name), text]));
}

async function temporary(): Promise<string> {
  const dir = await mkdtemp(path.join(tmpdir(), 'driver-sync-support-'));
  onTestFinished(() => rm(dir, { recursive: true }));
  return dir;
}

test('gathers versions, config, status, pushes, sizes and integrity', async () => {
  const { run, at } = await twoPushes();
  const file = path.join(at.dir, 'report.tar.gz');
  const done = await run('support', '--output', file);
  expect(done.code).toBe(0);
  const texts = await textsOf(file);
  expect(Object.keys(texts).toSorted()).toEqual(
    'README.txt config.yaml history.json integrity.json problems.json sizes.json status.json variables.json versions.json'.split(
      ' ',
    ),
  );
  const json = (name: string): unknown => JSON.parse(texts[name] ?? '');
  expect(json('versions.json')).toMatchObject({
    'driver-sync': expect.stringMatching(/^\d/),
    node: process.versions.node,
  });
  expect(json('status.json')).toMatchObject({ lastAcknowledged: { id: 2, drivers: 2 } });
  expect(json('history.json')).toMatchObject({ pushes: [{ id: 2 }, { id: 1 }] });
  expect(json('integrity.json')).toMatchObject({ verified: true, snapshots: 2 });
  expect(json('sizes.json')).toMatchObject({
    files: expect.arrayContaining([expect.objectContaining({ name: 'buffer.db' })]),
  });
  expect(parse(texts['config.yaml'] ?? '')).toMatchObject({ sources: { revenue: { type: 'csv', files: ['a.csv'] } } });
});

test('no secret is in it, wherever it stands', async () => {
  const dir = await temporary();
  const canary = (name: string): string => `canary${name}0123456789`;
  vi.stubEnv('DRIVERS_TOKEN', canary('Environment'));
  vi.stubEnv('UNNAMED_PASSWORD', canary('Unnamed'));
  vi.stubEnv('WAREHOUSE', `postgres://reader:${canary('Database')}@127.0.0.1:1/books`);
  await writeFile(path.join(dir, 'token'), `${canary('File')}\n`);
  await writeFile(path.join(dir, 'a.csv'), longFile({ North: { '2026-01': '1.50' } }));
  await writeFile(
    path.join(dir, 'driver-sync.yaml'),
    `# ${canary('Comment')}
destination:
  url: http://127.0.0.1:1/${canary('Path')}/x
  token: \${DRIVERS_TOKEN}
  headers: { X-Tenant: ${canary('Header')} }
sources:
  revenue: { type: csv, files: [a.csv], drivers: [{ path: ["{id}"], time: "{time}", value: "{value}" }] }
  api:
    type: http
    url: http://user:${canary('Password')}@127.0.0.1:1/v1/${canary('Segment')}?page=${canary('Parameter')}
    format: json
    drivers: [{ path: ["{id}"], time: "{time}", value: "{value}" }]
  billing:
    type: http
    url: http://127.0.0.1:1/v2
    format: json
    tokenFile: token
    drivers: [{ path: ["{id}"], time: "{time}", value: "{value}" }]
  printed:
    type: command
    command: [./export.sh, --key, ${canary('Argument')}]
    env: { PGPASSWORD: ${canary('Variable')}, files: ${canary('Files')} }
    format: csv
    drivers: [{ path: ["{id}"], time: "{time}", value: "{value}" }]
  stored:
    type: csv
    files: ["s3://bucket/${canary('Prefix')}/*.csv"]
    s3: { endpoint: "http://127.0.0.1:1", accessKeyId: ${canary('Identity')}, secretAccessKey: ${canary('Access')} }
    drivers: [{ path: ["{id}"], time: "{time}", value: "{value}" }]
  books:
    type: postgres
    url: \${WAREHOUSE}
    query: "select * from books where owner = '${canary('Literal')}'"
    drivers: [{ path: ["{id}"], time: "{time}", value: "{value}" }]
  other:
    type: postgres
    url: \${NOWHERE:-postgres://a:${canary('Default')}@127.0.0.1:1/b}
    query: select 1
    drivers: [{ path: ["{id}"], time: "{time}", value: "{value}" }]
`,
  );
  const config = path.join(dir, 'driver-sync.yaml');
  await commandLine('sync', '--config', config);
  const file = path.join(dir, 'report.tar.gz');
  const done = await commandLine('support', '--config', config, '--output', file);
  expect(done.code).toBe(0);
  const pieces = await textsOf(file);
  expect(JSON.parse(pieces['problems.json'] ?? '')).toEqual([]);
  expect(JSON.parse(pieces['status.json'] ?? '')).toMatchObject({ lastPass: { exit: 4 } });
  const texts = Object.values(pieces).join('\n');
  expect(texts).not.toMatch(/canary/i);
  expect(done.stdout + done.stderr).not.toMatch(/canary/i);
  expect(texts).toContain('token: ${DRIVERS_TOKEN}');
  expect(texts).toContain("select * from books where owner = '***'");
}, 90_000);

test('a config of more aliases than anybody writes is left out, and says why', async () => {
  const { run, at } = await commandsWorld(
    { revenue: csv('a.csv') },
    { 'a.csv': longFile({ North: { '2026-01': 1 } }) },
  );
  const levels = ['ab', 'bc', 'cd', 'de'].map(([of, name]) => `${name}: &${name} [${`*${of}, `.repeat(9)}]`);
  await writeFile(path.join(at.dir, 'driver-sync.yaml'), ['a: &a [x]', ...levels, ''].join('\n'));
  const file = path.join(at.dir, 'report.tar.gz');
  expect((await run('support', '--output', file)).code).toBe(0);
  expect((await textsOf(file))['config.yaml']).toContain('aliases');
});

test('rows of data are in it only where they are asked for', async () => {
  const rows = longFile({ North: { '2026-01': 1 } }) + 'North,2026-02,secret-figure\n'.repeat(3);
  const { run, at } = await commandsWorld(
    { revenue: csv('a.csv') },
    { 'a.csv': rows },
    { guard: { maxRejects: '90%' } },
  );
  await run('sync');
  const without = path.join(at.dir, 'without.tar.gz');
  await run('support', '--output', without);
  expect(Object.values(await textsOf(without)).join('\n')).not.toContain('secret-figure');
  const withRows = path.join(at.dir, 'with.tar.gz');
  await run('support', '--with-rejects', '--output', withRows);
  expect(JSON.parse((await textsOf(withRows))['rejects.json'] ?? '')).toMatchObject({
    total: 3,
    rejects: [{ text: 'North,2026-02,secret-figure' }, {}, {}],
  });
});

test('a broken config and a missing state are reported, not refused', async () => {
  const dir = await temporary();
  const config = path.join(dir, 'driver-sync.yaml');
  await writeFile(config, 'destination: emulator\nsources: { a: { type: excel } }\n');
  const file = path.join(dir, 'report.tar.gz');
  expect((await commandLine('support', '--config', config, '--output', file)).code).toBe(0);
  const texts = await textsOf(file);
  expect(texts['problems.json']).toContain('unknown type of source');
  await expect(readdir(dir)).resolves.toEqual(['driver-sync.yaml', 'report.tar.gz']);
});

test('a state that takes long to verify is not verified, and the command says so', async () => {
  const { run, at } = await twoPushes();
  const large = path.join(at.dir, '.driver-sync', 'archive', 'large');
  await writeFile(large, '');
  await truncate(large, 25_000_000);
  const done = await run('support', '--output', path.join(at.dir, 'report.tar.gz'));
  const unverified = '25 MB take long: driver-sync verify';
  expect(done).toMatchObject({
    code: 0,
    stdout: expect.stringContaining(`the ledger and the archive were not verified: ${unverified}`),
  });
  const again = await run('support', '--json', '--output', path.join(at.dir, 'again.tar.gz'));
  expect(JSON.parse(again.stdout)).toMatchObject({ unverified });
  const texts = await textsOf(path.join(at.dir, 'again.tar.gz'));
  expect(JSON.parse(texts['integrity.json'] ?? '')).toEqual({ verified: false, why: unverified });
});

test('a report is written over nothing', async () => {
  const { run, at } = await twoPushes();
  await at.write('mine.tar.gz', 'mine');
  const done = await run('support', '--output', path.join(at.dir, 'mine.tar.gz'));
  expect(done).toMatchObject({ code: 64, stderr: expect.stringContaining('mine.tar.gz is there already\n') });
  const nowhere = await run('support', '--output', path.join(at.dir, 'none', 'a.tar.gz'));
  expect(nowhere).toMatchObject({ code: 64, stderr: expect.stringContaining('there is no such directory\n') });
});

test('where a file stands in the place of the state directory, the archive says so', async () => {
  const { run, at } = await commandsWorld({ revenue: csv('a.csv') }, {});
  await writeFile(at.state, 'a file\n');
  const file = path.join(at.dir, 'report.tar.gz');
  const done = await run('support', '--output', file, '--json');
  expect(done.code, done.stderr).toBe(0);
  expect(done.json()).toMatchObject({ unverified: expect.stringContaining('ENOTDIR') });
  const texts = await textsOf(file);
  for (const name of ['sizes.json', 'status.json', 'history.json']) {
    expect(JSON.parse(texts[name] ?? ''), name).toEqual({ error: expect.stringMatching(/./) });
  }
});
