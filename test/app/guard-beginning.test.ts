/** An export of the last so many days begins within a month: what the guard holds of it, and what it lets pass. */
import { describe, expect, test } from 'vitest';
import { accepted, approveHeld, held } from '../support/guarded-world.ts';
import { collapsing, ids, longFile, longSource, sourceOf, world } from '../support/world.ts';

interface Days {
  /** Of the whole export, counted from 2025-09-01; its end is not among them. */
  readonly from: number;
  readonly to: number;
  /** How often each row stands in it. */
  readonly times?: number;
}

/** A row for each driver and day. The first days of a month are its smallest. */
function days(drivers: readonly string[], { from, to, times = 1 }: Days): string {
  const dates = Array.from({ length: to - from }, (_, at) => new Date(Date.UTC(2025, 8, 1 + from + at)));
  const rows = drivers.flatMap((id) =>
    dates.map((date) => `${id},${date.toISOString().slice(0, 10)},${100 + date.getUTCDate() + Number(id.slice(1))}\n`),
  );
  return `id,time,value\n${rows.map((row) => row.repeat(times)).join('')}`;
}

const ten = ids(1, 10);
/** From 2025-09-01 to 2025-12-09, and 20 days later: the first one is 2025-09-21. */
const whole = { from: 0, to: 100 };
const later = { from: 20, to: 120 };

interface Given {
  readonly rule?: string;
  readonly keys?: object;
  readonly config?: object;
  readonly drivers?: readonly string[];
  readonly first?: Days;
}

/** A source that has accepted its first export, beside another one. */
async function exported({ rule = 'sum', keys = {}, config = {}, drivers = ten, first = whole }: Given = {}) {
  const sources = { sales: collapsing(rule, 'sales*.csv', keys), other: longSource('other.csv') };
  const files = { 'sales.csv': days(drivers, first), 'other.csv': longFile({ other: { '2026-01': 1 } }) };
  const w = await world({ config: { ...config, sources }, files });
  expect(await w.sync()).toMatchObject({ outcome: 'acknowledged', exit: 0 });
  return Object.assign(w, { show: (next: Days) => w.write('sales.csv', days(drivers, next)) });
}

const reason =
  'it shows fewer readings of 2025-09, its oldest month, for 10 of 10 drivers, as an export that begins within that month does';

describe('an export of the last so many days is held once it begins within a month that was whole', () => {
  test.each(
    ['sum', 'count', 'average', 'first', 'min'].flatMap((rule) => [
      { rule, history: 'carry' },
      { rule, history: 'replace' },
    ]),
  )('collapse: $rule, history: $history', async ({ rule, history }) => {
    await using w = await exported({ rule, keys: { history } });
    const { '2025-09': september } = w.points()['D01'] ?? {};
    await w.show(later);
    const report = await w.sync();
    expect(report).toMatchObject(held);
    const found = sourceOf(report, 'sales');
    expect(found).toMatchObject({ reason, changes: { points: { delete: 0 } } });
    expect(found.hint).toMatch(/begin with the first day of a month .*history: carry/);
    expect(w.points()['D01']).toHaveProperty('2025-09', september);
  });

  test('an approval lets it pass, and a month later the rest of that month is held again', async () => {
    await using w = await exported({ keys: { history: 'carry' } });
    await w.show(later);
    await approveHeld(w);
    expect(await w.sync()).toMatchObject(accepted);
    expect(w.points()['D01']).toHaveProperty('2025-09', String(10 * 101 + 255));
    await w.show({ from: 28, to: 128 });
    expect(await w.sync()).toMatchObject(held);
  });

  test('an approval is for what was seen: not for an export with still fewer readings', async () => {
    await using w = await exported();
    await w.show(later);
    await approveHeld(w);
    await w.show({ from: 21, to: 121 });
    expect(await w.sync()).toMatchObject(held);
    expect(w.points()['D01']).toHaveProperty('2025-09', String(30 * 101 + 465));
    const dropped = (await w.open(({ ledger }) => ledger.holds.approvals())).at(-1);
    expect(dropped).toMatchObject({
      state: 'dropped',
      why: 'a newer read of the source has only 90 readings of 2025-09, as was not approved',
    });
  });

  test('once it begins with a month it passes by itself, and the month before stays whole', async () => {
    await using w = await exported({ keys: { history: 'carry' } });
    const before = w.points()['D01'];
    await w.show(later);
    expect(await w.sync()).toMatchObject(held);
    await w.show({ from: 30, to: 130 });
    expect(await w.sync()).toMatchObject(accepted);
    expect(w.points()['D01']).toMatchObject({ '2025-09': before?.['2025-09'], '2025-10': before?.['2025-10'] });
  });

  test('a month that `where` leaves out from then on stays whole, once somebody approves that it was read without', async () => {
    await using w = await exported({ keys: { history: 'carry' } });
    const before = w.points()['D01'];
    await w.show(later);
    expect(await w.sync()).toMatchObject(held);
    const where = { time: { not: { matches: '^2025-09' } } };
    const sales = collapsing('sum', 'sales*.csv', { history: 'carry', where });
    await w.reconfigure({ sources: { sales, other: longSource('other.csv') } });
    expect(sourceOf(await w.sync(), 'sales').reason).toMatch(/^the settings have changed: older months/);
    await approveHeld(w);
    expect(await w.sync()).toMatchObject(accepted);
    expect(w.points()['D01']).toMatchObject({ '2025-09': before?.['2025-09'], '2025-10': before?.['2025-10'] });
    await w.show({ from: 22, to: 122 });
    expect(await w.sync()).toMatchObject(accepted);
  });

  test('also after the buffer was lost, when a snapshot stands for the accepted read', async () => {
    await using w = await exported({ keys: { history: 'carry' } });
    await w.loseBuffer();
    await w.show(later);
    expect(sourceOf(await w.sync(), 'sales')).toMatchObject({ state: 'held', reason });
  });

  test('also where the service keeps what a snapshot leaves out: the sum goes there all the same', async () => {
    await using w = await exported({ config: { destination: { shouldDeleteMissing: false } } });
    await w.show(later);
    expect(sourceOf(await w.sync(), 'sales')).toMatchObject({ state: 'held', reason });
  });

  test('what is carried does not move the oldest month', async () => {
    await using w = await exported({ first: { from: -40, to: -20 } });
    await w.write('sales-2.csv', days(ten, whole));
    expect(await w.sync()).toMatchObject(accepted);
    await w.remove('sales.csv');
    await w.write('sales-2.csv', days(ten, later));
    expect(sourceOf(await w.sync(), 'sales')).toMatchObject({ state: 'held', reason: expect.stringContaining(reason) });
  });

  test('a point that is gone has fewer readings, too', async () => {
    await using w = await exported();
    const [header, ...rows] = days(ten, later).split('\n');
    const left = rows.filter((row) => !/^D0[1-4],2025-09/.test(row));
    await w.write('sales.csv', [header, ...left].join('\n'));
    expect(sourceOf(await w.sync(), 'sales')).toMatchObject({ state: 'held', reason });
  });

  test('where most drivers have fewer readings: the others may begin later anyway', async () => {
    await using w = await exported();
    const late = ids(11, 20);
    await w.write('sales.csv', days(ten, whole) + days(late, { from: 25, to: 100 }).replace(/.*\n/, ''));
    expect(await w.sync()).toMatchObject(accepted);
    const begun = days(ids(1, 9), later) + days(late, { from: 25, to: 120 }).replace(/.*\n/, '');
    await w.write('sales.csv', begun + days(['D10'], { from: 0, to: 120 }).replace(/.*\n/, ''));
    expect(await w.sync()).toMatchObject(accepted);
    await w.write('sales.csv', days([...ten, ...late], { from: 26, to: 126 }));
    expect(sourceOf(await w.sync(), 'sales').reason).toContain('for 20 of 20 drivers');
  });
});

