/** What is looked at before one candidate is accepted or held, with all that its source and others say. */
import { describe, expect, test } from 'vitest';
import { writeBasis } from '../../src/app/read/read-by.ts';
import type { KeptPart } from '../support/kept-reads.ts';
import { type ReviewWorld, type ReviewedSource, grid, reviewWorld } from '../support/review-world.ts';
import { ids } from '../support/world.ts';

type Parts = Readonly<Record<string, KeptPart>>;

/** A source with an accepted read and a candidate. */
function judged(accepted: Parts, candidate: Parts, keys: ReviewedSource = {}, more: object = {}): ReviewWorld {
  const w = reviewWorld({ a: keys }, more);
  w.keep('a accepted', accepted);
  w.keep('a candidate', candidate);
  return w;
}

const file = (drivers: readonly string[], months?: readonly string[]): Parts => ({ 'a.csv': grid(drivers, months) });
const year = Array.from({ length: 12 }, (_, at) => `2025-${String(at + 1).padStart(2, '0')}`);
const ten = ids(1, 10);
/** Drivers whose values differ, so that a slip in them can be told. */
function values(drivers: readonly string[], zeros = '', months = year): KeptPart {
  const valueOf = (id: string, at: number): string => `${101 + at * 37 + Number(id.slice(1)) * 11}${zeros}`;
  const of = (id: string) => Object.fromEntries(months.map((month, at) => [month, valueOf(id, at)]));
  return { points: Object.fromEntries(drivers.map((id) => [id, of(id)])) };
}

async function verdict(w: ReviewWorld, options: Parameters<ReviewWorld['review']>[0] = {}) {
  await using _w = w;
  return (await w.review(options))['a'];
}

describe('a first read', () => {
  test('is not compared with anything, and is judged for being empty alone', async () => {
    const w = reviewWorld({ a: {} });
    w.keep('a candidate', { 'a.csv': { ...values(ten), rejects: 9 } });
    expect(await verdict(w)).toMatchObject({ state: 'accepted' });
    const empty = reviewWorld({ a: {} });
    empty.keep('a candidate', { 'a.csv': { points: {}, rejects: 2 }, 'b.csv': { points: {}, rejects: 1 } });
    expect(await verdict(empty)).toMatchObject({
      state: 'held',
      reason: 'its first read has no readings, and 3 rejects',
    });
  });

  test('is none where the source takes over what another one had', async () => {
    const w = reviewWorld({ a: {} });
    w.keep('left accepted', file(ten));
    w.keep('a candidate', file(ids(1, 5)));
    expect(await verdict(w)).toMatchObject({ state: 'unchanged' });
    const slipped = reviewWorld({ a: {} });
    slipped.keep('left accepted', { 'a.csv': values(ten) });
    slipped.keep('a candidate', { 'a.csv': values(ten, '000') });
    expect(await verdict(slipped)).toMatchObject({ state: 'held', findings: [{ kind: 'factor' }] });
  });

  test('is none where an empty read was accepted', async () => {
    const w = reviewWorld({ a: {}, b: {} });
    w.keep('b accepted', file(['B']));
    for (const kind of ['accepted', 'candidate'] as const) w.keep(`a ${kind}`, file([]));
    expect(await verdict(w)).toMatchObject({ state: 'unchanged' });
  });
});

describe('rejects', () => {
  const fewer = (rejects: number): Parts => ({ 'a.csv': { ...grid(ids(1, 9)), rejects } });

  test('beyond those of the accepted read are no evidence that points are gone', async () => {
    const before = { 'a.csv': { ...grid(ten), rejects: 2 } };
    expect(await verdict(judged(before, fewer(2)))).toMatchObject({ state: 'accepted' });
    expect(await verdict(judged(before, fewer(3)))).toMatchObject({
      state: 'held',
      reason: 'it would delete 1 driver and 1 point and has 3 rejects where the accepted read had 2',
    });
  });

  test('are those of all parts together', async () => {
    const before = { 'a.csv': { ...grid(ten), rejects: 1 }, 'b.csv': { points: {}, rejects: 2 } };
    const now = { ...fewer(1), 'b.csv': { points: {}, rejects: 2 } };
    expect(await verdict(judged(before, now))).toMatchObject({ state: 'accepted' });
  });
});

