/** What an approval of a move lets pass, and what it does not. */
import { describe, expect, test } from 'vitest';
import { sourcesOf } from '../support/owning-world.ts';
import { type TestWorld, ids, longSource, sourceOf, world } from '../support/world.ts';
import { yearOf } from '../support/moving-world.ts';

const left = ids(11, 19);
const others = ids(21, 29);

describe('deletes that were approved as a move', () => {
  /** The nine drivers of "b" move to "a". Both are held, and "b" was approved. */
  async function approved(more: object = {}, a: object = longSource('a.csv'), aFile = 'a.csv'): Promise<TestWorld> {
    const sources = { a, b: longSource('b.csv') };
    const files = { [aFile]: yearOf(left), 'b.csv': yearOf([...others, 'B']) };
    const w = await world({ config: { ...more, sources }, files });
    expect(await w.sync()).toMatchObject({ outcome: 'acknowledged', exit: 0 });
    return w;
  }

  /** @returns the file that "a" has with the drivers that it takes */
  async function approveMove(w: TestWorld, file = 'a.csv', rows = yearOf([...left, ...others])): Promise<void> {
    await w.write(file, rows);
    await w.write('b.csv', yearOf(['B']));
    const report = await w.sync({ resume: false });
    expect(sourceOf(report, 'a').hint).toContain('approve "b" too: both are then accepted together');
    await w.approve(sourceOf(report, 'b').digest ?? '');
  }

  const reason = 'driver "D21" was approved to move to another source, which does not have all of it any more';

  async function expectKept(w: TestWorld): Promise<void> {
    const report = await w.sync({ resume: false });
    expect(report).toMatchObject({ exit: 4 });
    expect(sourceOf(report, 'b').state).toBe('held');
    expect(w.drivers()).toHaveLength(19);
    expect((await w.status()).approvals).toMatchObject([
      { source: 'b', state: 'dropped', why: expect.stringContaining(reason) },
    ]);
  }

  test('are accepted with the read that has the drivers', async () => {
    await using w = await approved();
    await approveMove(w);
    expect(await w.sync({ resume: false })).toMatchObject({ exit: 0, outcome: 'unchanged' });
    expect(w.drivers()).toHaveLength(19);
  });

  test('are held again where a newer read has the drivers no more', async () => {
    await using w = await approved();
    await approveMove(w);
    await w.write('a.csv', yearOf(left));
    await expectKept(w);
    // Whoever sees it now sees deletes, and may approve just these.
    await w.approve(sourceOf(await w.sync({ resume: false }), 'b').digest ?? '');
    expect(await w.sync({ resume: false })).toMatchObject({ exit: 0, outcome: 'acknowledged' });
    expect(w.drivers()).toHaveLength(10);
  });

  test('are held again where a newer read has fewer months of the drivers', async () => {
    await using w = await approved();
    await approveMove(w);
    const fewer = yearOf(others).replaceAll(/^D\d+,2025-0[1-6],.*\n/gmu, '');
    await w.write('a.csv', yearOf(left).concat(fewer.replace(/^.*\n/u, '')));
    await expectKept(w);
  });

  test('are held again where the part with the drivers is gone, which was never accepted', async () => {
    await using w = await approved({}, longSource('a/*.csv'), 'a/1.csv');
    await approveMove(w, 'a/2.csv', yearOf(others));
    await w.remove('a/2.csv');
    await expectKept(w);
  });

  test('are held again where the taker left the config', async () => {
    await using w = await world({
      config: sourcesOf(['b']),
      files: { 'b.csv': yearOf([...others, ...left, 'B']) },
    });
    await w.sync();
    await w.reconfigure(sourcesOf(['a', 'b']));
    await w.write('a.csv', yearOf([...others, ...left]));
    await w.write('b.csv', yearOf(['B']));
    const report = await w.sync({ resume: false });
    await w.approve(sourceOf(report, 'b').digest ?? '');
    await w.reconfigure(sourcesOf(['b']));
    await w.sync({ resume: false });
    expect(w.drivers()).toHaveLength(19);
    expect((await w.status()).approvals).toMatchObject([{ source: 'b', state: 'dropped' }]);
  });

  test('go on waiting where the taker cannot be read', async () => {
    await using w = await approved();
    await approveMove(w);
    await w.write('a.csv', 'id,when,value\nD01,2025-01,1\n');
    expect(sourceOf(await w.sync({ resume: false }), 'b').reason).toContain('moved to source "a", which is not read');
    expect((await w.status()).approvals).toMatchObject([{ source: 'b', state: 'pending' }]);
    await w.write('a.csv', yearOf([...left, ...others]));
    expect(await w.sync({ resume: false })).toMatchObject({ exit: 0, outcome: 'unchanged' });
  });

  test('are dropped where an older agent recorded them, which noted no moves', async () => {
    await using w = await approved();
    await approveMove(w);
    await w.open(async ({ ledger: { holds }, clock }) => {
      const scope = { deletes: new Map([['D21', []]]), moved: undefined, carried: [], findings: [], isEnd: false };
      for (const one of await holds.held()) {
        if (one.source === 'b') await holds.hold(one, scope, clock.now().getTime());
      }
      for (const { id } of await holds.approvals()) await holds.closeApproval(id, 'dropped');
    });
    await w.approve((await w.status()).held.find(({ source }) => source === 'b')?.digest ?? '');
    expect(sourceOf(await w.sync({ resume: false }), 'b').state).toBe('held');
    expect((await w.status()).approvals).toMatchObject([
      { state: 'dropped', why: 'an older version recorded it, which did not note what had moved to other sources' },
    ]);
  });
});
