/** Deletes of a day and of 30 days add up. */
import { describe, expect, test } from 'vitest';
import { accepted, approveHeld, guarded, held, valuesOf } from '../support/guarded-world.ts';
import { gridFile, ids, longFile, longSource, months, sourceOf, world } from '../support/world.ts';

const hour = 3_600_000;

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
