/** What a pass makes of its candidates once all sources were read: who is told what, and what waits. */
import { describe, expect, test } from 'vitest';
import { firstPushTo } from '../../src/app/review/approvals.ts';
import { noChanges } from '../../src/core/series/diff.ts';
import { grid, reviewWorld } from '../support/review-world.ts';
import { ids } from '../support/world.ts';

const file = (...drivers: readonly string[]) => ({ 'a.csv': grid(drivers) });

describe('of each source it says', () => {
  test('that a first read was accepted, whatever is in it', async () => {
    await using w = reviewWorld({ a: { mayBeEmpty: true }, b: {} });
    w.keep('a candidate', file());
    w.keep('b candidate', file('B'));
    expect(await w.review()).toMatchObject({
      a: { state: 'accepted', changes: noChanges },
      b: { state: 'accepted', changes: { drivers: { create: 1 } } },
    });
    expect(w.accepted()).toEqual({ a: [], b: ['B'] });
    expect(w.deps.buffer.reads.summary('b', 'accepted')).toMatchObject({ drivers: 1, points: 1 });
  });

  test('that a candidate which changes nothing is no change, and it is accepted', async () => {
    await using w = reviewWorld({ a: {} });
    w.keep('a accepted', file('A'));
    w.keep('a candidate', { 'b.csv': grid(['A']) });
    expect(await w.review()).toEqual({ a: { source: 'a', state: 'unchanged', changes: noChanges } });
    expect(w.deps.buffer.reads.parts('a', 'accepted')).toMatchObject([{ name: 'b.csv' }]);
    expect(await w.review()).toEqual({ a: { source: 'a', state: 'unchanged', changes: noChanges } });
  });

  test('why it was not read, and what to do', async () => {
    await using w = reviewWorld({ a: {}, b: {} });
    w.keep('a accepted', file('A'));
    w.keep('a candidate', file('B'));
    const { a } = await w.review({ unread: { a: 'no such file' } });
    expect(a).toEqual({ source: 'a', state: 'unread', reason: 'no such file', hint: 'mend it', changes: noChanges });
    expect(w.accepted()).toEqual({ a: ['A'] });
  });

  test('why it is held, by which digest, and what it would do', async () => {
    await using w = reviewWorld({ a: {} });
    w.keep('a accepted', { 'a.csv': { points: { A: { '2026-01': '1' }, B: { '2026-01': '2' } } } });
    w.keep('a candidate', { 'a.csv': { points: {} } });
    const { a } = await w.review();
    expect(a).toMatchObject({
      state: 'held',
      reason: 'it turned empty and would delete all 2 drivers',
      hint: 'check the export; approve only if the data is really gone',
      approvable: true,
      changes: { drivers: { delete: 2 }, points: { delete: 2 } },
      deletes: [{ driver: 'A', whole: true }, { driver: 'B' }],
      renamed: [],
    });
    expect(await w.deps.ledger.holds.held()).toMatchObject([
      { source: 'a', digest: a?.digest, reason: a?.reason, hint: a?.hint, approvable: true, sinceMs: +w.clock.now() },
    ]);
    expect(a).not.toHaveProperty('findings');
    expect(a).not.toHaveProperty('warnings');
    expect(w.accepted()).toEqual({ a: ['A', 'B'] });
    expect(w.deps.buffer.reads.summary('a', 'candidate')).toMatchObject({ drivers: 0, points: 0 });
  });

  test('in the order of the config, and then of those that left it', async () => {
    await using w = reviewWorld({ c: {}, a: {} });
    w.keep('b accepted', file('B'));
    w.keep('a candidate', file('A'));
    w.keep('c candidate', file('C'));
    expect(Object.keys(await w.review())).toEqual(['c', 'a', 'b']);
    expect(w.events).toEqual([{ kind: 'read.judged' }]);
  });

  test('which ids change under one path', async () => {
    await using w = reviewWorld({ a: {} });
    const pathOf = (): readonly string[] => ['Sales'];
    w.keep('a accepted', { 'a.csv': { ...grid(['A']), pathOf } });
    w.keep('a candidate', { 'a.csv': { ...grid(['B']), pathOf } });
    w.configure({ a: {} }, { guard: { ...w.deps.settings.guard, floor: 0 } });
    expect(await w.review()).toMatchObject({ a: { state: 'held', renamed: [{ from: 'A', to: 'B' }] } });
  });
});

