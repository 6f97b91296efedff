import { describe, expect, test } from 'vitest';
import { type TestWorld, gridFile, ids, judged, longSource, sourceOf, world } from '../support/world.ts';

const config = { sources: { sales: longSource('sales.csv') } };
const empty = 'id,time,value\n';
const accepted = judged(0, 'sales', { state: 'accepted' });
const held = judged(4, 'sales', { state: 'held' });
const usage = { code: 'usage', exit: 64 };

/** Forty drivers accepted, and a read of half of them held. */
async function holding() {
  const w = await world({ config, files: { 'sales.csv': gridFile(ids(1, 40)) } });
  await w.sync();
  await w.write('sales.csv', gridFile(ids(21, 40)));
  const report = await w.sync();
  expect(report).toMatchObject(held);
  return Object.assign(w, { digest: sourceOf(report, 'sales').digest ?? '' });
}

const onlyOther = { sources: { other: longSource('other.csv') } };
const withOther = { sources: { ...config.sources, ...onlyOther.sources } };

/** Forty drivers accepted beside those of another source. */
async function besideOther(): Promise<TestWorld> {
  const files = { 'sales.csv': gridFile(ids(1, 40)), 'other.csv': gridFile(['other']) };
  const w = await world({ config: withOther, files });
  await w.sync();
  return w;
}

/** What became of approvals that were not used. */
async function approvals(w: TestWorld) {
  return (await w.status()).approvals;
}

