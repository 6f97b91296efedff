import { execFileSync } from 'node:child_process';
import {
  appendFile,
  chmod,
  mkdir,
  readdir,
  readlink,
  rename,
  rm,
  stat,
  symlink,
  truncate,
  utimes,
  writeFile,
} from 'node:fs/promises';
import path from 'node:path';
import { describe, expect, test } from 'vitest';
import type { Source } from '../../src/core/ports.ts';
import { asAnybody } from '../support/anybody.ts';
import { calm, laterClock, makeSocket, openSource, readWhole, tempDir, writeFiles } from '../support/source-world.ts';

const table = 'a,b\n1,2\n';

function csvFiles(dir: string, files: readonly string[], keys: object = {}): Source {
  return openSource('csv', { files, ...keys }, dir);
}

async function namesOf(source: Source): Promise<readonly string[]> {
  return (await source.parts(calm)).map(({ name }) => name);
}

/** The failure of looking, or of reading the first part. */
async function failureOf(source: Source): Promise<unknown> {
  return await readWhole(source).then(
    () => 'no failure',
    (error: unknown) => error,
  );
}

describe('globs', () => {
  test('name parts by their paths from the config file, in the order of these', async () => {
    const dir = await tempDir();
    await writeFiles(dir, { 'in/b.csv': table, 'in/a.csv': table, 'in/a.txt': table, 'B.csv': table });
    expect(await namesOf(csvFiles(dir, ['in/*.csv', '*.csv']))).toEqual(['B.csv', 'in/a.csv', 'in/b.csv']);
    expect(await namesOf(csvFiles(path.join(dir, 'in'), ['../*.csv', './a.csv']))).toEqual(['../B.csv', 'a.csv']);
    expect(await namesOf(csvFiles(dir, [path.join(dir, 'in/*.csv')]))).toEqual(['in/a.csv', 'in/b.csv']);
  });

  test.each([
    ['*.csv', ['1.csv', 'a [1].csv', 'ä.csv']],
    ['?.csv', ['1.csv', 'ä.csv']],
    ['[0-9].csv', ['1.csv']],
    ['{1,ä}.csv', ['1.csv', 'ä.csv']],
    ['.*.csv', ['.hidden.csv']],
    ['a [1].csv', ['a [1].csv']],
    ['**/*.csv', ['1.csv', 'a [1].csv', 'x/2.csv', 'x/y/3.csv', 'ä.csv']],
    ['**/y/*', ['x/y/3.csv']],
    ['x/**', ['x/2.csv', 'x/y/3.csv']],
    ['*/*/3.csv', ['x/y/3.csv']],
    ['x*/2.csv', ['x/2.csv']],
  ])('match by %s', async (glob, names) => {
    const dir = await tempDir();
    const files = ['1.csv', 'ä.csv', 'a [1].csv', '.hidden.csv', 'x/2.csv', 'x/y/3.csv', 'x/.z/4.csv'];
    await writeFiles(dir, Object.fromEntries(files.map((name) => [name, table])));
    expect(await namesOf(csvFiles(dir, [glob]))).toEqual(names);
  });

  test('take wildcards in the name of the directory of the config as they are', async () => {
    const dir = path.join(await tempDir(), '[2026] {a,b} *');
    await writeFiles(dir, { 'x.csv': table });
    expect(await namesOf(csvFiles(dir, ['*.csv']))).toEqual(['x.csv']);
  });

  test('name a file once that several of them match', async () => {
    const dir = await tempDir();
    await writeFiles(dir, { 'a.csv': table });
    expect(await namesOf(csvFiles(dir, ['*.csv', 'a.*', './a.csv']))).toEqual(['a.csv']);
  });

  test.each([
    ['in/c-*.csv', '/in', 'that directory holds a.csv, b.txt'],
    ['in', '', 'that is a folder: write in/* for the files in it'],
    ['in*/', '', 'only folders match: write in*/* for the files in them'],
  ])('must each match something, and say what is there instead: %s', async (glob, where, hint) => {
    const dir = await tempDir();
    await writeFiles(dir, { 'in/a.csv': table, 'in/b.txt': table });
    const failure = { code: 'source.unreadable', message: `nothing matches ${glob} in ${dir}${where}`, hint };
    expect(await failureOf(csvFiles(dir, ['in/*.csv', glob]))).toMatchObject(failure);
  });

  test('that match in an empty directory, or one that is not there, say so', async () => {
    const dir = await tempDir();
    await mkdir(path.join(dir, 'empty'));
    expect(await failureOf(csvFiles(dir, ['empty/*.csv']))).toMatchObject({
      code: 'source.unreadable',
      hint: 'that directory is empty',
    });
    expect(await failureOf(csvFiles(dir, ['share/*.csv']))).toMatchObject({
      code: 'source.unreadable',
      message: `${dir}/share does not exist`,
      hint: expect.stringContaining('mounted'),
    });
  });

  test.each([
    ['~/exports/*.csv', '"~" stands for no home directory here'],
    ['$HOME/*.csv', 'write a variable as ${NAME}'],
    ['exports\\*.csv', 'write "/" between folders'],
  ])('as a shell or Windows writes it (%s) say how it is written here', async (pattern, hint) => {
    const dir = await tempDir();
    await writeFiles(dir, { 'exports/a.csv': table });
    expect(await failureOf(csvFiles(dir, [pattern]))).toMatchObject({
      code: 'source.unreadable',
      hint: expect.stringContaining(hint),
    });
  });

  test('leave out directories that they happen to match', async () => {
    const dir = await tempDir();
    await writeFiles(dir, { 'a.csv': table, 'old.csv/b.csv': table });
    expect(await namesOf(csvFiles(dir, ['*.csv']))).toEqual(['a.csv']);
  });

  test('follow links to files, and to directories but by **', async () => {
    const dir = await tempDir();
    await writeFiles(dir, { 'real/a.csv': table });
    await symlink('a.csv', path.join(dir, 'real/b.csv'));
    await symlink('real', path.join(dir, 'linked'));
    await symlink('..', path.join(dir, 'real/up'));
    const found = async (glob: string): Promise<readonly unknown[]> =>
      (await csvFiles(dir, [glob]).parts(calm)).map(({ name, otherNames }) => [name, ...(otherNames ?? [])]);
    expect(await found('*/*.csv')).toEqual([['real/a.csv', 'linked/a.csv', 'linked/b.csv', 'real/b.csv']]);
    expect(await found('**/*.csv')).toEqual([['real/a.csv', 'real/b.csv']]);
    expect((await readWhole(csvFiles(dir, ['real/b.csv']))).rows).toEqual([['1', '2']]);
  });
});

