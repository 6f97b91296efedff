/** What a plan shows: the changes themselves, old and new value, by source. */
import { describe, expect, test } from 'vitest';
import { gridFile, ids, longFile, longSource, world } from '../support/world.ts';

const config = { sources: { sales: longSource('in/*.csv'), costs: longSource('costs.csv') } };
const files = { 'in/1.csv': longFile({ A: { '2026-01': '10.00', '2026-02': 5 } }), 'costs.csv': gridFile(['c']) };

async function plannedSource(w: Awaited<ReturnType<typeof world>>, name: string) {
  return (await w.plan()).sources.find((source) => source.name === name);
}

describe('the largest changes', () => {
  test('are those that would be pushed, by source', async () => {
    await using w = await world({ config, files });
    await w.sync();
    await w.write('in/1.csv', longFile({ A: { '2026-01': '11.00', '2026-02': 500 }, B: { '2026-03': 2 } }));
    expect(await plannedSource(w, 'sales')).toMatchObject({
      changedPoints: 3,
      largest: [
        { driver: 'A', path: ['A'], month: '2026-02', old: '5', new: '500' },
        { driver: 'B', path: ['B'], month: '2026-03', new: '2' },
        { driver: 'A', path: ['A'], month: '2026-01', old: '10.00', new: '11.00' },
      ],
    });
    expect(await plannedSource(w, 'costs')).toMatchObject({ changedPoints: 0, largest: [] });
  });

  test('are still there where a pass accepted them and the push did not arrive', async () => {
    await using w = await world({ config, files });
    await w.sync();
    await w.write('in/1.csv', longFile({ A: { '2026-01': '10.00', '2026-02': 6 } }));
    await w.sync({ push: 'no' });
    expect(await plannedSource(w, 'sales')).toMatchObject({ largest: [{ month: '2026-02', old: '5', new: '6' }] });
  });

  test('of a held candidate are against its accepted read', async () => {
    await using w = await world({ config, files: { ...files, 'in/1.csv': gridFile(ids(1, 30)) } });
    await w.sync();
    await w.write('in/1.csv', gridFile(ids(1, 3)));
    const sales = await plannedSource(w, 'sales');
    expect(sales).toMatchObject({ state: 'held', changedPoints: 27, changes: { points: { delete: 27 } } });
    expect(sales?.largest).toHaveLength(20);
    expect(sales?.largest[0]).toEqual({
      driver: 'D04',
      path: ['D04'],
      month: '2026-01',
      old: expect.any(String) as string,
    });
  });

  test('of a source that left the config are what would be deleted', async () => {
    await using w = await world({ config, files });
    await w.sync();
    await w.reconfigure({ sources: { sales: config.sources.sales } });
    expect(await plannedSource(w, 'costs')).toMatchObject({
      state: 'held',
      largest: [{ driver: 'c', month: '2026-01' }],
    });
  });
});

test('a plan changes nothing of what the next pass sees', async () => {
  await using w = await world({ config, files });
  await w.sync();
  await w.write('in/1.csv', longFile({ A: { '2026-01': 11, '2026-02': 5 } }));
  await w.plan();
  const before = await w.status();
  await w.plan();
  expect(await w.status()).toEqual(before);
  expect(await w.sync()).toMatchObject({ exit: 0, outcome: 'acknowledged' });
});
