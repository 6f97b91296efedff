/** `shouldDeleteMissing`: when a push is the whole truth, what it deletes, and what is said of that. */
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { describe, expect, onTestFinished, test } from 'vitest';
import { commandLine } from '../support/command-line.ts';
import { damageSnapshot } from '../support/damage.ts';
import { gridFile, ids, longFile, longSource, world } from '../support/world.ts';

const sources = { sales: longSource('sales.csv') };
const merging = { destination: { shouldDeleteMissing: false }, sources };

describe('with shouldDeleteMissing: false', () => {
  test('no push and no plan counts a delete', async () => {
    await using w = await world({ config: merging, files: { 'sales.csv': gridFile(ids(1, 20)) } });
    await w.sync();
    await w.write('sales.csv', gridFile(ids(1, 1)));
    expect((await w.plan()).keptPoints).toBe(19);
    expect((await w.plan()).changes).toMatchObject({ drivers: { delete: 0 }, points: { delete: 0 } });
    await w.sync();
    expect(await w.open(async ({ ledger }) => (await ledger.pushes.last())?.changes)).toMatchObject({
      drivers: { delete: 0 },
    });
    expect(w.drivers()).toHaveLength(20);
  });

  test('a driver that only loses points is no change: the service keeps them', async () => {
    const file = (months: readonly string[]) =>
      longFile(Object.fromEntries(ids(1, 3).map((id) => [id, Object.fromEntries(months.map((month) => [month, 1]))])));
    await using w = await world({ config: merging, files: { 'sales.csv': file(['2026-01', '2026-02', '2026-03']) } });
    await w.sync();
    await w.write('sales.csv', file(['2026-01', '2026-03']));
    const nothing = { create: 0, update: 0, delete: 0 };
    expect(await w.plan()).toMatchObject({
      isSameData: true,
      keptPoints: 3,
      changes: { drivers: nothing, points: nothing },
    });
    await w.sync();
    expect(await w.open(async ({ ledger }) => (await ledger.pushes.last())?.changes)).toEqual({
      drivers: nothing,
      points: nothing,
    });
  });

  test('the first push that deletes is a first push, whatever was pushed before', async () => {
    await using w = await world({ config: merging, files: { 'sales.csv': gridFile(ids(1, 20)) } });
    await w.sync();
    await w.write('sales.csv', gridFile(ids(1, 19)));
    await w.sync();
    await w.reconfigure({ guard: { firstPush: 'approve' }, sources });
    const plan = await w.plan();
    expect(plan).toMatchObject({ isFirstPush: true, changes: { drivers: { delete: 1 } }, exit: 4 });
    expect(await w.sync()).toMatchObject({ outcome: 'blocked', exit: 4 });
    expect(w.drivers()).toHaveLength(20);
    await w.approve(plan.digest);
    expect(await w.sync()).toMatchObject({ outcome: 'acknowledged', exit: 0 });
    expect(w.drivers()).toHaveLength(19);
    expect(await w.plan()).toMatchObject({ isFirstPush: false, isSameData: false, exit: 0 });
  });

  test('what it left at the address is counted, also in history, by the first push that deletes', async () => {
    const month = (of: string) => longFile(Object.fromEntries(ids(1, 20).map((id) => [id, { [of]: 1, '2026-03': 1 }])));
    await using w = await world({ config: merging, files: { 'sales.csv': month('2026-01') } });
    await w.sync();
    await w.write('sales.csv', month('2026-02'));
    await w.sync();
    await w.write('sales.csv', longFile(Object.fromEntries(ids(1, 20).map((id) => [id, { '2026-03': 1 }]))));
    await w.sync();
    await w.reconfigure({ guard: { maxDeletes: '100%' }, sources });
    expect(await w.plan()).toMatchObject({
      changes: { drivers: { delete: 0, update: 20 }, points: { delete: 40 } },
      exit: 2,
    });
    expect(await w.sync()).toMatchObject({ outcome: 'acknowledged', exit: 0 });
    expect(await w.open(async ({ ledger }) => (await ledger.pushes.last())?.changes)).toMatchObject({
      points: { create: 0, update: 0, delete: 40 },
    });
    expect(w.drivers().flatMap(({ timeSeries }) => timeSeries)).toHaveLength(20);
  });

  test('more of it than maxDeletes waits for approval', async () => {
    await using w = await world({ config: merging, files: { 'sales.csv': gridFile(ids(1, 20)) } });
    await w.sync();
    await w.write('sales.csv', gridFile(ids(1, 10)));
    await w.sync();
    await w.reconfigure({ sources });
    const report = await w.sync();
    expect(report).toMatchObject({ outcome: 'blocked', exit: 4 });
    expect(report.reason).toContain(
      'it deletes what pushes with shouldDeleteMissing: false have left there: 10 of 20 drivers, more than guard.maxDeletes 10%',
    );
    expect(w.drivers()).toHaveLength(20);
    await w.approve((await w.plan()).digest);
    expect(await w.sync()).toMatchObject({ outcome: 'acknowledged', exit: 0 });
    expect(w.drivers()).toHaveLength(10);
  });

  test('what older pushes have left there is among it, each driver once, under its source', async () => {
    const one = (of: number, value: number) =>
      longFile({ [`d${of}`]: { '2026-01': value }, kept: { '2026-01': value } });
    await using w = await world({ config: merging, files: { 'sales.csv': one(1, 1) } });
    for (const [of, value] of [
      [1, 1],
      [2, 2],
      [1, 3],
      [3, 4],
    ] as const) {
      await w.write('sales.csv', one(of, value));
      await w.sync();
    }
    await w.write('sales.csv', longFile({ kept: { '2026-01': 5 } }));
    await w.sync();
    await w.reconfigure({ sources });
    const { changes, sources: planned, exit } = await w.plan();
    expect(exit).toBe(4);
    expect(changes).toMatchObject({ drivers: { create: 0, update: 0, delete: 3 }, points: { delete: 3 } });
    expect(planned).toMatchObject([
      {
        name: 'sales',
        largest: [
          { driver: 'd3', old: '4' },
          { driver: 'd1', old: '3' },
          { driver: 'd2', old: '2' },
        ],
      },
    ]);
  });

  test('an older snapshot that is damaged is known by its counts', async () => {
    await using w = await world({ config: merging, files: { 'sales.csv': gridFile(ids(1, 300)) } });
    const { push } = await w.sync();
    await w.write('sales.csv', gridFile(ids(1, 100)));
    await w.sync();
    damageSnapshot(w.state, push?.digest ?? '');
    await w.reconfigure({ sources });
    const report = await w.sync();
    expect(report).toMatchObject({ outcome: 'blocked', exit: 4 });
    expect(report.reason).toContain('200 of 300 drivers');
  });

  test('so does a point of a closed month among it', async () => {
    const file = (months: readonly string[]) =>
      longFile(
        Object.fromEntries(
          ids(1, 20).map((id, at) => [
            id,
            Object.fromEntries(months.slice(at === 0 ? 1 : 0).map((month) => [month, 1])),
          ]),
        ),
      );
    const year = ['2026-01', '2026-02', '2026-03'];
    const whole = longFile(
      Object.fromEntries(ids(1, 20).map((id) => [id, Object.fromEntries(year.map((month) => [month, 1]))])),
    );
    await using w = await world({
      config: { ...merging, lastClose: '2026-01' },
      files: { 'sales.csv': whole },
    });
    await w.sync();
    await w.write('sales.csv', file(year));
    expect(await w.sync()).toMatchObject({ sources: [{ state: 'accepted' }] });
    await w.reconfigure({ sources, lastClose: '2026-01' });
    const report = await w.sync();
    expect(report).toMatchObject({ outcome: 'blocked', exit: 4 });
    expect(report.reason).toContain('1 point in closed months');
  });

  test('nobody knows what goes where the last snapshot is damaged, so it waits too', async () => {
    await using w = await world({ config: merging, files: { 'sales.csv': gridFile(ids(1, 300)) } });
    const { push } = await w.sync();
    damageSnapshot(w.state, push?.digest ?? '');
    await w.reconfigure({ sources });
    const report = await w.sync();
    expect(report).toMatchObject({ outcome: 'blocked', exit: 4 });
    expect(report.reason).toContain('push 1 deleted nothing, and its snapshot cannot be read');
  });

  test('a push that deletes is a first push again after pushes that did not', async () => {
    const deleting = { guard: { firstPush: 'approve' }, sources };
    await using w = await world({ config: deleting, files: { 'sales.csv': gridFile(ids(1, 20)) } });
    await w.approve((await w.plan()).digest);
    expect(await w.sync()).toMatchObject({ outcome: 'acknowledged', exit: 0 });
    await w.reconfigure(merging);
    await w.sync();
    await w.write('sales.csv', gridFile(ids(1, 1)));
    expect(await w.sync()).toMatchObject({ outcome: 'acknowledged', exit: 0 });
    await w.reconfigure(deleting);
    expect(await w.plan()).toMatchObject({ isFirstPush: true, exit: 4 });
    expect(await w.sync()).toMatchObject({ outcome: 'blocked', exit: 4 });
    expect(w.drivers()).toHaveLength(20);
  });
});

