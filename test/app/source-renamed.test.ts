/** A source whose key is renamed while its parts change: nothing is lost, and nothing counts twice. */
import { describe, expect, test } from 'vitest';
import { type TestWorld, collapsing, judged, longFile, longSource, sourceOf, world } from '../support/world.ts';

const unchanged = { exit: 0, outcome: 'unchanged' };
const points = (driver: string, value: number) => longFile({ [driver]: { '2026-01': value } });
const files = { 'in/1.csv': points('A', 10), 'in/2.csv': points('A', 20) };

/** The same source under another key; what it shows changes in the same step. */
async function renamed(w: TestWorld, source: object): Promise<void> {
  await w.reconfigure({ sources: { new: source } });
}

async function pushed(source: object, shown: Readonly<Record<string, string>> = files): Promise<TestWorld> {
  const w = await world({ config: { sources: { old: source } }, files: shown });
  expect(await w.sync()).toMatchObject({ exit: 0 });
  return w;
}

describe('a part that goes in the same step', () => {
  test.each(['sum', 'average', 'count', 'last'])('is carried: %s', async (rule) => {
    await using w = await pushed(collapsing(rule, 'in/*.csv'));
    const before = w.points();
    await renamed(w, collapsing(rule, 'in/*.csv'));
    await w.remove('in/2.csv');
    expect(await w.plan()).toMatchObject(judged(3, 'new', { carried: ['in/2.csv'] }));
    expect(await w.sync()).toMatchObject({ ...judged(3, 'new', { carried: ['in/2.csv'] }), outcome: 'unchanged' });
    expect(await w.sync()).toMatchObject({ ...judged(0, 'new', { carried: ['in/2.csv'] }), outcome: 'unchanged' });
    expect(w.points()).toEqual(before);
  });

  test('is carried where the part that stayed got another name too', async () => {
    await using w = await pushed(collapsing('sum', 'in/*.csv'));
    await renamed(w, collapsing('sum', 'exports/*.csv'));
    await w.write('exports/1.csv', files['in/1.csv']);
    expect(await w.sync()).toMatchObject({ ...judged(3, 'new', { carried: ['in/2.csv'] }), outcome: 'unchanged' });
  });

  test('is not carried where the new source takes its place and shows none of its parts', async () => {
    await using w = await pushed(collapsing('sum', 'in/*.csv'));
    await renamed(w, collapsing('sum', 'exports/*.csv'));
    await w.write('exports/all.csv', points('A', 31));
    expect(await w.sync()).toMatchObject({ ...judged(0, 'new', { carried: [] }), outcome: 'acknowledged' });
    expect(w.points()).toEqual({ A: { '2026-01': '31' } });
  });

  test('keeps the rows of it that could not be used, under the new name', async () => {
    const shown = { ...files, 'in/2.csv': `${files['in/2.csv']}A,2026-02,broken\n` };
    await using w = await world({
      config: { guard: { maxRejects: 1 }, sources: { old: collapsing('last', 'in/*.csv') } },
      files: shown,
    });
    expect(await w.sync()).toMatchObject({ exit: 0 });
    const listed = (name: string) => expect.stringMatching(new RegExp(`^[^\n]*\n${name},in/2.csv,2,[^\n]*\n$`));
    expect(await w.rejects()).toEqual(listed('old'));
    await w.remove('in/2.csv');
    await w.sync();
    await w.reconfigure({ guard: { maxRejects: 1 }, sources: { new: collapsing('last', 'in/*.csv') } });
    expect(await w.sync()).toMatchObject(judged(0, 'new', { carried: ['in/2.csv'], rejects: 1 }));
    expect(await w.rejects('new')).toEqual(listed('new'));
    expect(await w.rejects()).toEqual(listed('new'));
  });

  test('goes with removed: delete', async () => {
    await using w = await pushed(collapsing('sum', 'in/*.csv'));
    await renamed(w, collapsing('sum', 'in/*.csv', { removed: 'delete' }));
    await w.remove('in/2.csv');
    expect(await w.sync()).toMatchObject({ ...judged(0, 'new', { carried: [] }), outcome: 'acknowledged' });
    expect(w.points()).toEqual({ A: { '2026-01': '10' } });
  });

  test('is held where another part that changed has its points', async () => {
    await using w = await pushed(collapsing('sum', 'in/*.csv'));
    await renamed(w, collapsing('sum', 'in/*.csv'));
    await w.remove('in/2.csv');
    await w.write('in/1.csv', points('A', 31));
    for (const report of [await w.sync(), await w.sync()]) {
      expect(report).toMatchObject({ ...judged(4, 'new', { state: 'held' }), outcome: 'unchanged' });
      expect(sourceOf(report, 'new').reason).toContain('rows may be counted twice: in/2.csv is gone and carried');
    }
    await w.forget('new', 'in/2.csv');
    expect(await w.sync()).toMatchObject({ ...judged(0, 'new', { carried: [] }), outcome: 'acknowledged' });
    expect(w.points()).toEqual({ A: { '2026-01': '31' } });
    expect(await w.sync()).toMatchObject(unchanged);
  });

  test.each(['lost', 'rolled back'])('is carried also where the buffer was %s', async (how) => {
    const shown = { 'in/1.csv': points('A', 10), 'in/2.csv': points('B', 20) };
    await using w = await pushed(longSource('in/*.csv'), shown);
    if (how === 'lost') await w.loseBuffer();
    else await w.rollback((await w.status()).lastAcknowledged?.id ?? NaN);
    await renamed(w, longSource('in/*.csv'));
    await w.write('in/1.csv', longFile({ A: { '2026-01': 10 }, B: { '2025-12': 1 } }));
    await w.remove('in/2.csv');
    expect(await w.sync()).toMatchObject({ ...judged(3, 'new', { carried: ['in/2.csv'] }), outcome: 'acknowledged' });
    expect(w.points()).toEqual({ A: { '2026-01': '10' }, B: { '2025-12': '1', '2026-01': '20' } });
    expect(await w.sync()).toMatchObject(unchanged);
  });

  test('is held where it was only known from the sums of a snapshot', async () => {
    await using w = await pushed(collapsing('sum', 'in/*.csv'));
    await w.loseBuffer();
    await renamed(w, collapsing('sum', 'in/*.csv'));
    await w.remove('in/2.csv');
    const report = await w.sync();
    expect(report).toMatchObject({ ...judged(4, 'new', { state: 'held' }), outcome: 'unchanged' });
    expect(sourceOf(report, 'new').reason).toContain('readings are missing: in/2.csv is gone');
  });
});