describe('approve', () => {
  test('lets the held candidate be accepted by the next pass', async () => {
    await using w = await holding();
    await w.approve(w.digest);
    expect(await w.plan()).toMatchObject({ exit: 2, changes: { drivers: { delete: 20 } } });
    expect(w.drivers()).toHaveLength(40);
    expect(await w.sync()).toMatchObject({ ...accepted, outcome: 'acknowledged' });
    expect(w.drivers()).toHaveLength(20);
    expect(await w.status()).toMatchObject({ held: [], approvals: [] });
    expect(await w.sync()).toMatchObject({ exit: 0, outcome: 'unchanged' });
  });

  test('takes a prefix of eight', async () => {
    await using w = await holding();
    await expect(w.approve(w.digest.slice(0, 7))).rejects.toMatchObject(usage);
    expect(await w.approve(w.digest.slice(0, 8))).toMatchObject({ approved: w.digest, source: 'sales' });
    expect(await w.sync()).toMatchObject(accepted);
  });

  test('takes the digest that plan printed, with no sync between', async () => {
    await using w = await world({ config, files: { 'sales.csv': gridFile(ids(1, 40)) } });
    await w.sync();
    await w.write('sales.csv', gridFile(ids(21, 40)));
    const plan = await w.plan();
    expect(plan).toMatchObject(held);
    await w.approve(sourceOf(plan, 'sales').digest ?? '');
    expect(await w.sync()).toMatchObject(accepted);
  });

  test('plan, sync and status name one digest for one candidate', async () => {
    await using w = await holding();
    expect(sourceOf(await w.plan(), 'sales').digest).toBe(w.digest);
    expect(sourceOf(await w.sync(), 'sales').digest).toBe(w.digest);
    expect((await w.status()).held).toMatchObject([{ source: 'sales', digest: w.digest }]);
  });

  test('is of what is held: another candidate has another digest, and the same one the same again', async () => {
    await using w = await holding();
    const digests: (string | undefined)[] = [];
    for (const kept of [ids(11, 30), ids(21, 40)]) {
      await w.write('sales.csv', gridFile(kept));
      digests.push(sourceOf(await w.sync(), 'sales').digest);
    }
    expect(digests).toEqual([expect.not.stringContaining(w.digest), w.digest]);
    expect(digests[0]).toMatch(/^[\da-f]{64}$/);
  });

  test('is left alone by plan, whatever plan finds', async () => {
    await using w = await holding();
    await w.approve(w.digest);
    await w.write('sales.csv', gridFile(ids(22, 40)));
    expect(await w.plan()).toMatchObject(held);
    await w.remove('sales.csv');
    expect(await w.plan()).toMatchObject({ exit: 3 });
    expect(await approvals(w)).toMatchObject([{ state: 'pending' }]);
    await w.write('sales.csv', gridFile(ids(21, 40)));
    expect(await w.sync()).toMatchObject(accepted);
  });

  test('status says since when', async () => {
    await using w = await holding();
    const since = (await w.status()).held[0]?.since;
    expect(since).toBe(w.clock.now().toISOString());
    w.clock.jump(3_600_000);
    await w.sync();
    expect((await w.status()).held[0]?.since).toBe(since);
  });

  test('plan names the ids that a new template gives to the same paths', async () => {
    await using w = await world({ config, files: { 'sales.csv': gridFile(['A', 'B']) } });
    await w.sync();
    const drivers = [{ id: 'new/{id}', path: ['{id}'], time: '{time}', value: '{value}' }];
    await w.reconfigure({ sources: { sales: longSource('sales.csv', { drivers }) } });
    const plan = await w.plan();
    expect(plan).toMatchObject(held);
    await w.approve(sourceOf(plan, 'sales').digest ?? '');
    expect((await w.plan()).renamed).toEqual([
      { from: 'A', to: 'new/A' },
      { from: 'B', to: 'new/B' },
    ]);
  });

  test('refuses a digest under which nothing is held', async () => {
    await using w = await holding();
    await expect(w.approve('0123456789abcdef')).rejects.toMatchObject(usage);
    await w.approve(w.digest);
    await w.sync();
    await expect(w.approve(w.digest)).rejects.toMatchObject(usage);
  });

  test('tells apart two sources that hold the same', async () => {
    const sources = { a: longSource('a.csv'), b: longSource('b.csv') };
    await using w = await world({ config: { sources }, files: { 'a.csv': empty, 'b.csv': empty } });
    const report = await w.sync();
    await w.approve(sourceOf(report, 'a').digest ?? '');
    expect(await w.sync()).toMatchObject(judged(4, 'b', { state: 'held' }));
    expect((await w.status()).held).toMatchObject([{ source: 'b' }]);
  });

  test('goes for a newer read that deletes nothing else', async () => {
    await using w = await holding();
    await w.approve(w.digest);
    await w.write('sales.csv', gridFile(ids(20, 45)).replaceAll(',1\n', ',2\n'));
    expect(await w.sync()).toMatchObject(accepted);
    expect(w.drivers()).toHaveLength(26);
    expect(await approvals(w)).toEqual([]);
  });

  test('is dropped for a newer read that deletes more, and status says why', async () => {
    await using w = await holding();
    await w.approve(w.digest);
    await w.write('sales.csv', gridFile(ids(22, 40)));
    expect(await w.sync()).toMatchObject(held);
    expect(w.drivers()).toHaveLength(40);
    expect(await approvals(w)).toMatchObject([{ source: 'sales', digest: w.digest, state: 'dropped' }]);
    expect((await approvals(w))[0]?.why).toMatch(/delete/);
    // Nor does it come back with the read that it was for.
    await w.write('sales.csv', gridFile(ids(21, 40)));
    expect(await w.sync()).toMatchObject(held);
  });

  test('is for points: another month of the same driver is more', async () => {
    const file = (...gone: string[]) => {
      const months = ['2026-01', '2026-02', '2026-03', '2026-04', '2026-05', '2026-06'];
      return gridFile(
        ['A'],
        months.filter((month) => !gone.includes(month)),
      );
    };
    await using w = await world({ config: { ...config, guard: { floor: 1 } }, files: { 'sales.csv': file() } });
    await w.sync();
    await w.write('sales.csv', file('2026-03', '2026-04'));
    await w.approve(sourceOf(await w.sync(), 'sales').digest ?? '');
    await w.write('sales.csv', file('2026-04', '2026-05'));
    expect(await w.sync()).toMatchObject(held);
    expect(await approvals(w)).toMatchObject([{ state: 'dropped' }]);
  });

  test.each([
    ['is what it was', 40, 'nothing of that source is held any more'],
    ['has a driver more', 41, 'a newer read of the source did not need it'],
  ])('does not outlive a read that deletes nothing and %s', async (_, last, why) => {
    await using w = await holding();
    await w.approve(w.digest);
    await w.write('sales.csv', gridFile(ids(1, last)));
    expect(await w.sync()).toMatchObject({ exit: 0 });
    expect(await approvals(w)).toMatchObject([{ state: 'dropped', why }]);
    await w.write('sales.csv', gridFile(ids(21, 40)));
    expect(await w.sync()).toMatchObject(held);
    expect(w.drivers()).toHaveLength(last);
  });

  test('is dropped where the source is not read, and so is what was held', async () => {
    await using w = await holding();
    await w.approve(w.digest);
    await w.remove('sales.csv');
    expect(await w.sync()).toMatchObject(judged(3, 'sales', { state: 'unread' }));
    const why = expect.stringMatching(/^the source was not read: .*sales\.csv/);
    expect(await w.status()).toMatchObject({ held: [], approvals: [{ source: 'sales', state: 'dropped', why }] });
    await expect(w.approve(w.digest)).rejects.toMatchObject(usage);
    expect(w.drivers()).toHaveLength(40);
    await w.write('sales.csv', gridFile(ids(21, 40)));
    expect(await w.sync()).toMatchObject(held);
  });

  test('of some deletes is none of the whole source, should it leave the config', async () => {
    await using w = await besideOther();
    await w.write('sales.csv', gridFile(ids(21, 40)));
    await w.approve(sourceOf(await w.sync(), 'sales').digest ?? '');
    await w.reconfigure(onlyOther);
    expect(await w.sync()).toMatchObject(held);
    expect(w.drivers()).toHaveLength(41);
    expect(await approvals(w)).toMatchObject([{ source: 'sales', state: 'dropped' }]);
  });

  test('of a source that left the config does not outlive its return', async () => {
    await using w = await besideOther();
    await w.reconfigure(onlyOther);
    await w.approve(sourceOf(await w.sync(), 'sales').digest ?? '');
    await w.reconfigure(withOther);
    expect(await w.sync()).toMatchObject({ exit: 0, outcome: 'unchanged' });
    await w.write('sales.csv', gridFile(ids(21, 40)));
    expect(await w.sync()).toMatchObject(held);
  });

  test('of a source that left the config lets no part of it go once the source is back', async () => {
    await using w = await besideOther();
    await w.reconfigure(onlyOther);
    await w.approve(sourceOf(await w.sync(), 'sales').digest ?? '');
    await w.reconfigure(withOther);
    await w.write('sales.csv', gridFile(ids(21, 40)));
    expect(await w.sync()).toMatchObject(held);
    expect(w.drivers()).toHaveLength(41);
    expect(await approvals(w)).toMatchObject([
      { source: 'sales', state: 'dropped', why: expect.stringContaining('back') },
    ]);
  });

  test('lets a read with more rejects pass', async () => {
    const rows = gridFile(ids(1, 200));
    await using w = await world({ config, files: { 'sales.csv': rows } });
    await w.sync();
    await w.write('sales.csv', rows.replace('D99,2026-01,1\n', 'D99,2026-01,broken\n'));
    await w.approve(sourceOf(await w.sync(), 'sales').digest ?? '');
    expect(await w.sync()).toMatchObject({ ...accepted, push: { drivers: 199 } });
  });
});

