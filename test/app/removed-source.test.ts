import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { parseMonth } from '../../src/core/time/month.ts';
import { runsOf } from '../support/campaign.ts';
import { gridFile, ids, judged, longFile, longSource, months, sourceOf, world } from '../support/world.ts';
import { give, owning, sourcesOf } from '../support/owning-world.ts';

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

  test('goes with an approval of an older version, which notes nothing of moves: an end never had any', async () => {
    await using w = await owning({ a: ['a'], b: ['b', 'x'] });
    await w.reconfigure(sourcesOf(['a']));
    await w.sync();
    await w.open(async ({ ledger: { holds }, clock }) => {
      const deletes = new Map(['b', 'x'].map((id) => [id, [parseMonth('2026-01') ?? 0]]));
      const scope = { deletes, moved: undefined, carried: [], findings: [], isEnd: true };
      for (const one of await holds.held()) await holds.hold(one, scope, clock.now().getTime());
    });
    await w.approve((await w.status()).held.find(({ source }) => source === 'b')?.digest ?? '');
    expect(await w.sync()).toMatchObject({ exit: 0, outcome: 'acknowledged' });
    expect(w.drivers().map(({ id }) => id)).toEqual(['a']);
  });

  test('drops an approval that it goes beyond, and says how', async () => {
    await using w = await owning({ a: ['a', 'y'], b: ['b', 'x', 'z'] });
    await w.reconfigure(sourcesOf(['a', 'c']));
    await give(w, { c: ['b', 'x', 'y'] });
    await w.approve(sourceOf(await w.sync(), 'b').digest ?? '');
    await give(w, { c: ['x', 'y'] });
    expect(sourceOf(await w.sync(), 'b').state).toBe('held');
    expect((await w.status()).approvals).toMatchObject([
      {
        source: 'b',
        state: 'dropped',
        why: expect.stringMatching(/^more would be deleted .*: driver "b" in 2026-01$/),
      },
    ]);
  });

  test('drops an approval of one of its reads', async () => {
    await using w = await owning({ a: ['a'], b: ['b', 'x', 'y', 'z'] });
    await give(w, { b: ['b'] });
    await w.approve(sourceOf(await w.sync(), 'b').digest ?? '');
    await w.reconfigure(sourcesOf(['a']));
    expect(sourceOf(await w.sync(), 'b').state).toBe('held');
    expect((await w.status()).approvals).toMatchObject([
      { state: 'dropped', why: 'the source left the config, and a read of it was what was approved' },
    ]);
  });

  test('is in the plan with all that its approved end deletes', async () => {
    await using w = await owning({ a: ['a'], b: ['b', 'x'] });
    await w.reconfigure(sourcesOf(['a']));
    await w.approve(sourceOf(await w.sync(), 'b').digest ?? '');
    const largest = [{ driver: 'b', old: '1' }, { driver: 'x' }];
    const plan = await w.plan();
    expect(plan).toMatchObject({ exit: 2, changes: { drivers: { delete: 2 } } });
    expect(sourceOf(plan, 'b')).toMatchObject({ state: 'accepted', changes: { drivers: { delete: 2 } }, largest });
    // A pass has taken it up, and its push did not arrive.
    w.emulator.faults({ status: 429 });
    expect(sourceOf(await w.sync(), 'b')).toMatchObject({ state: 'accepted', changes: { drivers: { delete: 2 } } });
    expect(sourceOf(await w.plan(), 'b')).toMatchObject({ reason: expect.stringContaining('left'), largest });
    expect(await w.sync()).toMatchObject({ outcome: 'acknowledged', exit: 0 });
    expect((await w.plan()).sources.map(({ name }) => name)).toEqual(['a']);
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

  test('was renamed: the deletes that it was let through count for its taker, however often it is renamed', async () => {
    const renamed = (name: string) => ({ sources: { a: longSource('a.csv'), [name]: longSource('b.csv') } });
    await using w = await owning({ a: ['a'], b: ids(1, 60) });
    await give(w, { b: ids(4, 60) });
    expect(await w.sync()).toMatchObject(judged(0, 'b', { state: 'accepted' }));
    await w.reconfigure(renamed('c'));
    // Three of 60 went, so two of 57 may still go in these 24 hours.
    await give(w, { b: ids(7, 60) });
    expect(await w.sync()).toMatchObject({ exit: 4 });
    await give(w, { b: ids(4, 60) });
    expect(await w.sync()).toMatchObject({ exit: 0 });
    await give(w, { b: ids(7, 60) });
    const reason = 'it would delete 3 of 57 drivers after 3 in the last 24 hours, more than guard.maxDeletes 10%';
    expect(await w.sync()).toMatchObject(judged(4, 'c', { state: 'held', reason }));
    await w.reconfigure(renamed('b'));
    await give(w, { b: ids(4, 60) });
    expect(await w.sync()).toMatchObject({ exit: 0 });
    await give(w, { b: ids(7, 60) });
    expect(await w.sync()).toMatchObject(judged(4, 'b', { state: 'held', reason }));
    await give(w, { b: ids(6, 60) });
    expect(await w.sync()).toMatchObject(judged(0, 'b', { state: 'accepted' }));
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
    const values = { '2026-01': 1, '2026-02': 1, '2026-03': 1, '2026-04': 1, '2026-05': 1, '2026-06': 1 };
    const all = longFile(Object.fromEntries(ids(1, 10).map((id) => [id, values])));
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

  test('keeps for a held taker what that one has, also where its end is approved', async () => {
    await using w = await world({
      config: { sources: { a: longSource('a.csv'), old: longSource('b.csv') } },
      files: { 'a.csv': gridFile(['a']), 'b.csv': gridFile(['b', 'c', 'gone'], months(1, 4)) },
    });
    await w.sync();
    await w.reconfigure({ sources: { a: longSource('a.csv'), new: longSource('b.csv') } });
    // The taker would lose half of its points, so it is held.
    await w.write('b.csv', gridFile(['b', 'c'], months(3, 4)));
    const report = await w.sync();
    expect(report).toMatchObject(judged(4, 'new', { state: 'held' }));
    expect(sourceOf(report, 'old')).toMatchObject({
      state: 'held',
      reason: 'the source left the config and 1 driver would be deleted; 2 more wait for the held read of "new"',
      changes: { drivers: { delete: 1 } },
      deletes: [{ driver: 'gone' }],
    });
    await w.approve(sourceOf(report, 'old').digest ?? '');
    const approved = await w.sync();
    expect(approved).toMatchObject({ exit: 4, outcome: 'acknowledged' });
    expect(w.drivers().map(({ id }) => id)).toEqual(['a', 'b', 'c']);
    // The taker is judged against what it takes over, as before.
    expect(approved).toMatchObject(judged(4, 'new', { state: 'held' }));
    expect(await w.sync()).toMatchObject({ exit: 4, outcome: 'unchanged' });
    expect((await w.status()).held.map(({ source }) => source)).toEqual(['new']);
    await w.approve(sourceOf(approved, 'new').digest ?? '');
    expect(await w.sync()).toMatchObject({ exit: 0, outcome: 'acknowledged' });
    expect(Object.keys(w.points()['b'] ?? {})).toEqual(months(3, 4));
    expect(await w.explain('b')).toMatchObject({ source: 'new' });
    expect(await w.sync()).toMatchObject({ exit: 0, outcome: 'unchanged' });
  });

  test('is held again for what a held taker has no longer', async () => {
    await using w = await owning({ a: ['a', 'y'], b: ['b', 'x'] });
    await w.reconfigure(sourcesOf(['a', 'c']));
    // "y" belongs to a, so all of c waits.
    await give(w, { c: ['b', 'x', 'y'] });
    const report = await w.sync();
    expect(report.sources.map(({ name, state }) => `${name} ${state}`)).toEqual(['a unchanged', 'c held']);
    await give(w, { c: ['x', 'y'] });
    const later = await w.sync();
    expect(sourceOf(later, 'b')).toMatchObject({ state: 'held', deletes: [{ driver: 'b' }] });
    await w.approve(sourceOf(later, 'b').digest ?? '');
    await w.sync();
    expect(w.drivers().map(({ id }) => id)).toEqual(['a', 'x', 'y']);
  });

  test('has another digest when more would be deleted than was seen', async () => {
    await using w = await owning({ a: ['a', 'y'], b: ['b', 'x', 'z'] });
    await w.reconfigure(sourcesOf(['a', 'c']));
    await give(w, { c: ['b', 'x', 'y'] });
    const seen = sourceOf(await w.sync(), 'b');
    expect(seen.changes.drivers.delete).toBe(1);
    await give(w, { c: ['x', 'y'] });
    expect(sourceOf(await w.sync(), 'b').changes.drivers.delete).toBe(2);
    await expect(w.approve(seen.digest ?? '')).rejects.toMatchObject({ code: 'usage' });
  });

  test('whose end is approved waits while a source that may have its drivers is not read', async () => {
    await using w = await owning({ a: ['a'], b: ['b', 'x'] });
    await w.reconfigure(sourcesOf(['a', 'c']));
    const report = await w.sync();
    const reason =
      'the source left the config and 2 drivers would be deleted once "c" is read, which may have them now';
    expect(sourceOf(report, 'b')).toMatchObject({ state: 'held', reason });
    await w.approve(sourceOf(report, 'b').digest ?? '');
    expect(await w.plan()).toMatchObject({ exit: 4, changes: { drivers: { delete: 0 } } });
    for (let pass = 0; pass < 2; pass++) {
      const waiting = await w.sync();
      expect(waiting).toMatchObject({ exit: 4, outcome: 'unchanged' });
      const hint =
        'it is approved and waits; put the source back, or "driver-sync forget b" deletes all that is left of it at once';
      expect(sourceOf(waiting, 'b')).toMatchObject({ approvable: false, reason, hint });
    }
    expect(w.drivers()).toHaveLength(3);
    await give(w, { c: ['x'] });
    expect(await w.sync()).toMatchObject({ exit: 0, outcome: 'acknowledged' });
    expect(w.drivers().map(({ id }) => id)).toEqual(['a', 'x']);
    expect(await w.explain('x')).toMatchObject({ source: 'c' });
  });

  test('waits for its taker also where nothing is ever deleted', async () => {
    const config = (name: string) => ({
      destination: { shouldDeleteMissing: false },
      sources: { [name]: longSource('in.csv', { history: 'carry' }) },
    });
    await using w = await world({
      config: config('old'),
      files: { 'in.csv': gridFile(['A'], ['2026-01', '2026-02']) },
    });
    await w.sync();
    await w.reconfigure(config('new'));
    await w.remove('in.csv');
    expect(await w.sync()).toMatchObject({ exit: 3, outcome: 'unchanged' });
    await w.write('in.csv', gridFile(['A'], ['2026-02', '2026-03']));
    expect(await w.sync()).toMatchObject({ exit: 0, push: { points: 3 } });
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
    const inMonths = (first: number, last: number) =>
      Object.fromEntries(Array.from({ length: last - first + 1 }, (_, index) => [`2026-0${first + index}`, 1]));
    const files = { 'a.csv': longFile({ A: inMonths(1, 4) }), 'b.csv': longFile({ B: inMonths(1, 4) }) };
    await using w = await world({ config: { sources: { a: rolling(['a.csv']), b: rolling(['b.csv']) } }, files });
    await w.sync();
    await w.write('a.csv', longFile({ A: inMonths(3, 5) }));
    await w.write('b.csv', longFile({ B: inMonths(3, 5) }));
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
        const found = [];
        for (const id of ids(1, 6)) found.push(await w.explain(id));
        expect(found).toMatchObject(chosen.map((source) => ({ source })));
      }),
      runsOf(1, 24),
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
