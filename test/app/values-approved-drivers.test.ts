/** An approval of a slip is for the drivers that had it. */
import { describe, expect, test } from 'vitest';
import { type Values, accepted, changed, merged, named, negated, timesTen, twoYears } from '../support/value-world.ts';

const names = named('Sales', 20);
const before = twoYears(names);
const nextMonth = twoYears(names, 25, 25);
const monthAfter = twoYears(names, 26, 26);

/** All drivers but one have the slip: the first or the last one has not. */
const but = (left: string, change: (value: string, month: string) => string, values = before): Values =>
  changed(values, change, (name) => name !== left);

const first = 'Sales / S01';
const last = 'Sales / S20';

/** Each driver has the values that another one had. */
function exchanged(pairs: readonly (readonly [string, string])[]): Values {
  const all = { ...before };
  for (const [a, b] of pairs) [all[a], all[b]] = [before[b] ?? {}, before[a] ?? {}];
  return all;
}

const couples = (from: number, to: number): (readonly [string, string])[] =>
  Array.from({ length: (to - from) / 2 }, (_, at) => [
    names[from + 2 * at] as string,
    names[from + 2 * at + 1] as string,
  ]);

const copied = (left: string): Values =>
  Object.fromEntries(
    names.map((name) => [
      name,
      { '2026-01': (name === left ? nextMonth[name]?.['2026-01'] : before[name]?.['2025-12']) as string },
    ]),
  );

/** Values stand a month later; the first one stays. */
function moved(left: string): Values {
  const at = Object.keys(before[first] ?? {});
  return Object.fromEntries(
    Object.entries(before).map(([name, points]) => [
      name,
      name === left
        ? points
        : Object.fromEntries(at.map((month, index) => [month, points[at[Math.max(0, index - 1)] as string] as string])),
    ]),
  );
}

describe.each<[string, Values, Values]>([
  ['factor', but(last, (value) => timesTen(value, 3)), but(first, (value) => timesTen(value, 3))],
  [
    'factor',
    but(last, (value) => (Number(value) * 1.0837).toFixed(4)),
    but(first, (value) => (Number(value) * 1.0837).toFixed(4)),
  ],
  ['factor', but(last, negated), but(first, negated)],
  ['zeros', but(last, () => '0'), but(first, () => '0')],
  [
    'zeros',
    merged(
      before,
      but(last, () => '0', nextMonth),
    ),
    merged(
      before,
      but(first, () => '0', nextMonth),
    ),
  ],
  [
    'new-scale',
    merged(
      before,
      but(last, (value) => timesTen(value, 3), nextMonth),
    ),
    merged(
      before,
      but(first, (value) => timesTen(value, 3), nextMonth),
    ),
  ],
  ['new-sign', merged(before, but(last, negated, nextMonth)), merged(before, but(first, negated, nextMonth))],
  ['copied', merged(before, copied(last)), merged(before, copied(first))],
  ['moved', moved(last), moved(first)],
  ['exchanged', exchanged(couples(0, 18)), exchanged(couples(2, 20))],
])('an approval of a finding %s', (kind, approved, other) => {
  test('covers no other driver of the same group', async () => {
    await using w = await accepted(before, { guard: { maxDeletes: '100%' } });
    await w.export(approved);
    const { digest = '', findings } = await w.pass();
    expect(findings).toMatchObject([{ kind }]);
    await w.approve(digest);
    await w.export(other);
    const newer = await w.pass();
    expect(newer).toMatchObject({
      state: 'held',
      findings: findings.map(({ group, points }) => ({ kind, group, points })),
    });
    expect((await w.status()).approvals[0]?.why).toContain('is held for more than was approved: ');
    expect(newer.findings[0]).not.toHaveProperty('reach');
  });

  test('covers the same drivers beside what is new', async () => {
    await using w = await accepted(before, { guard: { maxDeletes: '100%' } });
    await w.export(approved);
    await w.approve((await w.pass()).digest ?? '');
    const isOfNewest = Object.values(approved).some((points) => '2026-01' in points);
    await w.export(merged(approved, { 'Sales / S99': isOfNewest ? { '2026-01': '1' } : (monthAfter[first] ?? {}) }));
    expect(await w.pass()).toMatchObject({ state: 'accepted', exit: 0 });
  });
});
