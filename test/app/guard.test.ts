import { describe, expect, test } from 'vitest';
import { gridFile, ids, judged, longFile, longSource, months, sourceOf, world } from '../support/world.ts';

const hour = 3_600_000;

/** One source of `sales.csv`, accepted and pushed, and a second one that always moves on. */
async function guarded(sales: string, { guard = {}, keys = {} }: { guard?: object; keys?: object } = {}) {
  const config = { guard, sources: { sales: longSource('sales.csv', keys), other: longSource('other.csv') } };
  const w = await world({ config, files: { 'sales.csv': sales, 'other.csv': longFile({ other: { '2026-01': 1 } }) } });
  expect(await w.sync()).toMatchObject({ outcome: 'acknowledged', exit: 0 });
  return Object.assign(w, { count: () => w.drivers().filter(({ id }) => id !== 'other').length });
}

const accepted = judged(0, 'sales', { state: 'accepted' });
const held = judged(4, 'sales', { state: 'held' });

describe('the share', () => {
  test('10% of the drivers may go, one more is held', async () => {
    await using w = await guarded(gridFile(ids(1, 60)));
    await w.write('sales.csv', gridFile(ids(8, 60)));
    const report = await w.sync();
    expect(report).toMatchObject(held);
    expect(sourceOf(report, 'sales')).toMatchObject({ changes: { drivers: { create: 0, update: 0, delete: 7 } } });
    expect(w.count()).toBe(60);
    await w.write('sales.csv', gridFile(ids(7, 60)));
    expect(await w.sync()).toMatchObject({ ...accepted, outcome: 'acknowledged' });
    expect(w.count()).toBe(54);
  });

  test('10% of the points may go, one more is held', async () => {
    const all = months(1, 70);
    const without = (count: number) => longFile({ A: valuesOf([...all.slice(0, 1), ...all.slice(1 + count)]) });
    await using w = await guarded(gridFile(['A'], all));
    await w.write('sales.csv', without(8));
    expect(await w.sync()).toMatchObject(held);
    await w.write('sales.csv', without(7));
    expect(await w.sync()).toMatchObject(accepted);
  });

  test('points of whole drivers count too: few drivers may hold most of the points', async () => {
    const large = Object.fromEntries(ids(1, 3).map((id) => [id, valuesOf(months(1, 50))]));
    const small = Object.fromEntries(ids(4, 40).map((id) => [id, valuesOf(months(1, 1))]));
    await using w = await guarded(longFile({ ...large, ...small }));
    await w.write('sales.csv', longFile(small));
    const report = await w.sync();
    expect(report).toMatchObject(held);
    expect(sourceOf(report, 'sales').reason).toMatch(/points/);
  });

  test('is what the config says', async () => {
    await using w = await guarded(gridFile(ids(1, 60)), { guard: { maxDeletes: '50%' } });
    await w.write('sales.csv', gridFile(ids(32, 60)));
    expect(await w.sync()).toMatchObject(held);
    await w.write('sales.csv', gridFile(ids(31, 60)));
    expect(await w.sync()).toMatchObject(accepted);
  });

  test.each([
    { maxDeletes: 2, gone: 2, exit: 0 },
    { maxDeletes: 2, gone: 3, exit: 4 },
    { maxDeletes: 0, gone: 1, exit: 4 },
    { maxDeletes: 50, gone: 39, exit: 0 },
  ])('as a count of $maxDeletes, $gone of 40: exit $exit', async ({ maxDeletes, gone, exit }) => {
    await using w = await guarded(gridFile(ids(1, 40)), { guard: { maxDeletes } });
    await w.write('sales.csv', gridFile(ids(1 + gone, 40)));
    expect(await w.sync()).toMatchObject({ exit });
  });

  test('new drivers do not make room for deletes', async () => {
    await using w = await guarded(gridFile(ids(1, 40)));
    await w.write('sales.csv', gridFile(ids(7, 99)));
    expect(await w.sync()).toMatchObject(held);
    expect(w.count()).toBe(40);
  });

  test('a value that changes is no delete', async () => {
    await using w = await guarded(gridFile(ids(1, 40)));
    await w.write('sales.csv', gridFile(ids(1, 40)).replaceAll(',1\n', ',2\n'));
    expect(await w.sync()).toMatchObject(accepted);
  });

  test('a held source goes on with its accepted data while the others move on', async () => {
    await using w = await guarded(gridFile(ids(1, 60)));
    await w.write('sales.csv', gridFile(ids(40, 60)).replaceAll(',1\n', ',2\n'));
    await w.write('other.csv', longFile({ other: { '2026-01': 7 } }));
    expect(await w.sync()).toMatchObject({ ...held, outcome: 'acknowledged', push: { drivers: 61 } });
    expect(w.points()).toMatchObject({ D01: { '2026-01': '1' }, D50: { '2026-01': '1' }, other: { '2026-01': '7' } });
    expect(await w.sync()).toMatchObject({ ...held, outcome: 'unchanged' });
  });

  test('a held source that is as it was is held no more', async () => {
    await using w = await guarded(gridFile(ids(1, 60)));
    await w.write('sales.csv', gridFile(ids(40, 60)));
    await w.sync();
    expect((await w.status()).held).toMatchObject([{ source: 'sales' }]);
    await w.write('sales.csv', gridFile(ids(1, 60)));
    expect(await w.sync()).toMatchObject({ exit: 0, outcome: 'unchanged' });
    expect((await w.status()).held).toEqual([]);
  });
});