describe('a removed source that carries a part and is split over two', () => {
  const carriedFile = longFile({ A: { '2026-01': 5 }, B: { '2026-01': 6 }, only: { '2026-01': 7 } });
  const split = {
    sources: { a: collapsing('sum', 'in/a.csv'), b: collapsing('sum', 'in/b.csv') },
  };

  async function carrying(): Promise<TestWorld> {
    const shown = { 'in/a.csv': points('A', 1), 'in/b.csv': points('B', 2), 'in/gone.csv': carriedFile };
    const w = await pushed(collapsing('sum', 'in/*.csv'), shown);
    await w.remove('in/gone.csv');
    expect(await w.sync()).toMatchObject({ exit: 3, outcome: 'unchanged' });
    return w;
  }

  test('gives each its own drivers, and keeps what nobody has until that is approved', async () => {
    await using w = await carrying();
    const before = w.points();
    await w.reconfigure(split);
    const report = await w.sync();
    expect(report).toMatchObject({ ...judged(4, 'old', { state: 'held' }), outcome: 'unchanged' });
    expect(sourceOf(report, 'old').changes.drivers.delete).toBe(1);
    expect(sourceOf(report, 'a')).toMatchObject({ carried: ['in/gone.csv'] });
    expect(sourceOf(report, 'b')).toMatchObject({ carried: ['in/gone.csv'] });
    expect(w.points()).toEqual(before);
    expect(await w.sync()).toMatchObject({ exit: 4, outcome: 'unchanged' });
    await w.approve(sourceOf(report, 'old').digest ?? '');
    expect(await w.sync()).toMatchObject({ exit: 0, outcome: 'acknowledged' });
    expect(w.points()).toEqual({ A: { '2026-01': '6' }, B: { '2026-01': '8' } });
  });

  test('and that is forgotten by one of the two stays with the other', async () => {
    await using w = await carrying();
    await w.reconfigure(split);
    await w.sync();
    await w.forget('a', 'in/gone.csv');
    await w.sync();
    expect(w.points()).toMatchObject({ A: { '2026-01': '1' }, B: { '2026-01': '8' } });
  });
});

