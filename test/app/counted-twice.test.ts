/** Sources that add up: rows of a part that is gone and carried must not come back in another part unseen. */
import { describe, expect, test } from 'vitest';
import { type TestWorld, collapsing, gridFile, judged, longFile, sourceOf, world } from '../support/world.ts';

const summed = (rule = 'sum') => ({ sources: { sales: collapsing(rule, 'in/*.csv') } });
const january = longFile({ A: { '2026-01': 100 } });
const yearToDate = longFile({ A: { '2026-01': 100, '2026-02': 50 } });
const held = judged(4, 'sales', { state: 'held' });

async function approveHeld(w: TestWorld): Promise<void> {
  await w.approve(sourceOf(await w.sync(), 'sales').digest ?? '');
}

describe('a part that is new or changed and has a point of a carried one is held', () => {
  test.each(['sum', 'average', 'count'])('in a later pass than the one that went: %s', async (rule) => {
    await using w = await world({
      config: summed(rule),
      files: { 'in/ytd-01.csv': january, 'in/z.csv': gridFile(['Z']) },
    });
    await w.sync();
    const before = w.points();
    await w.remove('in/ytd-01.csv');
    expect(await w.sync()).toMatchObject({ exit: 3 });
    await w.write('in/ytd-02.csv', yearToDate);
    const report = await w.sync();
    expect(report).toMatchObject(held);
    expect(sourceOf(report, 'sales').reason).toBe(
      'rows may be counted twice: in/ytd-01.csv is gone and carried, and in/ytd-02.csv has its driver "A" in 2026-01 too',
    );
    expect(w.points()).toEqual(before);
  });

  test('where its rows were moved into a file that was there', async () => {
    const files = { 'in/1.csv': longFile({ B: { '2026-01': 1 } }), 'in/2.csv': january };
    await using w = await world({ config: summed(), files });
    await w.sync();
    await w.remove('in/2.csv');
    await w.write('in/1.csv', longFile({ A: { '2026-01': 100 }, B: { '2026-01': 1 } }));
    expect(await w.sync()).toMatchObject(held);
    expect(w.points()).toMatchObject({ A: { '2026-01': '100' } });
  });

  test('where they are moved there in a later pass', async () => {
    const files = { 'in/1.csv': longFile({ B: { '2026-01': 1 } }), 'in/2.csv': january };
    await using w = await world({ config: summed(), files });
    await w.sync();
    await w.remove('in/2.csv');
    await w.sync();
    await w.write('in/1.csv', longFile({ A: { '2026-01': 100 }, B: { '2026-01': 1 } }));
    expect(await w.sync()).toMatchObject(held);
  });

  test('however many passes lie between, and whatever else was accepted meanwhile', async () => {
    await using w = await world({ config: summed(), files: { 'in/1.csv': january, 'in/2.csv': gridFile(['B']) } });
    await w.sync();
    await w.remove('in/1.csv');
    await w.sync();
    await w.write('in/3.csv', gridFile(['C']));
    expect(await w.sync()).toMatchObject({ exit: 0 });
    await w.write('in/3.csv', gridFile(['C', 'D']));
    expect(await w.sync()).toMatchObject({ exit: 0 });
    await w.write('in/4.csv', yearToDate);
    expect(await w.sync()).toMatchObject(held);
  });
});

