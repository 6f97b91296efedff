/** What becomes of findings: holds, warnings, approvals, and months that are closed. */
import { describe, expect, test } from 'vitest';
import { showSources } from '../../src/cli/text.ts';
import { type Values, accepted, changed, merged, named, negated, timesTen, twoYears } from '../support/value-world.ts';

const names = [...named('Sales', 12), ...named('Costs', 12)];
const before = twoYears(names);
const nextMonth = twoYears(names, 25, 25);
const times1000 = (values: Values, group: string): Values =>
  changed(
    values,
    (value) => timesTen(value, 3),
    (name) => name.startsWith(group),
  );

/** A read of which the sales are a thousand times too large is held. */
async function holding(keys: object = {}) {
  const w = await accepted(before, keys);
  await w.export(times1000(before, 'Sales'));
  const { digest = '' } = await w.pass();
  return Object.assign(w, { digest });
}

describe('a held read', () => {
  test('is told alike by plan, sync, status and the log of holds', async () => {
    await using w = await holding();
    const reason = '288 of 288 values of Sales are 1000 times what they were';
    const [planned] = (await w.plan()).sources;
    expect(planned).toMatchObject({ state: 'held', reason, findings: [{ kind: 'factor', group: ['Sales'] }] });
    expect(planned?.largest[0]).toMatchObject({ path: ['Sales', 'S12'] });
    const lines = showSources(planned === undefined ? [] : [planned]);
    const found = lines.indexOf('  another unit: Sales, 288 of 288 values, 1000 times');
    expect(lines[found + 1]).toMatch(/^ {4}such as: sales-s01 {2}2025-12 {2}from \d+\.\d+ to \d+$/);
    expect(lines.slice(found + 1, found + 5).filter((line) => line.includes('such as: '))).toHaveLength(3);
    const status = await w.status();
    expect(status.held).toMatchObject([{ source: 'sales', digest: w.digest, reason }]);
    expect(status.sources[0]).toMatchObject({ findings: [{ kind: 'factor', factor: '1000' }] });
  });

  test('leaves the service what it has, and exits with 4', async () => {
    await using w = await holding();
    const held = w.points();
    expect(await w.pass()).toMatchObject({ state: 'held', exit: 4 });
    expect(w.points()).toEqual(held);
  });

  test('passes by itself once the export is mended', async () => {
    await using w = await holding();
    await w.export(merged(before, nextMonth));
    expect(await w.pass()).toMatchObject({ state: 'accepted', findings: [], exit: 0 });
    expect((await w.status()).held).toEqual([]);
  });

  test('names deletes and slips together', async () => {
    await using w = await accepted(before);
    await w.export(Object.fromEntries(Object.entries(times1000(before, 'Sales')).slice(0, 12)));
    expect((await w.pass()).reason).toMatch(
      /^it would delete .* more than guard.maxDeletes 10%; and 288 of 288 values/,
    );
  });
});

