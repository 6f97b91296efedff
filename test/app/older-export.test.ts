/** Of dated exports the newest file counts. A copy of an older one is the newest file: what is said of that, and how it is undone. */
import { readdir, rm, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { describe, expect, test } from 'vitest';
import { readOnly } from '../../src/app/shared/follow.ts';
import { type TestWorld, longFile, longSource, sourceOf, world } from '../support/world.ts';

const day = (date: number): Date => new Date(`2026-03-${String(date).padStart(2, '0')}T00:00:00Z`);
const valued = (value: number): string => longFile({ A: { '2026-01': value }, B: { '2026-01': value } });

/** Exports of three days, of which the last one counts. */
async function exported() {
  const w = await world({ config: { sources: { sales: longSource('in/*.csv', { parts: 'newest' }) } } });
  for (const date of [1, 2, 3]) await w.write(`in/${date}.csv`, valued(date), day(date));
  await w.sync();
  const said = async (): Promise<readonly string[]> => sourceOf(await w.sync(), 'sales').warnings;
  return Object.assign(w, { said });
}

test('a copy of an older export is named beside the one whose place it takes, until it is gone and forgotten', async () => {
  await using w = await exported();
  await w.write('in/copy of 1.csv', valued(1), day(9));
  const warning = `in/copy of 1.csv counts, which has the content of in/1.csv, and in/3.csv came between them: if it is a copy, remove it, and "driver-sync forget sales 'in/copy of 1.csv'" goes back to in/3.csv`;
  expect(await w.said()).toEqual([warning]);
  expect(w.points()).toMatchObject({ A: { '2026-01': '1' } });
  // It stands there for as long as that is so.
  expect(await w.said()).toEqual([warning]);
  await w.remove('in/copy of 1.csv');
  expect(await w.sync()).toMatchObject({ exit: 3 });
  await w.forget('sales', 'in/copy of 1.csv');
  expect(await w.said()).toEqual([]);
  expect(w.points()).toMatchObject({ A: { '2026-01': '3' } });
});

test('nothing is said of a copy of the newest export, of one that is touched, and of one that is new', async () => {
  await using w = await exported();
  await w.write('in/copy of 3.csv', valued(3), day(9));
  expect(await w.said()).toEqual([]);
  await w.write('in/1.csv', valued(1), day(10));
  expect(await w.said()).toEqual([]);
  await w.write('in/4.csv', valued(4), day(11));
  expect(await w.said()).toEqual([]);
  expect(w.points()).toMatchObject({ A: { '2026-01': '4' } });
});

test('nothing is said of an older export that was copied and is not the newest any more', async () => {
  await using w = await exported();
  await w.write('in/copy of 1.csv', valued(1), day(9));
  expect(await w.said()).toHaveLength(1);
  await w.write('in/4.csv', valued(4), day(10));
  expect(await w.said()).toEqual([]);
});

describe('of several copies', () => {
  const named = (copy: string, original: string, latest: string): string =>
    `in/${copy}.csv counts, which has the content of in/${original}.csv, and in/${latest}.csv came between them: if it is a copy, remove it, and "driver-sync forget sales in/${copy}.csv" goes back to in/${latest}.csv`;

  test('of one older export at once, the one that counts is named, in every pass', async () => {
    await using w = await exported();
    for (const copy of [1, 2]) await w.write(`in/r${copy}.csv`, valued(1), day(9));
    expect(await w.said()).toEqual([named('r2', '1', '3')]);
    expect(await w.said()).toEqual([named('r2', '1', '3')]);
  });

  test('of one older export one after the other, the one that counts is named', async () => {
    await using w = await exported();
    await w.write('in/r1.csv', valued(1), day(9));
    expect(await w.said()).toEqual([named('r1', '1', '3')]);
    await w.write('in/r2.csv', valued(1), day(10));
    expect(await w.said()).toEqual([named('r2', '1', '3')]);
  });

  test('nothing is said where all exports were restored in their order', async () => {
    await using w = await exported();
    for (const date of [1, 2, 3]) await w.write(`in/r${date}.csv`, valued(date), day(9 + date));
    expect(await w.said()).toEqual([]);
    expect(w.points()).toMatchObject({ A: { '2026-01': '3' } });
  });

  test('where some older exports were restored, the newest export of all is named', async () => {
    await using w = await exported();
    for (const date of [1, 2]) await w.write(`in/r${date}.csv`, valued(date), day(9 + date));
    expect(await w.said()).toEqual([named('r2', '2', '3')]);
    for (const copy of ['in/r1.csv', 'in/r2.csv']) await w.remove(copy);
    await w.sync();
    await w.forget('sales', 'in/r2.csv');
    expect(await w.said()).toEqual([]);
    expect(w.points()).toMatchObject({ A: { '2026-01': '3' } });
  });

  test('a copy of the newest export is no newer than that', async () => {
    await using w = await exported();
    await w.write('in/r3.csv', valued(3), day(9));
    await w.sync();
    await w.write('in/r1.csv', valued(1), day(10));
    expect(await w.said()).toEqual([named('r1', '1', '3')]);
  });

  test('they are told by the times at which they were first seen, where theirs are ahead of the clock', async () => {
    await using w = await exported();
    await w.write('in/r1.csv', valued(1), new Date('2027-03-01T00:00:00Z'));
    await w.write('in/r2.csv', valued(2), new Date('2027-01-01T00:00:00Z'));
    expect(await w.said()).toEqual([named('r1', '1', '3')]);
  });
});

describe('after a loss of the buffer', () => {
  const sales = { sources: { sales: longSource('in/*.csv', { parts: 'newest' }) } };

  /** Exports of three days, each of which was pushed. */
  async function pushed() {
    const w = await world({ config: sales });
    for (const date of [1, 2, 3]) {
      await w.write(`in/${date}.csv`, valued(date), day(date));
      expect(await w.sync()).toMatchObject({ exit: 0, outcome: 'acknowledged' });
    }
    return w;
  }

  /** What two passes do, and the value that the service has then. */
  const twice = async (w: TestWorld) => {
    const reports = [await w.sync(), await w.sync()];
    return [...reports.map(({ exit, outcome }) => `${exit} ${outcome}`), w.points()['A']?.['2026-01']];
  };
  const unchanged = ['0 unchanged', '0 unchanged', '3'];

  test.each([
    ['before it', ['touch', 'lose']],
    ['after it', ['lose', 'touch']],
    ['before it, and seen so', ['touch', 'sync', 'lose']],
  ])('an older export that was touched %s changes nothing', async (_name, steps) => {
    await using w = await pushed();
    const all: Readonly<Record<string, () => Promise<unknown>>> = {
      touch: () => w.write('in/1.csv', valued(1), day(9)),
      lose: () => w.loseBuffer(),
      sync: () => w.sync(),
    };
    for (const step of steps) await all[step]!();
    expect(await twice(w)).toEqual(unchanged);
  });

  test('also where it was damaged', async () => {
    await using w = await pushed();
    await w.write('in/1.csv', valued(1), day(9));
    await w.loseBuffer();
    await writeFile(path.join(w.state, 'buffer.db'), 'no database');
    expect(await twice(w)).toEqual(unchanged);
  });

  test('also where its source has another key by then', async () => {
    await using w = await pushed();
    await w.write('in/1.csv', valued(1), day(9));
    await w.loseBuffer();
    await w.reconfigure({ sources: { other: longSource('in/*.csv', { parts: 'newest' }) } });
    expect(await twice(w)).toEqual(unchanged);
  });

  test('also where its source cannot be read at first', async () => {
    await using w = await pushed();
    const files = await readdir(path.join(w.dir, 'in'));
    await w.loseBuffer();
    for (const file of files) await w.remove(`in/${file}`);
    expect(await w.sync()).toMatchObject({ exit: 3 });
    for (const date of [2, 3]) await w.write(`in/${date}.csv`, valued(date), day(date));
    await w.write('in/1.csv', valued(1), day(9));
    await w.sync();
    expect(await twice(w)).toEqual(unchanged);
  });

  test('also where another snapshot is damaged or gone', async () => {
    await using w = await pushed();
    const digests = (await w.open((deps) => deps.ledger.pushes.all())).map(({ digest }) => digest);
    await w.write('in/1.csv', valued(1), day(9));
    await w.loseBuffer();
    await writeFile(path.join(w.state, `archive/${digests[1]}.snapshot`), 'damaged');
    expect(await twice(w)).toEqual(unchanged);
    await w.loseBuffer();
    await rm(path.join(w.state, `archive/${digests[1]}.snapshot`));
    expect(await twice(w)).toEqual(unchanged);
  });

  test('also where the last snapshot is damaged too, and the export is read first', async () => {
    await using w = await pushed();
    const [last] = await w.open((deps) => deps.ledger.pushes.all());
    await w.write('in/1.csv', valued(1), day(9));
    await w.loseBuffer();
    await writeFile(path.join(w.state, `archive/${last?.digest}.snapshot`), 'damaged');
    await w.write('in/4.csv', valued(4), day(4));
    await w.sync();
    expect(w.points()).toMatchObject({ A: { '2026-01': '4' } });
  });

  test('also where the files were read while the ledger was out of reach', async () => {
    await using w = await pushed();
    await w.write('in/1.csv', valued(1), day(9));
    await w.loseBuffer();
    await w.open((deps) => readOnly(deps, {}, AbortSignal.timeout(10_000)));
    expect(await twice(w)).toEqual(unchanged);
  });

  test('a copy is as old as the export that it was made of, where that is gone', async () => {
    await using w = await pushed();
    await w.loseBuffer();
    await w.remove('in/1.csv');
    await w.write('in/copy of 1.csv', valued(1), day(9));
    expect(await twice(w)).toEqual(unchanged);
  });

  test('a copy beside the export that it was made of is named', async () => {
    await using w = await pushed();
    await w.loseBuffer();
    await w.write('in/copy of 1.csv', valued(1), day(9));
    expect(sourceOf(await w.sync(), 'sales').warnings).toMatchObject([
      expect.stringMatching(/^in\/copy of 1\.csv counts, .* and in\/3\.csv came between them/),
    ]);
  });

  test('an export that was written anew is the newest, also with what an earlier one of its name had', async () => {
    await using w = await world({ config: sales });
    for (const value of [1, 2]) {
      await w.write('in/1.csv', valued(value), day(value));
      await w.sync();
    }
    await w.write('in/3.csv', valued(3), day(3));
    await w.sync();
    await w.loseBuffer();
    await w.write('in/1.csv', valued(1), day(9));
    expect(await w.sync()).toMatchObject({ exit: 0, outcome: 'acknowledged' });
    expect(w.points()).toMatchObject({ A: { '2026-01': '1' } });
  });

  test('and a rollback, the exports that it went back behind are known too', async () => {
    await using w = await pushed();
    await w.rollback(1);
    await w.loseBuffer();
    await w.write('in/2.csv', valued(2), day(9));
    await w.sync();
    expect(w.points()).toMatchObject({ A: { '2026-01': '3' } });
  });
});
