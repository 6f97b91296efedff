import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import {
  type Config,
  type TestWorld,
  gridFile,
  ids,
  judged,
  longFile,
  longSource,
  sourceOf,
  world,
} from '../support/world.ts';

const usage = { code: 'usage', exit: 64 };

/** Sources by name, each with a file of its own. */
function sourcesOf(names: readonly string[], more: object = {}): Config {
  return { ...more, sources: Object.fromEntries(names.map((name) => [name, longSource(`${name}.csv`)])) };
}

/** A world in which every source has these drivers accepted and pushed. */
async function owning(drivers: Readonly<Record<string, readonly string[]>>, more: object = {}): Promise<TestWorld> {
  const files = Object.fromEntries(Object.entries(drivers).map(([name, list]) => [`${name}.csv`, gridFile(list)]));
  const w = await world({ config: sourcesOf(Object.keys(drivers), more), files });
  expect(await w.sync()).toMatchObject({ outcome: 'acknowledged', exit: 0 });
  return w;
}

async function give(w: TestWorld, drivers: Readonly<Record<string, readonly string[]>>, value = '1'): Promise<void> {
  for (const [name, list] of Object.entries(drivers)) {
    await w.write(`${name}.csv`, gridFile(list).replaceAll(',1\n', `,${value}\n`));
  }
}

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
        const found = await Promise.all(movable.map((id) => w.explain(id)));
        expect(found).toMatchObject(chosen.map((source) => ({ source })));
        expect(w.drivers()).toHaveLength(8);
      }),
      { numRuns: 8 },
    );
  });
});

