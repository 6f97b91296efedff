/** A table that is being loaded has most points, each of fewer readings: what the value guard holds of that, and what it lets pass. */
import { describe, expect, test } from 'vitest';
import { accepted, approveHeld, held } from '../support/guarded-world.ts';
import { collapsing, ids, judged, longFile, longSource, sourceOf, world } from '../support/world.ts';

/** It is 2026-03-15. */
const inMonths = ['2025-11', '2025-12', '2026-01', '2026-02'];

/** How many rows each driver has in each month, and what they say. */
type Rows = (driver: string, month: string) => readonly number[];

const drivers = ids(1, 10);
/** Ten different bookings. */
const whole: Rows = (driver, month) =>
  Array.from({ length: 10 }, (_, at) => 100 + Number(driver.slice(1)) * 7 + Number(month.slice(5)) * 3 + at * at);
const first =
  (count: number, among: readonly string[] = drivers, of = inMonths): Rows =>
  (driver, month) =>
    whole(driver, month).slice(0, among.includes(driver) && of.includes(month) ? count : 10);

/** Two to six of ten, so that no factor says what became of their number. 240 of 400 are gone. */
const loading: Rows = (driver, month) =>
  whole(driver, month).slice(0, 2 + ((Number(driver.slice(1)) + Number(month.slice(5))) % 5));

function sumOf(values: readonly number[]): number {
  return values.reduce((all, one) => all + one, 0);
}

function fileOf(rows: Rows, months = inMonths): string {
  const lines = drivers.flatMap((id) =>
    months.flatMap((month) =>
      rows(id, month).map((value, at) => `${id},${month}-${String(1 + at).padStart(2, '0')},${value}\n`),
    ),
  );
  return `id,time,value\n${lines.join('')}`;
}

interface Given {
  readonly rule?: string;
  readonly keys?: object;
  readonly config?: object;
  readonly months?: readonly string[];
}

/** A source that has accepted the whole table, beside another one. */
async function loaded({ rule = 'sum', keys = {}, config = {}, months = inMonths }: Given = {}) {
  const sources = { sales: collapsing(rule, 'sales*.csv', keys), other: longSource('other.csv') };
  const files = { 'sales.csv': fileOf(whole, [...months]), 'other.csv': longFile({ other: { '2026-01': 1 } }) };
  const w = await world({ config: { ...config, sources }, files });
  expect(await w.sync()).toMatchObject({ outcome: 'acknowledged', exit: 0 });
  return Object.assign(w, { show: (rows: Rows) => w.write('sales.csv', fileOf(rows, [...months])) });
}

describe('a read of a table that is being loaded', () => {
  test.each(['sum', 'average', 'count'])('is held: collapse: %s', async (rule) => {
    await using w = await loaded({ rule });
    const before = w.points();
    await w.show(loading);
    const report = await w.sync();
    expect(report).toMatchObject(held);
    const found = sourceOf(report, 'sales');
    expect(found.reason).toMatch(
      /240 of 400 readings behind changed points of the source are gone \(2025-11, 2025-12, 2026-01, 2026-02\)$/,
    );
    expect(found.hint).toMatch(/still being loaded/);
    expect(found.findings).toMatchObject([{ kind: 'fewer-readings', group: [], points: 240, of: 400 }]);
    expect(found.findings?.[0]?.examples).toHaveLength(3);
    expect(found.findings?.[0]?.examples[0]).toMatchObject({
      driver: 'D01',
      month: '2026-02',
      old: before['D01']?.['2026-02'],
    });
    expect(w.points()).toEqual(before);
    await w.show(whole);
    expect(await w.sync()).toMatchObject(judged(0, 'sales', { state: 'unchanged' }));
  });

  test('is no longer held once it is whole, with more', async () => {
    await using w = await loaded();
    await w.show(loading);
    expect(await w.sync()).toMatchObject(held);
    await w.show((driver, month) => [...whole(driver, month), 1]);
    expect(await w.sync()).toMatchObject(accepted);
  });

  test('passes once it is approved, and a later one that has lost more does not', async () => {
    await using w = await loaded();
    await w.show(first(6));
    await approveHeld(w);
    await w.show(first(5));
    expect(await w.sync()).toMatchObject(held);
    await approveHeld(w);
    expect(await w.sync()).toMatchObject(accepted);
    expect(w.points()['D01']?.['2026-02']).toBe(String(sumOf(first(5)('D01', '2026-02'))));
  });

  test('is said and passes with `values: warn`, and passes with `values: off`', async () => {
    for (const [values, warnings] of [
      ['warn', 1],
      ['off', 0],
    ] as const) {
      await using w = await loaded({ keys: { guard: { values } } });
      await w.show(loading);
      const report = await w.sync();
      expect(report).toMatchObject(accepted);
      expect(sourceOf(report, 'sales').warnings?.filter((one) => one.includes('readings'))).toHaveLength(warnings);
    }
  });
});

