/** The value guard beside everything else that may happen to a source: carried parts, rollbacks, renames, windows, closed months. */
import { describe, expect, test } from 'vitest';
import {
  type Values,
  accepted,
  changed,
  merged,
  named,
  timesTen,
  twoYears,
  valueFile,
  valueSource,
} from '../support/value-world.ts';
import { sourceOf, world } from '../support/world.ts';

const names = [...named('Sales', 8), ...named('Costs', 8)];
const before = twoYears(names);
const nextMonth = twoYears(names, 25, 25);
const of =
  (group: string) =>
  (name: string): boolean =>
    name.startsWith(group);
const slipped = (values: Values, group = ''): Values => changed(values, (value) => timesTen(value, 3), of(group));
const only = (values: Values, group: string): Values =>
  Object.fromEntries(Object.entries(values).filter(([name]) => of(group)(name)));
const since = (values: Values, first: string): Values =>
  Object.fromEntries(
    Object.entries(values).map(([name, points]) => [
      name,
      Object.fromEntries(Object.entries(points).filter(([month]) => month >= first)),
    ]),
  );

/** Sales and costs in a file each, of one source or of two. */
async function twoFiles(sources: object, keys: object = {}) {
  const files = { 'sales.csv': valueFile(only(before, 'Sales')), 'costs.csv': valueFile(only(before, 'Costs')) };
  const w = await world({ config: { ...keys, sources: sources as Record<string, object> }, files });
  await w.sync();
  return w;
}

const bothFiles = { ...valueSource, files: ['*.csv'] };
const twoSources = { sales: valueSource, costs: { ...valueSource, files: ['costs.csv'] } };

test('a source that is held for its values keeps no other one back', async () => {
  await using w = await twoFiles(twoSources);
  await w.write('sales.csv', valueFile(slipped(only(before, 'Sales'))));
  await w.write('costs.csv', valueFile(only(merged(before, nextMonth), 'Costs')));
  const report = await w.sync();
  expect(report).toMatchObject({ exit: 4, outcome: 'acknowledged' });
  expect(sourceOf(report, 'sales')).toMatchObject({ state: 'held', findings: [{ kind: 'factor', group: [] }] });
  expect(sourceOf(report, 'costs')).toMatchObject({ state: 'accepted' });
  expect(w.points()['sales-s01']).toEqual(before['Sales / S01']);
  expect(w.points()['costs-c01']).toMatchObject({ '2026-01': nextMonth['Costs / C01']?.['2026-01'] });
});

test('the data of a part that is gone is carried, and counts as unchanged beside a slip in the other one', async () => {
  await using w = await twoFiles({ all: bothFiles });
  await w.remove('costs.csv');
  await w.write('sales.csv', valueFile(slipped(only(before, 'Sales'))));
  const report = await w.sync();
  expect(sourceOf(report, 'all')).toMatchObject({
    state: 'held',
    carried: ['costs.csv'],
    findings: [{ kind: 'factor', group: ['Sales'], points: 192, of: 192 }],
  });
});

test('a source under another name is compared with what it had under the old one', async () => {
  await using w = await twoFiles(twoSources);
  await w.write('sales.csv', valueFile(slipped(only(before, 'Sales'))));
  await w.reconfigure({ sources: { revenue: valueSource, costs: twoSources.costs } });
  const report = await w.sync();
  expect(sourceOf(report, 'revenue')).toMatchObject({ state: 'held', findings: [{ kind: 'factor', factor: '1000' }] });
  expect(w.points()['sales-s01']).toEqual(before['Sales / S01']);
});

test('after a rollback a read is compared with what was rolled back to', async () => {
  await using w = await accepted(before);
  await w.export(slipped(before));
  await w.approve((await w.pass()).digest ?? '');
  expect(await w.pass()).toMatchObject({ state: 'accepted' });
  await w.rollback(1);
  expect(await w.pass()).toMatchObject({ state: 'held', findings: [{ kind: 'factor', factor: '1000', points: 384 }] });
  expect(w.points()['sales-s01']).toEqual(before['Sales / S01']);
});

describe('with history: carry', () => {
  test('a slip in the window of an export is found, and names what changed', async () => {
    await using w = await accepted(before, {}, { history: 'carry' });
    await w.export(since(merged(slipped(before), nextMonth), '2025-02'));
    const { state, findings } = await w.pass();
    expect(state).toBe('held');
    expect(findings[0]).toMatchObject({ kind: 'factor', group: [], points: 176, of: 176, onlyChanged: true });
  });

  test('a window that moved on by a month is no move of values, and no change of closed months', async () => {
    await using w = await accepted(before, { lastClose: '2025-11' }, { history: 'carry' });
    await w.export(since(merged(before, nextMonth), '2025-02'));
    expect(await w.pass()).toMatchObject({ state: 'accepted', findings: [] });
    expect(w.points()['sales-s01']).toMatchObject({ '2024-01': before['Sales / S01']?.['2024-01'] });
  });
});

