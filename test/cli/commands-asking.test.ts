/** `forget` and `rollback`: what they say, what they do, and what they refuse. */
import { rm } from 'node:fs/promises';
import path from 'node:path';
import { describe, expect, test } from 'vitest';
import { openLedger } from '../../src/edges/state/ledger.ts';
import { shapes } from '../support/command-line.ts';
import { type CommandsWorld, commandsWorld, manyDrivers, twoPushes } from '../support/commands-world.ts';
import { csv } from '../support/process.ts';
import { pointsOf } from '../support/receiver.ts';
import { longFile } from '../support/world.ts';

describe('forget', () => {
  async function withCarried(): Promise<CommandsWorld> {
    const commands = await commandsWorld(
      { revenue: csv('r-*.csv') },
      { 'r-1.csv': longFile({ A: { '2026-01': 1, '2026-02': 2 } }), 'r-2.csv': longFile({ B: { '2026-01': 1 } }) },
    );
    await commands.run('sync');
    await commands.at.remove('r-1.csv');
    expect((await commands.run('sync')).code).toBe(3);
    return commands;
  }

  test('says what it deletes and does nothing without --yes where nobody can be asked', async () => {
    const { at, json } = await withCarried();
    const { code, stdout, stderr } = await at.command('forget', 'revenue', 'r-1.csv');
    expect(code).toBe(64);
    expect(stdout + stderr).toMatch(/1 driver.*2 points/);
    expect(stdout + stderr).toContain('--yes');
    expect(await json('sync')).toMatchObject({ outcome: 'unchanged', exit: 0, sources: [{ carried: ['r-1.csv'] }] });
  });

  test('shows the values that change where parts add up, with old and new value', async () => {
    const adding = { collapse: 'sum', id: '{id}', path: ['{id}'], time: '{time}', value: '{value}' };
    const source = { type: 'csv', files: ['r-*.csv'], settle: '0s', drivers: [adding] };
    const file = (value: number): string => longFile({ A: { '2026-01': value, '2026-02': value } });
    const { at, json, run } = await commandsWorld({ revenue: source }, { 'r-1.csv': file(100), 'r-2.csv': file(7) });
    await run('sync');
    await at.remove('r-1.csv');
    await run('sync');
    const asked = await run('forget', 'revenue', 'r-1.csv', '--yes');
    expect(asked.stdout).toContain('forgetting this changes 2 values at the next push');
    expect(asked.stdout).toMatch(/A +A +2026-01 +107 +7 +-100\n/);
    expect(await json('forget', 'revenue', 'r-1.csv', '--yes')).toMatchObject({
      changedPoints: 2,
      largest: [
        { driver: 'A', month: '2026-01', old: '107', new: '7' },
        { driver: 'A', month: '2026-02', old: '107', new: '7' },
      ],
    });
  });

  test('opens closed months only where that is said', async () => {
    const adding = { collapse: 'sum', id: '{id}', path: ['{id}'], time: '{time}', value: '{value}' };
    const source = { type: 'csv', files: ['r-*.csv'], settle: '0s', drivers: [adding] };
    const file = (value: number): string => longFile({ A: { '2026-01': value, '2026-02': value, '2026-03': value } });
    const files = { 'r-1.csv': file(100), 'r-2.csv': file(7) };
    const { at, json, run, receiver } = await commandsWorld({ revenue: source }, files, { lastClose: '2026-02' });
    await run('sync');
    await at.remove('r-1.csv');
    await run('sync');
    const refused = await run('forget', 'revenue', 'r-1.csv', '--yes');
    expect(refused.code).toBe(64);
    expect(refused.stderr).toMatch(
      /changes 3 values at the next push; 2 points of closed months of A would change \(2026-01, 2026-02, .*nothing was forgotten.*--closed/s,
    );
    expect(await json('sync')).toMatchObject({ outcome: 'unchanged', sources: [{ carried: ['r-1.csv'] }] });
    expect(await json('forget', 'revenue', 'r-1.csv', '--yes', '--closed')).toMatchObject({
      changedPoints: 3,
      findings: [{ kind: 'closed', points: 2 }],
    });
    expect(await json('sync')).toMatchObject({ exit: 0, outcome: 'acknowledged' });
    expect(pointsOf(receiver.posts.at(-1)!)).toMatchObject({ A: { '2026-01': '7', '2026-03': '7' } });
  });

  test('says that an older file takes its place where only the newest counts', async () => {
    const source = { ...csv('r-*.csv'), parts: 'newest' };
    const file = (value: number): string => longFile({ A: { '2026-01': value } });
    const { at, json, run, receiver } = await commandsWorld({ revenue: source }, { 'r-1.csv': file(1) });
    await run('sync');
    await at.write('r-2.csv', file(2));
    await run('sync');
    await at.remove('r-2.csv');
    expect((await run('sync')).code).toBe(3);
    const { stdout } = await run('forget', 'revenue', 'r-2.csv', '--yes');
    expect(stdout).toContain(
      'forgetting this deletes 1 driver and 1 point at the next push, but for what the newest of the other files has',
    );
    expect(await json('sync')).toMatchObject({ outcome: 'acknowledged', exit: 0, sources: [{ carried: [] }] });
    expect(pointsOf(receiver.posts.at(-1)!)).toEqual({ A: { '2026-01': '1' } });
  });

  test('says that nothing goes while its source is not read, where a file may have taken its place', async () => {
    const { at, run } = await commandsWorld(
      { revenue: csv('r-*.csv') },
      { 'r-1.csv': longFile({ A: { '2026-01': 1 } }), 'r-2.csv': longFile({ B: { '2026-01': 1 } }) },
    );
    await run('sync');
    await at.remove('r-1.csv');
    await run('sync');
    await at.write('r-3.csv', longFile({ A: { '2026-01': 3 } }));
    await at.write('r-4.csv', '');
    expect((await run('sync')).code).toBe(3);
    expect((await run('forget', 'revenue', 'r-1.csv', '--yes')).stdout).toContain(
      'forgetting this deletes 1 driver and 1 point once its source was read and that is accepted without it, but for what that has too;',
    );
  });

  test('says that what a read that waits has too comes back with it', async () => {
    const adding = { collapse: 'sum', id: '{id}', path: ['{id}'], time: '{time}', value: '{value}' };
    const source = { type: 'csv', files: ['r-*.csv'], settle: '0s', drivers: [adding] };
    const one = longFile({ A: { '2026-01': 1, '2026-02': 2 } });
    const { at, json, run, receiver } = await commandsWorld(
      { revenue: source },
      { 'r-1.csv': one, 'r-2.csv': longFile({ B: { '2026-01': 1 } }) },
    );
    await run('sync');
    await at.remove('r-1.csv');
    await at.write('r-3.csv', longFile({ A: { '2026-01': 1, '2026-02': 3 } }));
    expect((await run('sync')).code).toBe(4);
    const { stdout } = await run('forget', 'revenue', 'r-1.csv', '--yes');
    expect(stdout).toContain(
      'forgetting this deletes 1 driver and 2 points once the read that waits is accepted without it, but for what that has too;',
    );
    expect(await json('sync')).toMatchObject({ exit: 0, outcome: 'acknowledged' });
    expect(pointsOf(receiver.posts.at(-1)!)).toEqual({ A: { '2026-01': '1', '2026-02': '3' }, B: { '2026-01': '1' } });
  });

  test('with --yes lets the next pass delete what was carried', async () => {
    const { at, json, receiver } = await withCarried();
    const { code, stdout } = await at.command('forget', 'revenue', 'r-1.csv', '--yes');
    expect(code).toBe(0);
    expect(stdout).toMatch(/1 driver.*2 points/);
    expect(await json('sync')).toMatchObject({ outcome: 'acknowledged', exit: 0, sources: [{ carried: [] }] });
    expect(pointsOf(receiver.posts.at(-1)!)).toEqual({ B: { '2026-01': '1' } });
  });

  test('says what a source that left the config deletes where the buffer was lost', async () => {
    const { at, run, configure } = await commandsWorld(
      { revenue: csv('r.csv'), costs: csv('c.csv') },
      { 'r.csv': longFile({ A: { '2026-01': 1 } }), 'c.csv': longFile({ B: { '2026-01': 1 }, C: { '2026-01': 1 } }) },
    );
    await run('sync');
    await configure({ revenue: csv('r.csv') });
    await rm(path.join(at.state, 'buffer.db'));
    const { stdout } = await run('forget', 'costs', '--yes');
    expect(stdout).toContain('forgetting this deletes 2 drivers and 2 points at the next push');
  });

  test('refuses an unknown source, an unknown part and a part that is there with 64', async () => {
    const { run, json } = await withCarried();
    for (const args of [['nobody'], ['revenue', 'r-9.csv'], ['revenue', 'r-2.csv']]) {
      const { code, json: failure } = await run('forget', '--yes', '--json', ...args);
      expect({ args, code }).toEqual({ args, code: 64 });
      expect(failure()).toMatchObject(shapes.failure(64));
    }
    expect(await json('sync')).toMatchObject({ outcome: 'unchanged', exit: 0 });
  });

  test.each([
    ['r-1.csv', 'r-1.csv'],
    ['r 1.csv', "'r 1.csv'"],
    ["r'1.csv", String.raw`'r'\''1.csv'`],
  ])('is written by sync and status as a shell takes it: %s', async (name, word) => {
    const { at, run } = await commandsWorld(
      { revenue: csv('r*.csv') },
      { [name]: longFile({ A: { '2026-01': 1 } }), 'r.csv': longFile({ B: { '2026-01': 1 } }) },
    );
    await run('sync');
    await at.remove(name);
    const advice = `revenue: ${name} is gone and its data is carried; driver-sync forget revenue ${word} drops it\n`;
    expect((await run('sync')).stdout).toContain(advice);
    expect((await run('status')).stdout).toContain(advice);
  });

  test('says of a source of the config that it was never accepted, and of another one which there are', async () => {
    const { run } = await commandsWorld({ revenue: csv('r.csv') }, { 'r.csv': longFile({ A: { '2026-01': 1 } }) });
    await run('plan');
    const refused = async (source: string): Promise<string> => (await run('forget', source, '--yes')).stderr;
    const fact = (source: string): string => `driver-sync: nothing is kept of a source "${source}"\n`;
    expect(await refused('revenue')).toBe(
      `${fact('revenue')}  it is in the config, and no read of it was accepted yet\n`,
    );
    expect(await refused('nobody')).toBe(`${fact('nobody')}  there are revenue\n`);
    expect(await refused('revneue')).toBe(`${fact('revneue')}  did you mean "revenue"?\n`);
  });
});

describe('rollback', () => {
  test('keeps an approval until the sources are gone on from, and approve says so', async () => {
    const { at, json, run } = await commandsWorld({ sales: csv('sales.csv') }, { 'sales.csv': manyDrivers(40) });
    await run('sync');
    await at.write('sales.csv', manyDrivers(20));
    const { sources } = await json<{ sources: { digest: string }[] }>('sync');
    await run('rollback', '1');
    const { stdout } = await run('approve', sources[0]!.digest);
    expect(stdout).toMatch(
      /^approved sales by .+; rolled back to push 1: the pass that goes on from the sources takes it up\n$/,
    );
    expect(await json('sync')).toMatchObject({ outcome: 'acknowledged', exit: 0, push: { drivers: 20 } });
  });

  test('pushes an acknowledged snapshot again, byte for byte, and sync goes on from the sources', async () => {
    const { at, receiver, json } = await twoPushes();
    expect((await at.command('rollback', '1')).code).toBe(0);
    expect(receiver.posts.at(-1)?.body).toBe(receiver.posts[0]?.body);
    expect(await json('status')).toMatchObject({ rolledBackTo: 1, blocked: { reason: 'rolled back to push 1' } });
    expect(await json('sync')).toMatchObject({ outcome: 'acknowledged', exit: 0 });
    expect(receiver.posts.at(-1)?.body).toBe(receiver.posts[1]?.body);
  });

  test('leaves sources in status as the service now holds them, and not as the pass before it did', async () => {
    const { json, run } = await twoPushes();
    expect(await json('status')).toMatchObject({ sources: [{ name: 'revenue', drivers: 2, points: 3 }] });
    await run('rollback', '1');
    expect(await json('status')).toMatchObject({
      sources: [{ name: 'revenue', state: 'unchanged', drivers: 1, points: 2, changes: { points: { create: 0 } } }],
    });
    await run('sync');
    expect(await json('status')).toMatchObject({ sources: [{ name: 'revenue', drivers: 2, points: 3 }] });
  });

  test('is named by status while it waits for an agent, with what carries it out', async () => {
    const { at, json, run } = await twoPushes();
    const ledger = openLedger(path.join(at.state, 'ledger.db'), 'write');
    await ledger.requests.add({ kind: 'rollback', push: 1 }, Date.parse('2026-03-15T12:00:00Z'));
    await ledger.requests.add(
      { kind: 'forget', source: 'revenue', part: 'old.csv' },
      Date.parse('2026-03-15T12:01:00Z'),
    );
    await ledger.close();
    expect(await json('status')).toMatchObject({
      decisions: [
        { kind: 'forget', source: 'revenue', part: 'old.csv', at: '2026-03-15T12:01:00.000Z', state: 'pending' },
        { kind: 'rollback', push: 1, at: '2026-03-15T12:00:00.000Z', state: 'pending' },
      ],
    });
    const { stdout } = await run('status');
    expect(stdout).toMatch(
      /2026-03-15 12:00, \d+ days ago: roll back to push 1, waits: "driver-sync run" carries it out, "driver-sync sync" drops it\n/,
    );
    expect(stdout).toMatch(/2026-03-15 12:01, \d+ days ago: forget old\.csv of revenue, waits for the next pass\n/);
    await run('sync');
    expect((await run('status')).stdout).not.toContain('waits');
  });

  test('is 5 where the service refuses it', async () => {
    const { receiver, run } = await twoPushes();
    receiver.answer(403);
    expect((await run('rollback', '1', '--json')).code).toBe(5);
  });

  test('keeps to Retry-After: it says until when, asks for nothing and exits 75, unless --force', async () => {
    const { at, receiver, json, run } = await twoPushes();
    receiver.answer({ status: 429, headers: { 'retry-after': '3600' } });
    await at.write('a.csv', longFile({ North: { '2026-01': '1.50', '2026-02': 9 }, South: { '2026-01': 4 } }));
    await run('sync');
    expect(await json('rollback', '1')).toMatchObject({
      outcome: 'unreachable',
      exit: 75,
      reason: expect.stringContaining('Retry-After'),
      hint: expect.stringContaining('driver-sync rollback 1 --force'),
    });
    expect(receiver.posts).toHaveLength(3);
    expect((await run('rollback', '1', '--force')).code).toBe(0);
    expect(receiver.posts[3]?.body).toBe(receiver.posts[0]?.body);
  });

  test('says what it changes in closed months', async () => {
    const { configure, run } = await twoPushes();
    await configure({ revenue: csv('a.csv') }, { lastClose: '2026-01' });
    const { code, stderr } = await run('rollback', '1');
    expect(code).toBe(0);
    expect(stderr).toMatch(/note: 1 point of a closed month of South would change .*"South" 2026-01 from 4 to nothing/);
  });

  test('refuses with 64 a push that is unknown or was not acknowledged', async () => {
    const { at, receiver, run } = await twoPushes();
    receiver.answer(422);
    await at.write('a.csv', longFile({ North: { '2026-01': '1.50', '2026-02': 9 }, South: { '2026-01': 4 } }));
    await run('sync');
    for (const wrong of ['99', '3', 'last']) {
      const { code, json } = await run('rollback', wrong, '--json');
      expect({ wrong, code }).toEqual({ wrong, code: 64 });
      expect(json()).toMatchObject(shapes.failure(64));
    }
    expect(receiver.posts).toHaveLength(3);
  });
});