describe('something that is not a file', () => {
  test.each<[string, (file: string) => Promise<unknown>, RegExp]>([
    ['a FIFO', async (file) => execFileSync('mkfifo', [file]), /^.+x\.csv is a FIFO, not a file$/],
    ['a socket', makeSocket, /^.+x\.csv is a socket, not a file$/],
    ['a device', (file) => symlink('/dev/null', file), /^.+x\.csv is a device, not a file$/],
    ['a link to itself', (file) => symlink('x.csv', file), /^.+x\.csv is a symbolic link that leads back to itself$/],
    ['a link to nothing', (file) => symlink('gone', file), /^.+x\.csv is a symbolic link that leads nowhere$/],
  ])('is a failure that names it: %s', async (_what, make, message) => {
    const dir = await tempDir();
    await writeFiles(dir, { 'a.csv': table });
    await make(path.join(dir, 'x.csv'));
    expect(await failureOf(csvFiles(dir, ['*.csv']))).toMatchObject({
      code: 'source.unreadable',
      message: expect.stringMatching(message),
    });
  });

  test('is a failure where a directory should be a link that leads nowhere', async () => {
    const dir = await tempDir();
    await writeFiles(dir, { 'north/a.csv': table });
    await symlink('/nowhere/share', path.join(dir, 'south'));
    expect(await failureOf(csvFiles(dir, ['*/*.csv']))).toMatchObject({ code: 'source.unreadable' });
  });

  test('is a failure, and blocks nothing, when it takes the place of a file', async () => {
    const dir = await tempDir();
    await writeFiles(dir, { 'a.csv': table });
    const source = csvFiles(dir, ['a.csv'], { settle: '0s' });
    const [part] = await source.parts(calm);
    await rm(path.join(dir, 'a.csv'));
    execFileSync('mkfifo', [path.join(dir, 'a.csv')]);
    await expect(readWhole(source, part)).rejects.toMatchObject({ message: expect.stringContaining('is a FIFO') });
  });
});