describe('a digest is that of', () => {
  const digests = async (source: string, drivers: readonly string[], before = 20): Promise<string | undefined> => {
    await using w = reviewWorld({ [source]: { mayBeEmpty: false } });
    w.keep(`${source} accepted`, file(...ids(1, before), ...drivers));
    w.keep(`${source} candidate`, file(...drivers));
    return (await w.review())[source]?.digest;
  };

  test('a source, all that would be sent of it, and how much it changes', async () => {
    const digest = await digests('a', ['A', 'B']);
    // Whoever approves may do so after an update: it is the same in all versions.
    expect(digest).toBe('ceff61045928690d314e1366cfa5a6fd7d01d16547bf5d324a59f57e89a3ea71');
    expect(await digests('a', ['A', 'B'])).toBe(digest);
    expect(await digests('a', ['A', 'C'])).not.toBe(digest);
    expect(await digests('b', ['A', 'B'])).not.toBe(digest);
    expect(await digests('a', ['A', 'B'], 21)).not.toBe(digest);
  });

  test('a source that left, and all that would go with it', async () => {
    const left = async (source: string, drivers: readonly string[]): Promise<string | undefined> => {
      await using w = reviewWorld({});
      w.keep(`${source} accepted`, file(...drivers));
      return (await w.review())[source]?.digest;
    };
    const digest = await left('a', ['A', 'B']);
    expect(await left('a', ['A', 'B'])).toBe(digest);
    expect(await left('a', ['A'])).not.toBe(digest);
    expect(await left('b', ['A', 'B'])).not.toBe(digest);
    expect(await digests('a', ['A', 'B'])).not.toBe(digest);
  });
});

describe('warnings are told', () => {
  const copies = {
    'a.csv': { ...grid(['A']), rule: 'sum', hash: 'same' },
    'b.csv': { ...grid(['A']), rule: 'sum', hash: 'same' },
  } as const;
  const told = 'b.csv has the same content as a.csv: its rows count twice';

  test('of the candidate that is held, and else of what is accepted', async () => {
    await using w = reviewWorld({ b: {}, a: { rules: ['sum'] } });
    w.keep('a accepted', copies);
    expect((await w.review())['a']?.warnings).toEqual([told]);
    w.keep('a candidate', { 'a.csv': { points: {}, rule: 'sum' } });
    expect(await w.review()).toMatchObject({ a: { state: 'held' } });
    expect((await w.review())['a']).not.toHaveProperty('warnings');
    w.keep('a accepted', { 'a.csv': { ...grid(ids(1, 20)), rule: 'sum' } });
    w.keep('a candidate', copies);
    expect(await w.review()).toMatchObject({ a: { state: 'held', warnings: [told] } });
  });

  test('beside what is found in values, and of paths that another source has', async () => {
    const months = Array.from({ length: 12 }, (_, at) => `2025-${String(at + 1).padStart(2, '0')}`);
    const of = (zeros: string) => ({
      rule: 'sum' as const,
      hash: 'same',
      points: { A: Object.fromEntries(months.map((month, at) => [month, `${101 + at * 37}${zeros}`])) },
      pathOf: () => ['Sales'],
    });
    await using w = reviewWorld({ b: {}, a: { rules: ['sum'], values: 'warn' } });
    w.keep('b accepted', { 'b.csv': { ...grid(['B']), pathOf: () => ['Sales'] } });
    w.keep('a accepted', { 'a.csv': of('') });
    w.keep('a candidate', { 'a.csv': { ...of('000'), hash: 'new' } });
    const { a } = await w.review();
    expect(a).toMatchObject({ state: 'accepted', findings: [{ kind: 'factor' }] });
    expect(a?.warnings).toEqual([
      expect.stringContaining('are 1000 times what they were'),
      'drivers "B" of source "b" and "A" of this one have one path, ["Sales"]',
    ]);
  });
});