describe('with parts: newest', () => {
  const newest = longSource('in/*.csv', { parts: 'newest' });
  const at = (day: string) => new Date(`2026-03-${day}T00:00:00Z`);

  async function exports(): Promise<TestWorld> {
    const w = await world({ config: { sources: { old: newest } } });
    await w.write('in/1.csv', points('A', 1), at('01'));
    await w.write('in/2.csv', longFile({ A: { '2026-01': 2 }, B: { '2026-01': 2 } }), at('02'));
    expect(await w.sync()).toMatchObject({ exit: 0, push: { drivers: 2 } });
    return w;
  }

  test('an older export does not win where the newest goes in the same step', async () => {
    await using w = await exports();
    await renamed(w, newest);
    await w.remove('in/2.csv');
    expect(await w.sync()).toMatchObject({ ...judged(3, 'new', { carried: ['in/2.csv'] }), outcome: 'unchanged' });
    expect(await w.sync()).toMatchObject({ ...judged(0, 'new', { carried: ['in/2.csv'] }), outcome: 'unchanged' });
    expect(w.points()).toEqual({ A: { '2026-01': '2' }, B: { '2026-01': '2' } });
  });

  test('a driver of a carried export does not come back beside a newer one', async () => {
    await using w = await exports();
    await w.remove('in/2.csv');
    await w.sync();
    await renamed(w, newest);
    await w.write('in/3.csv', longFile({ A: { '2026-01': 3 }, C: { '2026-01': 3 } }), at('03'));
    const report = await w.sync();
    expect(sourceOf(report, 'new')).toMatchObject({ state: 'accepted', carried: [] });
    // It is of the removed source alone now, and stays until that is approved.
    expect(report).toMatchObject(judged(4, 'old', { state: 'held' }));
    await w.approve(sourceOf(report, 'old').digest ?? '');
    expect(await w.sync()).toMatchObject({ exit: 0 });
    expect(w.points()).toEqual({ A: { '2026-01': '3' }, C: { '2026-01': '3' } });
  });
});

test('a source that reads the same file as another one may be merged into it while both carry the file', async () => {
  const half = (id: string) => collapsing('sum', 'in/*.csv', { where: { id } });
  const both = { 'in/1.csv': points('A', 1) + 'B,2026-01,1\n', 'in/2.csv': points('A', 2) + 'B,2026-01,2\n' };
  await using w = await world({ config: { sources: { a: half('A'), b: half('B') } }, files: both });
  await w.sync();
  await w.remove('in/2.csv');
  await w.sync();
  await w.reconfigure({ sources: { a: collapsing('sum', 'in/*.csv') } });
  expect(await w.sync()).toMatchObject({ exit: 0, outcome: 'unchanged' });
  expect(w.points()).toEqual({ A: { '2026-01': '3' }, B: { '2026-01': '3' } });
});

test('a source that gets its first key back has all its drivers again, also those that the other key had taken', async () => {
  const source = longSource('in/*.csv');
  await using w = await pushed(source, { 'in/1.csv': points('A', 1), 'in/2.csv': points('B', 2) });
  await renamed(w, source);
  await w.write('in/2.csv', points('C', 3));
  expect(await w.sync()).toMatchObject(judged(4, 'new', { state: 'accepted' }));
  await w.reconfigure({ sources: { old: source } });
  await w.write('in/2.csv', points('B', 2));
  const report = await w.sync();
  expect(sourceOf(report, 'new').reason).toMatch(/left the config and 1 driver would be deleted/u);
  expect(await w.explain('A')).toMatchObject({ source: 'old' });
  await w.approve(sourceOf(report, 'new').digest ?? '');
  expect(await w.sync()).toMatchObject({ exit: 0 });
  expect(w.points()).toEqual({ A: { '2026-01': '1' }, B: { '2026-01': '2' } });
});

test('what was read under a key that is gone again counts while the source is not read: nobody gives up what it may have', async () => {
  const keyed = (key: string) => ({
    guard: { maxDeletes: '60%' },
    sources: { south: longSource('south.csv'), [key]: longSource('west.csv') },
  });
  const many = (...drivers: readonly string[]): string =>
    longFile(Object.fromEntries(drivers.map((id) => [id, { '2026-01': 1 }])));
  await using w = await world({
    config: keyed('west'),
    files: { 'south.csv': many('A', 'B', 'Lake'), 'west.csv': many('C') },
  });
  await w.sync();
  await w.reconfigure(keyed('far-west'));
  await w.write('west.csv', many('C', 'Lake'));
  expect(sourceOf(await w.sync(), 'far-west')).toMatchObject({ state: 'held' });
  await w.write('west.csv', '');
  expect(sourceOf(await w.sync(), 'far-west')).toMatchObject({ state: 'unread' });
  await w.write('south.csv', many('A', 'B'));
  await w.reconfigure(keyed('west'));
  expect(sourceOf(await w.sync(), 'south')).toMatchObject({
    state: 'held',
    reason: 'driver "Lake" of source "south" moved to source "far-west", which is not read',
  });
  await w.write('west.csv', many('C', 'Lake'));
  await w.sync();
  expect(Object.keys(w.points()).sort()).toEqual(['A', 'B', 'C', 'Lake']);
});
