import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { runsOf } from '../support/campaign.ts';
import { type TestWorld, gridFile, ids, judged, longSource, sourceOf, world } from '../support/world.ts';
import { give, owning, sourcesOf } from '../support/owning-world.ts';

const usage = { code: 'usage', exit: 64 };

describe('one driver, one source', () => {
  test('between two first reads the order of the config decides', async () => {
    const files = { 'b.csv': gridFile(['x', 'y']), 'a.csv': gridFile(['x', 'z']), 'c.csv': gridFile(['c']) };
    await using w = await world({ config: sourcesOf(['b', 'a', 'c']), files });
    const report = await w.sync();
    expect(report).toMatchObject({ ...judged(4, 'a', { state: 'held' }), outcome: 'blocked' });
    expect(sourceOf(report, 'b').state).toBe('accepted');
    expect(sourceOf(report, 'c').state).toBe('accepted');
    expect(sourceOf(report, 'a').reason).toMatch(/"x".*"a".*"b"/);
  });

  test('who has it accepted keeps it, wherever the config has it', async () => {
    await using w = await owning({ a: ['a'], b: ['b', 'x'] });
    await give(w, { a: ['a', 'x'] }, '9');
    expect(await w.sync()).toMatchObject(judged(4, 'a', { state: 'held' }));
    await give(w, { b: ['b', 'x'] }, '5');
    expect(await w.sync()).toMatchObject(judged(4, 'b', { state: 'accepted' }));
    expect(w.points()).toMatchObject({ a: { '2026-01': '1' }, x: { '2026-01': '5' } });
  });

  test('the one that is held cannot be approved', async () => {
    await using w = await owning({ a: ['a'], b: ['b', 'x'] });
    await give(w, { a: ['a', 'x'] });
    const { digest } = sourceOf(await w.sync(), 'a');
    await expect(w.approve(digest ?? '')).rejects.toMatchObject(usage);
    expect(await w.sync()).toMatchObject(judged(4, 'a', { state: 'held' }));
  });

  test('one that would delete too much besides cannot be approved either, until the other one gives the id up', async () => {
    await using w = await owning({ a: ['a', 'x'], b: ids(1, 9) });
    await give(w, { b: [...ids(1, 4), 'x'] });
    const held = sourceOf(await w.sync(), 'b');
    expect(held).toMatchObject({ state: 'held', approvable: false, hint: expect.stringContaining('"where"') });
    expect(held.reason).toMatch(/^driver "x" of source "b" belongs to source "a"; it would delete 5 of 9 drivers/u);
    await expect(w.approve(held.digest ?? '')).rejects.toMatchObject(usage);
    await give(w, { b: ids(1, 4) });
    const { reason, digest } = sourceOf(await w.sync(), 'b');
    expect(reason).toMatch(/^it would delete 5 of 9 drivers/u);
    await w.approve(digest ?? '');
    expect(await w.sync()).toMatchObject({ exit: 0 });
  });

  test('an id may move in one pass, either way', async () => {
    await using w = await owning({ a: ['a', 'x'], b: ['b', 'c', 'y'] });
    await give(w, { a: ['a'], b: ['b', 'c', 'y', 'x'] });
    expect(await w.sync()).toMatchObject({ outcome: 'unchanged', exit: 0 });
    await give(w, { a: ['a', 'x', 'y'], b: ['b', 'c'] });
    expect(await w.sync()).toMatchObject({ exit: 0 });
    expect(await w.explain('y')).toMatchObject({ source: 'a' });
    expect(w.drivers().map(({ id }) => id)).toEqual(['a', 'b', 'c', 'x', 'y']);
  });

  test('ids may move round a chain of sources in one pass', async () => {
    await using w = await owning({ a: ['a', 'x'], b: ['b', 'y'], c: ['c', 'z'] });
    await give(w, { a: ['a', 'z'], b: ['b', 'x'], c: ['c', 'y'] }, '2');
    expect(await w.sync()).toMatchObject({ outcome: 'acknowledged', exit: 0 });
    expect(Object.values(w.points())).toEqual(Array.from({ length: 6 }, () => ({ '2026-01': '2' })));
  });

  test('a chain stops where one of it is held, and nothing is lost or there twice', async () => {
    await using w = await owning({ a: ['a', 'x'], b: ['b', 'y'], c: ['c', ...ids(1, 20)] });
    // c would lose too much, so it keeps D01; then b keeps y, and a keeps x.
    await give(w, { a: ['a', 'y'], b: ['b', 'D01'], c: ['c', 'x'] }, '2');
    const report = await w.sync();
    expect(report).toMatchObject({ exit: 4, outcome: 'unchanged' });
    expect(report.sources.map(({ state }) => state)).toEqual(['held', 'held', 'held']);
    await expect(w.approve(sourceOf(report, 'b').digest ?? '')).rejects.toMatchObject(usage);
    await w.approve(sourceOf(report, 'c').digest ?? '');
    expect(await w.sync()).toMatchObject({ exit: 0, outcome: 'acknowledged' });
    expect(w.drivers().map(({ id }) => id)).toEqual(['D01', 'a', 'b', 'c', 'x', 'y']);
  });

  test('an id is not taken from a source that was not read', async () => {
    await using w = await owning({ a: ['a', 'x'], b: ['b'] });
    await w.remove('a.csv');
    await give(w, { b: ['b', 'x'] }, '9');
    const report = await w.sync();
    expect(report).toMatchObject({ exit: 4, outcome: 'unchanged' });
    expect(report.sources).toMatchObject([{ state: 'unread' }, { state: 'held' }]);
    await give(w, { a: ['a'] });
    expect(await w.sync()).toMatchObject({ exit: 0 });
    expect(w.points()).toMatchObject({ x: { '2026-01': '9' } });
  });

  test('an id is not taken from a part that is carried, until that is forgotten', async () => {
    const sources = { a: longSource('in/*.csv'), b: longSource('b.csv') };
    const files = { 'in/1.csv': gridFile(['a']), 'in/2.csv': gridFile(['x']), 'b.csv': gridFile(['b']) };
    await using w = await world({ config: { sources }, files });
    await w.sync();
    await w.remove('in/2.csv');
    await give(w, { b: ['b', 'x'] }, '9');
    expect(await w.sync()).toMatchObject(judged(4, 'b', { state: 'held' }));
    await w.forget('a', 'in/2.csv');
    expect(await w.sync()).toMatchObject({ exit: 0 });
    expect(w.points()).toMatchObject({ x: { '2026-01': '9' } });
  });

  test('is accepted once the other one gives the id up', async () => {
    await using w = await owning({ a: ['a'], b: ['b', 'x'] });
    await give(w, { a: ['a', 'x'] });
    await w.sync();
    await give(w, { b: ['b'] });
    expect(await w.sync()).toMatchObject({ exit: 0 });
    expect((await w.status()).held).toEqual([]);
  });

  describe('two held sources that exchange their drivers', () => {
    /** Eight drivers of each have moved to the other one. */
    async function exchanged(): Promise<TestWorld> {
      const w = await owning({ a: ['a', ...ids(1, 8)], b: ['b', ...ids(11, 18)], c: ['c'] });
      await give(w, { a: ['a', ...ids(11, 18)], b: ['b', ...ids(1, 8)] });
      return w;
    }

    test('are approved one after the other beside a daemon', async () => {
      await using w = await exchanged();
      const report = await w.sync({ resume: false });
      await w.approve(sourceOf(report, 'a').digest ?? '');
      // The pass that the approval wakes: it cannot be used yet, and waits.
      const waiting = await w.sync({ resume: false });
      expect(sourceOf(waiting, 'a')).toMatchObject({
        state: 'held',
        reason: expect.stringContaining('until the held'),
      });
      expect((await w.status()).approvals).toMatchObject([
        { source: 'a', state: 'pending', why: expect.stringMatching(/waits.*"b"/) },
      ]);
      await expect(w.approve(sourceOf(waiting, 'a').digest ?? '')).rejects.toMatchObject({
        ...usage,
        message: expect.stringContaining('approved already and waits'),
      });
      await w.approve(sourceOf(waiting, 'b').digest ?? '');
      expect(await w.sync({ resume: false })).toMatchObject({ exit: 0 });
      expect(await w.explain('D01')).toMatchObject({ source: 'b' });
      expect(await w.explain('D11')).toMatchObject({ source: 'a' });
      expect((await w.status()).approvals).toEqual([]);
    });

    test('the one that waits is not accepted by itself', async () => {
      await using w = await exchanged();
      await w.approve(sourceOf(await w.sync(), 'a').digest ?? '');
      for (let pass = 0; pass < 3; pass += 1) expect(await w.sync()).toMatchObject({ exit: 4 });
      expect(await w.explain('D01')).toMatchObject({ source: 'a' });
      expect(w.drivers()).toHaveLength(19);
    });

    test('an approval is dropped where the other source keeps its drivers after all', async () => {
      await using w = await exchanged();
      await w.approve(sourceOf(await w.sync(), 'a').digest ?? '');
      await w.sync();
      await give(w, { b: ['b', ...ids(11, 18)] });
      expect(await w.sync()).toMatchObject(judged(4, 'a', { state: 'held' }));
      expect((await w.status()).approvals).toMatchObject([{ source: 'a', state: 'dropped' }]);
    });
  });

  test('whatever moves where, every driver comes from one source and nothing waits that need not', async () => {
    const movable = ['p', 'q', 'r', 's', 't'];
    const homes = fc.array(fc.constantFrom('a', 'b', 'c'), { minLength: 5, maxLength: 5 });
    await using w = await owning({ a: ['a', ...movable], b: ['b'], c: ['c'] }, { guard: { maxDeletes: 1000 } });
    await fc.assert(
      fc.asyncProperty(homes, async (chosen) => {
        const at = (name: string) => [name, ...movable.filter((_, index) => chosen[index] === name)];
        await give(w, { a: at('a'), b: at('b'), c: at('c') });
        expect(await w.sync()).toMatchObject({ exit: 0 });
        const found = [];
        for (const id of movable) found.push(await w.explain(id));
        expect(found).toMatchObject(chosen.map((source) => ({ source })));
        expect(w.drivers()).toHaveLength(8);
      }),
      runsOf(1, 24),
    );
  });
});