describe('nothing is held', () => {
  test('where the new part has other points', async () => {
    await using w = await world({ config: summed(), files: { 'in/1.csv': january, 'in/2.csv': gridFile(['B']) } });
    await w.sync();
    await w.remove('in/1.csv');
    await w.write('in/3.csv', longFile({ A: { '2026-02': 50 } }));
    expect(await w.sync()).toMatchObject({ exit: 3, outcome: 'acknowledged' });
    expect(w.points()).toMatchObject({ A: { '2026-01': '100', '2026-02': '50' } });
  });

  test('where the other part was there beside it, unchanged', async () => {
    await using w = await world({ config: summed(), files: { 'in/1.csv': january, 'in/2.csv': yearToDate } });
    await w.sync();
    await w.remove('in/1.csv');
    expect(await w.sync()).toMatchObject({ exit: 3 });
    await w.write('in/2.csv', yearToDate);
    expect(await w.sync()).toMatchObject({ exit: 0 });
    expect(w.points()).toMatchObject({ A: { '2026-01': '200' } });
  });

  test('where the other part had the same content beside it', async () => {
    await using w = await world({ config: summed(), files: { 'in/1.csv': january, 'in/2.csv': january } });
    await w.sync();
    await w.remove('in/2.csv');
    expect(await w.sync()).toMatchObject({ exit: 3 });
    expect(await w.sync()).toMatchObject({ exit: 0 });
    expect(w.points()).toMatchObject({ A: { '2026-01': '200' } });
  });

  test('where it had, and the source is renamed when the other one goes', async () => {
    await using w = await world({ config: summed(), files: { 'in/1.csv': january, 'in/2.csv': january } });
    await w.sync();
    await w.remove('in/2.csv');
    await w.reconfigure({ sources: { turnover: collapsing('sum', 'in/*.csv') } });
    expect(sourceOf(await w.sync(), 'turnover')).toMatchObject({ state: 'unchanged', carried: ['in/2.csv'] });
    expect(w.points()).toMatchObject({ A: { '2026-01': '200' } });
  });

  test('where the last reading counts, and nothing adds up', async () => {
    const sources = { sales: collapsing('last', 'in/*.csv') };
    await using w = await world({ config: { sources }, files: { 'in/1.csv': january, 'in/2.csv': gridFile(['B']) } });
    await w.sync();
    await w.remove('in/1.csv');
    await w.write('in/3.csv', yearToDate);
    expect(await w.sync()).toMatchObject({ exit: 3, outcome: 'acknowledged' });
  });
});

describe('an approval', () => {
  test('settles the carried parts that the hold names', async () => {
    await using w = await world({ config: summed(), files: { 'in/1.csv': january, 'in/2.csv': gridFile(['B']) } });
    await w.sync();
    await w.remove('in/1.csv');
    await w.write('in/3.csv', yearToDate);
    await approveHeld(w);
    expect(await w.sync()).toMatchObject({ exit: 3, outcome: 'acknowledged' });
    expect(w.points()).toMatchObject({ A: { '2026-01': '200', '2026-02': '50' } });
    await w.write('in/3.csv', longFile({ A: { '2026-01': 101, '2026-02': 50 } }));
    expect(await w.sync()).toMatchObject({ exit: 0, outcome: 'acknowledged' });
    expect(w.points()).toMatchObject({ A: { '2026-01': '201' } });
  });

  test('does not settle a part that goes later', async () => {
    await using w = await world({ config: summed(), files: { 'in/1.csv': january, 'in/2.csv': gridFile(['B']) } });
    await w.sync();
    await w.remove('in/1.csv');
    await w.write('in/3.csv', yearToDate);
    await approveHeld(w);
    await w.sync();
    await w.remove('in/2.csv');
    await w.write('in/4.csv', gridFile(['B', 'C']));
    expect(await w.sync()).toMatchObject(held);
  });

  test('does not cover another carried part that a newer read counts twice too', async () => {
    const files = { 'in/1.csv': january, 'in/2.csv': gridFile(['B']), 'in/3.csv': gridFile(['C']) };
    await using w = await world({ config: summed(), files });
    await w.sync();
    await w.remove('in/1.csv');
    await w.write('in/4.csv', yearToDate);
    await approveHeld(w);
    await w.remove('in/2.csv');
    await w.write('in/5.csv', longFile({ B: { '2026-01': 9 } }));
    const before = w.points();
    expect(await w.sync()).toMatchObject(held);
    expect(w.points()).toEqual(before);
  });
});

describe('a part that takes over the content of the one that is gone', () => {
  const files = { 'in/1.csv': january, 'in/2.csv': longFile({ A: { '2026-01': 50 } }) };

  test.each(['at once', 'in a later pass'])('is held where it was there before: %s', async (when) => {
    await using w = await world({ config: summed(), files });
    await w.sync();
    await w.remove('in/1.csv');
    if (when !== 'at once') await w.sync();
    await w.write('in/2.csv', january);
    expect(await w.sync()).toMatchObject(held);
    expect(w.points()).toEqual({ A: { '2026-01': '150' } });
  });

  test('is the renamed one where its source was renamed meanwhile', async () => {
    await using w = await world({ config: summed(), files });
    await w.sync();
    await w.remove('in/1.csv');
    await w.sync();
    await w.reconfigure({ sources: { other: collapsing('sum', 'in/*.csv') } });
    await w.write('in/3.csv', january);
    expect(await w.sync()).toMatchObject({ exit: 0, outcome: 'unchanged' });
    expect(w.points()).toEqual({ A: { '2026-01': '150' } });
  });
});

