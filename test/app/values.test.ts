/** What the value guard finds in a read, seen from outside: config and files in, the report and what the service holds out. */
import { describe, expect, test } from 'vitest';
import { type Values, accepted, changed, merged, named, negated, timesTen, twoYears } from '../support/value-world.ts';
import { months } from '../support/world.ts';

const names = [...named('Sales', 12), ...named('Costs', 12)];
const before = twoYears(names);
const nextMonth = twoYears(names, 25, 25);
const inSales = (name: string): boolean => name.startsWith('Sales');
const isFirst = (name: string): boolean => name === 'Sales / S01';

/** What one read after another is held for. */
async function foundIn(after: Values, from = before) {
  await using w = await accepted(from);
  await w.export(after);
  const { state, reason = '', findings } = await w.pass();
  return { state, reason, findings };
}

describe('a factor', () => {
  test('of 1000 in all values of the source is held, and says where and how often', async () => {
    const { state, reason, findings } = await foundIn(changed(before, (value) => timesTen(value, 3)));
    expect(state).toBe('held');
    expect(reason).toBe('576 of 576 values of the source are 1000 times what they were');
    expect(findings).toMatchObject([{ kind: 'factor', group: [], points: 576, of: 576, factor: '1000' }]);
    expect(findings[0]?.examples).toHaveLength(3);
    const [{ driver, month, old = '', new: now } = { driver: '', month: '' }] = findings[0]?.examples ?? [];
    expect(now).toBe(timesTen(old, 3));
    expect(Object.entries(before).find(([name]) => name.startsWith('Costs'))?.[1][month]).toBe(old);
    expect(driver).toBe('costs-c01');
  });

  test('in one subtree names that subtree, though a month is new and a cell was corrected', async () => {
    const after = merged(merged(before, nextMonth), { 'Costs / C03': { '2024-05': '77.77' } });
    const { findings } = await foundIn(changed(after, (value) => timesTen(value, 3), inSales));
    expect(findings).toMatchObject([{ kind: 'factor', group: ['Sales'], factor: '1000', points: 288, of: 288 }]);
  });

  test('in one driver names the path of that driver', async () => {
    const { findings, reason } = await foundIn(changed(before, negated, isFirst));
    expect(findings).toMatchObject([{ kind: 'factor', group: ['Sales', 'S01'], factor: '-1', points: 24, of: 24 }]);
    expect(reason).toBe('24 of 24 values of Sales / S01 have the other sign');
  });

  test('names the driver also where all drivers are under one element and a cell elsewhere has the factor', async () => {
    const sales = twoYears(named('Sales', 12));
    const mended = { 'Sales / S02': { '2024-05': negated(sales['Sales / S02']?.['2024-05'] ?? '') } };
    const { findings } = await foundIn(merged(changed(sales, negated, isFirst), mended), sales);
    expect(findings).toMatchObject([{ kind: 'factor', group: ['Sales', 'S01'], factor: '-1', points: 24, of: 24 }]);
  });

  test('of a power of ten and -1 together is one factor', async () => {
    const { findings } = await foundIn(changed(before, (value) => negated(timesTen(value, 2))));
    expect(findings).toMatchObject([{ kind: 'factor', group: [], factor: '-100' }]);
  });

  test('of a currency is found as closely as the values are written', async () => {
    const after = changed(before, (value) => (Number(value) * 1.0837).toFixed(2));
    expect((await foundIn(after)).findings).toMatchObject([{ kind: 'factor', group: [], factor: '1.0837', of: 576 }]);
  });

  test('of a unit is found where the values were rounded to it', async () => {
    const after = changed(before, (value) => (Number(value) / 1000).toFixed(1));
    expect((await foundIn(after)).findings).toMatchObject([{ kind: 'factor', group: [], factor: '0.001' }]);
  });

  test('takes six points, and five pass', async () => {
    const few = (count: number): Values => ({
      ...twoYears(['Sales / S01'], 1, count),
      'Costs / C01': { '2024-01': '7.50' },
    });
    const after = (count: number): Values => changed(few(count), (value) => timesTen(value, 3), isFirst);
    expect((await foundIn(after(6), few(6))).findings).toMatchObject([{ kind: 'factor', group: ['Sales', 'S01'] }]);
    expect(await foundIn(after(5), few(5))).toMatchObject({ state: 'accepted', findings: [] });
  });

  test('takes nine in ten of the values that were not 0', async () => {
    const grid = merged(twoYears(['Sales / S01'], 1, 20), { 'Sales / S01': { '2020-01': '0', '2020-02': '0' } });
    const first = (count: number): Values =>
      changed(grid, (value, month) => (months(1, count).includes(month) ? timesTen(value, 3) : value));
    expect((await foundIn(first(18), grid)).findings).toMatchObject([{ kind: 'factor', points: 18, of: 20 }]);
    expect(await foundIn(first(17), grid)).toMatchObject({ state: 'accepted', findings: [] });
  });

  test('that is no power of ten takes 24 points', async () => {
    const long = (count: number): Values => twoYears(['Sales / S01', 'Costs / C01'], 1, count);
    const after = (count: number): Values =>
      changed(long(count), (value) => (Number(value) * 0.8512).toFixed(2), isFirst);
    expect((await foundIn(after(24), long(24))).findings).toMatchObject([{ kind: 'factor', factor: '0.8512' }]);
    expect(await foundIn(after(23), long(23))).toMatchObject({ state: 'accepted', findings: [] });
  });
});