describe('the floor', () => {
  test.each([
    { of: 20, gone: 5, exit: 0 },
    { of: 20, gone: 6, exit: 4 },
    { of: 9, gone: 4, exit: 0 },
    { of: 9, gone: 5, exit: 4 },
    { of: 2, gone: 1, exit: 0 },
  ])('$gone of $of drivers: exit $exit', async ({ of, gone, exit }) => {
    await using w = await guarded(gridFile(ids(1, of)));
    await w.write('sales.csv', gridFile(ids(1 + gone, of)));
    expect(await w.sync()).toMatchObject({ exit });
    expect(w.count()).toBe(exit === 4 ? of : of - gone);
  });

  test('may be set to nothing', async () => {
    await using w = await guarded(gridFile(ids(1, 9)), { guard: { floor: 0 } });
    await w.write('sales.csv', gridFile(ids(2, 9)));
    expect(await w.sync()).toMatchObject(held);
  });
});

describe('deletes of the last 24 hours', () => {
  test('add up, and are forgotten after that', async () => {
    await using w = await guarded(gridFile(ids(1, 60)));
    await w.write('sales.csv', gridFile(ids(4, 60)));
    expect(await w.sync()).toMatchObject(accepted);
    w.clock.jump(12 * hour);
    // 3 of 60 went, so 5 of 57 may go today: 2 more.
    await w.write('sales.csv', gridFile(ids(7, 60)));
    expect(await w.sync()).toMatchObject(held);
    await w.write('sales.csv', gridFile(ids(6, 60)));
    expect(await w.sync()).toMatchObject(accepted);
    await w.write('sales.csv', gridFile(ids(7, 60)));
    expect(await w.sync()).toMatchObject(held);
    w.clock.jump(13 * hour);
    expect(await w.sync()).toMatchObject(accepted);
    expect(w.count()).toBe(54);
  });

  test('made under a clock that was ahead count from when it is right again, and are forgotten', async () => {
    await using w = await guarded(gridFile(ids(1, 60)));
    w.clock.jump(1000 * 24 * hour);
    await w.write('sales.csv', gridFile(ids(6, 60)));
    expect(await w.sync()).toMatchObject(accepted);
    w.clock.jump(-1000 * 24 * hour);
    await w.sync();
    w.clock.jump(23 * hour);
    await w.write('sales.csv', gridFile(ids(7, 60)));
    expect(await w.sync()).toMatchObject(held);
    w.clock.jump(1 * hour);
    expect(await w.sync()).toMatchObject(accepted);
  });

  test('of points add up too', async () => {
    const all = months(1, 60);
    const without = (count: number) => longFile({ A: valuesOf([...all.slice(0, 1), ...all.slice(1 + count)]) });
    await using w = await guarded(without(0));
    await w.write('sales.csv', without(4));
    expect(await w.sync()).toMatchObject(accepted);
    await w.write('sales.csv', without(6));
    expect(await w.sync()).toMatchObject(held);
  });

  test('outlive the buffer', async () => {
    await using w = await guarded(gridFile(ids(1, 60)));
    await w.write('sales.csv', gridFile(ids(6, 60)));
    expect(await w.sync()).toMatchObject(accepted);
    await w.loseBuffer();
    await w.write('sales.csv', gridFile(ids(9, 60)));
    expect(await w.sync()).toMatchObject(held);
  });

  test('do not count what was approved', async () => {
    await using w = await guarded(gridFile(ids(1, 60)));
    await w.write('sales.csv', gridFile(ids(21, 60)));
    await approveHeld(w);
    expect(await w.sync()).toMatchObject(accepted);
    await w.write('sales.csv', gridFile(ids(24, 60)));
    expect(await w.sync()).toMatchObject(accepted);
  });

  test('of one source are not those of another', async () => {
    await using w = await guarded(gridFile(ids(1, 40)));
    await w.write('other.csv', gridFile(['other', ...ids(41, 80)]));
    await w.sync();
    await w.write('sales.csv', gridFile(ids(5, 40)));
    await w.write('other.csv', gridFile(['other', ...ids(45, 80)]));
    expect(await w.sync()).toMatchObject({ exit: 0, sources: [{ state: 'accepted' }, { state: 'accepted' }] });
  });
});