test('a renamed source that carries history and a part counts neither twice', async () => {
  const files = { 'in/1.csv': january, 'in/2.csv': longFile({ A: { '2026-03': 50 } }) };
  await using w = await world({
    config: { sources: { sales: collapsing('sum', 'in/*.csv', { history: 'carry' }) } },
    files,
  });
  await w.sync();
  await w.remove('in/1.csv');
  await w.sync();
  await w.reconfigure({ sources: { other: collapsing('sum', 'in/*.csv', { history: 'carry' }) } });
  await w.sync();
  expect(w.points()).toEqual({ A: { '2026-01': '100', '2026-03': '50' } });
});

test('what was approved after a snapshot does not hold once that snapshot is rolled back to', async () => {
  await using w = await world({
    config: summed(),
    files: { 'in/1.csv': january, 'in/2.csv': longFile({ A: { '2026-01': 50 } }) },
  });
  const first = (await w.sync()).push?.id ?? NaN;
  await w.remove('in/1.csv');
  await w.write('in/3.csv', longFile({ A: { '2026-01': 101 } }));
  await approveHeld(w);
  expect(await w.sync()).toMatchObject({ outcome: 'acknowledged' });
  await w.rollback(first);
  expect(await w.sync()).toMatchObject(held);
  expect(w.points()).toEqual({ A: { '2026-01': '150' } });
});

describe('the same content read another way', () => {
  const rows = {
    'in/1.csv': longFile({ A: { '2026-01': 100 } }),
    'in/2.csv': longFile({ A: { '2026-01': 5 }, B: { '2026-01': 1 } }),
  };
  const reading = (keys: object) => ({ sources: { sales: collapsing('sum', 'in/*.csv', keys) } });

  test('is held where it has other points then', async () => {
    await using w = await world({ config: reading({ where: { value: { not: '5' } } }), files: rows });
    await w.sync();
    await w.remove('in/1.csv');
    await w.sync();
    await w.reconfigure(reading({}));
    expect(await w.sync()).toMatchObject(held);
    expect(w.points()).toMatchObject({ A: { '2026-01': '100' } });
  });

  test('is not held where it comes to the same', async () => {
    await using w = await world({ config: reading({}), files: rows });
    await w.sync();
    await w.remove('in/1.csv');
    await w.sync();
    await w.reconfigure(reading({ where: { value: { not: '6' } } }));
    expect(await w.sync()).toMatchObject({ exit: 0, outcome: 'unchanged' });
    expect(w.points()).toMatchObject({ A: { '2026-01': '105' } });
  });
});

test('nothing is settled that nobody approved, where nothing is ever deleted', async () => {
  const config = (shouldDeleteMissing: boolean) => ({ ...summed(), destination: { shouldDeleteMissing } });
  await using w = await world({ config: config(false), files: { 'in/1.csv': january, 'in/2.csv': gridFile(['B']) } });
  await w.sync();
  await w.remove('in/1.csv');
  await w.write('in/3.csv', yearToDate);
  expect(await w.sync()).toMatchObject({ outcome: 'acknowledged' });
  await w.reconfigure(config(true));
  await w.sync();
  await w.write('in/3.csv', longFile({ A: { '2026-01': 101, '2026-02': 50 } }));
  expect(await w.sync()).toMatchObject(held);
});

test('a file with a header and no rows is whole and empty: it takes its share of a sum with it', async () => {
  await using w = await world({ config: summed(), files: { 'in/1.csv': january, 'in/2.csv': yearToDate } });
  await w.sync();
  await w.write('in/1.csv', 'id,time,value\n');
  expect(await w.sync()).toMatchObject({ exit: 0, outcome: 'acknowledged', sources: [{ carried: [] }] });
  expect(w.points()).toEqual({ A: { '2026-01': '100', '2026-02': '50' } });
});
