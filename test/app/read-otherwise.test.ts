/** What is carried cannot be read again: where the settings have changed since, somebody has to say that both belong together. */
import { describe, expect, test } from 'vitest';
import { type TestWorld, collapsing, longFile, longSource, months, sourceOf, world } from '../support/world.ts';

const entry = (value: object = {}, others: object = {}): object => ({
  drivers: [{ id: '{id}', path: ['{id}'], time: '{time}', value: { from: '{value}', ...value }, ...others }],
});
/** Values that no slip is seen in. */
const guard = { values: 'off' };
const points = (from: number, to: number, ids: readonly string[] = ['A', 'B']): string =>
  longFile(
    Object.fromEntries(
      ids.map((id) => [id, Object.fromEntries(months(from, to).map((month, at) => [month, 101 + at]))]),
    ),
  );

/** The second of these years, as it was. */
const tail = (ids: readonly string[]) =>
  Object.fromEntries(ids.map((id) => [id, Object.fromEntries(months(13, 24).map((month, at) => [month, 113 + at]))]));

async function approveHeld(w: TestWorld): Promise<void> {
  await w.approve(sourceOf(await w.sync(), 'sales').digest ?? '');
}

describe('a file that is gone and was read with other settings', () => {
  const config = (keys: object = entry(), others: object = {}) => ({
    guard,
    sources: { sales: longSource('in/*.csv', { ...keys, ...others }) },
  });

  async function carrying(others: object = {}): Promise<TestWorld> {
    const files = { 'in/1.csv': points(1, 3), 'in/2.csv': points(4, 6) };
    const w = await world({ config: config(entry(), others), files });
    await w.sync();
    await w.remove('in/2.csv');
    await w.sync();
    return w;
  }

  test('holds the source, and says what stays', async () => {
    await using w = await carrying();
    const before = w.points();
    await w.reconfigure(config(entry({ scale: 1000 })));
    const report = await w.sync();
    expect(sourceOf(report, 'sales')).toMatchObject({
      state: 'held',
      reason:
        'the settings have changed: in/2.csv is gone and was read with other settings: its 6 points from 2024-04 to 2024-06 stay as they were read',
      hint: expect.stringMatching(/put what is gone back.*"driver-sync forget"; approve if/),
    });
    expect(w.points()).toEqual(before);
  });

  test.each([
    ['negate', entry({ negate: true })],
    ['a timezone of times', { ...entry(), missing: ['', '101'] }],
    ['where', { ...entry(), where: { id: 'A' } }],
    ['round', entry({ round: 1 })],
  ])('whatever decides numbers: %s', async (_name, keys) => {
    await using w = await carrying();
    await w.reconfigure({ ...config(keys), guard: { ...guard, maxDeletes: '100%' } });
    expect(sourceOf(await w.sync(), 'sales').reason).toMatch(/^the settings have changed: in\/2\.csv is gone/);
  });

  test('does so in the pass in which it goes', async () => {
    await using w = await world({ config: config(), files: { 'in/1.csv': points(1, 3), 'in/2.csv': points(4, 6) } });
    await w.sync();
    await w.remove('in/2.csv');
    await w.reconfigure(config(entry({ scale: 1000 })));
    expect(sourceOf(await w.sync(), 'sales').state).toBe('held');
  });

  test('also where nothing is ever deleted', async () => {
    const destination = { shouldDeleteMissing: false };
    await using w = await world({
      config: { ...config(), destination },
      files: { 'in/1.csv': points(1, 3), 'in/2.csv': points(4, 6) },
    });
    await w.sync();
    await w.remove('in/2.csv');
    await w.reconfigure({ ...config(entry({ scale: 1000 })), destination });
    expect(sourceOf(await w.sync(), 'sales').reason).toMatch(/^the settings have changed/);
  });

  test('is settled by an approval until the settings change again', async () => {
    await using w = await carrying();
    await w.reconfigure(config(entry({ scale: 1000 })));
    await approveHeld(w);
    expect(await w.sync()).toMatchObject({ exit: 0, outcome: 'acknowledged' });
    expect(w.points()['A']).toMatchObject({ '2024-01': '101000', '2024-04': '101' });
    await w.write('in/1.csv', points(1, 3, ['A', 'B', 'C']));
    expect(await w.sync()).toMatchObject({ exit: 0, outcome: 'acknowledged' });
    await w.reconfigure(config(entry({ scale: 100 })));
    expect(sourceOf(await w.sync(), 'sales').state).toBe('held');
  });

  test('is not settled where rows are counted twice later', async () => {
    const summed = (value: object) => ({
      guard,
      sources: { sales: longSource('in/*.csv', entry(value, { collapse: 'sum' })) },
    });
    await using w = await world({ config: summed({}), files: { 'in/1.csv': points(1, 3), 'in/2.csv': points(4, 6) } });
    await w.sync();
    await w.remove('in/2.csv');
    await w.sync();
    await w.reconfigure(summed({ scale: 1000 }));
    await approveHeld(w);
    await w.sync();
    await w.write('in/3.csv', points(5, 6));
    expect(sourceOf(await w.sync(), 'sales').reason).toMatch(/^rows may be counted twice: in\/2\.csv/);
  });

  test('is no matter once it is back, forgotten, or the settings are as before', async () => {
    await using w = await carrying();
    await w.reconfigure(config(entry({ scale: 1000 })));
    expect(sourceOf(await w.sync(), 'sales').state).toBe('held');
    await w.reconfigure(config());
    expect(sourceOf(await w.sync(), 'sales').state).toBe('unchanged');
    await w.reconfigure(config(entry({ scale: 1000 })));
    await w.sync();
    await w.write('in/2.csv', points(4, 6));
    expect(sourceOf(await w.sync(), 'sales').state).toBe('accepted');
    await w.remove('in/2.csv');
    await w.sync();
    await w.reconfigure(config());
    expect(sourceOf(await w.sync(), 'sales').state).toBe('held');
    await w.forget('sales', 'in/2.csv');
    expect(sourceOf(await w.sync(), 'sales').state).toBe('accepted');
  });

  test('is no matter where other keys changed, or it is a longer table', async () => {
    const keys = (maps: object) => ({
      maps: { names: maps },
      drivers: [{ id: '{id|map:names}', path: ['{id}'], time: '{time}', value: '{value}' }],
    });
    await using w = await world({
      config: config(keys({ A: 'a', B: 'b' })),
      files: { 'in/1.csv': points(1, 3), 'in/2.csv': points(4, 6) },
    });
    await w.sync();
    await w.remove('in/2.csv');
    await w.sync();
    await w.reconfigure(config(keys({ A: 'a', B: 'b', C: 'c' }), { poll: '5m' }));
    expect(await w.sync()).toMatchObject({ exit: 0 });
    await w.reconfigure(config(keys({ A: 'x', B: 'b', C: 'c' })));
    expect(sourceOf(await w.sync(), 'sales').reason).toMatch(/^the settings have changed/);
  });

  describe('is no matter where what is there has the same points by both settings', () => {
    const same = { ...entry(), missing: ['', 'no such word'] };

    test('which is evidence that they do not differ', async () => {
      await using w = await carrying();
      await w.reconfigure(config(same));
      expect(await w.sync()).toMatchObject({ exit: 0, outcome: 'unchanged' });
    });

    test('beside a part that is new and shows nothing of this', async () => {
      await using w = await carrying();
      await w.write('in/3.csv', points(7, 9));
      await w.reconfigure(config(same));
      expect(sourceOf(await w.sync(), 'sales').state).toBe('accepted');
    });

    test('but for a part that was rewritten, of which nobody knows that', async () => {
      await using w = await carrying();
      await w.write('in/1.csv', points(1, 3, ['B', 'A']));
      await w.reconfigure(config(same));
      expect(sourceOf(await w.sync(), 'sales').state).toBe('held');
    });

    test('in each of the parts', async () => {
      const files = { 'in/1.csv': points(1, 3, ['A']), 'in/2.csv': points(4, 6), 'in/3.csv': points(7, 9) };
      await using w = await world({ config: config(), files });
      await w.sync();
      await w.remove('in/2.csv');
      await w.sync();
      await w.reconfigure({ ...config({ ...entry(), where: { id: 'A' } }), guard: { ...guard, maxDeletes: '100%' } });
      expect(sourceOf(await w.sync(), 'sales').reason).toMatch(/^the settings have changed: in\/2\.csv is gone/);
    });
  });

  test('is a word where only paths changed', async () => {
    await using w = await carrying();
    await w.reconfigure(config(entry({}, { path: ['Sales', '{id}'] })));
    expect(sourceOf(await w.sync(), 'sales')).toMatchObject({
      state: 'unchanged',
      warnings: expect.arrayContaining([
        'the config gives other paths now, and what is carried may keep those that it was read with: in/2.csv',
      ]),
    });
  });

  test('holds a source that has another key now, too', async () => {
    await using w = await carrying();
    await w.reconfigure({ guard, sources: { turnover: longSource('in/*.csv', entry({ scale: 1000 })) } });
    expect(sourceOf(await w.sync(), 'turnover').reason).toMatch(/^the settings have changed: in\/2\.csv is gone/);
  });

  test('is no matter once the settings that it was read with are those of today again', async () => {
    await using w = await carrying();
    await w.reconfigure(config(entry({ scale: 1000 })));
    await approveHeld(w);
    await w.sync();
    await w.reconfigure(config());
    expect(await w.sync()).toMatchObject({ exit: 0, outcome: 'acknowledged' });
  });

  test('is named alone, beside one that was read with these settings by the source that takes it over', async () => {
    const sales = (files: readonly string[]) => ({ ...longSource('in/*.csv', entry()), files });
    const files = {
      'in/1.csv': points(1, 3, ['A']),
      'in/2.csv': points(4, 6, ['A']),
      'old/1.csv': points(1, 3, ['B']),
      'old/2.csv': points(4, 6, ['B']),
    };
    const old = longSource('old/*.csv', entry({ scale: 1000 }));
    await using w = await world({ config: { guard, sources: { sales: sales(['in/*.csv']), old } }, files });
    await w.sync();
    await w.remove('in/2.csv');
    await w.remove('old/2.csv');
    await w.sync();
    await w.reconfigure({ guard, sources: { sales: sales(['in/*.csv', 'old/*.csv']) } });
    expect(sourceOf(await w.sync(), 'sales').reason).toMatch(
      /^the settings have changed: old\/2\.csv is gone [^;]* 3 points from 2024-04 to 2024-06 stay as they were read$/,
    );
  });

  test('is nothing new where an older version accepted it', async () => {
    await using w = await carrying();
    await w.open(({ buffer }) => buffer.reads.set('sales', 'accepted', buffer.reads.parts('sales', 'accepted') ?? []));
    await w.reconfigure(config(entry({ scale: 1000 })));
    expect(await w.sync()).toMatchObject({ exit: 0 });
  });

  test('is known from the first pass of this version on', async () => {
    await using w = await carrying();
    await w.open(({ buffer }) => buffer.reads.set('sales', 'accepted', buffer.reads.parts('sales', 'accepted') ?? []));
    await w.sync();
    await w.reconfigure(config(entry({ scale: 1000 })));
    expect(sourceOf(await w.sync(), 'sales').state).toBe('held');
  });
});