describe('an approval', () => {
  test('lets the read pass, and the next one is compared with it', async () => {
    await using w = await holding();
    await w.approve(w.digest);
    expect(await w.pass()).toMatchObject({ state: 'accepted', exit: 0 });
    await w.export(merged(times1000(before, 'Sales'), times1000(nextMonth, 'Sales')));
    expect(await w.pass()).toMatchObject({ state: 'accepted', findings: [] });
  });

  test('covers a newer read with the same slip and a new month, after a restart too', async () => {
    await using w = await holding();
    await w.approve(w.digest);
    await w.export(merged(times1000(before, 'Sales'), nextMonth));
    // Each command opens the state anew, as a process that starts does.
    expect(await w.pass()).toMatchObject({ state: 'held', findings: [{ kind: 'factor' }, { kind: 'new-scale' }] });
    await using other = await holding();
    await other.approve(other.digest);
    await other.export(merged(times1000(before, 'Sales'), times1000(nextMonth, 'Sales')));
    expect(await other.pass()).toMatchObject({ state: 'accepted', findings: [{ kind: 'factor', points: 288 }] });
  });

  test('covers a newer read with less of it', async () => {
    await using w = await holding();
    await w.approve(w.digest);
    await w.export(
      changed(
        before,
        (value) => timesTen(value, 3),
        (name) => name === 'Sales / S01',
      ),
    );
    expect(await w.pass()).toMatchObject({ state: 'accepted', findings: [{ group: ['Sales', 'S01'] }] });
  });

  test.each<[string, Values, string]>([
    ['more of it', times1000(before, ''), '576 of 576 values of the source are 1000 times'],
    [
      'another factor',
      changed(
        before,
        (value) => timesTen(value, 2),
        (name) => name.startsWith('Sales'),
      ),
      'are 100 times',
    ],
    ['another kind', changed(before, negated, (name) => name.startsWith('Sales')), 'have the other sign'],
    ['the slip elsewhere', times1000(before, 'Costs'), 'values of Costs are 1000 times'],
  ])('does not cover %s, and status says why it was dropped', async (_name, newer, reason) => {
    await using w = await holding();
    await w.approve(w.digest);
    await w.export(newer);
    const found = await w.pass();
    expect(found.state).toBe('held');
    expect(found.reason).toContain(reason);
    const [dropped] = (await w.status()).approvals;
    expect(dropped).toMatchObject({ state: 'dropped', digest: w.digest });
    expect(dropped?.why).toContain('held for more than was approved');
  });

  test('of a slip is dropped for a newer read that also deletes, and status says just that', async () => {
    await using w = await holding();
    await w.approve(w.digest);
    const { 'Sales / S12': last = {}, ...others } = times1000(before, 'Sales');
    await w.export({ ...others, 'Sales / S12': Object.fromEntries(Object.entries(last).slice(0, -1)) });
    expect(await w.pass()).toMatchObject({ state: 'held' });
    expect((await w.status()).approvals).toMatchObject([
      {
        state: 'dropped',
        why: 'a newer read of the source would delete more than the approved one: driver "sales-s12" in 2025-12',
      },
    ]);
  });

  test('of a new month of zeros does not cover that older values become 0', async () => {
    const zeros = (month: string): Values => changed(before, (value, at) => (at < month ? '0' : value));
    await using w = await accepted(before);
    await w.export(
      merged(
        before,
        changed(nextMonth, () => '0'),
      ),
    );
    const { digest = '', findings } = await w.pass();
    expect(findings).toMatchObject([{ kind: 'zeros', points: 24, inMonths: ['2026-01'] }]);
    await w.approve(digest);
    await w.export({ ...before, 'Sales / S01': zeros('2025-02')['Sales / S01'] ?? {} });
    expect(await w.pass()).toMatchObject({ state: 'held', findings: [{ kind: 'zeros', points: 13 }] });
  });

  test('of a slip in some drivers does not cover it in twice as many, each in no more points', async () => {
    const firstYear = changed(before, (value, month) => (month < '2025-01' ? timesTen(value, 3) : value));
    const nineMore = changed(
      before,
      (value) => timesTen(value, 3),
      (name) => name.startsWith('Sales') || name.startsWith('Costs / C0'),
    );
    await using w = await accepted(before);
    await w.export(firstYear);
    const { digest = '', findings } = await w.pass();
    expect(findings).toMatchObject([{ kind: 'factor', group: [], points: 288, onlyChanged: true }]);
    await w.approve(digest);
    await w.export(nineMore);
    const { state, findings: newer } = await w.pass();
    expect([state, newer.length, Math.max(...newer.map(({ points }) => points))]).toEqual(['held', 10, 288]);
  });

  test('of a currency covers it also where a correction makes its factor a little different', async () => {
    const rates = (factor: number): Values => changed(before, (value) => (Number(value) * factor).toFixed(2));
    await using w = await accepted(before);
    await w.export(rates(1.0837));
    await w.approve((await w.pass()).digest ?? '');
    await w.export(merged(rates(1.08373), { 'Sales / S01': { '2024-01': '99.99' } }));
    expect(await w.pass()).toMatchObject({ state: 'accepted' });
    await w.export(before);
    const { digest = '' } = await w.pass();
    await w.approve(digest);
    await w.export(changed(before, (value) => (Number(value) * 1.2).toFixed(2)));
    expect(await w.pass()).toMatchObject({ state: 'held', findings: [{ kind: 'factor' }] });
  });

  test('holds after the buffer was lost and rebuilt', async () => {
    await using w = await holding();
    await w.approve(w.digest);
    await w.loseBuffer();
    expect(await w.pass()).toMatchObject({ state: 'accepted', exit: 0 });
  });

  test('is needed after the buffer was lost and rebuilt: the snapshot says what was accepted', async () => {
    await using w = await accepted(before);
    await w.loseBuffer();
    await w.export(times1000(before, 'Sales'));
    expect(await w.pass()).toMatchObject({ state: 'held', findings: [{ kind: 'factor', group: ['Sales'] }] });
  });
});

