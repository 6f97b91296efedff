/** Drivers that move from one source to another in one pass: what the taker's values are compared with, and who waits for whom. */
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { runsOf } from '../support/campaign.ts';
import { longSource, ids, sourceOf, world } from '../support/world.ts';
import { left, move, moved, others, twoSources, yearOf } from '../support/moving-world.ts';
import { sourcesOf } from '../support/owning-world.ts';

describe('a driver that moves to another source', () => {
  test('is accepted there with the values that it had', async () => {
    await using w = await twoSources();
    await move(w);
    expect(await w.sync()).toMatchObject({ exit: 0, outcome: 'unchanged' });
    expect(await w.explain('D01')).toMatchObject({ source: 'b' });
  });

  test('is compared with what the other source had accepted, and both wait', async () => {
    await using w = await twoSources();
    const pushed = w.points();
    await move(w, '000');
    const report = await w.sync();
    expect(report).toMatchObject({ exit: 4, outcome: 'unchanged' });
    expect(sourceOf(report, 'b')).toMatchObject({
      state: 'held',
      reason: expect.stringContaining('12 of 12 values of D01 are 1000 times what they were'),
      findings: moved.map((id) => ({ kind: 'factor', factor: '1000', group: [id], points: 12 })),
    });
    expect(sourceOf(report, 'a')).toMatchObject({
      state: 'held',
      reason: 'driver "D01" and 2 more of source "a" moved to source "b", whose read is held',
    });
    expect(w.points()).toEqual(pushed);
  });

  test('is accepted in both once the taker is approved', async () => {
    await using w = await twoSources();
    await move(w, '000');
    await w.approve(sourceOf(await w.sync(), 'b').digest ?? '');
    expect(await w.sync()).toMatchObject({ exit: 0, outcome: 'acknowledged' });
    expect(w.drivers()).toHaveLength(21);
    expect(w.points()).toMatchObject({ D01: { '2025-01': expect.stringMatching(/000$/u) } });
    expect((await w.status()).held).toEqual([]);
  });

  test('is compared also where the taker is new', async () => {
    await using w = await world({
      config: sourcesOf(['a'], { guard: { maxDeletes: '30%' } }),
      files: { 'a.csv': yearOf([...left, ...moved]) },
    });
    await w.sync();
    await w.reconfigure(sourcesOf(['a', 'b'], { guard: { maxDeletes: '30%' } }));
    await move(w, '000', []);
    const report = await w.sync();
    expect(report.sources).toMatchObject([
      { name: 'a', state: 'held' },
      { name: 'b', state: 'held', findings: [{ kind: 'factor', factor: '1000', points: 36 }] },
    ]);
    await w.approve(sourceOf(report, 'b').digest ?? '');
    expect(await w.sync()).toMatchObject({ exit: 0 });
  });

  test('changes nothing in a closed month where it keeps its values: only the source that lost it asks', async () => {
    await using w = await twoSources({ lastClose: '2025-06' });
    await move(w);
    const report = await w.sync();
    expect(sourceOf(report, 'a')).toMatchObject({ state: 'held', findings: [{ kind: 'closed' }] });
    expect(sourceOf(report, 'b')).toMatchObject({
      state: 'held',
      reason: expect.stringContaining('until the held read of "a"'),
    });
    expect(sourceOf(report, 'b').findings).toBeUndefined();
    await w.approve(sourceOf(report, 'a').digest ?? '');
    expect(await w.sync()).toMatchObject({ exit: 0, outcome: 'unchanged' });
  });

  test('is all that is compared of a first read: what is new there may be in closed months', async () => {
    const more = { guard: { maxDeletes: '30%' }, lastClose: '2025-06' };
    await using w = await world({ config: sourcesOf(['a'], more), files: { 'a.csv': yearOf([...left, ...moved]) } });
    await w.sync();
    await w.write('a.csv', yearOf(left));
    await w.write('b.csv', yearOf([...moved, 'B']));
    await w.reconfigure(sourcesOf(['a', 'b'], more));
    const report = await w.sync();
    expect(sourceOf(report, 'a').findings).toMatchObject([{ kind: 'closed' }]);
    expect(sourceOf(report, 'b').findings).toBeUndefined();
    await w.approve(sourceOf(report, 'a').digest ?? '');
    expect(await w.sync()).toMatchObject({ exit: 0, outcome: 'acknowledged' });
    expect(w.drivers()).toHaveLength(13);
  });

  test('is compared by whoever takes it alone, where others move to a third source', async () => {
    const config = sourcesOf(['a', 'b', 'c'], { guard: { maxDeletes: '30%' }, lastClose: '2025-06' });
    const files = {
      'a.csv': yearOf([...left, ...moved]),
      'b.csv': yearOf(['B', 'B2', 'B3']),
      'c.csv': yearOf(['C', 'C2', 'C3']),
    };
    await using w = await world({ config, files });
    await w.sync();
    await w.write('a.csv', yearOf(left));
    await w.write('b.csv', yearOf(['B', 'B2', 'B3', 'D01']));
    await w.write('c.csv', yearOf(['C', 'C2', 'C3', 'D02', 'D03']));
    const report = await w.sync();
    expect(['b', 'c'].map((name) => sourceOf(report, name).findings)).toEqual([undefined, undefined]);
    await w.approve(sourceOf(report, 'a').digest ?? '');
    expect(await w.sync()).toMatchObject({ exit: 0, outcome: 'unchanged' });
    expect(w.drivers()).toHaveLength(18);
  });
});

