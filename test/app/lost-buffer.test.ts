import { rename, rm } from 'node:fs/promises';
import path from 'node:path';
import { describe, expect, test } from 'vitest';
import { collapsing, gridFile, ids, judged, longFile, longSource, world } from '../support/world.ts';

const summed = { sources: { sales: collapsing('sum', 'in/*.csv') } };
const files = {
  'in/1.csv': longFile({ A: { '2026-01': 1 }, shared: { '2026-01': 10 } }),
  'in/2.csv': longFile({ B: { '2026-01': 2 }, shared: { '2026-01': 20 } }),
};
const unchanged = { exit: 0, outcome: 'unchanged' };

describe('a buffer that was lost', () => {
  const config = { sources: { a: longSource('a.csv'), b: longSource('in/*.csv') } };
  const start = { 'a.csv': gridFile(['a']), ...files };

  test('is made again from the sources, and nothing changes', async () => {
    await using w = await world({ config, files: start });
    await w.sync();
    await w.loseBuffer();
    expect(await w.sync()).toMatchObject(unchanged);
    expect(await w.sync()).toMatchObject(unchanged);
  });

  test('carries a source that is not read from the last acknowledged snapshot', async () => {
    await using w = await world({ config, files: start });
    await w.sync();
    await w.loseBuffer();
    await w.remove('a.csv');
    expect(await w.plan()).toMatchObject(judged(3, 'a', { state: 'unread' }));
    expect(await w.sync()).toMatchObject({ ...judged(3, 'a', { state: 'unread' }), outcome: 'unchanged' });
    expect(w.drivers()).toHaveLength(4);
    expect(await w.explain('a')).toMatchObject({ source: 'a', points: [{ part: 'a.csv', row: 1 }] });
  });

  test('carries a part that went meanwhile', async () => {
    await using w = await world({ config, files: start });
    await w.sync();
    await w.loseBuffer();
    await w.remove('in/1.csv');
    expect(await w.sync()).toMatchObject({ ...judged(3, 'b', { carried: ['in/1.csv'] }), outcome: 'unchanged' });
    expect(await w.sync()).toMatchObject({ ...judged(0, 'b', { carried: ['in/1.csv'] }), outcome: 'unchanged' });
    await w.forget('b', 'in/1.csv');
    await w.sync();
    expect(Object.keys(w.points())).toEqual(['B', 'a', 'shared']);
  });

  test('lets go of what was to be forgotten once its source was read', async () => {
    await using w = await world({ config, files: start });
    await w.sync();
    await w.remove('in/1.csv');
    await w.sync();
    await w.forget('b', 'in/1.csv');
    await w.loseBuffer();
    // Nobody knows which parts are gone while their folder cannot be read.
    const [place, away] = ['in', 'away'].map((name) => path.join(w.dir, name)) as [string, string];
    await rename(place, away);
    expect(await w.sync()).toMatchObject({ outcome: 'unchanged' });
    expect(w.points()).toHaveProperty('A');
    await rename(away, place);
    expect(await w.plan()).toMatchObject({ exit: 2, changes: { drivers: { delete: 1 } } });
    expect(await w.sync()).toMatchObject({ outcome: 'acknowledged', exit: 0 });
    expect(Object.keys(w.points())).toEqual(['B', 'a', 'shared']);
    expect(await w.sync()).toMatchObject(unchanged);
  });

  test('judges what the sources have now against that snapshot', async () => {
    await using w = await world({ config, files: { ...start, 'a.csv': gridFile(ids(1, 40)) } });
    await w.sync();
    await w.loseBuffer();
    await w.write('a.csv', gridFile(ids(21, 40)));
    expect(await w.sync()).toMatchObject({ ...judged(4, 'a', { state: 'held' }), outcome: 'unchanged' });
  });

  test('keeps a source that left the config', async () => {
    await using w = await world({ config, files: start });
    await w.sync();
    await w.loseBuffer();
    await w.reconfigure({ sources: { a: config.sources.a } });
    expect(await w.sync()).toMatchObject({ ...judged(4, 'b', { state: 'held' }), outcome: 'unchanged' });
  });

  test.each(['in/1.csv', 'in/2.csv'])('never changes a sum of which %s went meanwhile', async (gone) => {
    await using w = await world({ config: summed, files });
    await w.sync();
    await w.loseBuffer();
    await w.remove(gone);
    for (const report of [await w.sync(), await w.sync()]) {
      expect(report.outcome).toBe('unchanged');
      expect(w.points()).toMatchObject({ shared: { '2026-01': '30' } });
    }
  });

  test('never changes a sum of which a part went that no point was last read from', async () => {
    const both = { 'in/1.csv': longFile({ A: { '2026-01': 10 } }), 'in/2.csv': longFile({ A: { '2026-01': 20 } }) };
    await using w = await world({ config: summed, files: both });
    await w.sync();
    await w.loseBuffer();
    await w.remove('in/1.csv');
    expect(await w.sync()).not.toMatchObject({ outcome: 'acknowledged' });
    expect(w.points()).toEqual({ A: { '2026-01': '30' } });
  });

  test('never changes a sum whose parts are all there, nor counts one twice', async () => {
    await using w = await world({ config: summed, files });
    await w.sync();
    await w.loseBuffer();
    expect(await w.sync()).toMatchObject(unchanged);
    await w.write('in/1.csv', longFile({ A: { '2026-01': 1 }, shared: { '2026-01': 11 } }));
    expect(await w.sync()).toMatchObject({ exit: 0, outcome: 'acknowledged' });
    expect(w.points()).toMatchObject({ shared: { '2026-01': '31' } });
  });

  test('that was lost after a part was carried carries it on', async () => {
    await using w = await world({ config, files: start });
    await w.sync();
    await w.remove('in/1.csv');
    await w.sync();
    await w.loseBuffer();
    expect(await w.sync()).toMatchObject({ ...judged(3, 'b', { carried: ['in/1.csv'] }), outcome: 'unchanged' });
    expect(w.drivers()).toHaveLength(4);
  });

  describe('together with the snapshots', () => {
    const letters = 'abcdefghijklmnopqrst'.split('');
    const one = { sources: { a: longSource('a.csv') } };

    async function lost(now: readonly string[]): Promise<Awaited<ReturnType<typeof world>>> {
      const w = await world({ config: one, files: { 'a.csv': gridFile(letters) } });
      await w.sync();
      await w.loseBuffer();
      await rm(path.join(w.state, 'archive'), { recursive: true });
      await w.write('a.csv', gridFile(now));
      return w;
    }

    test('waits for approval where there is less now than maxDeletes lets go', async () => {
      await using w = await lost(letters.slice(0, 10));
      const blocked = await w.sync();
      expect(blocked).toMatchObject({
        exit: 4,
        outcome: 'blocked',
        reason: expect.stringContaining(
          'the snapshot of push 1 cannot be read, which had 20 drivers where this one has 10',
        ) as string,
      });
      expect(w.drivers()).toHaveLength(20);
      expect(await w.sync()).toMatchObject({ outcome: 'blocked' });
      await w.approve(blocked.hint?.split(' ').at(-1) ?? '');
      expect(await w.sync()).toMatchObject({ exit: 0, outcome: 'acknowledged' });
      expect(w.drivers()).toHaveLength(10);
    });

    test('goes on by itself where there is as much, and is judged by what it accepts from then on', async () => {
      await using w = await lost([...letters.slice(1), 'new']);
      expect(await w.sync()).toMatchObject({ exit: 0, outcome: 'acknowledged' });
      // A source that is not read yet waits for nobody but itself.
      await w.reconfigure({ sources: { ...one.sources, b: longSource('b.csv') } });
      await w.write('a.csv', gridFile([...letters.slice(1), 'new', 'newer']));
      expect(await w.sync()).toMatchObject({ exit: 4, outcome: 'acknowledged' });
      expect(w.drivers()).toHaveLength(21);
    });
  });
});
