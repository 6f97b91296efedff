import path from 'node:path';
import { describe, expect, test } from 'vitest';
import { substitute } from '../../src/config/environment.ts';
import type { Source } from '../../src/core/ports.ts';
import { parseGlob } from '../../src/sources/files/glob.ts';
import { type PartNames, partNames } from '../../src/sources/files/part-names.ts';
import { parseRemote } from '../../src/sources/remote/address.ts';
import type { RemotePattern } from '../../src/sources/remote/address.ts';
import { zipped } from '../support/workbooks.ts';
import { calm, openSourceIn, readWhole, tempDir, writeFiles } from '../support/source-world.ts';

const config = '/srv/agent';
const here = {
  E: '/mnt/exports',
  F: '/mnt/exports/deep',
  FILE: '/mnt/books/all.csv',
  HOST: 'one',
  GLOB: '/mnt/*/x/*.csv',
};
const there = { E: '../data', F: '/other', FILE: 'all.csv', HOST: 'two', GLOB: 'data/*/x/*.csv' };

/** The names in a config with these patterns. */
function namesOf(files: readonly string[], { env = here, isShared = true, dir = config } = {}) {
  const globs = files.map((written) => parseGlob(dir, substitute(written, env).text));
  const names = partNames(dir, { globs, remotes: [], all: globs }, { files, isShared });
  return { ...names, of: (file: string, at = 0) => names.ofFile(globs[at]!, path.resolve(dir, file)).name };
}

describe('a file of agents that share a ledger', () => {
  test.each([
    ['${E}/revenue-*.csv', '/mnt/exports/revenue-1.csv', '${E}/revenue-1.csv'],
    ['${E}/a.csv', '/mnt/exports/a.csv', '${E}/a.csv'],
    ['${E}/2026/**/*.csv', '/mnt/exports/2026/north/a.csv', '${E}/2026/north/a.csv'],
    ['./exports//2026/./*.csv', 'exports/2026/a.csv', 'exports/2026/a.csv'],
    ['${E:-/mnt/none}/*.csv', '/mnt/exports/a.csv', '${E:-/mnt/none}/a.csv'],
    ['${E}/../x/*.csv', '/mnt/x/a.csv', '${E}/../x/a.csv'],
    ['exports/*.csv', 'exports/a.csv', 'exports/a.csv'],
    ['*.csv', 'a.csv', 'a.csv'],
    ['../agent/*.csv', 'a.csv', '../agent/a.csv'],
    ['/mnt/share/*.csv', '/mnt/share/a.csv', '/mnt/share/a.csv'],
    ['/*.csv', '/a.csv', '/a.csv'],
    ['${E}/${HOST}-*.csv', '/mnt/exports/one-1.csv', '${E}/${HOST}-*.csv/one-1.csv'],
    ['${FILE}', '/mnt/books/all.csv', '${FILE}/all.csv'],
    ['${GLOB}', '/mnt/a/x/b.csv', '${GLOB}/a/x/b.csv'],
  ])('is named by its pattern as the config has it: %s', (written, file, name) => {
    const names = namesOf([written]);
    expect(names.of(file)).toBe(name);
    expect(names.fileOf(name)).toBe(path.resolve(config, file));
  });

  test.each([
    ['${E}/a.csv', '/mnt/exports/a.csv', '/srv/data/a.csv'],
    ['${E}/2026/*.csv', '/mnt/exports/2026/a.csv', '/srv/data/2026/a.csv'],
    ['${FILE}', '/mnt/books/all.csv', '/srv/agent/all.csv'],
    ['${GLOB}', '/mnt/a/x/b.csv', '/srv/agent/data/a/x/b.csv'],
  ])('has one name on machines that have it elsewhere: %s', (written, onOne, onTwo) => {
    expect(namesOf([written]).of(onOne)).toBe(namesOf([written], { env: there }).of(onTwo));
  });

  test('has one name wherever the config lies', () => {
    const deep = namesOf(['/mnt/share/a.csv'], { dir: '/etc/driver-sync/agent' });
    expect(namesOf(['/mnt/share/a.csv']).of('/mnt/share/a.csv')).toBe(deep.of('/mnt/share/a.csv'));
  });

  test('is another one than a file of the same name in another directory', () => {
    const names = namesOf(['${E}/*.csv', '${F}/*.csv', '*.csv']);
    const all = [names.of('/mnt/exports/a.csv', 0), names.of('/mnt/exports/deep/a.csv', 1), names.of('a.csv', 2)];
    expect(all).toEqual(['${E}/a.csv', '${F}/a.csv', 'a.csv']);
    expect(all.map((name) => names.fileOf(name))).toEqual([
      '/mnt/exports/a.csv',
      '/mnt/exports/deep/a.csv',
      '/srv/agent/a.csv',
    ]);
  });

  test('is found by what it was called when the agent was alone, and the other way round', () => {
    const files = ['${E}/*.csv', '/mnt/share/*.zip', 'exports/*.csv'];
    const shared = namesOf(files);
    const alone = namesOf(files, { isShared: false });
    for (const [old, now] of [
      ['../../mnt/exports/a.csv', '${E}/a.csv'],
      ['../../mnt/share/x.zip#march/a#1.csv', '/mnt/share/x.zip#march/a#1.csv'],
    ] as const) {
      expect([shared.now?.(old), shared.now?.(now), alone.now?.(now), alone.now?.(old)]).toEqual([
        now,
        undefined,
        old,
        undefined,
      ]);
    }
    expect(shared.now?.('exports/a.csv')).toBe('exports/a.csv');
    expect(shared.now?.('../elsewhere/a.csv')).toBeUndefined();
  });

  test('an agent alone names files as ever, and asks for nothing where no name could be another one', () => {
    const alone = namesOf(['${E}/*.csv'], { isShared: false });
    expect(alone.of('/mnt/exports/a.csv')).toBe('../../mnt/exports/a.csv');
    expect(namesOf(['exports/*.csv'], { isShared: false }).now).toBeUndefined();
  });
});