describe('what passes', () => {
  test.each([
    ['collapse: last, which has the same last readings', { rule: 'last' }],
    ['removed: delete, where readings go with their file', { keys: { removed: 'delete' } }],
    ['maxDeletes: 100%', { config: { guard: { maxDeletes: '100%' } } }],
    ['as many drivers as the floor', { drivers: ids(1, 5) }],
  ])('%s', async (_, given: Given) => {
    await using w = await exported(given);
    await w.show(later);
    expect(await w.sync()).toMatchObject(accepted);
  });

  test('rows that stood there twice in all months and were mended', async () => {
    await using w = await exported({ first: { ...whole, times: 2 }, config: { guard: { values: 'warn' } } });
    await w.show(whole);
    expect(await w.sync()).toMatchObject(accepted);
    expect(w.points()['D01']).toHaveProperty('2025-09', String(30 * 101 + 465));
  });

  test('a read that shows one month alone', async () => {
    await using w = await exported({ first: { from: 0, to: 30 }, keys: { guard: { values: 'off' } } });
    await w.show({ from: 20, to: 30 });
    expect(await w.sync()).toMatchObject(accepted);
  });

  test('the month that it is, as in a list of orders that are open: what is delivered leaves it', async () => {
    // It is 2026-03-15.
    await using w = await exported({ first: { from: 190, to: 260 } });
    await w.show({ from: 196, to: 260 });
    expect(await w.sync()).toMatchObject(accepted);
  });

  test('fewer readings that come to the same', async () => {
    await using w = await exported({ rule: 'max' });
    await w.show(later);
    expect(await w.sync()).toMatchObject({ exit: 0 });
  });

  test('drivers that another source has from now on', async () => {
    const both = { a: collapsing('sum', 'a.csv'), b: collapsing('sum', 'b.csv') };
    const files = { 'a.csv': days(ids(1, 20), whole), 'b.csv': days(['D99'], whole) };
    await using w = await world({ config: { guard: { maxDeletes: '60%' }, sources: both }, files });
    expect(await w.sync()).toMatchObject({ exit: 0 });
    await w.write('a.csv', days(ids(1, 9), whole));
    await w.write('b.csv', days([...ids(10, 20), 'D99'], whole));
    expect(await w.sync()).toMatchObject({ exit: 0, outcome: 'unchanged' });
  });
});