describe('older months', () => {
  const half = year.slice(6);

  test('that most drivers lose are held', async () => {
    expect(await verdict(judged(file(ten, year), file(ten, half)))).toMatchObject({
      state: 'held',
      reason: 'it only drops the oldest months and would delete 60 points',
    });
  });

  test('that most drivers lose beside a slip are explained by the slip', async () => {
    const before = { 'a.csv': values(ten) };
    const now = { 'a.csv': values(ten, '000', year) };
    const without = Object.entries(now['a.csv'].points ?? {}).map(([id, points]) => {
      return [id, Object.fromEntries(Object.entries(points).filter(([month]) => id === 'D10' || month > '2025-01'))];
    });
    const found = await verdict(judged(before, { 'a.csv': { points: Object.fromEntries(without) } }));
    expect(found).toMatchObject({ state: 'held', findings: [{ kind: 'factor' }] });
    expect(found?.reason).not.toContain('oldest');
  });
});

describe('a month between others', () => {
  const without = (month: string): Parts =>
    file(
      ten,
      year.filter((one) => one !== month),
    );

  test('that most drivers lose is held, but not where readings go with their file', async () => {
    const reason = 'it drops 2025-06, between months that stay, of 10 of 10 drivers and would delete 10 points';
    expect(await verdict(judged(file(ten, year), without('2025-06')))).toMatchObject({ state: 'held', reason });
    const gone = judged(file(ten, year), without('2025-06'), { removed: 'delete' });
    expect(await verdict(gone)).toMatchObject({ state: 'accepted' });
  });
});

describe('the newest months', () => {
  const shorter = file(ten, year.slice(0, 11));

  test('are held where the source may lag, and else pass', async () => {
    expect(await verdict(judged(file(ten, year), shorter), { mayLag: true })).toMatchObject({
      state: 'held',
      reason: 'it only drops the newest months and would delete 10 points',
    });
    expect(await verdict(judged(file(ten, year), shorter))).toMatchObject({ state: 'accepted' });
    expect(await verdict(judged(file(ten), file(ids(1, 9))), { mayLag: true })).toMatchObject({ state: 'accepted' });
  });
});

describe('deletes', () => {
  const hour = 3_600_000;
  const recorded = async (w: ReviewWorld, source: string, hours: number, drivers: number): Promise<void> => {
    const atMs = w.clock.now().getTime() - hours * hour;
    const counts = { drivers, points: drivers, had: { drivers: 100, points: 100 } };
    await w.deps.ledger.holds.recordDeletes(source, `${source} ${hours}`, { atMs, ...counts });
  };
  const hundred = ids(1, 99);

  test('of the day count, of the source and of what it takes over, and older ones do not', async () => {
    const fewer = (): ReviewWorld => judged(file(hundred), file(hundred.slice(5)));
    const one = fewer();
    await recorded(one, 'a', 23, 6);
    expect(await verdict(one)).toMatchObject({ state: 'held', reason: expect.stringContaining('24 hours') });
    const older = fewer();
    await recorded(older, 'a', 25, 6);
    expect(await verdict(older)).toMatchObject({ state: 'accepted' });
    const inherited = fewer();
    inherited.keep('left accepted', file([hundred.at(-1) ?? '']));
    inherited.keep('a accepted', file(hundred.slice(0, -1)));
    await recorded(inherited, 'left', 1, 6);
    expect(await verdict(inherited)).toMatchObject({ state: 'held', reason: expect.stringContaining('24 hours') });
  });

  test('of 30 days count', async () => {
    const w = judged(file(hundred), file(hundred.slice(5)));
    await recorded(w, 'a', 30 * 24 - 1, 29);
    expect(await verdict(w)).toMatchObject({ state: 'held', reason: expect.stringContaining('30 days') });
    const older = judged(file(hundred), file(hundred.slice(5)));
    await recorded(older, 'a', 30 * 24, 29);
    expect(await verdict(older)).toMatchObject({ state: 'accepted' });
  });
});