describe('it passes where', () => {
  test.each<[string, Rows]>([
    ['the values stayed as they were', (driver, month) => [sumOf(whole(driver, month))]],
    ['the rows of the present month are gone', first(4, drivers, ['2026-03'])],
    ['less than a fifth is gone', first(9)],
  ])('%s', async (_what, rows) => {
    await using w = await loaded({ months: [...inMonths, '2026-03'] });
    await w.show(rows);
    const report = await w.sync();
    expect(report).toMatchObject({ exit: 0 });
    expect(sourceOf(report, 'sales').findings ?? []).toEqual([]);
  });

  test.each(['last', 'min', 'max'])('one reading counts: collapse: %s', async (rule) => {
    await using w = await loaded({ rule });
    await w.show((driver, month) => whole(driver, month).slice(3, 7));
    expect(await w.sync()).toMatchObject(accepted);
  });

  test('rows were there twice before: a factor says it', async () => {
    await using w = await loaded();
    await w.show((driver, month) => [...whole(driver, month), ...whole(driver, month)]);
    await approveHeld(w);
    await w.sync();
    await w.show(whole);
    expect(sourceOf(await w.sync(), 'sales').findings).toMatchObject([{ kind: 'factor', factor: '0.5' }]);
  });

  test('a file went whose readings go with it', async () => {
    for (const [removed, state] of [
      ['carry', { exit: 3 }],
      ['delete', { exit: 0 }],
    ] as const) {
      await using w = await loaded({ keys: { removed } });
      await w.write('sales-2.csv', fileOf(first(5)));
      await w.sync();
      await w.remove('sales-2.csv');
      expect(await w.sync()).toMatchObject(state);
    }
  });

  test('a part was forgotten, also where another one changes', async () => {
    await using w = await loaded();
    await w.write('sales-2.csv', fileOf(first(5)));
    await w.sync();
    await w.remove('sales-2.csv');
    expect(await w.sync()).toMatchObject({ exit: 3 });
    await w.forget('sales', 'sales-2.csv');
    await w.show((driver, month) => (driver === 'D01' ? [1] : whole(driver, month)));
    expect(await w.sync()).toMatchObject(accepted);
    expect(w.points()['D02']?.['2026-01']).toBe(String(sumOf(whole('D02', '2026-01'))));
  });
});

describe('a file among others', () => {
  const named = (name: string) => (text: string) => text.replaceAll(/^D/gm, `${name}-D`);
  const half: Rows = (driver, month) =>
    whole(driver, month).filter((_value, at) => at % 2 === Number(driver.slice(1)) % 2);

  /** A source of so many files. @param own whether each of them has drivers of its own */
  async function files(count: number, own: boolean) {
    const w = await world({ config: { sources: { sales: collapsing('sum', 'sales*.csv') } } });
    const of = (file: number, rows: Rows): string => (own ? named(`F${file}`)(fileOf(rows)) : fileOf(rows));
    const show = (file: number, rows: Rows): Promise<void> => w.write(`sales-${file}.csv`, of(file, rows));
    for (let file = 0; file < count; file++)
      await show(file, (driver, month) => whole(driver, month).map((one) => one + file));
    expect(await w.sync()).toMatchObject({ outcome: 'acknowledged', exit: 0 });
    return Object.assign(w, { show });
  }

  test.each([
    ['with drivers of its own', 3, true],
    ['with the same drivers', 6, false],
  ])('that is half loaded is held and named: %s', async (_what, count, own) => {
    await using w = await files(count, own);
    const before = w.points();
    await w.show(1, half);
    const report = await w.sync();
    expect(report).toMatchObject(held);
    const { reason, findings } = sourceOf(report, 'sales');
    expect(reason).toContain('200 of 400 readings behind changed points of sales-1.csv are gone');
    expect(findings).toMatchObject([{ kind: 'fewer-readings', group: [], part: 'sales-1.csv', points: 200, of: 400 }]);
    expect(w.points()).toEqual(before);
    await approveHeld(w);
    expect(await w.sync()).toMatchObject(accepted);
    // What was approved of one file is no approval of another one.
    await w.show(0, half);
    await approveHeld(w);
    await w.show(0, (driver, month) => whole(driver, month));
    await w.show(2, half);
    expect(await w.sync()).toMatchObject(held);
  });

  test('that has a header alone is held where its rows were many', async () => {
    await using w = await files(6, false);
    await w.show(1, () => []);
    expect(sourceOf(await w.sync(), 'sales')).toMatchObject({
      state: 'held',
      findings: [{ kind: 'fewer-readings', part: 'sales-1.csv', points: 400, of: 400 }],
    });
  });

  test('whose rows went to another one is not', async () => {
    await using w = await files(2, false);
    await w.show(1, half);
    await w.write(
      'sales-2.csv',
      fileOf((driver, month) =>
        whole(driver, month)
          .map((one) => one + 1)
          .filter((one) => !half(driver, month).includes(one - 1)),
      ),
    );
    await w.show(1, (driver, month) => half(driver, month).map((one) => one + 1));
    expect(await w.sync()).toMatchObject({ exit: 0 });
  });
});

test('a part that is forgotten takes its own readings with it, and no others', async () => {
  await using w = await loaded();
  await w.write('sales-2.csv', longFile({ X: { '2026-01': 1 } }));
  await w.sync();
  await w.remove('sales-2.csv');
  await w.sync();
  await w.forget('sales', 'sales-2.csv');
  await w.show(loading);
  expect(await w.sync()).toMatchObject(held);
});

test('an approval is for the months in which readings are gone', async () => {
  await using w = await loaded();
  await w.show(first(5, drivers, ['2026-02']));
  await approveHeld(w);
  await w.show(first(6, drivers, ['2026-01']));
  expect(await w.sync()).toMatchObject(held);
});

test('drivers that went and come back are compared with the readings that they had', async () => {
  const sources = { sales: collapsing('sum', 'sales.csv') };
  await using w = await world({
    config: { sources, guard: { maxDeletes: '100%' } },
    files: { 'sales.csv': fileOf(whole) },
  });
  await w.sync();
  const some = (rows: Rows, count: number): string =>
    fileOf((driver, month) => (driver > `D0${count}` ? [] : rows(driver, month)));
  await w.write('sales.csv', some(whole, 2));
  await w.sync();
  await w.write(
    'sales.csv',
    fileOf((driver, month) => (driver > 'D02' ? loading : whole)(driver, month)),
  );
  expect(sourceOf(await w.sync(), 'sales').findings).toMatchObject([{ kind: 'fewer-readings', points: 200 }]);
});