describe('what waits for a source that is not held any more', () => {
  async function held() {
    const w = reviewWorld({ a: {}, b: {} });
    w.keep('a accepted', file(...ids(1, 20)));
    w.keep('b accepted', file('B'));
    w.keep('a candidate', file('D01'));
    expect(await w.review()).toMatchObject({ a: { state: 'held' }, b: { state: 'unchanged' } });
    await w.approve('a');
    return w;
  }

  test('is used by the read that it was given for', async () => {
    await using w = await held();
    expect(await w.review()).toMatchObject({ a: { state: 'accepted' } });
    expect(await w.approvals()).toEqual([['a', 'used', undefined]]);
    expect(await w.held()).toEqual([]);
    expect((await w.deps.ledger.state()).unpushed).toEqual({ approvals: [1], forgets: [] });
    expect(w.accepted()['a']).toEqual(['D01']);
  });

  test('is dropped where a newer read does not need it, or would not be held', async () => {
    await using w = await held();
    w.keep('a candidate', file(...ids(1, 21)));
    expect(await w.review()).toMatchObject({ a: { state: 'accepted' } });
    expect(await w.approvals()).toEqual([['a', 'dropped', 'a newer read of the source did not need it']]);
    expect(await w.held()).toEqual([]);
  });

  test('is dropped where a newer read would delete more, which is held', async () => {
    await using w = await held();
    w.keep('a candidate', file('D02'));
    expect(await w.review()).toMatchObject({ a: { state: 'held' } });
    expect(await w.approvals()).toEqual([
      ['a', 'dropped', 'a newer read of the source would delete more than the approved one: driver "D01" in 2026-01'],
    ]);
  });

  test('is dropped where the source was not read, or the candidate is gone', async () => {
    await using w = await held();
    await w.review({ unread: { a: 'no such file' } });
    expect(await w.approvals()).toEqual([['a', 'dropped', 'the source was not read: no such file']]);
    await using v = await held();
    v.deps.buffer.reads.drop('a', 'candidate');
    await v.review();
    expect(await v.approvals()).toEqual([['a', 'dropped', 'nothing of that source is held any more']]);
    expect(await v.held()).toEqual([]);
  });

  test('is none of the first push, which is for another approval', async () => {
    await using w = await held();
    const source = firstPushTo('https://service');
    const scope = { deletes: new Map(), moved: new Map(), carried: [], findings: [], isEnd: false };
    const first = { source, digest: 'first', reason: 'first', hint: undefined, approvable: true };
    await w.deps.ledger.holds.hold(first, scope, 0);
    await w.approve(source);
    await w.review();
    expect(await w.approvals()).toEqual([
      [source, 'pending', undefined],
      ['a', 'used', undefined],
    ]);
    expect(await w.held()).toEqual([source]);
  });
});

test('an approved candidate that leaves no driver to the service lets an empty snapshot be sent', async () => {
  await using w = reviewWorld({ a: {} });
  w.keep('a accepted', file('A'));
  w.keep('a candidate', file());
  await w.review();
  expect((await w.deps.ledger.state()).emptyConsent).toBeUndefined();
  await w.approve('a');
  expect(await w.review()).toMatchObject({ a: { state: 'accepted' } });
  expect((await w.deps.ledger.state()).emptyConsent).toMatchObject({ address: 'https://service' });
});

test('deletes that lie ahead count as made now', async () => {
  await using w = reviewWorld({ a: {} });
  const atMs = w.clock.now().getTime();
  const [none, had] = [
    { drivers: 0, points: 0 },
    { drivers: 3, points: 3 },
  ];
  await w.deps.ledger.holds.recordDeletes('a', 'other', { atMs: atMs + 9_000_000, ...had, had });
  await w.review();
  w.clock.jump(1);
  expect(await w.deps.ledger.holds.deletesSince(['a'], atMs, '')).toMatchObject(none);
  expect(await w.deps.ledger.holds.deletesSince(['a'], atMs - 1, '')).toMatchObject(had);
});

test('every change is told of whoever watches, with its source, also of one that left the config', async () => {
  await using w = reviewWorld({ a: {} });
  w.keep('a accepted', file('A', 'B'));
  w.keep('a candidate', file('A', 'C'));
  w.keep('left accepted', file('L'));
  const seen: string[] = [];
  await w.review({ watch: (source, { kind, id }) => void seen.push(`${source}: ${kind} ${id}`) });
  expect(seen).toEqual(['a: delete B', 'a: create C', 'left: delete L']);
});
