/** What is known of a part outlives its name, its source's key and the buffer: its line end, and when it was first seen. */
import { rename } from 'node:fs/promises';
import path from 'node:path';
import { describe, expect, test } from 'vitest';
import { type TestWorld, judged, longFile, longSource, sourceOf, world } from '../support/world.ts';

const sales = { sources: { sales: longSource('in/*.csv') } };
const older = longFile({ A: { '2026-01': 1 } });
const newer = longFile({ A: { '2026-01': 2 } });
const early = new Date('2026-03-01T00:00:00Z');
const late = new Date('2026-03-02T00:00:00Z');
const unchanged = { exit: 0, outcome: 'unchanged' };

/** What happens to the state between two passes. */
const losses: readonly (readonly [string, (w: TestWorld) => Promise<unknown>])[] = [
  ['the buffer was lost', (w) => w.loseBuffer()],
  ['a rollback', async (w) => w.rollback((await w.status()).lastAcknowledged?.id ?? NaN)],
  ['the key of its source was renamed', (w) => w.reconfigure({ sources: { other: longSource('in/*.csv') } })],
];

/** Two readings of one time: the file revised later has the later name. */
async function tied(): Promise<TestWorld> {
  const w = await world({ config: sales });
  await w.write('in/a.csv', newer, late);
  await w.write('in/b.csv', older, early);
  expect(await w.sync()).toMatchObject({ exit: 0 });
  expect(w.points()).toEqual({ A: { '2026-01': '2' } });
  return w;
}

describe.each(losses)('after %s', (_name, lose) => {
  test('a file that was cut is not read: it had a line end', async () => {
    await using w = await world({ config: sales, files: { 'in/1.csv': older } });
    await w.sync();
    await lose(w);
    await w.write('in/1.csv', older.slice(0, -1));
    const [report] = (await w.sync()).sources;
    expect(report).toMatchObject({
      state: 'unread',
      reason: 'in/1.csv: it ends without a line end, and its accepted read had one',
    });
    expect(w.points()).toEqual({ A: { '2026-01': '1' } });
  });

  test('a file that was only touched is as old as its content', async () => {
    await using w = await tied();
    await lose(w);
    await w.write('in/b.csv', older, new Date('2026-03-09T00:00:00Z'));
    expect(await w.sync()).toMatchObject(unchanged);
    expect(await w.sync()).toMatchObject(unchanged);
    expect(w.points()).toEqual({ A: { '2026-01': '2' } });
  });

  test('a copy under another name is as old as the file that is gone', async () => {
    await using w = await tied();
    await lose(w);
    await w.remove('in/b.csv');
    await w.write('in/c.csv', older, new Date('2026-03-09T00:00:00Z'));
    expect(await w.sync()).toMatchObject(unchanged);
    expect(await w.sync()).toMatchObject(unchanged);
    expect(w.points()).toEqual({ A: { '2026-01': '2' } });
  });
});

test('a copy under another name is as old as the file that is gone', async () => {
  await using w = await tied();
  await w.remove('in/b.csv');
  await w.write('in/c.csv', older, new Date('2026-03-09T00:00:00Z'));
  expect(await w.sync()).toMatchObject({ ...unchanged, ...judged(0, 'sales', { carried: [] }) });
  expect(w.points()).toEqual({ A: { '2026-01': '2' } });
});

test('a copy beside the file that it was made of is as old as it says', async () => {
  await using w = await tied();
  await w.write('in/c.csv', older, new Date('2026-03-09T00:00:00Z'));
  expect(await w.sync()).toMatchObject({ exit: 0, outcome: 'acknowledged' });
  expect(w.points()).toEqual({ A: { '2026-01': '1' } });
});

test('an old export that was touched while the key of its source was renamed is not the newest', async () => {
  await using w = await world({ config: { sources: { sales: longSource('in/*.csv', { parts: 'newest' }) } } });
  await w.write('in/1.csv', older, early);
  await w.write('in/2.csv', newer, late);
  await w.sync();
  await w.reconfigure({ sources: { other: longSource('in/*.csv', { parts: 'newest' }) } });
  await w.write('in/1.csv', older, new Date('2026-03-09T00:00:00Z'));
  expect(await w.sync()).toMatchObject(unchanged);
  expect(w.points()).toEqual({ A: { '2026-01': '2' } });
});

describe.each(losses.slice(0, 2))('a file that got another name after %s', (_name, lose) => {
  test('is recognised in every later pass, and nothing is carried', async () => {
    const config = { sources: { sales: longSource('in/*.csv') } };
    await using w = await world({
      config,
      files: { 'in/1.csv': older, 'in/2.csv': longFile({ B: { '2026-01': 1 } }) },
    });
    await w.sync();
    await lose(w);
    await rename(path.join(w.dir, 'in/1.csv'), path.join(w.dir, 'in/9.csv'));
    // A cut file holds up the first pass, so that the snapshot is still the accepted read in the second.
    await w.write('in/2.csv', 'id,time,value\nB,2026-01,1');
    expect(await w.sync()).toMatchObject(judged(3, 'sales', { state: 'unread' }));
    await w.write('in/2.csv', longFile({ B: { '2026-01': 1 } }));
    expect(sourceOf(await w.sync(), 'sales').carried).toEqual([]);
    expect(await w.sync()).toMatchObject({ ...unchanged, ...judged(0, 'sales', { carried: [] }) });
  });
});
