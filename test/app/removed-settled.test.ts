/** What becomes of a source that left the config, beside what the others of a pass came to. */
import { describe, expect, test } from 'vitest';
import { type ReviewWorld, grid, reviewWorld } from '../support/review-world.ts';
import { ids } from '../support/world.ts';

const file = (...drivers: readonly string[]) => ({ 'a.csv': grid(drivers) });
const isEnd = 'the source left the config and ';

/** `left` has left the config with these drivers, beside "a". */
function leaving(drivers: readonly string[], more: object = {}): ReviewWorld {
  const w = reviewWorld({ a: {} }, more);
  w.keep('a accepted', file('A'));
  w.keep('left accepted', file(...drivers));
  return w;
}

describe('a source that left the config', () => {
  test('waits for approval with what would go', async () => {
    await using w = leaving(['L', 'M']);
    const { left } = await w.review();
    expect(left).toMatchObject({
      state: 'held',
      reason: `${isEnd}2 drivers would be deleted`,
      hint: 'approve it, or put the source back',
      approvable: true,
      changes: { drivers: { delete: 2 } },
      deletes: [{ driver: 'L', whole: true, months: ['2026-01'] }, { driver: 'M' }],
    });
    expect(left).not.toHaveProperty('findings');
    expect(left).not.toHaveProperty('warnings');
    expect(await w.deps.ledger.holds.held()).toMatchObject([
      { source: 'left', digest: left?.digest, reason: left?.reason, hint: left?.hint, approvable: true },
    ]);
    expect(w.accepted()).toEqual({ a: ['A'], left: ['L', 'M'] });
  });

  test('goes with all that was read of it once that is approved', async () => {
    await using w = leaving(['L', 'M']);
    w.keep('left candidate', file('L'));
    w.deps.buffer.rejects.keep('left', 'a.csv', [{ row: 1, reason: 'r', text: 't' }], 1);
    await w.review();
    await w.approve('left');
    expect(await w.review()).toMatchObject({ left: { state: 'accepted', changes: { drivers: { delete: 2 } } } });
    expect(await w.approvals()).toEqual([['left', 'used', undefined]]);
    expect(w.accepted()).toEqual({ a: ['A'] });
    expect(w.deps.buffer.reads.readSources()).toEqual(['a']);
    expect(w.deps.buffer.rejects.counts('left')).toEqual([]);
    expect((await w.deps.ledger.state()).emptyConsent).toBeUndefined();
    expect(await w.review()).not.toHaveProperty('left');
    expect(await w.held()).toEqual([]);
  });

  test('is not approved any more once more of it would go', async () => {
    await using w = leaving(['L']);
    await w.review();
    await w.approve('left');
    w.keep('left accepted', file('L', 'M'));
    expect(await w.review()).toMatchObject({ left: { state: 'held', reason: `${isEnd}2 drivers would be deleted` } });
    expect(await w.approvals()).toEqual([
      ['left', 'dropped', 'more would be deleted of the source that left than was approved: driver "M" in 2026-01'],
    ]);
  });

  test('goes in silence where others have all its drivers', async () => {
    await using w = leaving(['A']);
    expect(Object.keys(await w.review())).toEqual(['a']);
    expect(w.accepted()).toEqual({ a: ['A'] });
  });

  test('goes in silence where others have all its drivers, and its approval is used', async () => {
    await using w = leaving(['L']);
    await w.review();
    await w.approve('left');
    w.keep('a candidate', file('A', 'L'));
    expect(Object.keys(await w.review())).toEqual(['a']);
    expect(await w.approvals()).toEqual([['left', 'used', undefined]]);
    expect(w.accepted()).toEqual({ a: ['A', 'L'] });
  });

  test('goes in silence where the service keeps what is left out, once all others were read', async () => {
    await using w = leaving(['L'], { shouldDeleteMissing: false });
    expect(await w.review({ unread: { a: 'no such file' } })).not.toHaveProperty('left');
    expect(w.accepted()).toEqual({ a: ['A'], left: ['L'] });
    expect(await w.held()).toEqual([]);
    expect(Object.keys(await w.review())).toEqual(['a']);
    expect(w.accepted()).toEqual({ a: ['A'] });
  });

  test('needs no approval any more where the service keeps what is left out by now', async () => {
    await using w = leaving(['L']);
    await w.review();
    await w.approve('left');
    w.configure({ a: {} }, { shouldDeleteMissing: false });
    expect(await w.review({ unread: { a: 'no such file' } })).not.toHaveProperty('left');
    expect(await w.approvals()).toEqual([['left', 'dropped', 'nothing of that source is held any more']]);
    expect(w.accepted()).toHaveProperty('left');
  });

  test('lets an empty snapshot be sent where its approval leads to one', async () => {
    await using w = leaving(['L']);
    w.keep('a accepted', file());
    await w.review();
    await w.approve('left');
    expect(await w.review()).toMatchObject({ left: { state: 'accepted' } });
    expect((await w.deps.ledger.state()).emptyConsent).toMatchObject({ address: 'https://service' });
  });

  test('lets none be sent where another source has drivers, beside one that has none', async () => {
    await using w = leaving(['L']);
    w.keep('empty accepted', file());
    w.configure({ a: {}, empty: {} });
    await w.review();
    await w.approve('left');
    expect(await w.review()).toMatchObject({ left: { state: 'accepted' } });
    expect((await w.deps.ledger.state()).emptyConsent).toBeUndefined();
  });
});