describe('a closed month', () => {
  const lastClose = '2025-06';

  test('stays closed where a read may be empty', async () => {
    await using w = await accepted(before, { lastClose }, { mayBeEmpty: true });
    await w.export({});
    expect(await w.pass()).toMatchObject({
      state: 'held',
      findings: [{ kind: 'closed', group: [], points: 288, of: 288 }],
    });
  });

  test('that a read leaves out changes nothing where nothing is deleted, and one that it changes is held', async () => {
    await using w = await accepted(before, { lastClose, destination: { shouldDeleteMissing: false } });
    await w.export(since(before, '2025-01'));
    expect((await w.pass()).state).not.toBe('held');
    await w.export(since(merged(before, { 'Sales / S01': { '2025-03': '1.00' } }), '2025-01'));
    expect(await w.pass()).toMatchObject({ state: 'held', findings: [{ kind: 'closed', points: 1 }] });
  });

  test('that comes back where nothing is deleted is held, since nobody knows what the service has there by now', async () => {
    await using w = await accepted(before, { lastClose, destination: { shouldDeleteMissing: false } });
    await w.export(since(before, '2025-01'));
    await w.pass();
    await w.export(before);
    expect(await w.pass()).toMatchObject({
      state: 'held',
      findings: [{ kind: 'closed', group: [], points: 192 }],
    });
  });

  test('that an export of recent months leaves out and brings back is unchanged with history: carry', async () => {
    await using w = await accepted(
      before,
      { lastClose, destination: { shouldDeleteMissing: false } },
      { history: 'carry' },
    );
    await w.export(since(before, '2025-01'));
    expect((await w.pass()).state).not.toBe('held');
    await w.export(before);
    expect((await w.pass()).state).not.toBe('held');
  });

  test('is created by a source that was accepted without any rows, and that is held', async () => {
    await using w = await twoFiles(
      { sales: { ...valueSource, mayBeEmpty: true }, costs: twoSources.costs },
      { lastClose },
    );
    for (const values of [{}, only(before, 'Sales')]) {
      await w.write('sales.csv', valueFile(values));
      const verdict = sourceOf(await w.sync(), 'sales');
      expect(verdict).toMatchObject({ state: 'held', findings: [{ kind: 'closed', points: 144 }] });
      await w.approve(verdict.digest ?? '');
      await w.sync();
    }
  });

  test('closes at midnight of its day in the time zone of the agent', async () => {
    const values = twoYears(names, 1, 26);
    await using w = await accepted(values, { lastClose: { day: 10 }, timezone: 'America/New_York' });
    const march = merged(values, { 'Sales / S01': { '2026-02': '1.00' } });
    // From noon of the 15th of March to the last seconds of the 9th of April in New York, in UTC.
    w.clock.jump(Date.parse('2026-04-10T03:59:50Z') - Date.parse('2026-03-15T12:00:00Z'));
    await w.export(merged(values, { 'Sales / S01': { '2026-03': '5.00' } }));
    expect(await w.pass()).toMatchObject({ state: 'accepted' });
    await w.export(merged(march, { 'Sales / S01': { '2026-03': '6.00' } }));
    expect(await w.pass()).toMatchObject({ state: 'held', findings: [{ inMonths: ['2026-02'] }] });
    w.clock.jump(10_000);
    expect(await w.pass()).toMatchObject({ state: 'held', findings: [{ inMonths: ['2026-02', '2026-03'] }] });
  });

  test('is told beside the slip that changes it, and an approval of the one is none of the other', async () => {
    await using w = await accepted(before, { lastClose, guard: { values: 'warn' } });
    await w.export(slipped(before, 'Sales'));
    const { digest = '', findings, warnings, reason } = await w.pass();
    expect(findings.map(({ kind }) => kind)).toEqual(['factor', 'closed']);
    expect(warnings).toEqual(['192 of 192 values of Sales are 1000 times what they were']);
    expect(reason).toMatch(/^144 points of closed months of Sales would change/);
    await w.approve(digest);
    await w.export(slipped(merged(before, { 'Costs / C01': { '2024-02': '3.00' } }), 'Sales'));
    expect(await w.pass()).toMatchObject({
      state: 'held',
      findings: [
        { kind: 'factor' },
        { kind: 'closed', group: ['Costs', 'C01'], points: 1 },
        { kind: 'closed', group: ['Sales'], points: 144 },
      ],
    });
  });
});
