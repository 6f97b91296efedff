/** Commands that look at what is kept: their JSON, their text and their exit codes. */
import { mkdir, rm, writeFile } from 'node:fs/promises';
import path from 'node:path';
import Database from 'better-sqlite3';
import { describe, expect, test } from 'vitest';
import { commandLine, shapes } from '../support/command-line.ts';
import { type CommandsWorld, commandsWorld, twoPushes } from '../support/commands-world.ts';
import { unbundle } from '../support/older-buffer.ts';
import { csv } from '../support/process.ts';
import { recordsOf } from '../support/state-records.ts';
import { longFile } from '../support/world.ts';

interface Explained {
  readonly points: readonly {
    readonly month: string;
    readonly value: string;
    readonly row: number;
    readonly text: string;
    readonly superseded: number;
    readonly firstPush?: number;
  }[];
}

describe('explain', () => {
  const readings = ['2026-01-05,1.10', '2026-01-20, 2.2', '2026-01-10,+3.4', '2026-02-01,(5)', '2026-02-28,-5'];
  const rules = ['last', 'first', 'sum', 'average', 'min', 'max', 'count'];

  async function collapsed(): Promise<CommandsWorld> {
    const drivers = rules.map((collapse) => ({
      id: collapse,
      path: ['Rules', collapse],
      time: '{date}',
      value: { from: '{amount}', accounting: true },
      collapse,
    }));
    const commands = await commandsWorld(
      { revenue: csv('a.csv', { drivers }) },
      { 'a.csv': `date,amount\n${readings.join('\n')}\n` },
    );
    expect((await commands.run('sync')).code).toBe(0);
    return commands;
  }

  test('says source, part, row, text as read, and how many readings a point stands for', async () => {
    const { at } = await collapsed();
    const done = await at.command('explain', 'last', '2026-01', '--json');
    expect(done.code).toBe(0);
    expect(done.json()).toMatchObject({
      driver: 'last',
      path: ['Rules', 'last'],
      points: [
        {
          month: '2026-01',
          value: '2.2',
          source: 'revenue',
          part: 'a.csv',
          row: 2,
          text: ' 2.2',
          superseded: 2,
          firstPush: 1,
        },
      ],
    });
  });

  test('of a sum, an average or a count shows the latest reading, and one fewer superseded than readings', async () => {
    const { json } = await collapsed();
    const expected: Record<string, object> = {
      sum: { value: '6.70', row: 2, text: ' 2.2', superseded: 2 },
      average: { value: '2.23333333', row: 2, text: ' 2.2', superseded: 2 },
      count: { value: '3', row: 2, text: ' 2.2', superseded: 2 },
      first: { value: '1.10', row: 1, text: '1.10', superseded: 2 },
      min: { value: '1.10', row: 1, text: '1.10', superseded: 2 },
      max: { value: '3.4', row: 3, text: '+3.4', superseded: 2 },
    };
    for (const [driver, point] of Object.entries(expected)) {
      expect(await json('explain', driver, '2026-01'), driver).toMatchObject({ points: [point] });
    }
    const negative = { sum: '-10', average: '-5', count: '2', first: '-5', last: '-5', min: '-5', max: '-5' };
    for (const [driver, value] of Object.entries(negative)) {
      expect(await json('explain', driver, '2026-02'), driver).toMatchObject({ points: [{ value, superseded: 1 }] });
    }
  });

  test('without a month shows all of them, in order', async () => {
    const { json, run } = await collapsed();
    const { points } = await json<Explained>('explain', 'sum');
    expect(points.map(({ month, value }) => `${month} ${value}`)).toEqual(['2026-01 6.70', '2026-02 -10']);
    const { stdout } = await run('explain', 'sum');
    for (const shown of ['Rules / sum', 'revenue', 'a.csv', '6.70', '-10']) expect(stdout).toContain(shown);
  });

  test('names the first push that carried a number, and none before there was one', async () => {
    const { at, json, receiver } = await twoPushes();
    const firsts = async (driver: string): Promise<unknown> =>
      (await json<Explained>('explain', driver)).points.map(({ month, firstPush }) => [month, firstPush]);
    expect(await firsts('North')).toEqual([
      ['2026-01', 1],
      ['2026-02', 2],
    ]);
    expect(await firsts('South')).toEqual([['2026-01', 2]]);
    await at.write('a.csv', longFile({ North: { '2026-01': 7, '2026-02': 3 }, South: { '2026-01': 4 } }));
    receiver.answer(400);
    await json('sync');
    expect(await firsts('North')).toEqual([
      ['2026-01', undefined],
      ['2026-02', 2],
    ]);
    await json('sync');
    expect(await firsts('North')).toEqual([
      ['2026-01', 4],
      ['2026-02', 2],
    ]);
  });

  test('knows the part and the row of each of several parts', async () => {
    const { json, run } = await commandsWorld(
      { revenue: csv('r-*.csv') },
      {
        'r-1.csv': longFile({ A: { '2026-01-01': 1, '2026-02-01': 2 } }),
        'r-2.csv': longFile({ B: { '2026-01-01': 1 }, A: { '2026-01-15': 3 } }),
      },
    );
    await run('sync');
    expect(await json('explain', 'A')).toMatchObject({
      points: [
        { month: '2026-01', value: '3', part: 'r-2.csv', row: 2, superseded: 1 },
        { month: '2026-02', value: '2', part: 'r-1.csv', row: 2, superseded: 0 },
      ],
    });
  });

  test('works with every source unplugged', async () => {
    const { at, run, json } = await twoPushes();
    const before = await json('explain', 'North');
    await at.remove('a.csv');
    await run('sync');
    expect(await json('explain', 'North')).toEqual(before);
  });

  test('refuses an unknown driver, month, or what is no month with 64', async () => {
    const { run } = await twoPushes();
    for (const args of [['Nort'], ['North', '2026-03'], ['North', 'March'], ['North', '2026-13'], ['']]) {
      const { code, json } = await run('explain', '--json', ...args);
      expect(code).toBe(64);
      expect(json()).toMatchObject(shapes.failure(64));
    }
    expect((await run('explain', 'nort')).stderr).toContain('North');
  });
});