describe('without permission', () => {
  test.each([
    ['the directory of the files', 'in', ['in/*.csv']],
    ['a directory above it', '.', ['in/*.csv']],
    ['one directory of several', 'in/south', ['in/*/*.csv']],
    ['one directory that ** comes by', 'in/south', ['in/**/*.csv']],
  ])('for %s nothing is read, and it says who needs it', async (_what, locked, files) => {
    const dir = await tempDir();
    await writeFiles(dir, { 'in/a.csv': table, 'in/north/a.csv': table, 'in/south/a.csv': table });
    await chmod(dir, 0o755);
    await chmod(path.join(dir, locked), 0);
    const failure = await asAnybody(() => failureOf(csvFiles(dir, files)));
    await chmod(path.join(dir, locked), 0o755);
    const user = process.getuid?.() === 0 ? 65_534 : process.getuid?.();
    expect(failure).toMatchObject({
      code: 'source.unreadable',
      message: `${path.join(dir, locked === '.' ? 'in' : locked)}: user id ${user} has no permission to read it`,
      hint: expect.stringContaining('SupplementaryGroups='),
    });
  });

  test('for a file it is a failure of that part', async () => {
    const dir = await tempDir();
    await writeFiles(dir, { 'a.csv': table });
    await chmod(dir, 0o755);
    await chmod(path.join(dir, 'a.csv'), 0);
    expect(await asAnybody(() => failureOf(csvFiles(dir, ['*.csv'])))).toMatchObject({
      code: 'part.unreadable',
      message: expect.stringContaining('has no permission to read it'),
    });
  });

  test('for a directory that no glob comes by nothing is missing', async () => {
    const dir = await tempDir();
    await writeFiles(dir, { 'in/a.csv': table, 'in/private/a.csv': table });
    await chmod(dir, 0o755);
    await chmod(path.join(dir, 'in/private'), 0);
    expect(await asAnybody(() => namesOf(csvFiles(dir, ['in/*.csv'])))).toEqual(['in/a.csv']);
    await chmod(path.join(dir, 'in/private'), 0o755);
  });
});