describe('while another source is not read', () => {
  const unread = { a: 'no such file' };

  test('it waits, since that one may have its drivers', async () => {
    await using w = leaving(['L']);
    expect(await w.review({ unread })).toMatchObject({
      left: { state: 'held', reason: `${isEnd}1 driver would be deleted once "a" is read, which may have them now` },
    });
  });

  test('it waits also with an approval, which nobody has to give again', async () => {
    await using w = leaving(['L']);
    await w.review();
    await w.approve('left');
    const hint =
      'it is approved and waits; put the source back, or "driver-sync forget left" deletes all that is left of it at once';
    expect(await w.review({ unread })).toMatchObject({ left: { state: 'held', hint, approvable: false } });
    expect(await w.deps.ledger.holds.held()).toMatchObject([{ source: 'left', hint, approvable: false }]);
    expect(await w.approvals()).toEqual([['left', 'pending', undefined]]);
    expect(w.accepted()).toHaveProperty('left');
    expect(await w.review()).toMatchObject({ left: { state: 'accepted' } });
  });
});

describe('while another source is held that has drivers of it', () => {
  const many = ids(1, 20);

  /** What "a" has accepted is D01 to D20; its candidate has L and no other. */
  function held(drivers: readonly string[]): ReviewWorld {
    const w = reviewWorld({ a: {}, b: {} });
    w.keep('a accepted', file(...many));
    w.keep('a candidate', file('L'));
    w.keep('b accepted', file('B'));
    w.keep('left accepted', file(...drivers));
    return w;
  }

  test('these wait with it, and the others for approval', async () => {
    await using w = held(['L', 'M']);
    expect(await w.review()).toMatchObject({
      a: { state: 'held' },
      left: {
        state: 'held',
        reason: `${isEnd}1 driver would be deleted; 1 more wait for the held read of "a"`,
        changes: { drivers: { delete: 1 } },
        deletes: [{ driver: 'M' }],
      },
    });
    await w.approve('left');
    expect(await w.review()).toMatchObject({ a: { state: 'held' }, left: { state: 'accepted' } });
    expect(w.accepted()).toEqual({ a: many, b: ['B'], left: ['L'] });
    await w.approve('a');
    expect(Object.keys(await w.review())).toEqual(['a', 'b']);
    expect(w.accepted()).toEqual({ a: ['L'], b: ['B'] });
  });

  test('nothing is told where it has all of them', async () => {
    await using w = held(['L']);
    expect(Object.keys(await w.review())).toEqual(['a', 'b']);
    expect(w.accepted()).toEqual({ a: many, b: ['B'], left: ['L'] });
    expect(await w.held()).toEqual(['a']);
  });

  test('drivers that two held ones have, and it never had, are no matter either', async () => {
    await using w = held(['M']);
    w.keep('b accepted', file(...ids(21, 40)));
    w.keep('b candidate', file('L'));
    expect(await w.review()).toMatchObject({
      a: { state: 'held' },
      b: { state: 'held' },
      left: { reason: `${isEnd}1 driver would be deleted` },
    });
    await w.approve('left');
    await w.review();
    expect(w.accepted()).not.toHaveProperty('left');
  });

  test('drivers of the held one that it never had are no matter', async () => {
    await using w = held(['M']);
    expect(await w.review()).toMatchObject({ left: { reason: `${isEnd}1 driver would be deleted` } });
  });
});