describe('a file of another machine', () => {
  const remoteNames = (written: string, env: NodeJS.ProcessEnv, isShared = true): [PartNames, RemotePattern] => {
    const pattern = parseRemote(substitute(written, env).text) as RemotePattern;
    return [
      partNames(config, { globs: [], remotes: [pattern], all: [pattern] }, { files: [written], isShared }),
      pattern,
    ];
  };

  test.each([
    ['sftp://joe:secret@${HOST}/books/*.csv', { HOST: 'files.example' }, 'sftp://${HOST}/books/a.csv'],
    ['sftp://${WHO:-joe:secret}@${HOST}/books/*.csv', { HOST: 'files.example' }, 'sftp://${HOST}/books/a.csv'],
    ['${URL:-sftp://joe:secret@files.example/books}/*.csv', {}, '${URL}/a.csv'],
    ['sftp://${WHO}@files.example/books/*.csv', { WHO: 'joe' }, 'sftp://files.example/books/a.csv'],
  ])('is named without user and password: %s', (written, env, name) => {
    const [names, pattern] = remoteNames(written, env);
    const file = { name: 'sftp://files.example/books/a.csv', path: 'books/a.csv' };
    expect(names.ofRemote(pattern, file).name).toBe(name);
    if (name === file.name) return;
    expect(names.now?.(file.name)).toBe(name);
    expect(remoteNames(written, env, false)[0].now?.(name)).toBe(file.name);
  });
});

describe('a source of agents that share a ledger', () => {
  const opened = (dir: string, files: readonly string[], folder: string, more: object = {}): Source => {
    const values = files.map((written) => substitute(written, { E: folder }).text);
    return openSourceIn({ baseDir: dir, naming: { files, isShared: true } }, 'csv', {
      files: values,
      settle: '0s',
      ...more,
    });
  };

  test('lists a file once that two patterns name, and reads it by its name', async () => {
    const dir = await tempDir();
    await writeFiles(dir, { 'mnt/2026/a.csv': 'x\n1\n', 'mnt/2026/b.csv': 'x\n2\n' });
    const source = opened(dir, ['${E}/*/*.csv', `${dir}/mnt/2026/b.csv`], 'mnt');
    const parts = await source.parts(calm);
    expect(parts).toMatchObject([
      { name: '${E}/2026/a.csv', below: '2026/a.csv' },
      { name: '${E}/2026/b.csv', below: '2026/b.csv' },
    ]);
    const [a, b] = parts;
    expect(await readWhole(source, b)).toMatchObject({ rows: [['2']] });
    // A part is read also by a source that has not listed it.
    expect(await readWhole(opened(dir, ['${E}/*/*.csv'], 'mnt'), a)).toMatchObject({ rows: [['1']] });
  });

  test('names what is in a file by the file', async () => {
    const dir = await tempDir();
    await writeFiles(dir, { 'mnt/x.zip': zipped({ 'march/a.csv': 'x\n1\n' }) });
    const source = opened(dir, ['${E}/*.zip'], 'mnt', { members: ['**/*.csv'] });
    const [part] = await source.parts(calm);
    expect(part).toMatchObject({ name: '${E}/x.zip#march/a.csv', below: 'x.zip#march/a.csv' });
    expect(await readWhole(source, part)).toMatchObject({ rows: [['1']] });
    expect(source.nowCalled?.('mnt/x.zip#march/a.csv')).toBe('${E}/x.zip#march/a.csv');
  });
});
