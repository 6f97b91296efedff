/** A file that several names lead to is one part. */
import { link, mkdir, rename, rm, symlink } from 'node:fs/promises';
import path from 'node:path';
import { describe, expect, test } from 'vitest';
import type { Part } from '../../src/core/model.ts';
import { commandsWorld } from '../support/commands-world.ts';
import { csv } from '../support/process.ts';
import { calm, noMapping, openSource, openSourceIn, tempDir, writeFiles } from '../support/source-world.ts';
import { collapsing, judged, longFile, world } from '../support/world.ts';
import { workbook } from '../support/workbooks.ts';

const table = 'a,b\n1,2\n';

async function listed(dir: string, files: readonly string[], type = 'csv', keys: object = {}): Promise<unknown> {
  const parts: readonly Part[] = await openSource(type, { files, ...keys }, dir).parts(calm);
  return parts.map(({ name, otherNames }) => [name, ...(otherNames ?? [])]);
}

describe('a file is one part', () => {
  test('beside links to it, under its own name', async () => {
    const dir = await tempDir();
    await writeFiles(dir, { 'x/2.csv': table, 'x/3.csv': table });
    await symlink('2.csv', path.join(dir, 'x/latest.csv'));
    await symlink('latest.csv', path.join(dir, 'x/1.csv'));
    expect(await listed(dir, ['x/*.csv'])).toEqual([['x/2.csv', 'x/1.csv', 'x/latest.csv'], ['x/3.csv']]);
  });

  test('of its hard links under the first name', async () => {
    const dir = await tempDir();
    await writeFiles(dir, { 'x/2.csv': table });
    await link(path.join(dir, 'x/2.csv'), path.join(dir, 'x/1.csv'));
    await symlink('2.csv', path.join(dir, 'x/0.csv'));
    expect(await listed(dir, ['x/*.csv'])).toEqual([['x/1.csv', 'x/0.csv', 'x/2.csv']]);
  });

  test.each([
    ['wildcards', ['*/*.csv']],
    ['two patterns', ['a/*.csv', 'd/*.csv']],
  ])('of a folder and a link to the folder: %s', async (_what, files) => {
    const dir = await tempDir();
    await writeFiles(dir, { 'd/1.csv': table, 'd/2.csv': table });
    await symlink('d', path.join(dir, 'a'));
    expect(await listed(dir, files)).toEqual([
      ['d/1.csv', 'a/1.csv'],
      ['d/2.csv', 'a/2.csv'],
    ]);
  });

  test('whose folder is reached through a link, too', async () => {
    const dir = await tempDir();
    await writeFiles(dir, { 'disk/2.csv': table });
    await symlink('2.csv', path.join(dir, 'disk/1.csv'));
    await symlink('disk', path.join(dir, 'x'));
    expect(await listed(dir, ['x/*.csv'])).toEqual([['x/2.csv', 'x/1.csv']]);
  });

  test('of links to a file that no pattern names, under the first of them; one alone is a part as any', async () => {
    const dir = await tempDir();
    await writeFiles(dir, { 'files/2.csv': table });
    await mkdir(path.join(dir, 'x'));
    await symlink('../files/2.csv', path.join(dir, 'x/latest.csv'));
    expect(await listed(dir, ['x/*.csv'])).toEqual([['x/latest.csv']]);
    await symlink('../files/2.csv', path.join(dir, 'x/current.csv'));
    expect(await listed(dir, ['x/*.csv'])).toEqual([['x/current.csv', 'x/latest.csv']]);
  });

  test('also where a sheet of it is the part', async () => {
    const dir = await tempDir();
    await writeFiles(dir, { 'x/2.xlsx': workbook({ sheets: [{ name: 'S', rows: [['a'], ['1']] }] }) });
    await symlink('2.xlsx', path.join(dir, 'x/latest.xlsx'));
    expect(await listed(dir, ['x/*.xlsx'], 'xlsx', { sheet: '/S/' })).toEqual([['x/2.xlsx#S', 'x/latest.xlsx#S']]);
  });

  test('files of equal content are several', async () => {
    const dir = await tempDir();
    await writeFiles(dir, { 'x/1.csv': table, 'x/2.csv': table });
    expect(await listed(dir, ['x/*.csv'])).toEqual([['x/1.csv'], ['x/2.csv']]);
  });

  test('where its name says what its rows mean, each name is a part', async () => {
    const dir = await tempDir();
    await writeFiles(dir, { 'x/2.csv': table });
    await symlink('2.csv', path.join(dir, 'x/latest.csv'));
    const mapping = { ...noMapping, where: [{ column: 'file', test: { kind: 'in', texts: ['2.csv'] } }] };
    const source = openSourceIn({ baseDir: dir, mapping: mapping as never }, 'csv', { files: ['x/*.csv'] });
    expect((await source.parts(calm)).map(({ name }) => name)).toEqual(['x/2.csv', 'x/latest.csv']);
  });
});