test('of a source that left, closed months are found, and are named behind what is deleted', async () => {
  const lastClose = { kind: 'month', month: 2026 * 12 };
  await using w = leaving(['L'], { lastClose });
  const { left } = await w.review();
  expect(left).toMatchObject({
    findings: [{ kind: 'closed', group: ['L'], points: 1 }],
    reason: expect.stringContaining(
      `${isEnd}1 driver would be deleted; and 1 point of a closed month of L would change`,
    ),
  });
});

describe('deletes of an accepted candidate', () => {
  const day = 86_400_000;
  const letThrough = (w: ReviewWorld, source: string) =>
    w.deps.ledger.holds.deletesSince([source], w.clock.now().getTime() - day, '');

  test('are counted before it is accepted, with what there was', async () => {
    await using w = reviewWorld({ a: {} });
    w.keep('a accepted', { 'a.csv': grid(ids(1, 20), ['2026-01', '2026-02']) });
    w.keep('a candidate', { 'a.csv': grid(ids(2, 20), ['2026-01', '2026-02']) });
    expect(await w.review()).toMatchObject({ a: { state: 'accepted' } });
    expect(await letThrough(w, 'a')).toEqual({ drivers: 1, points: 2, had: { drivers: 20, points: 40 } });
  });

  test('are counted also where only points go, and not where nothing does or it was approved', async () => {
    await using w = reviewWorld({ a: {}, b: {}, c: {} });
    const both = { points: { A: { '2026-01': '1', '2026-02': '1', '2026-03': '1' } } };
    w.keep('a accepted', { 'a.csv': both });
    w.keep('a candidate', { 'a.csv': { points: { A: { '2026-01': '1', '2026-03': '1' } } } });
    w.keep('b accepted', file('B'));
    w.keep('b candidate', file('B', 'B2'));
    w.keep('c accepted', file(...ids(1, 20)));
    w.keep('c candidate', file(...ids(11, 20)));
    await w.review();
    await w.approve('c');
    await w.review();
    expect(w.accepted()).toEqual({ a: ['A'], b: ['B', 'B2'], c: ids(11, 20) });
    expect(await letThrough(w, 'a')).toMatchObject({ drivers: 0, points: 1 });
    const none = { drivers: 0, points: 0, had: undefined };
    for (const name of ['b', 'c']) expect(await letThrough(w, name)).toEqual(none);
  });

  test('go on counting for the source that takes the drivers over', async () => {
    await using w = reviewWorld({ a: {} });
    w.keep('left accepted', file('L', 'M'));
    const counts = { drivers: 2, points: 2 };
    const atMs = w.clock.now().getTime();
    await w.deps.ledger.holds.recordDeletes('left', 'read', { atMs, ...counts, had: { drivers: 4, points: 4 } });
    w.keep('a candidate', file('L', 'M'));
    expect(await w.review()).toMatchObject({ a: { state: 'unchanged' } });
    expect(await letThrough(w, 'a')).toEqual({ ...counts, had: { drivers: 4, points: 4 } });
    expect(w.accepted()).toEqual({ a: ['L', 'M'] });
  });
});

test('candidates that pass are accepted together, and what was approved of what they carry is settled', async () => {
  await using w = reviewWorld({ a: { rules: ['sum'] }, b: {} });
  const sum = (points: Readonly<Record<string, Readonly<Record<string, string>>>>) =>
    ({ points, rule: 'sum' }) as const;
  const both = { 'a.csv': sum({ A: { '2026-01': '1' } }), 'b.csv': sum({ A: { '2026-02': '1' } }) };
  w.keep('a accepted', both);
  const changed = { ...sum({ A: { '2026-01': '1', '2026-02': '1' } }), hash: 'changed' };
  w.keep('a candidate', { 'a.csv': changed, 'b.csv': { ...both['b.csv'], carried: true } });
  expect(await w.review()).toMatchObject({
    a: { state: 'held', reason: expect.stringMatching(/^rows may be counted twice/) },
  });
  await w.approve('a');
  w.keep('b candidate', file('B'));
  expect(await w.review()).toMatchObject({ a: { state: 'accepted' }, b: { state: 'accepted' } });
  const parts = w.deps.buffer.reads.parts('a', 'accepted');
  expect(parts?.map(({ name, settled }) => [name, settled])).toEqual([
    ['a.csv', false],
    ['b.csv', true],
  ]);
  expect(w.deps.buffer.reads.summary('a', 'accepted')).toMatchObject({ drivers: 1, points: 2 });
});
