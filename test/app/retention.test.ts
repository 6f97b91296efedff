/** Which acknowledged snapshots are kept, and for how long. */
import { expect, test } from 'vitest';
import { type DaemonWorld, daemonWorld, days, hours, rows } from '../support/daemon-world.ts';

test('keeps all snapshots of 7 days, then the last of each day, for `keep`', async () => {
  await using w = await daemonWorld({ keep: '20d', guard: { maxDeletes: '100%' } });
  const pushAt = async (value: number): Promise<void> => {
    await w.write('a.csv', rows(`a,2026-01,${value}`));
    expect(await w.sync()).toMatchObject({ outcome: 'acknowledged' });
  };
  await pushAt(1);
  w.clock.jump(1 * hours);
  await pushAt(22);
  w.clock.jump(5 * days);
  await pushAt(333);
  expect(await keptIn(w)).toEqual([3, 2, 1]);
  w.clock.jump(5 * days);
  await pushAt(4444);
  w.clock.jump(1 * days);
  await w.sync();
  expect(await keptIn(w)).toEqual([5, 4, 3, 2]);
  w.clock.jump(100 * days);
  await w.sync();
  w.clock.jump(1 * days);
  await w.sync();
  expect(await keptIn(w)).toEqual([7, 6, 5, 4]);
});

test('drops nothing for a clock that is ahead for less than a day', async () => {
  await using w = await daemonWorld({ keep: '20d', guard: { maxDeletes: '100%' } });
  for (const value of [1, 22, 333]) {
    await w.write('a.csv', rows(`a,2026-01,${value}`));
    await w.sync();
    w.clock.jump(2 * days);
  }
  w.clock.jump(500 * days);
  await w.sync();
  w.clock.jump(23 * hours);
  await w.sync();
  expect(await keptIn(w)).toEqual(expect.arrayContaining([3, 2, 1]));
  w.clock.jump(-500 * days);
  await w.sync();
  w.clock.jump(1 * days);
  await w.sync();
  expect(await keptIn(w)).toEqual(expect.arrayContaining([3, 2, 1]));
});

test('keeps the last snapshot however small `keepMax` is', async () => {
  await using w = await daemonWorld({ keepMax: '1B' });
  await w.write('a.csv', rows('a,2026-01,1'));
  await w.sync();
  await w.write('a.csv', rows('a,2026-01,22'));
  await w.sync();
  const kept = await w.open(async ({ ledger, archive }) =>
    Promise.all((await ledger.pushes.all()).map(async ({ digest }) => (await archive.open(digest)) !== undefined)),
  );
  expect(kept).toEqual([true, false]);
});

/** The pushes whose snapshots are kept, newest first. */
function keptIn(w: DaemonWorld): Promise<number[]> {
  return w.open(async ({ ledger, archive }) => {
    const found: number[] = [];
    for (const { id, digest } of await ledger.pushes.all()) {
      if ((await archive.open(digest)) !== undefined) found.push(id);
    }
    return found;
  });
}