describe('the first push', () => {
  const sources = { sales: longSource('sales.csv'), other: longSource('other.csv') };

  test('waits until every source was accepted once, and goes as soon as it may', async () => {
    await using w = await world({ config: { sources }, files: { 'sales.csv': gridFile(ids(1, 3)) } });
    expect(await w.sync()).toMatchObject({ outcome: 'blocked', exit: 4 });
    expect(await w.sync({ push: 'always' })).toMatchObject({ outcome: 'blocked', exit: 4 });
    expect(w.requests()).toEqual([]);
    await w.write('other.csv', gridFile(['other']));
    expect(await w.sync()).toMatchObject({ outcome: 'acknowledged', exit: 0 });
    expect(w.drivers()).toHaveLength(4);
  });

  test('is one of an address: later a source that never was accepted is left out', async () => {
    await using w = await world({ config, files: { 'sales.csv': gridFile(ids(1, 3)) } });
    await w.sync();
    await w.reconfigure({ sources });
    await w.write('sales.csv', gridFile(ids(1, 4)));
    expect(await w.sync()).toMatchObject({ outcome: 'acknowledged', exit: 4, push: { drivers: 4 } });
    expect(await w.sync()).toMatchObject({ outcome: 'unchanged', exit: 4 });
  });

  test('waits for what was accepted and cannot be read, no more than another push', async () => {
    await using w = await world({ config, files: { 'sales.csv': gridFile(ids(1, 3)) } });
    await w.sync({ push: 'no' });
    await w.remove('sales.csv');
    expect(await w.sync()).toMatchObject({ outcome: 'acknowledged', exit: 3, push: { drivers: 3 } });
  });
});