describe('rejects', () => {
  const files = {
    'a.csv': 'id,time,value\nNorth,2026-01,1\nNorth,2026-02,"1,5"\n"a ""b""",2026-01,x\nNorth,2026-03\n',
    'b.csv': 'id,time,value\nRent,2026-01,1\nRent,1926,1\n',
  };
  const config = { guard: { maxRejects: '90%' } };

  function badFile(rows: number): string {
    return `id,time,value\n${'North,2026-01,x\n'.repeat(rows)}${'North,2026-01,1\n'.repeat(200)}`;
  }

  test('prints rows that could not be read as CSV', async () => {
    const { at, run } = await commandsWorld({ revenue: csv('a.csv'), costs: csv('b.csv') }, files, config);
    await run('sync');
    const { code, stdout } = await at.command('rejects');
    expect(code).toBe(0);
    const lines = stdout.trimEnd().split('\n');
    expect(lines[0]).toBe('source,part,row,reason,text');
    expect(lines.slice(1).map((line) => line.split(',', 3).join(','))).toEqual(
      expect.arrayContaining(['revenue,a.csv,2', 'revenue,a.csv,3', 'revenue,a.csv,4', 'costs,b.csv,2']),
    );
    expect(lines).toHaveLength(5);
    expect((await run('rejects', 'costs')).stdout.trimEnd().split('\n')).toHaveLength(2);
  });

  test('keeps the first 1,000 of each part', async () => {
    const bad = badFile(1200);
    const { run, json } = await commandsWorld({ revenue: csv('*.csv') }, { 'a.csv': bad, 'b.csv': bad }, config);
    expect(await json('sync')).toMatchObject({ exit: 0, sources: [{ rejects: 2400 }] });
    const lines = (await run('rejects')).stdout.trimEnd().split('\n');
    expect(lines).toHaveLength(2001);
    expect(lines[1000]).toMatch(/^revenue,a\.csv,1000,/);
  });

  test('says how many rows of a part are left out, and how many there are, in text and in JSON', async () => {
    const some = { 'a.csv': badFile(1200), 'b.csv': badFile(1000), 'c.csv': badFile(3) };
    const { run, json } = await commandsWorld({ revenue: csv('*.csv') }, some, config);
    await run('sync');
    expect((await run('rejects')).stderr).toBe(
      'note: a.csv of source "revenue": 1200 rows could not be used; only the first 1000 stand here\n',
    );
    expect(await json('rejects')).toMatchObject({
      total: 2203,
      leftOut: [{ source: 'revenue', part: 'a.csv', rejects: 1200, listed: 1000 }],
    });
  });

  test('counts all rows of a part that was not accepted, and so does status', async () => {
    const good = longFile({ North: { '2026-01': 1 } });
    const { run, json, at } = await commandsWorld({ revenue: csv('a.csv') }, { 'a.csv': good });
    await run('sync');
    await at.write('a.csv', `${good}${'North,2026-02,x\n'.repeat(4000)}`);
    expect(await json('sync')).toMatchObject({ exit: 3, sources: [{ state: 'unread', rejects: 4000 }] });
    expect(await json('status')).toMatchObject({ sources: [{ rejects: 4000 }] });
    expect(await json('rejects')).toMatchObject({ total: 4000, leftOut: [{ rejects: 4000, listed: 1000 }] });
    await at.write('a.csv', good);
    await run('sync');
    expect(await json('rejects')).toEqual({ total: 0, rejects: [], leftOut: [] });
  });

  test('knows how many an older agent counted', async () => {
    const bad = badFile(1200);
    const { run, json, at } = await commandsWorld({ revenue: csv('a.csv') }, { 'a.csv': bad }, config);
    await run('sync');
    const before = await json('rejects');
    const buffer = new Database(path.join(at.dir, '.driver-sync', 'buffer.db'));
    unbundle(buffer);
    buffer.exec('DROP TABLE reject_count; PRAGMA user_version = 7');
    buffer.close();
    await run('sync');
    expect(await json('rejects')).toEqual(before);
  });

  test('names ten such parts, and counts the others', async () => {
    const bad = badFile(1001);
    const many = Object.fromEntries(Array.from({ length: 12 }, (_, at) => [`${at}.csv`, bad]));
    const { run } = await commandsWorld({ revenue: csv('*.csv') }, many, config);
    await run('sync');
    const said = (await run('rejects')).stderr.trimEnd().split('\n');
    expect(said).toHaveLength(11);
    expect(said.at(-1)).toBe('note: and so it is with 2 more parts; "rejects --json" names them all');
  });

  test('refuses an unknown source with 64, and has a header where there are none', async () => {
    const { run } = await twoPushes();
    expect((await run('rejects', 'nobody', '--json')).json()).toMatchObject(shapes.failure(64));
    expect(await run('rejects')).toMatchObject({ code: 0, stdout: 'source,part,row,reason,text\n' });
  });
});