test('deletes add up also where the same parts remain each time', async () => {
  const sources = { sales: longSource('in/*.csv', { removed: 'delete' }) };
  await using w = await world({ config: { sources }, files: { 'in/a.csv': gridFile(ids(1, 60)) } });
  await w.sync();
  const exits: number[] = [];
  for (const name of ['B', 'C', 'D']) {
    await w.write('in/b.csv', gridFile([`${name}1`, `${name}2`, `${name}3`]));
    await w.sync();
    await w.remove('in/b.csv');
    exits.push((await w.sync()).exit);
  }
  expect(exits).toEqual([0, 0, 4]);
});

describe('deletes of the last 30 days', () => {
  const day = 24 * hour;

  test('add up to no more than three times what may go in a day, of what there was then', async () => {
    await using w = await guarded(gridFile(ids(1, 100)));
    const counts: number[] = [];
    let [first, isHeld] = [1, false];
    for (let today = 1; today <= 14 && !isHeld; today++) {
      w.clock.jump(day);
      first += Math.floor((101 - first) * 0.08);
      await w.write('sales.csv', gridFile(ids(first, 100)));
      isHeld = (await w.sync()).exit === 4;
      counts.push(w.count());
    }
    expect(counts).toEqual([92, 85, 79, 73, 73]);
    expect((await w.status()).held[0]?.reason).toBe(
      'it would delete 5 of 73 drivers after 27 of 100 in the last 30 days, more than three times guard.maxDeletes 10%',
    );
    w.clock.jump(30 * day);
    expect(await w.sync()).toMatchObject(accepted);
  });

  test('do not count what was approved', async () => {
    await using w = await guarded(gridFile(ids(1, 100)));
    await w.write('sales.csv', gridFile(ids(41, 100)));
    await approveHeld(w);
    expect(await w.sync()).toMatchObject(accepted);
    w.clock.jump(2 * day);
    await w.write('sales.csv', gridFile(ids(46, 100)));
    expect(await w.sync()).toMatchObject(accepted);
  });

  test('are a share of what there was before the first of them, whatever was approved since', async () => {
    await using w = await guarded(gridFile(ids(1, 100)));
    await w.write('sales.csv', gridFile(ids(9, 100)));
    expect(await w.sync()).toMatchObject(accepted);
    await w.write('sales.csv', gridFile(ids(49, 100)));
    await approveHeld(w);
    expect(await w.sync()).toMatchObject(accepted);
    for (const first of [54, 58, 62, 65, 68, 70]) {
      w.clock.jump(day);
      await w.write('sales.csv', gridFile(ids(first, 100)));
      expect(await w.sync()).toMatchObject(accepted);
    }
    w.clock.jump(day);
    await w.write('sales.csv', gridFile(ids(73, 100)));
    await w.sync();
    expect((await w.status()).held[0]?.reason).toMatch(/^it would delete 3 of 31 drivers after 29 of 100 in/);
  });
});