describe('a source that gives drivers up to a held one', () => {
  test('waits, whatever holds the other one, so that nothing is deleted', async () => {
    await using w = await twoSources();
    await move(w, '', ids(21, 22));
    const report = await w.sync();
    expect(report).toMatchObject({ exit: 4, outcome: 'unchanged' });
    expect(sourceOf(report, 'b').reason).toMatch(/^it would delete 7 of 9 drivers/u);
    expect(sourceOf(report, 'a').reason).toMatch(/moved to source "b"/u);
    expect(w.drivers()).toHaveLength(21);
  });

  test('waits also where its own deletes are approved, and its approval with it', async () => {
    await using w = await twoSources({ guard: { maxDeletes: 0 } });
    await move(w, '000');
    const report = await w.sync({ resume: false });
    await w.approve(sourceOf(report, 'a').digest ?? '');
    const waiting = await w.sync({ resume: false });
    expect(sourceOf(waiting, 'a')).toMatchObject({
      state: 'held',
      reason: expect.stringContaining('moved to source "b"'),
    });
    expect((await w.status()).approvals).toMatchObject([{ source: 'a', state: 'pending' }]);
    expect(w.drivers()).toHaveLength(21);
    await w.approve(sourceOf(waiting, 'b').digest ?? '');
    expect(await w.sync({ resume: false })).toMatchObject({ exit: 0 });
    expect((await w.status()).approvals).toEqual([]);
  });

  describe('that cannot be read any more', () => {
    const unreadable = 'id,when,value\nD01,2025-01,1\n';

    test('waits on, and a slip is found when the other one is back', async () => {
      await using w = await twoSources();
      const pushed = w.points();
      await move(w, '000');
      await w.sync();
      await w.write('b.csv', unreadable);
      for (let pass = 0; pass < 3; pass += 1) {
        const report = await w.sync();
        expect(report).toMatchObject({
          exit: 4,
          outcome: 'unchanged',
          sources: [{ state: 'held' }, { state: 'unread' }],
        });
        expect(sourceOf(report, 'a').reason).toBe(
          'driver "D01" and 2 more of source "a" moved to source "b", which is not read',
        );
      }
      await move(w, '000');
      const back = await w.sync();
      expect(sourceOf(back, 'b')).toMatchObject({ state: 'held', findings: moved.map((id) => ({ group: [id] })) });
      expect(w.points()).toEqual(pushed);
      await move(w);
      expect(await w.sync()).toMatchObject({ exit: 0, outcome: 'unchanged' });
      expect(w.drivers()).toHaveLength(21);
    });

    test('waits on where the other one was approved before it became unreadable', async () => {
      await using w = await twoSources();
      await move(w, '000');
      await w.approve(sourceOf(await w.sync(), 'b').digest ?? '');
      await w.write('b.csv', unreadable);
      expect(await w.sync()).toMatchObject({ exit: 4, outcome: 'unchanged' });
      expect(w.drivers()).toHaveLength(21);
    });

    test('waits also where only a part of the other one is read well', async () => {
      const config = { sources: { a: longSource('a.csv'), b: longSource('b/*.csv') }, guard: { maxDeletes: '30%' } };
      const files = { 'a.csv': yearOf([...left, ...moved]), 'b/1.csv': yearOf(others), 'b/2.csv': yearOf(['B']) };
      await using w = await world({ config, files });
      await w.sync();
      await w.write('a.csv', yearOf(left));
      await w.write('b/1.csv', yearOf([...others, ...moved], '000'));
      await w.write('b/2.csv', unreadable);
      expect(await w.sync()).toMatchObject({ exit: 4, sources: [{ state: 'held' }, { state: 'unread' }] });
      // Another part is read in its place, and shows that the drivers are not there.
      await w.write('b/1.csv', yearOf(others));
      expect(await w.sync()).toMatchObject({ exit: 3, sources: [{ state: 'accepted' }, { state: 'unread' }] });
      expect(w.drivers()).toHaveLength(19);
    });

    test('waits on where the other one gets another key', async () => {
      await using w = await twoSources();
      const pushed = w.points();
      await move(w, '000');
      await w.sync();
      await w.write('b.csv', unreadable);
      await w.sync();
      const sources = { a: longSource('a.csv'), renamed: longSource('b.csv') };
      await w.reconfigure({ guard: { maxDeletes: '30%' }, sources });
      const report = await w.sync();
      expect(report).toMatchObject({ exit: 4, outcome: 'unchanged' });
      expect(sourceOf(report, 'a').reason).toMatch(/moved to source "b", which is not read/u);
      await move(w);
      expect(await w.sync()).toMatchObject({ exit: 0 });
      expect(w.points()).toEqual(pushed);
    });

    test('goes on once the other one leaves the config', async () => {
      await using w = await twoSources();
      await move(w, '000');
      await w.sync();
      await w.write('b.csv', unreadable);
      await w.sync();
      await w.reconfigure(sourcesOf(['a'], { guard: { maxDeletes: '30%' } }));
      const report = await w.sync();
      expect(sourceOf(report, 'a').state).toBe('accepted');
      expect(sourceOf(report, 'b').reason).toMatch(/left the config and 9 drivers would be deleted/u);
    });

    test('does not wait for drivers that the other one never had', async () => {
      await using w = await twoSources();
      await w.write('a.csv', yearOf(left));
      await w.write('b.csv', unreadable);
      expect(await w.sync()).toMatchObject({ exit: 3, sources: [{ state: 'accepted' }, { state: 'unread' }] });
    });
  });

  test('goes on once the other one has none of them any more', async () => {
    await using w = await twoSources();
    await move(w, '000');
    await w.sync();
    await w.write('b.csv', yearOf(others));
    expect(await w.sync()).toMatchObject({ exit: 0, outcome: 'acknowledged' });
    expect(w.drivers()).toHaveLength(18);
  });
});

