import { link, mkdir, rm, symlink } from 'node:fs/promises';
import path from 'node:path';
import { describe, expect, test } from 'vitest';
import { kinds } from '../../src/sources/index.ts';
import { readLookups } from '../../src/sources/lookups.ts';
import { csv } from '../support/process.ts';
import { commandsWorld } from '../support/commands-world.ts';
import { calm, laterClock, noMapping, openSource, readWhole, tempDir, writeFiles } from '../support/source-world.ts';

const secret = 'tok-93b1f0c2';
const source = { ...csv('exports/*.csv'), settle: '0s', lineEnd: 'any' };

/** What `check`, `sync` and `status` print of a source whose folder has such a link. */
async function printedWith(
  make: (dir: string, link: string) => Promise<void>,
  { kind = source, config = {} }: { readonly kind?: object; readonly config?: object } = {},
): Promise<string> {
  const commands = await commandsWorld({ revenue: kind }, { token: secret, 'exports/.keep': '' }, config);
  await make(commands.at.dir, path.join(commands.at.dir, 'exports/x.csv'));
  const ran = [await commands.run('check'), await commands.run('sync'), await commands.run('status')];
  return ran.map(({ stdout, stderr }) => stdout + stderr).join('\n');
}

describe('a part that is one of the agent’s own files', () => {
  test.each<[string, (dir: string, at: string) => Promise<void>]>([
    ['a link to the file of a token', (_dir, at) => symlink('../token', at)],
    ['a hard link to the file of a token', (dir, at) => link(path.join(dir, 'token'), at)],
    ['a link to the config', (_dir, at) => symlink('../driver-sync.yaml', at)],
    [
      'a link to a link to the token',
      (dir, at) => symlink('token', path.join(dir, 'step')).then(() => symlink('../step', at)),
    ],
  ])('is refused, and nothing of it is printed: %s', async (_what, make) => {
    const printed = await printedWith(make, {
      config: { destination: { url: 'http://127.0.0.1:1', tokenFile: 'token' } },
    });
    expect(printed).toMatch(/exports\/x\.csv is a link to .+(token|driver-sync\.yaml), which is the agent's own/);
    expect(printed).not.toContain(secret);
    expect(printed).not.toContain('the columns are');
  });

  test('is refused in the state directory, through a directory that is a link', async () => {
    const printed = await printedWith(
      async (dir) => {
        await mkdir(path.join(dir, 'own'), { recursive: true });
        await writeFiles(dir, { 'own/a.csv': secret });
        await symlink('../own', path.join(dir, 'exports/more'));
      },
      { kind: { ...source, files: ['exports/*/*.csv'] }, config: { state: 'own' } },
    );
    expect(printed).toMatch(/exports\/more\/a\.csv is a link to .+own, which is the agent's own/);
    expect(printed).not.toContain(secret);
  });

  test('is refused where the config itself names it, and no link is looked for', async () => {
    const all = await printedWith(async () => undefined, { kind: { ...source, files: ['*.yaml'] } });
    expect(all).toMatch(/driver-sync\.yaml is the agent's own\n +narrow the glob: /);
    const within = await printedWith((dir) => writeFiles(dir, { 'exports/a.csv': secret }), {
      kind: { ...source, files: ['exports/*.csv'] },
      config: { state: 'exports' },
    });
    expect(within).toMatch(
      /a\.csv is in .+exports, which is the agent's own\n +narrow the glob, or name another "state": /,
    );
    expect(within).not.toContain(secret);
  });

  test('is refused in the state directory as a hard link', async () => {
    const dir = await tempDir();
    await writeFiles(dir, { 'state/deep/a.csv': secret, 'in/.keep': '' });
    await link(path.join(dir, 'state/deep/a.csv'), path.join(dir, 'in/x.csv'));
    const kind = kinds['csv']!;
    const forbidden = [path.join(dir, 'state')];
    const context = {
      name: 'revenue',
      baseDir: dir,
      forbidden,
      clock: laterClock(),
      mapping: noMapping,
      timezone: 'UTC',
    };
    const opened = kind.open(kind.schema.parse({ files: ['in/*.csv'] }), context);
    await expect(readWhole(opened)).rejects.toMatchObject({
      message: expect.stringContaining('in/x.csv is a link to'),
    });
  });

  test('is refused as a map too', async () => {
    const kind = { ...source, files: ['exports/a.csv'], maps: { region: { file: 'exports/x.csv' } } };
    const printed = await printedWith(
      async (dir, at) => {
        await writeFiles(dir, { 'exports/a.csv': 'id,time,value\nA,2026-01-01,1\n' });
        await symlink('../token', at);
      },
      { kind, config: { destination: { url: 'http://127.0.0.1:1', tokenFile: 'token' } } },
    );
    expect(printed).toMatch(/x\.csv is a link to .+token/);
    expect(printed).not.toContain(secret);
  });
});

describe('a database that is one of the agent’s own files', () => {
  const drivers = [{ id: '{source}', path: ['{source}'], time: '2026-01', value: '{id}' }];
  const ledger = '.driver-sync/ledger.db';

  test.each<[string, (dir: string, at: string) => Promise<void>]>([
    ['a link', (dir, at) => symlink(path.join(dir, ledger), at)],
    ['a hard link', (dir, at) => link(path.join(dir, ledger), at)],
    [
      'a link in the directories above',
      async (dir, at) => {
        await symlink('.driver-sync', path.join(dir, 'books'));
        await symlink('../books/ledger.db', at);
      },
    ],
  ])('is refused as a source of sqlite and duckdb: %s', async (_what, make) => {
    const query = 'SELECT id, source FROM approval';
    const own = ['sqlite', 'duckdb'].map((type) => [type, { type, file: 'exports/x.db', query, drivers }]);
    const commands = await commandsWorld(Object.fromEntries(own), { 'exports/.keep': '' });
    await commands.run('sync');
    await make(commands.at.dir, path.join(commands.at.dir, 'exports/x.db'));
    const { sources } = await commands.json<{ sources: { state: string; reason: string }[] }>('sync');
    for (const { state, reason } of sources) {
      expect(state).toBe('unread');
      expect(reason).toMatch(/the database .+exports\/x\.db is the agent's own: it leads to .+\.driver-sync$/);
    }
    expect(sources).toHaveLength(2);
  });

  test('is refused by its own name', async () => {
    const commands = await commandsWorld(
      { own: { type: 'sqlite', file: ledger, query: 'SELECT id, source FROM approval', drivers } },
      {},
    );
    await commands.run('sync');
    expect((await commands.run('check')).stdout).toContain("ledger.db is the agent's own");
  });
});

describe('a part that a link leads to, out of its folder', () => {
  test('is read where its columns are those of the config', async () => {
    const printed = await printedWith(async (dir, at) => {
      await writeFiles(dir, { 'else/a.csv': 'id,time,value\nA,2026-01-01,1\n' });
      await symlink('../else/a.csv', at);
    });
    expect(printed).toMatch(/revenue +accepted +1 +1 /);
  });

  test.each([
    ['columns that the config does not name', `root:${secret}:19000\ndaemon:*:19000\n`],
    ['a column twice', `${secret},${secret}\n`],
    ['an open quote under its header', `${secret},b\n"1\n`],
  ])('is not read, and no column is printed: %s', async (_what, content) => {
    const printed = await printedWith(async (dir, at) => {
      await writeFiles(dir, { 'else/a.csv': content });
      await symlink('../else/a.csv', at);
    });
    expect(printed).toMatch(/exports\/x\.csv: .*; more is not said, since it is a link that leads out of its folder/);
    expect(printed).not.toContain(secret);
  });

  test('is not told by the columns of a map', async () => {
    const dir = await tempDir();
    await writeFiles(dir, { 'else/a.csv': `${secret}\n`, 'in/.keep': '' });
    await symlink('../else/a.csv', path.join(dir, 'in/map.csv'));
    const file = {
      file: 'in/map.csv',
      encoding: 'utf-8',
      settle: 0,
      delimiter: undefined,
      from: 'code',
      to: undefined,
    };
    const reading = readLookups(
      { maps: { region: file }, calendar: undefined },
      { baseDir: dir, clock: laterClock() },
      calm,
    );
    await expect(reading).rejects.toMatchObject({ message: expect.stringContaining('more is not said') });
  });

  test('is told from one that is inside though another folder of its source has gone away since the files were listed', async () => {
    const dir = await tempDir();
    await writeFiles(dir, { 'away/a.csv': 'id\nA\n', 'here/b.csv': 'id\nB\n' });
    const opened = openSource('csv', { files: ['away/*.csv', 'here/*.csv'] }, dir);
    const [, here] = await opened.parts(calm);
    await rm(path.join(dir, 'away'), { recursive: true });
    expect((await readWhole(opened, here)).rows).toHaveLength(1);
  });

  test('is inside where the folder itself is a link', async () => {
    const dir = await tempDir();
    await writeFiles(dir, { 'real/a.csv': 'a,a\n' });
    await symlink('real', path.join(dir, 'exports'));
    await expect(readWhole(openSource('csv', { files: ['exports/*.csv'] }, dir))).rejects.toMatchObject({
      message: 'exports/a.csv: columns 1 and 2 are both called a',
    });
  });
});
