/** Two rules for one driver and month: one rule cannot go on from what another one collapsed. */
import { expect, test } from 'vitest';
import { collapsing, longFile, longSource, sourceOf, world } from '../support/world.ts';

const many = 'id,time,value\nA,2025-01,5\nA,2025-01,6\nA,2025-01,7\n';
const one = longFile({ A: { '2025-01': 2 } });

test('a carried part from before collapse changed keeps its source unread, until it is back or forgotten', async () => {
  await using w = await world({
    config: { sources: { sales: longSource('in/*.csv') } },
    files: { 'in/1.csv': many, 'in/2.csv': one },
  });
  await w.sync();
  await w.remove('in/1.csv');
  await w.sync();
  await w.reconfigure({ sources: { sales: collapsing('average', 'in/*.csv') } });
  const report = await w.sync();
  expect(report).toMatchObject({ exit: 3, outcome: 'unchanged' });
  expect(sourceOf(report, 'sales')).toMatchObject({
    state: 'unread',
    reason: expect.stringMatching(
      /^driver "A" has two rules in 2025-01: collapse (last in in\/1\.csv, and average in in\/2\.csv|average in in\/2\.csv, and last in in\/1\.csv)/,
    ),
  });
  expect(JSON.stringify(sourceOf(report, 'sales'))).toContain('driver-sync forget sales in/1.csv');

  await w.write('in/1.csv', many);
  await w.sync();
  expect(w.points()).toEqual({ A: { '2025-01': '5' } });

  await w.remove('in/1.csv');
  await w.reconfigure({ sources: { sales: collapsing('sum', 'in/*.csv') } });
  expect(await w.sync()).toMatchObject({ exit: 3 });
  await w.forget('sales', 'in/1.csv');
  await w.sync();
  expect(w.points()).toEqual({ A: { '2025-01': '2' } });
});

test('a carried month that nothing else has stays as it was collapsed', async () => {
  await using w = await world({
    config: { sources: { sales: longSource('in/*.csv') } },
    files: { 'in/1.csv': many, 'in/2.csv': longFile({ A: { '2025-02': 2 } }) },
  });
  await w.sync();
  await w.remove('in/1.csv');
  await w.sync();
  await w.reconfigure({ sources: { sales: collapsing('sum', 'in/*.csv') } });
  await w.sync();
  expect(w.points()).toEqual({ A: { '2025-01': '7', '2025-02': '2' } });
});

test('a carried part that has the latest reading leaves the other months to the rule of the config', async () => {
  await using w = await world({
    config: { sources: { sales: longSource('in/*.csv') } },
    files: {
      'in/1.csv': longFile({ A: { '2026-02': 10 } }),
      'in/2.csv': longFile({ A: { '2026-02': 5 } }),
      'in/m.csv': longFile({ A: { '2026-12': 7 } }),
    },
  });
  await w.sync();
  await w.remove('in/m.csv');
  await w.sync();
  for (const [rule, value] of [
    ['sum', '15'],
    ['average', '7.5'],
    ['last', '5'],
  ] as const) {
    await w.reconfigure({ sources: { sales: collapsing(rule, 'in/*.csv') } });
    expect(await w.sync()).toMatchObject({ outcome: 'acknowledged' });
    expect(w.points()).toEqual({ A: { '2026-02': value, '2026-12': '7' } });
  }
});
