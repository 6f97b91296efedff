/** A part that somebody asked to forget, and that is back before the agent does it. */
import { describe, expect, test } from 'vitest';
import { ids, judged, longFile, longSource, world } from '../support/world.ts';

const drivers = ids(1, 20);
const written = (factor: number): string =>
  longFile(Object.fromEntries(drivers.map((id, at) => [id, { '2026-01': (at + 7) * factor }])));
const other = longFile({ other: { '2026-01': 1 } });
const config = { sources: { sales: longSource('in/*.csv') } };

/** Whose `in/1.csv` is gone, carried, and to be forgotten by the next pass. */
async function forgetting(): Promise<Awaited<ReturnType<typeof world>>> {
  const w = await world({ config, files: { 'in/1.csv': written(1), 'in/2.csv': other } });
  await w.sync();
  await w.remove('in/1.csv');
  await w.sync();
  await w.forget('sales', 'in/1.csv');
  return w;
}

describe('a part that is back', () => {
  test('is not forgotten: nothing changes', async () => {
    await using w = await forgetting();
    await w.write('in/1.csv', written(1));
    expect(await w.sync()).toMatchObject({ ...judged(0, 'sales', { carried: [] }), outcome: 'unchanged' });
    expect(w.drivers()).toHaveLength(21);
    expect(await w.sync()).toMatchObject({ exit: 0, outcome: 'unchanged' });
  });

  test('is held against what it had', async () => {
    await using w = await forgetting();
    await w.write('in/1.csv', written(1000));
    const reason = '20 of 21 values of the source are 1000 times what they were';
    const held = judged(4, 'sales', { state: 'held', reason });
    expect(await w.plan()).toMatchObject(held);
    expect(await w.sync()).toMatchObject(held);
    expect(w.points()).toMatchObject({ [drivers[0]!]: { '2026-01': '7' } });
    await expect(w.forget('sales', 'in/1.csv')).rejects.toMatchObject({ code: 'usage', exit: 64 });
  });

  test('in a source that cannot be read is forgotten, and comes again', async () => {
    await using w = await forgetting();
    await w.write('in/1.csv', written(1));
    await w.write('in/2.csv', '');
    expect(await w.sync()).toMatchObject({ exit: 3, outcome: 'acknowledged', push: { drivers: 1 } });
    await w.write('in/2.csv', other);
    await w.sync();
    expect(w.drivers()).toHaveLength(21);
  });
});
