/** Drivers that one pass gives up and a later one has again: what their values are compared with. */
import { describe, expect, test } from 'vitest';
import { left, move, moved, others, twoSources, yearOf } from '../support/moving-world.ts';
import { sourcesOf } from '../support/owning-world.ts';
import { type TestWorld, ids, sourceOf, world } from '../support/world.ts';

describe('a driver that one pass gives up and a later one has again', () => {
  /** The service has had nothing of the three for a pass or two. */
  async function gone(more: object = {}): Promise<TestWorld> {
    const w = await twoSources(more);
    await w.write('a.csv', yearOf(left));
    expect(await w.sync()).toMatchObject({ exit: 0, outcome: 'acknowledged' });
    await w.write('b.csv', yearOf([...others, 'B']));
    expect(await w.sync()).toMatchObject({ exit: 0, outcome: 'acknowledged' });
    expect(w.drivers()).toHaveLength(19);
    return w;
  }

  test('is new where it has the values that it had', async () => {
    await using w = await gone();
    await move(w);
    expect(sourceOf(await w.sync(), 'b')).toMatchObject({ state: 'accepted', changes: { drivers: { create: 3 } } });
  });

  test.each(['a', 'b'])('is compared with what the service had of it: in %s', async (name) => {
    await using w = await gone();
    const rest = name === 'a' ? left : others;
    await w.write(`${name}.csv`, yearOf(rest).concat(yearOf(moved, '000').replace(/^.*\n/u, '')));
    const report = await w.sync();
    expect(sourceOf(report, name)).toMatchObject({
      state: 'held',
      findings: moved.map((id) => ({ kind: 'factor', factor: '1000', group: [id], points: 12 })),
    });
    await w.approve(sourceOf(report, name).digest ?? '');
    expect(await w.sync()).toMatchObject({ exit: 0 });
    expect(w.points()).toMatchObject({ D01: { '2025-01': expect.stringMatching(/000$/u) } });
  });

  test.each(['a', 'b'])(
    'is compared where nothing is deleted, so that the service has it still: in %s',
    async (name) => {
      await using w = await twoSources({ destination: { shouldDeleteMissing: false } });
      await w.write('a.csv', yearOf(left));
      expect(await w.sync()).toMatchObject({ exit: 0, outcome: 'acknowledged' });
      await w.write('b.csv', yearOf([...others, 'B']));
      expect(await w.sync()).toMatchObject({ exit: 0, outcome: 'acknowledged' });
      const pushed = w.points();
      await w.write(
        `${name}.csv`,
        yearOf(name === 'a' ? left : [...others, 'B']).concat(yearOf(moved, '000').replace(/^.*\n/u, '')),
      );
      expect(sourceOf(await w.sync(), name)).toMatchObject({
        state: 'held',
        findings: moved.map((id) => ({ kind: 'factor', factor: '1000', group: [id], points: 12 })),
      });
      expect(w.points()).toEqual(pushed);
    },
  );

  describe('changes nothing for a driver that never went', () => {
    /** D01 to D03 went; since then all numbers of a source are a thousandfold, as somebody approved. */
    async function raised(name: string, drivers: readonly string[]): Promise<TestWorld> {
      const w = await gone({ guard: { maxDeletes: '60%' } });
      await w.write(`${name}.csv`, yearOf(drivers, '000'));
      await w.approve(sourceOf(await w.sync(), name).digest ?? '');
      expect(await w.sync()).toMatchObject({ exit: 0, outcome: 'acknowledged' });
      return w;
    }

    test('beside one that is new', async () => {
      await using w = await raised('b', [...others, 'B']);
      await w.write('b.csv', yearOf([...others, 'B', 'new'], '000'));
      const report = await w.sync();
      expect(sourceOf(report, 'b')).toMatchObject({ state: 'accepted', changes: { drivers: { create: 1 } } });
      expect(report).toMatchObject({ exit: 0, outcome: 'acknowledged' });
    });

    test('that moves to another source', async () => {
      await using w = await raised('a', left);
      const [mover = '', ...staying] = left;
      await w.write('a.csv', yearOf(staying, '000'));
      await w.write('b.csv', yearOf([...others, 'B']).concat(yearOf([mover], '000').replace(/^.*\n/u, '')));
      const report = await w.sync();
      expect(sourceOf(report, 'b')).toMatchObject({ state: 'accepted', changes: { drivers: { create: 1 } } });
      expect(report).toMatchObject({ exit: 0, outcome: 'unchanged' });
    });
  });

  describe('is not what counts any more once it is back with other values that somebody approved', () => {
    /** D01 to D03 are in `b` a thousandfold. */
    async function back(): Promise<TestWorld> {
      const w = await gone();
      await move(w, '000');
      const { digest = '' } = sourceOf(await w.sync(), 'b');
      await w.approve(digest);
      expect(await w.sync()).toMatchObject({ exit: 0, outcome: 'acknowledged' });
      return w;
    }

    test('where it goes on in its source', async () => {
      await using w = await back();
      await move(w, '000', [...others, 'B', 'C']);
      expect(await w.sync()).toMatchObject({ exit: 0, outcome: 'acknowledged' });
    });

    test('where it moves on', async () => {
      await using w = await back();
      await w.write('b.csv', yearOf([...others, 'B']));
      await w.write('a.csv', yearOf(left).concat(yearOf(moved, '000').replace(/^.*\n/u, '')));
      expect(await w.sync()).toMatchObject({ exit: 0 });
    });
  });

  test('is all that is compared of the first read of a source', async () => {
    await using w = await gone();
    await w.reconfigure(sourcesOf(['a', 'b', 'c'], { guard: { maxDeletes: '30%' } }));
    const more = ids(31, 33);
    await w.write('c.csv', yearOf(more).concat(yearOf(moved, '000').replace(/^.*\n/u, '')));
    expect(sourceOf(await w.sync(), 'c')).toMatchObject({
      state: 'held',
      findings: [{ kind: 'factor', factor: '1000', points: 36, of: 36 }],
    });
  });

  test('is compared also where the first pass was not pushed', async () => {
    await using w = await twoSources();
    await w.write('a.csv', yearOf(left));
    await w.sync({ push: 'no' });
    await move(w, '000');
    expect(sourceOf(await w.sync(), 'b').state).toBe('held');
  });

  test('stays held for as long as nobody looks', async () => {
    await using w = await gone();
    await move(w, '000');
    for (let pass = 0; pass < 5; pass += 1) {
      expect(sourceOf(await w.sync({ push: 'always' }), 'b').state).toBe('held');
      w.clock.jump(20 * 86_400_000);
    }
  });

  test('is compared however many pushes have deleted drivers since then', async () => {
    const going = ids(21, 60);
    const config = sourcesOf(['a'], { guard: { maxDeletes: 1000 } });
    await using w = await world({ config, files: { 'a.csv': yearOf([...going, ...left]) } });
    await w.sync();
    for (let count = 1; count <= going.length; count++) {
      await w.write('a.csv', yearOf([...going.slice(count), ...left]));
      expect(await w.sync()).toMatchObject({ exit: 0, outcome: 'acknowledged' });
      w.clock.jump(3_600_000);
    }
    await w.write('a.csv', yearOf(left).concat(yearOf(['D21'], '000').replace(/^.*\n/u, '')));
    expect(sourceOf(await w.sync(), 'a')).toMatchObject({
      state: 'held',
      findings: [{ kind: 'factor', group: ['D21'] }],
    });
  });

  test('is compared beside one that went in an earlier push', async () => {
    const config = sourcesOf(['a'], { guard: { maxDeletes: 1000 } });
    await using w = await world({ config, files: { 'a.csv': yearOf([...moved, ...left]) } });
    await w.sync();
    for (const kept of [moved.slice(1), moved.slice(2)]) {
      w.clock.jump(3_600_000);
      await w.write('a.csv', yearOf([...kept, ...left]));
      expect(await w.sync()).toMatchObject({ exit: 0, outcome: 'acknowledged' });
    }
    await w.write(
      'a.csv',
      yearOf([...moved.slice(2), ...left]).concat(yearOf(moved.slice(0, 2), '000').replace(/^.*\n/u, '')),
    );
    const { findings } = sourceOf(await w.sync(), 'a');
    expect(findings?.map(({ group }) => group)).toEqual(moved.slice(0, 2).map((id) => [id]));
  });

  test('is new once that is long ago', async () => {
    await using w = await gone();
    w.clock.jump(31 * 86_400_000);
    await move(w, '000');
    expect(sourceOf(await w.sync(), 'b').state).toBe('accepted');
  });

  test('is created anew in a closed month, though it was there', async () => {
    await using w = await gone();
    await w.reconfigure(sourcesOf(['a', 'b'], { guard: { maxDeletes: '30%' }, lastClose: '2025-06' }));
    await move(w, '', [...others, 'B']);
    expect(sourceOf(await w.sync(), 'b').findings).toMatchObject([{ kind: 'closed', points: 18 }]);
  });
});