test('a link to another file from now on is a part that changed', async () => {
  const dir = await tempDir();
  await writeFiles(dir, { 'files/1.csv': table, 'files/2.csv': 'a,b\n1,3\n' });
  await mkdir(path.join(dir, 'x'));
  const at = path.join(dir, 'x/latest.csv');
  await symlink('../files/1.csv', at);
  const source = openSource('csv', { files: ['x/*.csv'] }, dir);
  const [before] = await source.parts(calm);
  await rm(at);
  await symlink('../files/2.csv', at);
  const [after] = await source.parts(calm);
  expect([after?.name, after?.version === before?.version]).toEqual(['x/latest.csv', false]);
});

describe('a sum', () => {
  const months = { 'in/1.csv': longFile({ A: { '2026-01': 10 } }), 'in/2.csv': longFile({ A: { '2026-02': 20 } }) };
  const expected = { A: { '2026-01': '10', '2026-02': '20' } };

  test('has the rows of a file with a link beside it once, and nothing is carried when the link moves on or goes', async () => {
    await using w = await world({ config: { sources: { sales: collapsing('sum', 'in/*.csv') } }, files: months });
    const at = path.join(w.dir, 'in/latest.csv');
    await symlink('1.csv', at);
    expect(await w.sync()).toMatchObject(judged(0, 'sales', { parts: 2 }));
    expect(w.points()).toEqual(expected);
    await rm(at);
    await symlink('2.csv', at);
    expect(await w.sync()).toMatchObject(judged(0, 'sales', { state: 'unchanged', carried: [] }));
    await rm(at);
    expect(await w.sync()).toMatchObject(judged(0, 'sales', { state: 'unchanged', carried: [] }));
    expect(w.points()).toEqual(expected);
  });

  test('has them once also where the link was there first, and a pattern names its target from now on', async () => {
    await using w = await world({
      config: { sources: { sales: collapsing('sum', 'in/*.csv') } },
      files: { ...months, 'old/0.csv': longFile({ A: { '2025-12': 5 } }) },
    });
    await symlink('../old/0.csv', path.join(w.dir, 'in/0.csv'));
    expect(await w.sync()).toMatchObject(judged(0, 'sales', { parts: 3 }));
    await w.reconfigure({ sources: { sales: { ...collapsing('sum', 'in/*.csv'), files: ['in/*.csv', 'old/*.csv'] } } });
    expect(await w.sync()).toMatchObject(judged(0, 'sales', { state: 'unchanged', parts: 3, carried: [] }));
    expect(w.points()).toEqual({ A: { '2025-12': '5', ...expected.A } });
  });

  test('loses a file that becomes a link to another one: it is no part that is gone', async () => {
    await using w = await world({
      config: { sources: { sales: collapsing('sum', 'in/*.csv') } },
      files: { ...months, 'in/copy.csv': months['in/2.csv'] },
    });
    await w.sync();
    expect(w.points()).toEqual({ A: { '2026-01': '10', '2026-02': '40' } });
    await rm(path.join(w.dir, 'in/copy.csv'));
    await link(path.join(w.dir, 'in/2.csv'), path.join(w.dir, 'in/copy.csv'));
    expect(await w.sync()).toMatchObject(judged(0, 'sales', { parts: 2, carried: [] }));
    expect(w.points()).toEqual(expected);
    await rename(path.join(w.dir, 'in/copy.csv'), path.join(w.dir, 'in/3.csv'));
    expect(await w.sync()).toMatchObject(judged(0, 'sales', { state: 'unchanged', carried: [] }));
  });
});

test('check names what it leaves out', async () => {
  const { at, run } = await commandsWorld({ sales: csv('x/*.csv') }, { 'x/1.csv': longFile({ A: { '2026-01': 1 } }) });
  await symlink('1.csv', path.join(at.dir, 'x/latest.csv'));
  const { code, stdout } = await run('check');
  expect(code).toBe(0);
  expect(stdout).toContain('note: x/1.csv is there under other names too, which do not count: x/latest.csv\n');
});