describe('a file that is still written', () => {
  test('is read at once when it was quiet for settle', async () => {
    const dir = await tempDir();
    await writeFiles(dir, { 'a.csv': table });
    const clock = laterClock(10_000);
    await readWhole(openSource('csv', { files: ['a.csv'], settle: '5s' }, dir, clock));
    expect(clock.sleptMs).toEqual([]);
  });

  test('is read after the rest of settle when it is younger', async () => {
    const dir = await tempDir();
    await writeFiles(dir, { 'a.csv': table });
    const clock = laterClock(2_000);
    await readWhole(openSource('csv', { files: ['a.csv'], settle: '10s' }, dir, clock));
    expect(clock.sleptMs).toHaveLength(1);
    expect(clock.sleptMs[0]).toBeGreaterThan(7_000);
    expect(clock.sleptMs[0]).toBeLessThanOrEqual(8_100);
  });

  test('is read after a whole settle when its time is in the future, since a clock jumped', async () => {
    const dir = await tempDir();
    await writeFiles(dir, { 'a.csv': table });
    const clock = laterClock(-86_400_000);
    await readWhole(openSource('csv', { files: ['a.csv'], settle: '10s' }, dir, clock));
    expect(clock.sleptMs).toEqual([10_000]);
  });

  test('is waited for again when it moved meanwhile', async () => {
    const dir = await tempDir();
    await writeFiles(dir, { 'a.csv': table });
    let lines = 0;
    const clock = laterClock(-86_400_000, async () => {
      lines += 1;
      if (lines < 3) await appendFile(path.join(dir, 'a.csv'), '3,4\n');
    });
    const { rows } = await readWhole(openSource('csv', { files: ['a.csv'], settle: '10s' }, dir, clock));
    expect(clock.sleptMs).toHaveLength(3);
    expect(rows).toHaveLength(3);
  });

  test('is given up after a minute', async () => {
    const dir = await tempDir();
    await writeFiles(dir, { 'a.csv': table });
    const clock = laterClock(-86_400_000, () => appendFile(path.join(dir, 'a.csv'), '3,4\n'));
    const source = openSource('csv', { files: ['a.csv'], settle: '10s' }, dir, clock);
    expect(await failureOf(source)).toMatchObject({
      code: 'part.changing',
      message: `${dir}/a.csv did not hold still for 10 s`,
    });
    expect(clock.monotonicMs()).toBeLessThanOrEqual(60_000);
    expect(clock.monotonicMs()).toBeGreaterThanOrEqual(50_000);
  });

  test('is not waited for with settle: 0s', async () => {
    const dir = await tempDir();
    await writeFiles(dir, { 'a.csv': table });
    const clock = laterClock(0);
    await readWhole(openSource('csv', { files: ['a.csv'], settle: '0s' }, dir, clock));
    expect(clock.sleptMs).toEqual([]);
  });

  test('stops being waited for when the signal aborts', async () => {
    const dir = await tempDir();
    await writeFiles(dir, { 'a.csv': table });
    const controller = new AbortController();
    const reason = new Error('enough');
    const clock = laterClock(0, async () => controller.abort(reason));
    const source = openSource('csv', { files: ['a.csv'] }, dir, clock);
    const [part] = await source.parts(calm);
    await expect(source.rows(part!, controller.signal).next()).rejects.toBe(reason);
  });
});

describe('a file that changes while it is read', () => {
  const long = `a,b\n${'1,2\n'.repeat(100_000)}`;
  const changes: Readonly<Record<string, (file: string) => Promise<unknown>>> = {
    'is replaced by another one of the same size': async (file) => {
      await writeFile(`${file}.new`, long.replaceAll('1', '7'));
      await rename(`${file}.new`, file);
    },
    'is written over in place': (file) => writeFile(file, long.replaceAll('1', '7')),
    grows: (file) => appendFile(file, '3,4\n'),
    shrinks: (file) => truncate(file, 300_000),
    'is removed': (file) => rm(file),
    'is touched': (file) => utimes(file, new Date(0), new Date(0)),
  };

  test.each(Object.keys(changes))('is not read when it %s', async (how) => {
    const dir = await tempDir();
    await writeFiles(dir, { 'a.csv': long });
    let isFirst = true;
    const reading = readWhole(csvFiles(dir, ['*.csv']), undefined, async () => {
      if (isFirst) await changes[how]!(path.join(dir, 'a.csv'));
      isFirst = false;
    });
    await expect(reading).rejects.toMatchObject({ code: 'part.changing' });
  });

  test('is called changing, not broken, when half of it does not parse', async () => {
    const dir = await tempDir();
    await writeFiles(dir, { 'a.csv': `${long}3,"4` });
    let isFirst = true;
    const reading = readWhole(csvFiles(dir, ['*.csv']), undefined, async () => {
      if (isFirst) await appendFile(path.join(dir, 'a.csv'), '"');
      isFirst = false;
    });
    await expect(reading).rejects.toMatchObject({ code: 'part.changing' });
  });

  test('is read again in full when it holds still', async () => {
    const dir = await tempDir();
    await writeFiles(dir, { 'a.csv': long });
    const source = csvFiles(dir, ['*.csv']);
    const before = await source.parts(calm);
    await changes['is written over in place']!(path.join(dir, 'a.csv'));
    const { rows, content } = await readWhole(source, before[0]);
    expect(rows.every(([a]) => a === '7')).toBe(true);
    expect(content.version).toBe((await source.parts(calm))[0]!.version);
  });
});

