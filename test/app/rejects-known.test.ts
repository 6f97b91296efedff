/** Rejects that stand in an export: a later read is compared with as many as the accepted one had, whatever became of the buffer. */
import { describe, expect, test } from 'vitest';
import { type TestWorld, gridFile, ids, judged, longSource, months, sourceOf, world } from '../support/world.ts';

const all = months(1, 12);
const source = longSource('sales.csv');
const config = { sources: { sales: source } };
const broken = 'X,2024-01,broken\n';
const standing = gridFile(ids(1, 20), all) + broken;

/** One point less than that, and the same reject; or one more. */
const fewer = standing.replace('D20,2024-11,1\n', '');
const onceMore = fewer + broken.replace('X', 'Y');

/** An export with a reject, accepted and pushed. */
async function standingReject(): Promise<TestWorld> {
  const w = await world({ config, files: { 'sales.csv': gridFile(ids(1, 20), all) } });
  await w.sync();
  await w.write('sales.csv', standing);
  expect(await w.sync()).toMatchObject(judged(0, 'sales', { state: 'unchanged', rejects: 1 }));
  await w.write('sales.csv', standing.replace('D01,2024-01,1\n', 'D01,2024-01,2\n'));
  expect(await w.sync()).toMatchObject({ outcome: 'acknowledged' });
  return w;
}

const happenings: readonly (readonly [string, string, (w: TestWorld) => Promise<unknown>])[] = [
  ['as it was', 'sales', async () => undefined],
  ['a lost buffer', 'sales', (w) => w.loseBuffer()],
  ['a rollback', 'sales', (w) => w.rollback(2)],
  ['another key', 'revenue', (w) => w.reconfigure({ sources: { revenue: source } })],
  [
    'a lost buffer and another key',
    'revenue',
    async (w) => {
      await w.loseBuffer();
      await w.reconfigure({ sources: { revenue: source } });
    },
  ],
];

describe.each(happenings)('after %s', (_what, name, happen) => {
  test('a read with as many rejects is judged by its deletes', async () => {
    await using w = await standingReject();
    await happen(w);
    await w.write('sales.csv', fewer);
    expect(await w.sync()).toMatchObject({ exit: 0, outcome: 'acknowledged' });
  });

  test('a read with more of them and deletes is held, with the number that the accepted read had', async () => {
    await using w = await standingReject();
    await happen(w);
    await w.write('sales.csv', onceMore);
    const report = await w.sync();
    expect(sourceOf(report, name)).toMatchObject({
      state: 'held',
      reason: 'it would delete 1 point and has 2 rejects where the accepted read had 1',
    });
  });
});

test('where another place has the drivers under another key, how many there were is not known', async () => {
  await using w = await standingReject();
  await w.reconfigure({ sources: { revenue: longSource('revenue.csv') } });
  await w.write('revenue.csv', fewer);
  expect(sourceOf(await w.sync(), 'revenue')).toMatchObject({
    state: 'held',
    reason: 'it would delete 1 point and has 1 reject; how many the accepted read had is not known',
  });
});

test('where an older snapshot does not say how many there were, the read is held and says so', async () => {
  await using w = await standingReject();
  await w.open(async ({ archive, ledger }) => {
    const digest = (await ledger.pushes.lastAcknowledged())?.digest ?? '';
    const snapshot = await archive.open(digest);
    const origins = (snapshot?.origins ?? []).map((origin) => ({ ...origin, rejects: undefined }));
    await archive.write([...(snapshot?.read() ?? [])], { shouldDeleteMissing: true, stamp: 'middle' }, origins);
  });
  await w.loseBuffer();
  await w.write('sales.csv', fewer);
  expect(sourceOf(await w.sync(), 'sales').reason).toBe(
    'it would delete 1 point and has 1 reject; how many the accepted read had is not known',
  );
  await w.write('sales.csv', gridFile(ids(1, 20), all).replace('D20,2024-11,1\n', ''));
  expect(await w.sync()).toMatchObject({ exit: 0 });
});
