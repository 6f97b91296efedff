/** Drivers that move to another source while their old one would carry something of them, and files that do. */
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { runsOf } from '../support/campaign.ts';
import { type TestWorld, gridFile, ids, longSource, months, sourceOf, world } from '../support/world.ts';

describe('a driver that moves and of which its old source would carry something', () => {
  const folders = { a: longSource('a/*.csv'), b: longSource('b/*.csv') };
  const half = months(1, 3);
  const all = months(1, 6);

  /** The source "a" shows a window of months and carries the older ones; D04 left it for "b", which has all of it. */
  async function windowed(rest = ['E1', 'E2']): Promise<TestWorld> {
    const config = { sources: { ...folders, a: longSource('a/*.csv', { history: 'carry' }) } };
    const w = await world({ config, files: { 'a/1.csv': gridFile(ids(1, 4), all), 'b/1.csv': gridFile(rest, all) } });
    await w.sync();
    await w.write('a/1.csv', gridFile(ids(1, 3), months(4, 7)));
    await w.write('b/1.csv', gridFile([...rest.slice(-2), 'D04'], months(1, 7)));
    return w;
  }

  test('takes its older months from there, and its history yields', async () => {
    await using w = await windowed();
    expect(await w.sync()).toMatchObject({ exit: 4, outcome: 'unchanged' });
    await w.approve(sourceOf(await w.sync(), 'a').digest ?? '');
    expect(await w.sync()).toMatchObject({ exit: 0, outcome: 'acknowledged' });
    expect(Object.keys(w.points()['D04'] ?? {})).toEqual(months(1, 7));
    expect(Object.keys(w.points()['D01'] ?? {})).toEqual(months(1, 7));
    expect(await w.sync()).toMatchObject({ exit: 0, outcome: 'unchanged' });
  });

  test('keeps all its points while the other source is held', async () => {
    await using w = await windowed(['E1', 'E2', 'E3', 'E4', 'E5', 'E6', 'E7', 'E8']);
    const report = await w.sync();
    expect(report).toMatchObject({ exit: 4, outcome: 'unchanged', sources: [{ state: 'held' }, { state: 'held' }] });
    expect(Object.keys(w.points()['D04'] ?? {})).toEqual(all);
    for (const { digest = '', approvable } of report.sources) if (approvable === true) await w.approve(digest);
    await w.sync();
    for (const { digest = '', approvable } of (await w.sync()).sources)
      if (approvable === true) await w.approve(digest);
    expect(await w.sync()).toMatchObject({ exit: 0 });
    expect(Object.keys(w.points()['D04'] ?? {})).toEqual(months(1, 7));
  });

  test('keeps all its points while the other source cannot be read', async () => {
    await using w = await windowed();
    await w.sync();
    await w.write('b/1.csv', 'id,when,value\nD04,2024-01,1\n');
    const report = await w.sync();
    expect(sourceOf(report, 'a')).toMatchObject({
      state: 'held',
      reason: 'months of driver "D04" that it would delete are in source "b", which is not read',
    });
    expect(Object.keys(w.points()['D04'] ?? {})).toEqual(all);
  });

  test('is not carried of a file that is gone where another file of its source gave it up', async () => {
    const files = {
      'a/1.csv': gridFile(['D', 'X'], half),
      'a/2.csv': gridFile(['D'], months(4, 6)).concat(gridFile(ids(1, 5), all).replace(/^.*\n/u, '')),
      'b/1.csv': gridFile(ids(11, 15), all),
    };
    await using w = await world({ config: { sources: folders, guard: { maxDeletes: '30%' } }, files });
    await w.sync();
    const pushed = w.points();
    await w.remove('a/1.csv');
    await w.write('a/2.csv', gridFile(ids(1, 5), all));
    await w.write('b/1.csv', gridFile([...ids(11, 15), 'D'], all));
    expect(await w.sync()).toMatchObject({ exit: 3, outcome: 'unchanged' });
    expect(w.points()).toEqual(pushed);
    expect(await w.explain('D')).toMatchObject({ source: 'b' });
    expect(await w.explain('X')).toMatchObject({ source: 'a' });
    await w.forget('a', 'a/1.csv');
    expect(await w.sync()).toMatchObject({ exit: 0 });
    expect(Object.keys(w.points())).toEqual(Object.keys(pushed).filter((id) => id !== 'X'));
  });

  test('keeps the months that its old source gives up while the other one, which shows them, is held', async () => {
    const files = { 'a/1.csv': gridFile(ids(1, 6), all), 'b/1.csv': gridFile(ids(11, 15), all) };
    await using w = await world({ config: { sources: folders, guard: { maxDeletes: '30%' } }, files });
    await w.sync();
    const pushed = w.points();
    await w.write('a/1.csv', gridFile(ids(2, 6), all).concat(gridFile(['D01'], half).replace(/^.*\n/u, '')));
    await w.write('b/1.csv', gridFile(ids(11, 15), all).concat(gridFile(['D01'], all).replace(/^.*\n/u, '')));
    const report = await w.sync();
    expect(report).toMatchObject({ exit: 4, outcome: 'unchanged' });
    expect(sourceOf(report, 'a')).toMatchObject({
      state: 'held',
      reason: 'months of driver "D01" that it would delete are in source "b", whose read is held',
    });
    expect(sourceOf(report, 'b').reason).toBe('driver "D01" of source "b" belongs to source "a"');
    expect(w.points()).toEqual(pushed);
    await w.write('a/1.csv', gridFile(ids(2, 6), all));
    expect(await w.sync()).toMatchObject({ exit: 0 });
    expect(w.points()).toEqual(pushed);
  });

  describe('in a whole file', () => {
    async function twoFolders(): Promise<TestWorld> {
      const files = {
        'a/x.csv': gridFile(ids(1, 6), all),
        'a/y.csv': gridFile(['Y'], all),
        'b/z.csv': gridFile(ids(11, 16), all),
      };
      const w = await world({ config: { sources: folders, guard: { maxDeletes: '30%' } }, files });
      await w.sync();
      return w;
    }

    test('that was moved to another source is not gone', async () => {
      await using w = await twoFolders();
      const pushed = w.points();
      await w.remove('a/y.csv');
      await w.write('b/y.csv', gridFile(['Y'], all));
      expect(await w.sync()).toMatchObject({ exit: 0, outcome: 'unchanged' });
      expect(await w.explain('Y')).toMatchObject({ source: 'b' });
      expect(w.points()).toEqual(pushed);
      await expect(w.forget('a', 'a/y.csv')).rejects.toMatchObject({ code: 'usage' });
    });

    test.each(['a rollback', 'a lost buffer'])('is not gone after %s either', async (how) => {
      await using w = await twoFolders();
      if (how === 'a rollback') await w.rollback(1);
      else await w.loseBuffer();
      await w.remove('a/y.csv');
      await w.write('b/y.csv', gridFile(['Y'], all));
      expect(await w.sync()).toMatchObject({ exit: 0, outcome: 'unchanged' });
      expect(await w.explain('Y')).toMatchObject({ source: 'b' });
      await expect(w.forget('a', 'a/y.csv')).rejects.toMatchObject({ code: 'usage' });
    });

    test('moves as any driver does: a slip in the config that leaves it out there carries it on', async () => {
      await using w = await twoFolders();
      await w.write('a/y.csv', gridFile(['Y', 'Z'], all));
      await w.sync();
      const b = longSource('b/*.csv', { where: { id: { not: 'Z' } } });
      await w.reconfigure({ guard: { maxDeletes: '30%' }, sources: { ...folders, b } });
      await w.remove('a/y.csv');
      await w.write('b/y.csv', gridFile(['Y', 'Z'], all));
      expect(await w.sync()).toMatchObject({ exit: 3 });
      expect(await w.explain('Y')).toMatchObject({ source: 'b' });
      expect(await w.explain('Z')).toMatchObject({ source: 'a' });
      expect((await w.status()).sources[0]).toMatchObject({ carried: ['a/y.csv'] });
    });

    test('and the files of two sources that are exchanged are drivers that move', async () => {
      await using w = await twoFolders();
      const pushed = w.points();
      await w.reconfigure({
        guard: { maxDeletes: '100%' },
        sources: { a: longSource('b/*.csv'), b: longSource('a/*.csv') },
      });
      await w.sync();
      for (const { digest = '', approvable } of (await w.sync()).sources)
        if (approvable === true) await w.approve(digest);
      expect(await w.sync()).toMatchObject({ exit: 0 });
      expect(w.points()).toEqual(pushed);
      expect(await w.explain('Y')).toMatchObject({ source: 'b' });
    });

    test('that is gone keeps it, and says how to let it go', async () => {
      await using w = await twoFolders();
      await w.remove('a/y.csv');
      await w.write('b/z.csv', gridFile([...ids(11, 16), 'Y'], all));
      expect(sourceOf(await w.sync(), 'b')).toMatchObject({
        state: 'held',
        reason: 'driver "Y" of source "b" belongs to source "a"',
        hint: expect.stringContaining('driver-sync forget a a/y.csv'),
      });
      await w.sync();
      await w.forget('a', 'a/y.csv');
      expect(await w.sync()).toMatchObject({ exit: 0 });
      expect(await w.explain('Y')).toMatchObject({ source: 'b' });
    });

    test('that is gone: forgetting it says who has the driver too', async () => {
      await using w = await twoFolders();
      await w.remove('a/y.csv');
      await w.write('b/z.csv', gridFile(['D11', 'Y'], all));
      await w.sync();
      expect(await w.forget('a', 'a/y.csv')).toMatchObject({ elsewhere: [{ source: 'b', drivers: ['Y'] }] });
      await w.sync();
      expect(w.points()['Y']).toBeUndefined();
      await w.approve(sourceOf(await w.sync(), 'b').digest ?? '');
      expect(await w.sync()).toMatchObject({ exit: 0 });
      expect(Object.keys(w.points()['Y'] ?? {})).toEqual(all);
    });
  });
});