describe('parts: newest', () => {
  test('shows all files and says so, since only the agent knows which were merely touched', async () => {
    const dir = await tempDir();
    await writeFiles(dir, { '2026-01.csv': table, '2026-02.csv': table });
    const source = csvFiles(dir, ['*.csv'], { parts: 'newest' });
    expect([source.newestOnly, await namesOf(source)]).toEqual([true, ['2026-01.csv', '2026-02.csv']]);
  });

  test('tells the hash of a file without reading its rows', async () => {
    const dir = await tempDir();
    await writeFiles(dir, { 'a.csv': table, 'b.csv': `${table}9,9\n` });
    const source = csvFiles(dir, ['*.csv'], { parts: 'newest' });
    const [a, b] = await source.parts(calm);
    const { hash } = (await readWhole(source)).content;
    expect(await source.hash!(a!, calm)).toEqual({ hash, version: a!.version });
    expect(await source.hash!(b!, calm)).not.toMatchObject({ hash });
  });
});

describe('watching', () => {
  test('wakes for a file that comes, changes or goes, wherever a glob looks', async () => {
    const dir = await tempDir();
    await writeFiles(dir, { 'in/a.csv': table });
    let woken = Promise.withResolvers<void>();
    const watch = await csvFiles(dir, ['in/**/*.csv']).watch!(() => woken.resolve());
    const acts = [
      () => writeFile(path.join(dir, 'in/b.csv'), table),
      () => appendFile(path.join(dir, 'in/a.csv'), '3,4\n'),
      () => rm(path.join(dir, 'in/b.csv')),
    ];
    for (const act of acts) {
      woken = Promise.withResolvers();
      await act();
      await woken.promise;
    }
    await watch[Symbol.asyncDispose]();
    expect(await namesOf(csvFiles(dir, ['in/**/*.csv']))).toEqual(['in/a.csv']);
  });

  test('of a directory that is not there yet wakes once it is', async () => {
    const dir = await tempDir();
    const woken = Promise.withResolvers<void>();
    const watch = await csvFiles(dir, ['share/*.csv']).watch!(woken.resolve);
    await writeFiles(dir, { 'share/a.csv': table });
    await woken.promise;
    await watch[Symbol.asyncDispose]();
    expect(await namesOf(csvFiles(dir, ['share/*.csv']))).toEqual(['share/a.csv']);
  });
});

test.skipIf(process.platform !== 'linux')('leaves no file open, whatever became of the read', async () => {
  const dir = await tempDir();
  await writeFiles(dir, { 'good.csv': table, 'bad.csv': 'a\n"1', 'long.csv': `a\n${'1\n'.repeat(100_000)}` });
  await readWhole(csvFiles(dir, ['good.csv']));
  await failureOf(csvFiles(dir, ['bad.csv']));
  const source = csvFiles(dir, ['long.csv']);
  for await (const batch of source.rows((await source.parts(calm))[0]!, calm)) {
    expect(batch.columns).toEqual(['a']);
    break;
  }
  const links = (await readdir('/proc/self/fd')).map((fd) => readlink(`/proc/self/fd/${fd}`).catch(() => ''));
  expect((await Promise.all(links)).filter((target) => target.startsWith(dir))).toEqual([]);
  expect((await stat(dir)).isDirectory()).toBe(true);
});