describe('an answer that went back', () => {
  const answer = (time: string, value: string): KeptPart => {
    return { points: { A: { '2026-01': value } }, version: `answer [["${time}"]]` };
  };

  test('is held where the part of that name says so', async () => {
    const before = { a: answer('2026-03-02', '1') };
    const older = answer('2026-03-01', '2');
    expect(await verdict(judged(before, { '0': { points: {} }, a: older }))).toMatchObject({
      state: 'held',
      reason: 'its query "changed" went back from 2026-03-02 to 2026-03-01',
    });
    expect(await verdict(judged(before, { a: answer('2026-03-03', '2') }))).toMatchObject({ state: 'accepted' });
    expect(await verdict(judged(before, { c: older }))).toMatchObject({ state: 'accepted' });
  });
});

describe('where the service keeps what is left out', () => {
  const kept = { shouldDeleteMissing: false };

  test('no delete is held, nor an empty read', async () => {
    expect(await verdict(judged(file(ten), file(ids(1, 1)), {}, kept))).toMatchObject({ state: 'accepted' });
    expect(await verdict(judged(file(ten), file([]), {}, kept))).toMatchObject({ state: 'accepted' });
  });

  test('what changes a sum is held all the same, and what counts twice is not', async () => {
    const sum = (points: KeptPart['points'], more: KeptPart = {}): KeptPart => ({
      points: points ?? {},
      rule: 'sum',
      ...more,
    });
    const before = { 'a.csv': sum({ A: { '2026-01': '1' } }), 'b.csv': sum({ A: { '2026-02': '1' } }) };
    const now = (more: KeptPart): Parts => ({
      'a.csv': sum({ A: { '2026-01': '1', '2026-02': '1' } }, { hash: 'new' }),
      'b.csv': { ...before['b.csv'], carried: true, ...more },
    });
    const rules = { rules: ['sum'] } as const;
    expect(await verdict(judged(before, now({}), rules, kept))).toMatchObject({ state: 'accepted' });
    const share = { version: 'taken out of a snapshot, without its share of sums' };
    expect(await verdict(judged(before, now(share), rules, kept))).toMatchObject({
      state: 'held',
      reason: expect.stringMatching(/^readings are missing: b\.csv/),
    });
    const otherwise = reviewWorld({ a: rules }, kept);
    const basis = writeBasis({ readBy: { readings: 'other', rules: 'u', paths: 'p' } });
    otherwise.keep('a accepted', before, basis);
    otherwise.keep('a candidate', {
      'a.csv': { ...now({})['a.csv'], fingerprint: 'new' },
      'b.csv': { ...before['b.csv'], carried: true },
    });
    expect(await verdict(otherwise)).toMatchObject({
      state: 'held',
      reason: expect.stringMatching(/^the settings have changed: b\.csv/),
    });
  });
});

describe('a candidate that begins within a month', () => {
  const sum = (first: string, count: number): KeptPart => ({
    points: Object.fromEntries(ten.map((id) => [id, { '2025-09': first }])),
    rule: 'sum',
    count,
  });
  const later: KeptPart = { ...grid(ten, ['2025-10']), rule: 'sum', count: 30 };
  const before = { 'a.csv': sum('30', 30), 'b.csv': later };
  const now = { 'a.csv': { ...sum('10', 10), hash: 'new' }, 'b.csv': later };
  const rules = { rules: ['sum'] } as const;
  const reason = expect.stringContaining('it shows fewer readings of 2025-09, its oldest month, for 10 of 10 drivers');

  test('is held, also where the service keeps what is left out', async () => {
    expect(await verdict(judged(before, now, rules))).toMatchObject({ state: 'held', reason });
    expect(await verdict(judged(before, now, rules, { shouldDeleteMissing: false }))).toMatchObject({
      state: 'held',
      reason,
    });
  });

  test('passes once that is approved, and not with fewer readings then', async () => {
    await using w = judged(before, now, rules);
    await w.review();
    await w.approve('a');
    w.keep('a candidate', { ...now, 'a.csv': { ...sum('9', 9), hash: 'newer' } });
    expect(await w.review()).toMatchObject({ a: { state: 'held' } });
    expect(await w.approvals()).toMatchObject([
      ['a', 'dropped', expect.stringContaining('only 90 readings of 2025-09')],
    ]);
    await w.approve('a');
    expect(await w.review()).toMatchObject({ a: { state: 'accepted' } });
  });
});