describe('deletes of a source whose drivers several sources take over', () => {
  const day = 24 * hour;

  test('leave each of them a share of what it took, not of the whole', async () => {
    const guard = { floor: 0 };
    const all = ids(1, 100);
    await using w = await guarded(gridFile(all), { guard });
    w.clock.jump(day);
    await w.write('sales.csv', gridFile(all.slice(1)));
    expect(await w.sync()).toMatchObject(accepted);
    w.clock.jump(day);
    const [part, rest, other] = [longSource('part.csv'), longSource('rest.csv'), longSource('other.csv')];
    await w.reconfigure({ guard, sources: { part, rest, other } });
    await w.write('part.csv', gridFile(all.slice(1, 21)));
    await w.write('rest.csv', gridFile(all.slice(21)));
    expect(await w.sync()).toMatchObject({ exit: 0 });
    expect(w.count()).toBe(99);
    let [first, isHeld] = [1, false];
    for (let today = 1; today <= 20 && !isHeld; today++) {
      w.clock.jump(day);
      first += 1;
      await w.write('part.csv', gridFile(all.slice(first, 21)));
      isHeld = (await w.sync()).exit === 4;
    }
    expect((await w.status()).held[0]?.reason).toBe(
      'it would delete 1 of 15 drivers after 6 of 21 in the last 30 days, more than three times guard.maxDeletes 10%',
    );
  });

  test('are measured so in the pass that takes them over, too', async () => {
    const guard = { floor: 0 };
    const year = months(1, 10);
    const all = ids(1, 100);
    await using w = await guarded(gridFile(all, year), { guard });
    for (const first of [8, 15, 22]) {
      w.clock.jump(day);
      await w.write('sales.csv', gridFile(all.slice(first), year));
      expect(await w.sync()).toMatchObject(accepted);
    }
    w.clock.jump(day);
    await w.reconfigure({ guard, sources: { part: longSource('part.csv'), rest: longSource('rest.csv') } });
    const part = gridFile(all.slice(22, 42), year);
    await w.write('part.csv', part.replace(/^D23,2024-(?:0[5-9]|10),1\n/gm, ''));
    await w.write('rest.csv', gridFile(all.slice(42), year));
    const report = await w.sync();
    expect(sourceOf(report, 'part').reason).toBe(
      'it would delete 6 of 200 points after 220 of 420 in the last 30 days, more than three times guard.maxDeletes 10%',
    );
    expect(sourceOf(report, 'rest').state).toBe('unchanged');
  });
});

describe('a source without readings', () => {
  const empty = 'id,time,value\n';

  test('is held when it turns empty, whatever the share', async () => {
    await using w = await guarded(gridFile(ids(1, 3)), { guard: { maxDeletes: '100%' } });
    await w.write('sales.csv', empty);
    expect(await w.sync()).toMatchObject(held);
    expect(w.count()).toBe(3);
    await approveHeld(w);
    expect(await w.sync()).toMatchObject(accepted);
    expect(w.count()).toBe(0);
  });

  test('may turn empty with mayBeEmpty', async () => {
    await using w = await guarded(gridFile(ids(1, 3)), { keys: { mayBeEmpty: true } });
    await w.write('sales.csv', empty);
    expect(await w.sync()).toMatchObject(accepted);
    expect(w.count()).toBe(0);
  });

  test('is held when it starts empty, and the first push waits for it', async () => {
    const sources = { sales: longSource('sales.csv'), other: longSource('other.csv') };
    const files = { 'sales.csv': empty, 'other.csv': gridFile(['other']) };
    await using w = await world({ config: { sources }, files });
    expect(await w.sync()).toMatchObject({ ...held, outcome: 'blocked' });
    expect(w.requests()).toEqual([]);
    await approveHeld(w);
    expect(await w.sync()).toMatchObject({ outcome: 'acknowledged', exit: 0 });
    expect(w.points()).toEqual({ other: { '2026-01': '1' } });
  });

  test('may start empty with mayBeEmpty', async () => {
    const sources = { sales: longSource('sales.csv', { mayBeEmpty: true }), other: longSource('other.csv') };
    const files = { 'sales.csv': empty, 'other.csv': gridFile(['other']) };
    await using w = await world({ config: { sources }, files });
    expect(await w.sync()).toMatchObject({ outcome: 'acknowledged', exit: 0 });
  });
});