describe('a source that left the config', () => {
  test('is held, and its drivers stay until that is approved', async () => {
    await using w = await owning({ a: ['a'], b: ['b', 'x'] });
    await w.reconfigure(sourcesOf(['a']));
    const report = await w.sync();
    expect(report).toMatchObject({ ...judged(4, 'b', { state: 'held' }), outcome: 'unchanged' });
    expect(sourceOf(await w.plan(), 'b').digest).toBe(sourceOf(report, 'b').digest);
    await w.approve(sourceOf(report, 'b').digest ?? '');
    expect(await w.sync()).toMatchObject({ exit: 0, outcome: 'acknowledged' });
    expect(w.drivers().map(({ id }) => id)).toEqual(['a']);
    expect(await w.sync()).toMatchObject({ exit: 0, outcome: 'unchanged' });
  });

  test('is as it was when it is put back', async () => {
    await using w = await owning({ a: ['a'], b: ['b', 'x'] });
    await w.reconfigure(sourcesOf(['a']));
    await w.sync();
    await w.reconfigure(sourcesOf(['b', 'a']));
    expect(await w.sync()).toMatchObject({ exit: 0, outcome: 'unchanged' });
    expect((await w.status()).held).toEqual([]);
  });

  test('may be forgotten', async () => {
    await using w = await owning({ a: ['a'], b: ['b', 'x'] });
    await w.reconfigure(sourcesOf(['a']));
    await w.sync();
    expect(await w.forget('b')).toMatchObject({ changes: { drivers: { delete: 2 } } });
    expect(w.drivers()).toHaveLength(3);
    expect(await w.sync()).toMatchObject({ exit: 0, outcome: 'acknowledged' });
    expect(w.drivers()).toHaveLength(1);
    expect((await w.status()).held).toEqual([]);
  });

  test('was renamed where another source has its drivers: nothing changes', async () => {
    await using w = await owning({ a: ['a'], b: ids(1, 20) });
    await w.reconfigure({ sources: { a: longSource('a.csv'), c: longSource('b.csv') } });
    expect(await w.plan()).toMatchObject({ exit: 0 });
    expect(await w.sync()).toMatchObject({ exit: 0, outcome: 'unchanged' });
    expect(await w.explain('D01')).toMatchObject({ source: 'c' });
    expect(await w.sync()).toMatchObject({ exit: 0, outcome: 'unchanged' });
  });

  test('yields to a source that is there already, too', async () => {
    await using w = await owning({ a: ['a'], b: ['b', 'x'] });
    await w.reconfigure(sourcesOf(['a']));
    await give(w, { a: ['a', 'b', 'x'] });
    expect(await w.sync()).toMatchObject({ exit: 0, outcome: 'unchanged' });
    expect((await w.status()).held).toEqual([]);
  });

  test('keeps what nobody takes over', async () => {
    await using w = await owning({ a: ['a'], b: ['b', 'x', 'y'] });
    await w.reconfigure(sourcesOf(['a', 'c']));
    await give(w, { c: ['x', 'new'] });
    const report = await w.sync();
    expect(report).toMatchObject(judged(4, 'b', { state: 'held' }));
    expect(sourceOf(report, 'b').changes.drivers.delete).toBe(2);
    expect(sourceOf(report, 'c').state).toBe('accepted');
    expect(w.drivers().map(({ id }) => id)).toEqual(['a', 'b', 'new', 'x', 'y']);
    await w.approve(sourceOf(report, 'b').digest ?? '');
    expect(await w.sync()).toMatchObject({ exit: 0 });
    expect(w.drivers().map(({ id }) => id)).toEqual(['a', 'new', 'x']);
  });

  test('may be split between two', async () => {
    await using w = await owning({ a: ids(1, 20) });
    await w.reconfigure(sourcesOf(['b', 'c']));
    await give(w, { b: ids(1, 10), c: ids(11, 20) });
    expect(await w.sync()).toMatchObject({ exit: 0, outcome: 'unchanged' });
  });

  test('is judged for the points that its taker would drop', async () => {
    const months = { '2026-01': 1, '2026-02': 1, '2026-03': 1, '2026-04': 1, '2026-05': 1, '2026-06': 1 };
    const all = longFile(Object.fromEntries(ids(1, 10).map((id) => [id, months])));
    await using w = await world({ config: sourcesOf(['a', 'b']), files: { 'a.csv': gridFile(['a']), 'b.csv': all } });
    await w.sync();
    await w.reconfigure({ sources: { a: longSource('a.csv'), c: longSource('b.csv') } });
    await w.write('b.csv', all.replaceAll(/.*2026-0[345].*\n/g, ''));
    const report = await w.sync();
    expect(report).toMatchObject({ ...judged(4, 'c', { state: 'held' }), outcome: 'unchanged' });
    expect(sourceOf(report, 'c').changes.points).toEqual({ create: 0, update: 0, delete: 30 });
    expect(w.points()['D01']).toHaveProperty('2026-03');
    await w.approve(sourceOf(report, 'c').digest ?? '');
    expect(await w.sync()).toMatchObject({ exit: 0, outcome: 'acknowledged' });
    expect(w.points()['D01']).toEqual({ '2026-01': '1', '2026-02': '1', '2026-06': '1' });
  });

  test('keeps its drivers while its taker is not read', async () => {
    await using w = await owning({ a: ['a'], b: ['b', 'x'] });
    await w.reconfigure(sourcesOf(['a', 'c']));
    expect(await w.sync()).toMatchObject({ exit: 4, outcome: 'unchanged' });
    expect(w.drivers()).toHaveLength(3);
    await give(w, { c: ['b', 'x'] });
    expect(await w.sync()).toMatchObject({ exit: 0, outcome: 'unchanged' });
  });

  test('hands on the parts that it carried', async () => {
    const files = { 'in/1.csv': gridFile(['one']), 'in/2.csv': gridFile(['two']), 'in/3.csv': gridFile(['three']) };
    await using w = await world({ config: { sources: { old: longSource('in/*.csv') } }, files });
    await w.sync();
    await w.remove('in/1.csv');
    expect(await w.sync()).toMatchObject(judged(3, 'old', { carried: ['in/1.csv'] }));
    await w.reconfigure({ sources: { new: longSource('in/*.csv') } });
    expect(await w.sync()).toMatchObject({ ...judged(0, 'new', { carried: ['in/1.csv'] }), outcome: 'unchanged' });
    expect(await w.sync()).toMatchObject({ ...judged(0, 'new', { carried: ['in/1.csv'] }), outcome: 'unchanged' });
    expect(w.drivers().map(({ id }) => id)).toEqual(['one', 'three', 'two']);
  });

  test('hands them on to a source that is there already, too', async () => {
    const files = { 'in/1.csv': gridFile(['one']), 'in/2.csv': gridFile(['two']), 'a.csv': gridFile(['a']) };
    const before = { old: longSource('in/*.csv'), a: longSource('a.csv') };
    await using w = await world({ config: { sources: before }, files });
    await w.sync();
    await w.remove('in/1.csv');
    await w.sync();
    await w.reconfigure({ sources: { a: longSource(['a.csv', 'in/*.csv']) } });
    expect(await w.sync()).toMatchObject({ ...judged(0, 'a', { carried: ['in/1.csv'] }), outcome: 'unchanged' });
  });

  test('whose drivers two others claim gives them to the first of the config', async () => {
    await using w = await owning({ a: ['a', 'x'] });
    await w.reconfigure(sourcesOf(['c', 'b']));
    await give(w, { b: ['b', 'x'], c: ['a', 'c', 'x'] });
    expect(await w.sync()).toMatchObject(judged(4, 'b', { state: 'held' }));
    expect(await w.explain('x')).toMatchObject({ source: 'c' });
    expect(w.drivers().map(({ id }) => id)).toEqual(['a', 'c', 'x']);
  });

  test('hands on the history that it carried', async () => {
    const sources = (name: string) => ({ sources: { [name]: longSource('in.csv', { history: 'carry' }) } });
    const files = { 'in.csv': longFile({ A: { '2026-01': 1, '2026-02': 2, '2026-03': 3 } }) };
    await using w = await world({ config: sources('old'), files });
    await w.sync();
    await w.write('in.csv', longFile({ A: { '2026-02': 2, '2026-03': 3, '2026-04': 4 } }));
    expect(await w.sync()).toMatchObject({ exit: 0, outcome: 'acknowledged' });
    await w.reconfigure(sources('new'));
    expect(await w.sync()).toMatchObject({ exit: 0, outcome: 'unchanged' });
    expect(w.points()).toEqual({ A: { '2026-01': '1', '2026-02': '2', '2026-03': '3', '2026-04': '4' } });
    expect(await w.sync()).toMatchObject({ exit: 0, outcome: 'unchanged' });
  });

  test('hands its history on to a source that has one itself', async () => {
    const rolling = (files: string[]) => longSource(files, { history: 'carry' });
    const months = (first: number, last: number) =>
      Object.fromEntries(Array.from({ length: last - first + 1 }, (_, index) => [`2026-0${first + index}`, 1]));
    const files = { 'a.csv': longFile({ A: months(1, 4) }), 'b.csv': longFile({ B: months(1, 4) }) };
    await using w = await world({ config: { sources: { a: rolling(['a.csv']), b: rolling(['b.csv']) } }, files });
    await w.sync();
    await w.write('a.csv', longFile({ A: months(3, 5) }));
    await w.write('b.csv', longFile({ B: months(3, 5) }));
    expect(await w.sync()).toMatchObject({ exit: 0, push: { points: 10 } });
    await w.reconfigure({ sources: { a: rolling(['a.csv', 'b.csv']) } });
    expect(await w.sync()).toMatchObject({ exit: 0, outcome: 'unchanged' });
    expect(Object.keys(w.points()['B'] ?? {})).toHaveLength(5);
  });

  test('is no loss wherever its drivers went, with the buffer or without', async () => {
    const names = ['a', 'b', 'c', 'd'];
    const homes = fc.array(fc.constantFrom(...names), { minLength: 6, maxLength: 6 });
    await using w = await owning({ a: ids(1, 6) }, { guard: { maxDeletes: 1000 } });
    const before = w.points();
    await fc.assert(
      fc.asyncProperty(homes, fc.boolean(), async (chosen, isLost) => {
        const at = (name: string) => ids(1, 6).filter((_, index) => chosen[index] === name);
        const present = names.filter((name) => at(name).length > 0);
        if (isLost) await w.loseBuffer();
        await w.reconfigure(sourcesOf(present, { guard: { maxDeletes: 1000 } }));
        await give(w, Object.fromEntries(present.map((name) => [name, at(name)])));
        expect(await w.sync()).toMatchObject({ exit: 0, outcome: 'unchanged' });
        expect(w.points()).toEqual(before);
        const found = await Promise.all(ids(1, 6).map((id) => w.explain(id)));
        expect(found).toMatchObject(chosen.map((source) => ({ source })));
      }),
      { numRuns: 8 },
    );
  });

  test('is not held where nothing is ever deleted', async () => {
    const destination = { shouldDeleteMissing: false };
    const files = { 'a.csv': gridFile(['a']), 'b.csv': gridFile(['b']) };
    const both = { destination, sources: { a: longSource('a.csv'), b: longSource('b.csv') } };
    await using w = await world({ config: both, files });
    await w.sync();
    await w.reconfigure({ destination, sources: { a: longSource('a.csv') } });
    expect(await w.sync()).toMatchObject({ exit: 0 });
    expect((await w.status()).held).toEqual([]);
  });

  test('the last one of all empties the snapshot only when that is approved', async () => {
    await using w = await owning({ a: ['a'] });
    await w.reconfigure({ sources: { b: longSource('b.csv', { mayBeEmpty: true }) } });
    await w.write('b.csv', 'id,time,value\n');
    const report = await w.sync();
    expect(report.exit).toBe(4);
    expect(w.drivers()).toHaveLength(1);
    await w.approve(sourceOf(report, 'a').digest ?? '');
    expect(await w.sync()).toMatchObject({ outcome: 'acknowledged', push: { drivers: 0 } });
    expect(w.drivers()).toEqual([]);
  });
});