describe('months that only an earlier read had', () => {
  const rolling = (keys: object) => ({
    guard,
    sources: { sales: longSource('sales.csv', { history: 'carry', ...keys }) },
  });

  async function rolled(config: (keys: object) => Parameters<typeof world>[0]['config'], keys: object) {
    const w = await world({ config: config(keys), files: { 'sales.csv': points(1, 6) } });
    await w.sync();
    await w.write('sales.csv', points(4, 7));
    await w.sync();
    return w;
  }

  test('hold the source where the settings changed', async () => {
    await using w = await rolled(rolling, entry());
    const before = w.points();
    await w.reconfigure(rolling(entry({ scale: 1000 })));
    expect(sourceOf(await w.sync(), 'sales')).toMatchObject({
      state: 'held',
      reason:
        'the settings have changed: older months are carried (history: carry) and were read with other settings: their 6 points from 2024-01 to 2024-03 stay as they were read',
      hint: 'let the export show those months once, and they are read again; approve if both belong together as they are',
    });
    expect(w.points()).toEqual(before);
    await approveHeld(w);
    expect(await w.sync()).toMatchObject({ exit: 0, outcome: 'acknowledged' });
    await w.write('sales.csv', points(5, 8));
    expect(await w.sync()).toMatchObject({ exit: 0, outcome: 'acknowledged' });
  });

  test('are held beside a slip that is plain to see', async () => {
    const judgedToo = (keys: object) => ({ ...rolling(keys), guard: {} });
    const ids = ['A', 'B', 'C'];
    await using w = await world({ config: judgedToo(entry()), files: { 'sales.csv': points(1, 24, ids) } });
    await w.sync();
    await w.write('sales.csv', longFile(tail(ids)));
    await w.sync();
    await w.reconfigure(judgedToo(entry({ scale: 1000 })));
    expect(sourceOf(await w.sync(), 'sales').reason).toMatch(
      /^the settings have changed: older months .* as they were read; and .*1000 times/,
    );
  });

  const ruled = (rule: string) => ({
    guard,
    sources: { sales: collapsing(rule, 'sales.csv', { history: 'carry' }) },
  });

  test.each([
    [
      'sum',
      'A,2024-02,8\n',
      /^the settings have changed: older months .* their 1 point in 2024-02 stays as it was read$/,
    ],
    ['count', '', /their 6 points from 2024-01 to 2024-03 stay as they were read$/],
  ])('hold it where another rule makes other points of them: %s', async (rule, row, reason) => {
    await using w = await world({ config: ruled('last'), files: { 'sales.csv': points(1, 6) + row } });
    await w.sync();
    await w.write('sales.csv', points(4, 7));
    await w.sync();
    await w.reconfigure(ruled(rule));
    expect(sourceOf(await w.sync(), 'sales').reason).toMatch(reason);
  });

  test('are no matter where each of them is one reading, whatever the rule', async () => {
    await using w = await world({ config: ruled('last'), files: { 'sales.csv': points(1, 6) } });
    await w.sync();
    await w.write('sales.csv', points(4, 7));
    await w.sync();
    await w.reconfigure(ruled('sum'));
    expect(await w.sync()).toMatchObject({ exit: 0 });
  });

  test.each([
    ['count', 'last', 6],
    ['last', 'count', 6],
  ])('are never the same by "count" and another rule: %s, then %s', async (before, after, count) => {
    await using w = await world({ config: ruled(before), files: { 'sales.csv': points(1, 6) } });
    await w.sync();
    await w.write('sales.csv', points(4, 7));
    await w.sync();
    await w.reconfigure(ruled(after));
    expect(sourceOf(await w.sync(), 'sales').reason).toContain(`their ${count} points from 2024-01 to 2024-03`);
  });

  test('are all told where one of the rules counts', async () => {
    const both = (rule: string) => ({
      guard,
      sources: {
        sales: longSource('sales.csv', {
          history: 'carry',
          drivers: [
            { id: '{id}', path: ['{id}'], time: '{time}', value: '{value}', collapse: rule },
            { id: '{id}/rows', path: ['{id}', 'rows'], time: '{time}', value: '{value}', collapse: 'count' },
          ],
        }),
      },
    });
    await using w = await world({ config: both('last'), files: { 'sales.csv': points(1, 6) } });
    await w.sync();
    await w.write('sales.csv', points(4, 7));
    await w.sync();
    await w.reconfigure(both('sum'));
    expect(sourceOf(await w.sync(), 'sales').reason).toContain('their 12 points from 2024-01 to 2024-03');
  });

  test('are no matter where the export shows all of them', async () => {
    await using w = await rolled(rolling, entry());
    await w.reconfigure(rolling(entry({ scale: 1000 })));
    await w.write('sales.csv', points(1, 7));
    expect(await w.sync()).toMatchObject({ exit: 0 });
  });
});