describe('a new month', () => {
  test('that is a thousand times the year before is held', async () => {
    const { findings, reason } = await foundIn(
      merged(
        before,
        changed(nextMonth, (value) => timesTen(value, 3), inSales),
      ),
    );
    expect(findings).toMatchObject([
      { kind: 'new-scale', group: ['Sales'], points: 12, of: 12, factor: '1000', inMonths: ['2026-01'] },
    ]);
    expect(reason).toContain(
      '12 of 12 new values of Sales (2026-01) are about 1000 times what the months next to them were',
    );
  });

  test('that was accepted and is restated a thousand times larger is held too', async () => {
    const { findings } = await foundIn(
      merged(
        before,
        changed(twoYears(names, 24, 24), (value) => timesTen(value, 3)),
      ),
    );
    expect(findings).toMatchObject([
      { kind: 'factor', factor: '1000', points: 24, of: 24, onlyChanged: true },
      { kind: 'new-scale', group: [], points: 24, factor: '1000', inMonths: ['2025-12'] },
    ]);
  });

  test.each([
    ['1000', '9000', '60000'],
    ['100', '9000', '30000'],
    ['10', '9000', '30000'],
  ])(
    'of growth passes where one month of the year was far below the others (%s beside %s, then %s)',
    async (low, usual, grown) => {
      const year = twoYears(named('Sales', 6), 13, 24);
      const old = changed(year, (_value, month) => (month === '2025-06' ? low : usual));
      const after = merged(
        old,
        changed(twoYears(named('Sales', 6), 25, 25), () => grown),
      );
      expect(await foundIn(after, old)).toMatchObject({ state: 'accepted', findings: [] });
      // A slip is found there all the same.
      const slipped = merged(
        old,
        changed(twoYears(named('Sales', 6), 25, 25), () => `${usual}00`),
      );
      expect((await foundIn(slipped, old)).findings).toMatchObject([{ kind: 'new-scale', points: 6, of: 6 }]);
    },
  );

  test('that is ten times the year before is unusual, and passes', async () => {
    const after = merged(
      before,
      changed(nextMonth, (value) => timesTen(value, 1)),
    );
    expect(await foundIn(after)).toMatchObject({ state: 'accepted', findings: [] });
  });

  test('with the other sign is held, and five drivers are too few to say so', async () => {
    const turned = (count: number): Values =>
      merged(
        before,
        changed(nextMonth, negated, (name) => named('Sales', count).includes(name)),
      );
    expect((await foundIn(turned(12))).findings).toMatchObject([
      { kind: 'new-sign', group: ['Sales'], points: 12, of: 12 },
    ]);
    expect(await foundIn(turned(5))).toMatchObject({ state: 'accepted', findings: [] });
  });

  test('that copies the month before is held', async () => {
    const copy = Object.fromEntries(names.map((name) => [name, { '2026-01': before[name]?.['2025-12'] ?? '' }]));
    const { findings } = await foundIn(merged(before, copy));
    expect(findings).toMatchObject([{ kind: 'copied', group: [], points: 24, of: 24, inMonths: ['2026-01'] }]);
  });

  test('that is as the month before passes where that is the habit of the drivers', async () => {
    const constant = changed(before, (_value, month) => (month < '2025-07' ? '5' : '6'));
    const after = merged(
      constant,
      changed(nextMonth, () => '6'),
    );
    expect(await foundIn(after, constant)).toMatchObject({ state: 'accepted', findings: [] });
  });

  test('of zeros is held where no value of the year before was 0', async () => {
    const { findings } = await foundIn(
      merged(
        before,
        changed(nextMonth, () => '0'),
      ),
    );
    expect(findings).toMatchObject([{ kind: 'zeros', group: [], points: 24, of: 24, inMonths: ['2026-01'] }]);
  });
});

test('half of the values that were not 0 become 0: held', async () => {
  const { findings } = await foundIn(
    changed(before, (_value, month) => (month < '2025-01' ? '0.00' : _value), inSales),
  );
  expect(findings).toMatchObject([{ kind: 'zeros', group: ['Sales'], points: 144, of: 288 }]);
});

test.each([1, -1, 12])('values that moved by %i months are held', async (by) => {
  const moved = changed(
    before,
    (_value, month) => {
      const at = months(1, 24).indexOf(month) - by;
      return before['Sales / S02']?.[months(1, 24)[at] ?? ''] ?? '1';
    },
    (name) => name === 'Sales / S02',
  );
  const { findings, reason } = await foundIn(moved);
  expect(findings).toMatchObject([{ kind: 'moved', group: ['Sales', 'S02'], months: by }]);
  expect(reason).toContain(
    `${Math.abs(by)} month${Math.abs(by) === 1 ? '' : 's'} ${by > 0 ? 'later' : 'earlier'} than before`,
  );
});

test('two drivers that have exchanged their values are held, and both are named', async () => {
  const [one, other] = ['Sales / S03', 'Costs / C07'] as const;
  const after = { ...before, [one]: before[other] ?? {}, [other]: before[one] ?? {} };
  const { findings, reason } = await foundIn(merged(after, nextMonth));
  expect(findings).toMatchObject([
    { kind: 'exchanged', group: ['Costs', 'C07'], with: ['Sales', 'S03'], points: 24 },
    { kind: 'exchanged', group: ['Sales', 'S03'], with: ['Costs', 'C07'], points: 24 },
  ]);
  expect(reason).toBe("Costs / C07 and Sales / S03 have each other's values");
});

test.each([
  ['a new month', merged(before, nextMonth)],
  ['a correction of single cells', merged(before, { 'Sales / S01': { '2025-03': '1.00', '2025-09': '110000.00' } })],
  ['a new driver and one that ended', merged(before, twoYears(['Sales / S99'], 1, 24))],
  ['values with more decimals', changed(before, (value) => `${value}00`)],
])('%s passes', async (_name, after) => {
  expect(await foundIn(after)).toMatchObject({ findings: [] });
});