describe('history and diff', () => {
  test('history shows all pushes with what they changed, those that failed too', async () => {
    const { at, receiver, run } = await twoPushes();
    receiver.answer(422);
    await at.write('a.csv', longFile({ North: { '2026-01': '1.50', '2026-02': 3 } }));
    await run('sync');
    const done = await at.command('history', '--json');
    expect(done.code).toBe(0);
    const { pushes } = done.json<{ pushes: { id: number }[] }>();
    const none = { create: 0, update: 0, delete: 0 };
    const [first, second] = receiver.posts;
    expect(pushes.toSorted((a, b) => a.id - b.id)).toMatchObject([
      {
        id: 1,
        at: shapes.moment,
        outcome: 'acknowledged',
        digest: first?.digest,
        drivers: 1,
        points: 2,
        bytes: first?.body.length,
        changes: { drivers: { ...none, create: 1 }, points: { ...none, create: 2 } },
      },
      {
        id: 2,
        outcome: 'acknowledged',
        digest: second?.digest,
        drivers: 2,
        points: 3,
        changes: { drivers: { ...none, create: 1, update: 1 }, points: { ...none, create: 1, update: 1 } },
      },
      { id: 3, outcome: 'refused', changes: { drivers: { ...none, delete: 1 }, points: { ...none, delete: 1 } } },
    ]);
  });

  test('diff shows what changed from one acknowledged snapshot to another, either way', async () => {
    const { at, run } = await twoPushes();
    const { code, stdout } = await at.command('diff', '1', '2');
    expect(code).toBe(0);
    expect(stdout).toMatch(/North[^]*2026-02.*2.*3/);
    expect(stdout).toMatch(/South[^]*2026-01.*4/);
    expect(stdout).not.toContain('1.50');
    expect((await run('diff', '2', '1')).stdout).toMatch(/2026-02.*3.*2/);
    expect((await run('diff', '2', '2')).code).toBe(0);
    const changes = { drivers: { create: 0, update: 1, delete: 1 }, points: { create: 0, update: 1, delete: 1 } };
    expect((await run('diff', '2', '1', '--json')).json()).toMatchObject({ changes });
  });

  test('diff refuses with 64 a push that is unknown, that was not acknowledged, or that is no number', async () => {
    const { at, receiver, run } = await twoPushes();
    receiver.answer(422);
    await at.write('a.csv', longFile({ North: { '2026-01': '1.50', '2026-02': 9 }, South: { '2026-01': 4 } }));
    await run('sync');
    for (const wrong of ['99', '3', '0', 'last', '1.5', '-1']) {
      const { code, json } = await run('diff', '--json', '--', '1', wrong);
      expect({ wrong, code }).toEqual({ wrong, code: 64 });
      expect(json()).toMatchObject(shapes.failure(64));
    }
  });
});

test('commands that look change nothing in the state', async () => {
  const { at, run } = await twoPushes();
  const before = await recordsOf(at.state);
  for (const args of [['status'], ['history'], ['diff', '1', '2'], ['explain', 'North'], ['rejects'], ['check']]) {
    expect((await run(...args)).code).toBe(0);
  }
  expect(await recordsOf(at.state)).toEqual(before);
});

test('commands that look need the state alone, whatever became of the sources and the destination', async () => {
  const { at, run } = await twoPushes();
  const copy = path.join(at.dir, 'copy');
  await mkdir(copy);
  await writeFile(path.join(copy, 'driver-sync.yaml'), 'destination: emulator\nstate: ../.driver-sync\nsources: {}\n');
  await rm(path.join(at.dir, 'a.csv'));
  // Without a source, and from another config: what is kept is enough.
  const { code, stdout } = await commandLine(
    'explain',
    'North',
    '2026-01',
    '--config',
    path.join(copy, 'driver-sync.yaml'),
  );
  expect(code).toBe(0);
  expect(stdout).toContain('1.50');
  expect((await run('history')).code).toBe(0);
});