describe('what is carried and was read with other settings', () => {
  const gone = { ...grid(['A'], ['2026-02']), carried: true };
  const there = { ...grid(['A']), hash: 'new', fingerprint: 'new' };

  function changed(readBy: object, candidate: Parts): ReviewWorld {
    const w = reviewWorld({ a: {} });
    const basis = writeBasis({ readBy: { readings: 'r', rules: 'u', paths: 'p', ...readBy } });
    w.keep('a accepted', { 'a.csv': grid(['A']), 'b.csv': { ...gone, carried: false } }, basis);
    w.keep('a candidate', candidate);
    return w;
  }

  test('is held until somebody approves it for these settings', async () => {
    await using w = changed({ readings: 'other' }, { 'a.csv': there, 'b.csv': gone });
    expect(await w.review()).toMatchObject({
      a: { state: 'held', reason: expect.stringContaining('the settings have changed: b.csv is gone') },
    });
    await w.approve('a');
    expect(await w.review()).toMatchObject({ a: { state: 'unchanged' } });
    expect(await w.approvals()).toEqual([['a', 'used', undefined]]);
  });

  test('is a word where only paths differ, beside the other warnings', async () => {
    const w = changed({ paths: 'other' }, { 'a.csv': there, 'b.csv': gone });
    expect(await verdict(w)).toMatchObject({
      state: 'unchanged',
      warnings: [expect.stringMatching(/^the config gives other paths now.*: b\.csv$/)],
    });
  });
});

describe('drivers that come from another source', () => {
  const three = ids(1, 3);
  const [left, others] = [ids(11, 40), ids(41, 70)];

  function moving(zeros: string, more: object = {}, before = others): ReviewWorld {
    const w = reviewWorld({ b: {}, a: {} }, more);
    w.keep('b accepted', { 'b.csv': values([...three, ...left]) });
    w.keep('b candidate', { 'b.csv': values(left) });
    if (before.length > 0) w.keep('a accepted', { 'a.csv': values(before) });
    w.keep('a candidate', { 'a.csv': { points: { ...values(three, zeros).points, ...values(others).points } } });
    return w;
  }

  test('are compared with what that one had', async () => {
    await using w = moving('000');
    expect(await w.review()).toMatchObject({
      a: { state: 'held', findings: three.map((id) => ({ kind: 'factor', group: [id], points: 12 })) },
      b: { state: 'held', conflictsWith: 'a' },
    });
    await using same = moving('');
    expect(await same.review()).toMatchObject({ a: { state: 'accepted' }, b: { state: 'accepted' } });
  });

  test('are all that is compared of a first read, and in closed months nothing else is either', async () => {
    const lastClose = { kind: 'month', month: 2025 * 12 + 5 };
    await using slipped = moving('000', { lastClose }, []);
    const { a } = await slipped.review();
    expect(a?.findings?.every(({ points }) => points <= 36)).toBe(true);
    expect(a?.state).toBe('held');
    await using same = moving('', { lastClose }, []);
    expect((await same.review())['a']).not.toHaveProperty('findings');
  });

  test('went as a move where that is approved, and a newer read must not delete them', async () => {
    await using w = moving('', { guard: { maxDeletes: { kind: 'count', count: 0 }, floor: 0, values: 'hold' } });
    expect(await w.review()).toMatchObject({ b: { state: 'held' } });
    await w.approve('b');
    w.keep('a candidate', { 'a.csv': values(others) });
    expect(await w.review()).toMatchObject({ b: { state: 'held' } });
    expect(await w.approvals()).toEqual([
      ['b', 'dropped', 'driver "D01" was approved to move to another source, which does not have all of it any more'],
    ]);
  });
});

test('an approval makes a candidate with deletes an approved one, and one without is accepted as ever', async () => {
  await using w = judged(file(ten), file(ids(10, 10)));
  await w.review();
  await w.approve('a');
  w.keep('a candidate', file(ids(2, 10)));
  expect(await w.review()).toMatchObject({ a: { state: 'accepted' } });
  expect(await w.approvals()).toEqual([['a', 'used', undefined]]);
  const since = w.clock.now().getTime() - 86_400_000;
  expect(await w.deps.ledger.holds.deletesSince(['a'], since, '')).toMatchObject({ drivers: 0 });
});