test.each(['replace', 'carry'])(
  'whatever moves between files and sources, with history: %s, nothing is deleted that a file has, and the hints lead on',
  async (history) => {
    const halves = [months(1, 3), months(4, 6)] as const;
    const movable = ids(1, 4);
    const kept = { a: ids(11, 12), b: ids(21, 22) };
    const names = ['a', 'b'] as const;
    const rows = (drivers: readonly string[], inMonths: readonly string[]): string =>
      gridFile(drivers, inMonths).replace(/^.*\n/u, '');
    const sources = { a: longSource('a/*.csv', { history }), b: longSource('b/*.csv', { history }) };
    const fixed = { 'a/0.csv': gridFile(kept.a, months(1, 6)), 'b/0.csv': gridFile(kept.b, months(1, 6)) };
    await using w = await world({ config: { sources, guard: { maxDeletes: '100%' } }, files: fixed });
    await w.write('a/1.csv', gridFile(movable, months(1, 6)));
    await w.sync();
    const pushed = w.points();
    const written = new Set(['a/1.csv']);
    /** A driver is in one source, and its halves of the year may be in two files of it. */
    const home = fc.record({
      of: fc.constantFrom(...names),
      files: fc.tuple(fc.integer({ min: 1, max: 2 }), fc.integer({ min: 1, max: 2 })),
    });
    await fc.assert(
      fc.asyncProperty(fc.array(home, { minLength: 4, maxLength: 4 }), async (homes) => {
        for (const file of names.flatMap((name) => [`${name}/1.csv`, `${name}/2.csv`])) {
          const text = halves
            .map((half, at) =>
              rows(
                movable.filter((_, one) => `${homes[one]!.of}/${homes[one]!.files[at]}.csv` === file),
                half,
              ),
            )
            .join('');
          if (text !== '') await w.write(file, `id,time,value\n${text}`);
          else if (written.has(file)) await w.remove(file);
          if (text === '') written.delete(file);
          else written.add(file);
        }
        let report = await w.sync();
        expect(w.points()).toEqual(pushed);
        for (let round = 0; report.exit === 4 && round < 4; round++) {
          const forgets = report.sources.flatMap(({ hint = '' }) => [...hint.matchAll(/forget (\w)(?: ([\w./]+))?/gu)]);
          for (const [, source = '', part] of forgets) await w.forget(source, part);
          report = await w.sync();
          expect(w.points()).toEqual(pushed);
        }
        expect(report.exit).not.toBe(4);
        for (const [at, id] of movable.entries()) expect(await w.explain(id)).toMatchObject({ source: homes[at]!.of });
        for (const { name, carried = [] } of (await w.status()).sources) {
          for (const part of carried) await w.forget(name, part);
        }
        expect(await w.sync()).toMatchObject({ exit: 0 });
        expect(w.points()).toEqual(pushed);
      }),
      runsOf(2, 60),
    );
  },
  120_000,
);
