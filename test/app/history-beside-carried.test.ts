/** `history: carry` beside parts that are gone and carried: these were not read, and say nothing of which months the export shows. */
import { describe, expect, test } from 'vitest';
import { approveHeld } from '../support/guarded-world.ts';
import { type TestWorld, collapsing, ids, longFile, longSource, months, world } from '../support/world.ts';

const rolling = { sources: { sales: longSource('in/*.csv', { history: 'carry' }) } };

/** Ten drivers, each with its own value in each month. */
function fileOf(inMonths: readonly string[]): string {
  const valueOf = (at: number, month: string): number => 1000 * at + Number(month.slice(2, 4) + month.slice(5));
  return longFile(
    Object.fromEntries(
      ids(1, 10).map((id, at) => [id, Object.fromEntries(inMonths.map((month) => [month, valueOf(at, month)]))]),
    ),
  );
}

async function goOn(w: TestWorld, ...exports: readonly string[]): Promise<void> {
  for (const text of exports) {
    await w.write('in/2.csv', text);
    expect(await w.sync()).toMatchObject({ exit: 0, outcome: 'acknowledged' });
  }
}

test('a rolling export keeps its older months while an older file is gone', async () => {
  const files = { 'in/1.csv': fileOf(months(1, 12)), 'in/2.csv': fileOf(months(13, 24)) };
  await using w = await world({ config: rolling, files });
  await w.sync();
  await w.remove('in/1.csv');
  expect(await w.sync()).toMatchObject({ exit: 3 });
  await goOn(w, fileOf(months(14, 25)), fileOf(months(15, 26)));
  for (const points of Object.values(w.points())) expect(Object.keys(points)).toEqual(months(1, 26));
  // Once it is back, its window is that of both files again, and what lies before it stays. Two months that neither has any more are asked for.
  await w.write('in/1.csv', fileOf(months(3, 12)));
  await approveHeld(w);
  expect(await w.sync()).toMatchObject({ exit: 0 });
  for (const points of Object.values(w.points()))
    expect(Object.keys(points)).toEqual([...months(1, 12), ...months(15, 26)]);
});

test('where every file is gone all stays as it was', async () => {
  await using w = await world({
    config: rolling,
    files: { 'in/1.csv': fileOf(months(1, 12)), 'in/2.csv': fileOf(months(13, 24)) },
  });
  await w.sync();
  await w.remove('in/1.csv');
  await w.sync();
  await goOn(w, fileOf(months(15, 26)));
  const pushed = w.points();
  await w.remove('in/2.csv');
  expect(await w.sync()).toMatchObject({ exit: 3, outcome: 'unchanged' });
  expect(w.points()).toEqual(pushed);
});

test('where all files that are there turn empty, and may, all stays as it was', async () => {
  const config = { sources: { sales: longSource('in/*.csv', { history: 'carry', mayBeEmpty: true }) } };
  await using w = await world({
    config,
    files: { 'in/1.csv': fileOf(months(1, 23)), 'in/2.csv': fileOf(months(24, 24)) },
  });
  await w.sync();
  await w.remove('in/1.csv');
  expect(await w.sync()).toMatchObject({ exit: 3 });
  const pushed = w.points();
  await w.write('in/2.csv', fileOf([]));
  expect(await w.sync()).toMatchObject({ outcome: 'unchanged' });
  expect(w.points()).toEqual(pushed);
});

describe('a month that both have', () => {
  /** A is gone and has a share of 2026-01; the other file shows it no more. */
  async function shared(rule: string, one: readonly number[], other: readonly number[]): Promise<TestWorld> {
    const rows = (values: readonly number[], month: string, day: number): string =>
      values.map((value, at) => `A,${month}-${String(day + at).padStart(2, '0')},${value}\n`).join('');
    const head = 'id,time,value\n';
    const config = { sources: { sales: collapsing(rule, 'in/*.csv', { history: 'carry' }) } };
    const w = await world({
      config,
      files: {
        'in/1.csv': head + rows(one, '2026-01', 3),
        'in/2.csv': head + rows(other, '2026-01', 10) + rows([5], '2026-02', 1),
      },
    });
    await w.sync();
    await w.remove('in/1.csv');
    expect(await w.sync()).toMatchObject({ exit: 3 });
    for (const month of ['2026-03', '2026-04']) {
      await w.write('in/2.csv', head + rows([5], '2026-02', 1) + rows([6], month, 1));
      expect(await w.sync()).toMatchObject({ exit: 0 });
    }
    return w;
  }

  test.each([
    ['sum', [1, 2], [4, 8.5], '15.5', 4, '12.5'],
    ['average', [1, 2], [4, 8], '3.75', 4, '6'],
    ['count', [1, 2], [4], '3', 3, '1'],
    ['last', [1, 2], [4, 8], '8', 4, '8'],
    ['first', [1, 2], [4, 8], '1', 2, undefined],
    ['min', [3, 1], [4, 8], '1', 2, undefined],
    ['max', [3, 1], [4, 8], '8', 4, '8'],
  ])('keeps its value by %s', async (...row) => {
    const [rule, one, other, value, readings, alone] = row;
    await using w = await shared(rule, one, other);
    expect(w.points()).toMatchObject({ A: { '2026-01': value } });
    expect(await w.explain('A', '2026-01')).toMatchObject({ points: [{ value, superseded: readings - 1 }] });
    // And without the share of the one that is forgotten.
    await w.forget('sales', 'in/1.csv');
    await w.sync();
    expect(w.points()['A']?.['2026-01']).toBe(alone);
  });
});