test('what a held read deletes begins with the drivers that go whole', async () => {
  const rows = (driver: string, months: readonly string[]): string[] =>
    months.map((month) => `${driver},${month}-01,1`);
  const year = Array.from({ length: 12 }, (_, index) => `2026-${String(index + 1).padStart(2, '0')}`);
  const file = (lines: readonly string[]): string => ['driver,date,value', ...lines, ''].join('\n');
  await using w = await world({
    config: {
      sources: {
        sales: { ...longSource('sales.csv'), drivers: [{ path: ['{driver}'], time: '{date}', value: '{value}' }] },
      },
    },
    files: { 'sales.csv': file(['a', 'b', 'c'].flatMap((driver) => rows(driver, year))) },
  });
  await w.sync();
  await w.write('sales.csv', file([...rows('a', year.slice(6)), ...rows('b', year.slice(0, 6))]));
  const [held] = (await w.sync()).sources;
  expect(held).toMatchObject({
    state: 'held',
    deletes: [
      { driver: 'c', whole: true, months: year },
      { driver: 'a', whole: false },
      { driver: 'b', whole: false },
    ],
  });
});

test('check answers in its own JSON where there is no config', async () => {
  const dir = await mkdtemp(path.join(tmpdir(), 'driver-sync-none-'));
  onTestFinished(() => rm(dir, { recursive: true }));
  const config = path.join(dir, 'none.yaml');
  const { code, json } = await commandLine('check', '--json', '--config', config);
  expect(code).toBe(78);
  expect(json()).toMatchObject({ ok: false, problems: [{ file: config, line: 1, column: 1 }], sources: [] });
});