describe('what is held whatever the share', () => {
  const all = months(1, 12);
  const rows = gridFile(ids(1, 20), all);

  test('more rejects than before and a delete', async () => {
    await using w = await guarded(rows);
    await w.write('sales.csv', rows.replace('D20,2024-12,1\n', 'D20,2024-12,broken\n'));
    const report = await w.sync();
    expect(report).toMatchObject(held);
    expect(sourceOf(report, 'sales')).toMatchObject({ rejects: 1, changes: { points: { delete: 1 } } });
    expect(await w.rejects('sales')).toMatch(
      /^source,part,row,reason,text\nsales,sales\.csv,240,.*"D20,2024-12,broken"/,
    );
  });

  test('more rejects without a delete are accepted, and as many with a delete', async () => {
    await using w = await guarded(rows);
    await w.write('sales.csv', `${rows}D21,2024-12,broken\n`);
    expect(await w.sync()).toMatchObject(judged(0, 'sales', { state: 'unchanged', rejects: 1 }));
    await w.write('sales.csv', rows.replace('D20,2024-11,1\n', 'D20,2024-11,broken\n'));
    expect(await w.sync()).toMatchObject(accepted);
  });

  test('a read that drops only the oldest months, which a rolling export does', async () => {
    await using w = await guarded(rows);
    await w.write('sales.csv', gridFile(ids(1, 20), months(2, 13)));
    const report = await w.sync();
    expect(report).toMatchObject(held);
    expect(sourceOf(report, 'sales').hint).toMatch(/history: carry/);
    expect(w.points()['D01']).toHaveProperty('2024-01');
    await approveHeld(w);
    expect(await w.sync()).toMatchObject(accepted);
    expect(Object.keys(w.points()['D01'] ?? {})).toEqual(months(2, 13));
  });

  test('also where a driver goes with its old months', async () => {
    const end = longFile({ ended: { '2023-12': 1 } });
    await using w = await guarded(end + rows.slice(rows.indexOf('\n') + 1));
    await w.write('sales.csv', rows);
    expect(await w.sync()).toMatchObject(held);
  });

  test('but not where newer months go, within the share', async () => {
    await using w = await guarded(rows);
    await w.write('sales.csv', rows.replace('D20,2024-12,1\n', ''));
    expect(await w.sync()).toMatchObject(accepted);
  });
});

describe('with shouldDeleteMissing: false', () => {
  const config = {
    destination: { shouldDeleteMissing: false },
    sources: { sales: longSource('sales.csv'), other: longSource('other.csv') },
  };

  test('nothing is held, since nothing is deleted', async () => {
    const files = { 'sales.csv': gridFile(ids(1, 20)), 'other.csv': gridFile(['other']) };
    await using w = await world({ config, files });
    await w.sync();
    await w.write('sales.csv', gridFile(ids(18, 20)));
    expect(await w.sync()).toMatchObject({ ...accepted, outcome: 'acknowledged', push: { drivers: 4 } });
    expect(w.drivers()).toHaveLength(21);
    await w.write('sales.csv', 'id,time,value\n');
    expect(await w.sync()).toMatchObject({ exit: 0, push: { drivers: 1 } });
    await w.reconfigure({ ...config, sources: { sales: config.sources.sales } });
    expect((await w.sync()).exit).toBe(0);
    expect(w.drivers()).toHaveLength(21);
  });

  test('the first push waits for nobody, and who was never accepted is left out', async () => {
    await using w = await world({ config, files: { 'other.csv': gridFile(['other']) } });
    expect(await w.sync()).toMatchObject({ outcome: 'acknowledged', exit: 3, push: { drivers: 1 } });
    expect(w.points()).toEqual({ other: { '2026-01': '1' } });
  });

  test('the first push needs no approval', async () => {
    const files = { 'sales.csv': gridFile(ids(1, 2)), 'other.csv': gridFile(['other']) };
    await using w = await world({ config: { ...config, guard: { firstPush: 'approve' } }, files });
    expect(await w.sync()).toMatchObject({ outcome: 'acknowledged', exit: 0 });
  });
});

function valuesOf(inMonths: readonly string[]): Record<string, number> {
  return Object.fromEntries(inMonths.map((month) => [month, 1]));
}

/** Approves the one candidate that the next pass holds. */
async function approveHeld(w: Awaited<ReturnType<typeof guarded>> | Awaited<ReturnType<typeof world>>): Promise<void> {
  const [only, more] = (await w.sync()).sources.filter(({ state }) => state === 'held');
  expect(more).toBeUndefined();
  await w.approve(only?.digest ?? '');
}