describe('explain', () => {
  test('says that a point is of a file that is gone, and by which rule it was read', async () => {
    const config = (rule: string) => ({ guard, sources: { sales: collapsing(rule, 'in/*.csv') } });
    const files = { 'in/1.csv': points(1, 1), 'in/2.csv': points(2, 2) };
    await using w = await world({ config: config('last'), files });
    await w.sync();
    await w.remove('in/2.csv');
    await w.sync();
    await w.reconfigure(config('sum'));
    await w.sync();
    expect(await w.explain('A')).toMatchObject({
      rule: 'sum',
      points: [{ month: '2024-01' }, { month: '2024-02', carried: { from: 'part', rule: 'last' } }],
    });
  });

  test('says that a month is history, and names no rule that it may not have', async () => {
    const config = { sources: { sales: longSource('sales.csv', { history: 'carry' }) } };
    await using w = await world({ config, files: { 'sales.csv': points(1, 2) } });
    await w.sync();
    await w.write('sales.csv', points(2, 3));
    await w.sync();
    const { points: shown } = (await w.explain('A')) as { points: { month: string; carried?: object }[] };
    expect(shown.map(({ month, carried }) => [month, carried])).toEqual([
      ['2024-01', { from: 'history' }],
      ['2024-02', undefined],
      ['2024-03', undefined],
    ]);
  });
});