describe('a snapshot without drivers', () => {
  const mayBeEmpty = (file: string) => longSource(file, { mayBeEmpty: true });

  test('is pushed only once the candidate that empties it is approved', async () => {
    const files = { 'sales.csv': gridFile(ids(1, 3)) };
    await using w = await world({ config: { sources: { sales: mayBeEmpty('sales.csv') } }, files });
    await w.sync();
    await w.write('sales.csv', empty);
    const report = await w.sync({ push: 'always' });
    expect(report).toMatchObject(held);
    expect(w.drivers()).toHaveLength(3);
    await w.approve(sourceOf(report, 'sales').digest ?? '');
    expect(await w.sync()).toMatchObject({ outcome: 'acknowledged', exit: 0, push: { drivers: 0 } });
    expect(w.drivers()).toEqual([]);
    expect(await w.sync()).toMatchObject({ outcome: 'unchanged', exit: 0 });
    await w.write('sales.csv', gridFile(ids(1, 2)));
    expect(await w.sync()).toMatchObject({ outcome: 'acknowledged', exit: 0 });
  });

  test('is not reached by several sources that may be empty either', async () => {
    const files = { 'a.csv': gridFile(['A']), 'b.csv': gridFile(['B']) };
    const sources = { a: mayBeEmpty('a.csv'), b: mayBeEmpty('b.csv') };
    await using w = await world({ config: { sources }, files });
    await w.sync();
    await w.write('a.csv', empty);
    await w.write('b.csv', empty);
    expect(await w.sync()).toMatchObject({ exit: 4 });
    expect(await w.sync()).toMatchObject({ exit: 4 });
    expect(w.drivers().length).toBeGreaterThan(0);
  });

  test('is not reached by a read that nothing held while nothing was deleted', async () => {
    const sources = { sales: mayBeEmpty('sales.csv') };
    await using w = await world({
      config: { sources, destination: { shouldDeleteMissing: false } },
      files: { 'sales.csv': gridFile(ids(1, 3)) },
    });
    await w.sync();
    await w.write('sales.csv', empty);
    expect(await w.sync()).toMatchObject({ exit: 0 });
    await w.reconfigure({ sources });
    const reason = 'the snapshot is empty and would delete every driver of the service';
    const hint = expect.stringContaining('put the data back');
    expect(await w.sync()).toMatchObject({ outcome: 'blocked', exit: 4, reason, hint });
    await w.write('sales.csv', `${empty}\n`);
    expect(await w.sync()).toMatchObject({ outcome: 'blocked', reason, ...held });
    expect(w.drivers()).toHaveLength(3);
    await w.write('sales.csv', gridFile(ids(1, 2)));
    expect(await w.sync()).toMatchObject({ outcome: 'acknowledged', exit: 0 });
  });

  test('is no first push', async () => {
    await using w = await world({
      config: { sources: { sales: mayBeEmpty('sales.csv') } },
      files: { 'sales.csv': empty },
    });
    expect(await w.sync()).toMatchObject({ outcome: 'blocked', exit: 4 });
    expect(w.requests()).toEqual([]);
    await w.approve(sourceOf(await w.sync(), 'sales').digest ?? '');
    expect(await w.sync()).toMatchObject({ outcome: 'acknowledged', exit: 0, push: { drivers: 0 } });
  });
});

test('a candidate is not approved into a conflict', async () => {
  const sources = { sales: longSource('sales.csv'), other: longSource('other.csv') };
  const files = { 'sales.csv': gridFile(ids(1, 40)), 'other.csv': gridFile(['other']) };
  await using w = await world({ config: { sources }, files });
  await w.sync();
  await w.write('sales.csv', gridFile(ids(21, 40)));
  await w.approve(sourceOf(await w.sync(), 'sales').digest ?? '');
  await w.write('sales.csv', gridFile([...ids(21, 40), 'other']));
  expect(await w.sync()).toMatchObject(held);
  expect(await approvals(w)).toMatchObject([{ source: 'sales', state: 'dropped' }]);
  expect(w.points()).toMatchObject({ D01: { '2026-01': '1' }, other: { '2026-01': '1' } });
});

describe('an approval of one source does not empty the snapshot of another', () => {
  const mayBeEmpty = {
    sources: { s: longSource('s.csv', { mayBeEmpty: true }), t: longSource('t.csv', { mayBeEmpty: true }) },
  };
  const files = { 's.csv': gridFile(ids(1, 20)), 't.csv': gridFile(['T']) };

  test('where both turned empty and one is approved', async () => {
    await using w = await world({ config: mayBeEmpty, files });
    await w.sync();
    await w.write('s.csv', empty);
    await w.write('t.csv', empty);
    await w.approve(sourceOf(await w.sync(), 't').digest ?? '');
    expect(await w.sync()).toMatchObject({ exit: 4 });
    expect(w.drivers()).toHaveLength(20);
  });

  test('where it was approved for less', async () => {
    await using w = await world({ config: { sources: { s: mayBeEmpty.sources.s } }, files });
    await w.sync();
    await w.write('s.csv', gridFile(ids(1, 10)));
    await w.approve(sourceOf(await w.sync(), 's').digest ?? '');
    await w.write('s.csv', empty);
    const report = await w.sync();
    expect(w.drivers()).toHaveLength(20);
    expect(report).toMatchObject({
      exit: 4,
      sources: [{ reason: expect.stringContaining('snapshot would be empty') }],
    });
    expect((await w.status()).approvals).toMatchObject([{ state: 'dropped' }]);
    await w.approve(sourceOf(report, 's').digest ?? '');
    expect(await w.sync()).toMatchObject({ exit: 0, push: { drivers: 0 } });
  });

  test('where the approved one left the config', async () => {
    await using w = await world({ config: mayBeEmpty, files });
    await w.sync();
    await w.reconfigure({ sources: { s: mayBeEmpty.sources.s } });
    await w.approve(sourceOf(await w.sync(), 't').digest ?? '');
    await w.write('s.csv', empty);
    expect(await w.sync()).toMatchObject({ exit: 4 });
    expect(w.drivers()).toHaveLength(20);
  });
});
