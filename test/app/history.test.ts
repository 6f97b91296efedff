import { describe, expect, test } from 'vitest';
import { gridFile, ids, judged, longFile, longSource, months, sourceOf, world } from '../support/world.ts';

const unchanged = { exit: 0, outcome: 'unchanged' };

describe('history: carry', () => {
  const rolling = { sources: { sales: longSource('sales.csv', { history: 'carry' }) } };

  test('keeps the months before the earliest one of the read, also of drivers that are not in it', async () => {
    const start = longFile({ A: { '2026-01': 1, '2026-02': 2, '2026-03': 3 }, old: { '2026-01': 9 } });
    await using w = await world({ config: rolling, files: { 'sales.csv': start } });
    await w.sync();
    await w.write('sales.csv', longFile({ A: { '2026-02': 22, '2026-03': 3, '2026-04': 4 } }));
    expect(await w.sync()).toMatchObject({ exit: 0, outcome: 'acknowledged' });
    await w.write('sales.csv', longFile({ A: { '2026-04': 4, '2026-05': 5 }, B: { '2026-05': 5 } }));
    expect(await w.sync()).toMatchObject({ exit: 0, outcome: 'acknowledged' });
    expect(w.points()).toEqual({
      A: { '2026-01': '1', '2026-02': '22', '2026-03': '3', '2026-04': '4', '2026-05': '5' },
      B: { '2026-05': '5' },
      old: { '2026-01': '9' },
    });
    expect(await w.sync()).toMatchObject(unchanged);
  });

  test('a reading that is gone decides no path', async () => {
    const drivers = [{ id: '{id}', path: ['{name}'], time: '{time}', value: '{value}' }];
    const named = {
      sources: { sales: longSource('sales.csv', { history: 'carry', drivers }) },
      guard: { values: 'off' },
    };
    const file = (name: string, ...inMonths: readonly string[]): string =>
      `id,name,time,value\n${inMonths.map((month) => `A,${name},${month},1\n`).join('')}`;
    await using w = await world({
      config: named,
      files: { 'sales.csv': file('Old', '2026-01', '2026-02', '2026-12') },
    });
    await w.sync();
    for (const [name, ...inMonths] of [
      ['New', '2026-02', '2026-03'],
      ['Newer', '2026-02', '2026-03', '2026-04'],
    ] as const) {
      await w.write('sales.csv', file(name, ...inMonths));
      const report = await w.sync();
      expect(await w.explain('A', '2026-01')).toMatchObject({ path: [name] });
      expect(JSON.stringify(report)).not.toContain('has two paths');
    }
  });

  test('goes with a driver that moves to another source which carries it too', async () => {
    const config = {
      guard: { maxDeletes: '20%' },
      sources: {
        north: longSource('north.csv', { history: 'carry' }),
        south: longSource('south.csv', { history: 'carry' }),
      },
    };
    const values = (from: number, to: number): Record<string, string> =>
      Object.fromEntries(months(from, to).map((month, at) => [month, `${from + at}`]));
    const north = ids(1, 8);
    const fileOf = (drivers: readonly string[], from: number, to: number): string =>
      longFile(Object.fromEntries(drivers.map((id) => [id, values(from, to)])));
    await using w = await world({
      config,
      files: { 'north.csv': fileOf([...north, 'moves'], 1, 24), 'south.csv': fileOf(['S'], 1, 24) },
    });
    await w.sync();
    await w.write('north.csv', fileOf(north, 18, 25));
    await w.write('south.csv', fileOf(['S', 'moves'], 18, 25));
    const report = await w.sync();
    expect(report).toMatchObject({ exit: 0, outcome: 'acknowledged' });
    expect(w.points()['moves']).toEqual(values(1, 25));
    expect(await w.explain('moves', months(1, 1)[0])).toMatchObject({ source: 'south' });
    expect(await w.sync()).toMatchObject(unchanged);
    // From then on they are the taker's.
    await w.write('south.csv', fileOf(['S', 'moves'], 19, 26));
    await w.sync();
    expect(w.points()['moves']).toEqual(values(1, 26));
  });

  test('says where those months came from', async () => {
    const start = longFile({ A: { '2026-01': '1.50', '2026-02': 2 } });
    await using w = await world({ config: rolling, files: { 'sales.csv': start } });
    await w.sync();
    await w.write('sales.csv', longFile({ A: { '2026-02': 2 } }));
    await w.sync();
    expect(await w.explain('A', '2026-01')).toMatchObject({ points: [{ part: 'sales.csv', row: 1, text: '1.50' }] });
  });

  test('a point that is missing inside the window is a delete and is counted', async () => {
    const all = months(1, 24);
    await using w = await world({ config: rolling, files: { 'sales.csv': gridFile(ids(1, 10), all) } });
    await w.sync();
    // Of 240 points 24 may go: three whole years of months 13 to 24 are 36, two are 24.
    await w.write('sales.csv', gridFile(ids(4, 10), months(13, 25)));
    const report = await w.sync();
    expect(report).toMatchObject(judged(4, 'sales', { state: 'held' }));
    expect(sourceOf(report, 'sales').changes).toMatchObject({
      drivers: { delete: 0 },
      points: { delete: 36, create: 7 },
    });
    await w.write('sales.csv', gridFile(ids(3, 10), months(13, 25)));
    expect(await w.sync()).toMatchObject(judged(0, 'sales', { state: 'accepted' }));
    expect(Object.keys(w.points()['D01'] ?? {})).toEqual(months(1, 12));
  });

  test('an older month that comes back is read again', async () => {
    const start = longFile({ A: { '2026-01': 1, '2026-02': 2, '2026-03': 3 } });
    await using w = await world({ config: rolling, files: { 'sales.csv': start } });
    await w.sync();
    await w.write('sales.csv', longFile({ A: { '2026-03': 3 } }));
    await w.sync();
    await w.write('sales.csv', longFile({ A: { '2026-02': 22, '2026-03': 3 } }));
    await w.sync();
    expect(w.points()).toEqual({ A: { '2026-01': '1', '2026-02': '22', '2026-03': '3' } });
  });

  test('does not stand for a source that turned empty', async () => {
    await using w = await world({ config: rolling, files: { 'sales.csv': gridFile(['A']) } });
    await w.sync();
    await w.write('sales.csv', 'id,time,value\n');
    expect(await w.sync()).toMatchObject(judged(4, 'sales', { state: 'held' }));
  });

  test('outlives the buffer', async () => {
    await using w = await world({ config: rolling, files: { 'sales.csv': gridFile(['A'], months(1, 3)) } });
    await w.sync();
    await w.write('sales.csv', gridFile(['A'], months(3, 4)));
    await w.sync();
    await w.loseBuffer();
    await w.write('sales.csv', gridFile(['A'], months(4, 5)));
    expect(await w.sync()).toMatchObject({ exit: 0 });
    expect(Object.keys(w.points()['A'] ?? {})).toEqual(months(1, 5));
  });

  test('keeps all months where the window shows none for once', async () => {
    const other = longSource('other.csv');
    const emptied = { sources: { sales: longSource('sales.csv', { history: 'carry', mayBeEmpty: true }), other } };
    const start = longFile({ A: { '2026-01': 1, '2026-02': 2 }, old: { '2026-01': 9 } });
    const files = { 'sales.csv': start, 'other.csv': longFile({ O: { '2026-01': 1 } }) };
    await using w = await world({ config: emptied, files });
    await w.sync();
    await w.write('sales.csv', longFile({}));
    expect(await w.sync()).toMatchObject({ exit: 0, outcome: 'unchanged' });
    await w.write('sales.csv', longFile({ A: { '2026-03': 3 } }));
    await w.sync();
    expect(w.points()).toMatchObject({
      A: { '2026-01': '1', '2026-02': '2', '2026-03': '3' },
      old: { '2026-01': '9' },
    });
  });

  test('goes on however often one window is exported', async () => {
    await using w = await world({ config: rolling, files: { 'sales.csv': gridFile(['A', 'B'], months(1, 12)) } });
    await w.sync();
    for (const value of ['2', '3', '4', '5']) {
      const window = Object.fromEntries(months(7, 12).map((month) => [month, value]));
      await w.write('sales.csv', longFile({ A: window, B: window }));
      expect(await w.sync()).toMatchObject({ exit: 0, outcome: 'acknowledged' });
      expect(await w.explain('A')).toMatchObject({ points: expect.any(Array) });
      expect(w.points()['A']).toMatchObject(window);
      expect(Object.keys(w.points()['A']!)).toHaveLength(12);
    }
  });
});