describe('guard.values', () => {
  test('warn says it and lets it pass', async () => {
    await using w = await holding({ guard: { values: 'warn' } });
    const points = w.points();
    expect(points['sales-s01']?.['2024-01']).toBe(timesTen(before['Sales / S01']?.['2024-01'] ?? '', 3));
    await w.export(before);
    expect(await w.pass()).toMatchObject({
      state: 'accepted',
      findings: [{ kind: 'factor', factor: '0.001' }],
      warnings: ['288 of 288 values of Sales are 0.001 times what they were'],
    });
  });

  test('off looks at no values', async () => {
    await using w = await accepted(before, { guard: { values: 'off' } });
    await w.export(times1000(before, ''));
    expect(await w.pass()).toMatchObject({ state: 'accepted', findings: [], warnings: [] });
  });

  test('of a source comes before that of all sources', async () => {
    await using w = await accepted(before, { guard: { values: 'off' } }, { guard: { values: 'hold' } });
    await w.export(times1000(before, ''));
    expect(await w.pass()).toMatchObject({ state: 'held' });
  });

  test('holds where nothing is ever deleted too', async () => {
    await using w = await accepted(before, { destination: { shouldDeleteMissing: false } });
    await w.export(times1000(before, ''));
    expect(await w.pass()).toMatchObject({ state: 'held' });
  });
});

