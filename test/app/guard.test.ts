/** What the guard holds, in the config's words. `guard-days.test.ts` has deletes that add up. */
import { describe, expect, test } from 'vitest';
import { accepted, approveHeld, guarded, held, valuesOf } from '../support/guarded-world.ts';
import { gridFile, ids, judged, longFile, longSource, months, sourceOf, world } from '../support/world.ts';

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

  test('is held when its first read has rejects and nothing else, and the hint leads to them', async () => {
    const sources = { sales: longSource('sales.csv') };
    const files = { 'sales.csv': `${empty}a,2026-01,"1,5"\n` };
    await using w = await world({ config: { sources, guard: { maxRejects: '100%' } }, files });
    const hint = expect.stringContaining('driver-sync rejects') as string;
    expect((await w.sync()).sources).toMatchObject([
      { state: 'held', reason: 'its first read has no readings, and 1 reject', hint },
    ]);
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

  test('also where another point goes, or a whole driver', async () => {
    await using w = await guarded(rows);
    const rolled = gridFile(ids(1, 20), months(2, 13));
    for (const text of [rolled.replace('D03,2024-11,1\n', ''), gridFile(ids(1, 19), months(2, 13))]) {
      await w.write('sales.csv', text);
      const report = await w.sync();
      expect(report).toMatchObject(held);
      expect(sourceOf(report, 'sales').reason).toMatch(/^it drops the oldest months of (?:20 of 20|19 of 19) drivers/);
    }
  });

  test('also where one driver still has an older month', async () => {
    await using w = await guarded(`${rows}fixed,2020-01,5\n`);
    await w.write('sales.csv', `${gridFile(ids(1, 20), months(2, 13))}fixed,2020-01,5\n`);
    const report = await w.sync();
    expect(report).toMatchObject(held);
    expect(sourceOf(report, 'sales').reason).toMatch(/^it drops the oldest months of 20 of 21 drivers/);
    expect(w.points()['D01']).toHaveProperty('2024-01');
  });

  test('but not where a few drivers begin later, within the share', async () => {
    await using w = await guarded(rows);
    await w.write('sales.csv', rows.replace('D19,2024-01,1\n', '').replace('D20,2024-01,1\n', ''));
    expect(await w.sync()).toMatchObject(accepted);
  });

  const withoutMonth = (last: number): string =>
    ids(1, last).reduce((text, id) => text.replace(`${id},2024-06,1\n`, ''), rows);

  test('a month between others of most drivers, though it is within the share, and its hint says why', async () => {
    await using w = await guarded(rows);
    await w.write('sales.csv', withoutMonth(20));
    const report = await w.sync();
    expect(report).toMatchObject(held);
    expect(sourceOf(report, 'sales')).toMatchObject({
      reason: 'it drops 2024-06, between months that stay, of 20 of 20 drivers and would delete 20 points',
      hint: expect.stringContaining('header of that month') as string,
    });
    expect(w.points()['D01']).toHaveProperty('2024-06');
    await approveHeld(w);
    expect(await w.sync()).toMatchObject(accepted);
    expect(w.points()['D01']).not.toHaveProperty('2024-06');
  });

  test('but not a month that half of them lose, nor where all may go', async () => {
    await using w = await guarded(rows);
    await w.write('sales.csv', withoutMonth(10));
    expect(await w.sync()).toMatchObject(accepted);
    await using open = await guarded(rows, { guard: { maxDeletes: '100%' } });
    await open.write('sales.csv', withoutMonth(20));
    expect(await open.sync()).toMatchObject(accepted);
  });

  test('nor a month that goes with its file, where removed: delete says so', async () => {
    const part = (name: string, month: string) => [`${name}.csv`, gridFile(ids(1, 20), [month])] as const;
    const files = Object.fromEntries(months(1, 12).map((month, at) => part(`sales-${at}`, month)));
    const sales = longSource('sales-*.csv', { removed: 'delete' });
    await using w = await world({ config: { sources: { sales } }, files });
    expect(await w.sync()).toMatchObject({ outcome: 'acknowledged', exit: 0 });
    await w.remove('sales-5.csv');
    expect(await w.sync()).toMatchObject(accepted);
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