test('whatever moves where, and whatever slips on its way, no driver is deleted that an export has, and no slip is pushed', async () => {
  const names = ['a', 'b', 'c'] as const;
  const movable = ids(1, 4);
  const config = sourcesOf([...names], { guard: { maxDeletes: 100 } });
  await using w = await world({
    config,
    files: { 'a.csv': yearOf(['a', ...movable]), 'b.csv': yearOf(['b']), 'c.csv': yearOf(['c']) },
  });
  await w.sync();
  const step = fc.record({
    homes: fc.array(fc.constantFrom(...names), { minLength: 4, maxLength: 4 }),
    slips: fc.array(fc.boolean(), { minLength: 4, maxLength: 4 }),
  });
  const isSlip = (value: string | undefined): boolean => value?.endsWith('000') === true;
  await fc.assert(
    fc.asyncProperty(step, async ({ homes, slips }) => {
      for (const name of names) {
        const here = movable.filter((_, at) => homes[at] === name);
        const slipped = here.filter((id) => slips[movable.indexOf(id)]);
        const rows = [yearOf([name, ...here.filter((id) => !slipped.includes(id))]), yearOf(slipped, '000')];
        await w.write(`${name}.csv`, rows.map((text, at) => (at === 0 ? text : text.replace(/^.*\n/u, ''))).join(''));
      }
      const { exit } = await w.sync();
      expect(exit).toBe(slips.includes(true) ? 4 : 0);
      expect(w.drivers()).toHaveLength(7);
      const values = Object.values(w.points()).flatMap((points) => Object.values(points));
      expect(values.filter(isSlip)).toEqual([]);
    }),
    runsOf(2, 36),
  );
});