describe('a closed month', () => {
  const closed = { lastClose: '2025-06' };
  const correction = (month: string, value: string): Values => merged(before, { 'Sales / S01': { [month]: value } });

  test('holds a read that changes one point in it, and names months and values', async () => {
    await using w = await accepted(before, closed);
    await w.export(correction('2025-03', '1.00'));
    const was = before['Sales / S01']?.['2025-03'];
    expect(await w.pass()).toMatchObject({
      state: 'held',
      reason: `1 point of a closed month of Sales / S01 would change (2025-03, closed up to 2025-06): "sales-s01" 2025-03 from ${was} to 1.00`,
      findings: [{ kind: 'closed', group: ['Sales', 'S01'], points: 1, of: 18, inMonths: ['2025-03'] }],
    });
  });

  test.each<[string, Values]>([
    ['is created in it', { ...before, ...twoYears(['Sales / S99'], 5, 5) }],
    ['is deleted in it', Object.fromEntries(Object.entries(before).slice(1))],
  ])('holds a read of which a point %s', async (_name, after) => {
    await using w = await accepted(before, closed);
    await w.export(after);
    expect(await w.pass()).toMatchObject({ state: 'held', findings: [{ kind: 'closed' }] });
  });

  test('lets pass what changes later months only, and what changes no value', async () => {
    await using w = await accepted(before, closed);
    await w.export(merged(correction('2025-07', '1.00'), nextMonth));
    expect(await w.pass()).toMatchObject({ state: 'accepted', findings: [] });
    await w.export(changed(merged(correction('2025-07', '1.00'), nextMonth), (value) => `${value}0`));
    expect(await w.pass()).toMatchObject({ state: 'accepted', findings: [] });
  });

  test.each(['warn', 'off'])('is held with guard.values: %s too', async (values) => {
    await using w = await accepted(before, { ...closed, guard: { values } });
    await w.export(correction('2025-03', '1.00'));
    expect(await w.pass()).toMatchObject({ state: 'held', findings: [{ kind: 'closed' }] });
  });

  test('is no matter for the first read', async () => {
    await using w = await accepted(before, closed);
    expect(w.drivers()).toHaveLength(24);
  });

  test('is opened by an approval once, and only for its month', async () => {
    await using w = await accepted(before, closed);
    await w.export(correction('2025-03', '1.00'));
    await w.approve((await w.pass()).digest ?? '');
    await w.export(merged(correction('2025-03', '1.00'), { 'Sales / S01': { '2025-04': '2.00' } }));
    expect(await w.pass()).toMatchObject({ state: 'held', findings: [{ inMonths: ['2025-03', '2025-04'] }] });
    await w.export(correction('2025-03', '3.00'));
    await w.approve((await w.pass()).digest ?? '');
    expect(await w.pass()).toMatchObject({ state: 'accepted' });
    await w.export(correction('2025-03', '4.00'));
    expect(await w.pass()).toMatchObject({ state: 'held' });
  });

  test.each<[string, Values]>([
    [
      'the same points of other drivers',
      { 'Sales / S07': { '2025-03': '1.00' }, 'Sales / S08': { '2025-03': '1.00' } },
    ],
    ['another value', { 'Sales / S01': { '2025-03': '9.00' }, 'Sales / S02': { '2025-03': '1.00' } }],
    ['another month that was approved of another driver', { 'Sales / S01': { '2025-04': '2.00' } }],
  ])('is opened by an approval for what was seen, and not for %s', async (_name, other) => {
    await using w = await accepted(before, closed);
    const approved = { 'Sales / S01': { '2025-03': '1.00' }, 'Sales / S02': { '2025-03': '1.00', '2025-04': '2.00' } };
    await w.export(merged(before, approved));
    await w.approve((await w.pass()).digest ?? '');
    const served = w.points();
    await w.export(merged(before, other));
    expect(await w.pass()).toMatchObject({ state: 'held', findings: [{ kind: 'closed' }] });
    expect(w.points()).toEqual(served);
    expect((await w.status()).approvals[0]?.why).toContain('held for more than was approved: ');
  });

  test('is not opened for a delete where a change was approved', async () => {
    await using w = await accepted(before, closed);
    await w.export(correction('2025-03', '1.00'));
    await w.approve((await w.pass()).digest ?? '');
    const { '2025-03': _gone, ...rest } = before['Sales / S01'] ?? {};
    await w.export({ ...before, 'Sales / S01': rest });
    expect(await w.pass()).toMatchObject({ state: 'held' });
  });

  test('is opened by an approval for less than was seen, written in whatever way, beside a new month', async () => {
    await using w = await accepted(before, closed);
    await w.export(merged(before, { 'Sales / S01': { '2025-03': '1.00' }, 'Sales / S02': { '2025-03': '2.00' } }));
    await w.approve((await w.pass()).digest ?? '');
    await w.export(merged(correction('2025-03', '1'), nextMonth));
    expect(await w.pass()).toMatchObject({ state: 'accepted', exit: 0 });
  });

  test('comes with its day, in the time zone of the agent', async () => {
    // The clock of the test stands at noon of the 15th of March 2026, in UTC: in Auckland it is the 16th.
    const world = (day: number) =>
      accepted(twoYears(names, 1, 26), { lastClose: { day }, timezone: 'Pacific/Auckland' });
    const february = merged(twoYears(names, 1, 26), { 'Sales / S01': { '2026-02': '1.00' } });
    await using closedNow = await world(16);
    await closedNow.export(february);
    expect(await closedNow.pass()).toMatchObject({ state: 'held', findings: [{ inMonths: ['2026-02'] }] });
    await using stillOpen = await world(17);
    await stillOpen.export(february);
    expect(await stillOpen.pass()).toMatchObject({ state: 'accepted' });
  });

  test('that closes changes nothing by itself', async () => {
    await using w = await accepted(before, { lastClose: { day: 10 } });
    w.clock.jump(40 * 86_400_000);
    expect(await w.pass()).toMatchObject({ state: 'unchanged', exit: 0 });
  });
});

test('points later than the month after the last closed one are a warning in a source of actual values', async () => {
  await using w = await accepted(before, { lastClose: '2025-10' }, { actuals: true });
  expect((await w.pass()).warnings).toEqual([
    'it has points up to 2025-12 (driver "costs-c01"), and 2025-10 is the last closed month: a forecast?',
  ]);
  await using other = await accepted(before, { lastClose: '2025-11' }, { actuals: true });
  expect((await other.pass()).warnings).toEqual([]);
});
