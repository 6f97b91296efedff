/** What is said to whoever takes drivers that another source has: who has them of what, and which command lets them go. */
import { describe, expect, test } from 'vitest';
import type { KeptPart } from '../support/kept-reads.ts';
import { grid, reviewWorld } from '../support/review-world.ts';
import { ids } from '../support/world.ts';

const forever = 'give one of them another id, or take the driver out of one source with "where"';
const gone = (...drivers: readonly string[]): KeptPart => ({ ...grid(drivers), carried: true });

/** What is said of "a", whose first read has these drivers, beside what the others have accepted. */
async function told(drivers: readonly string[], others: Readonly<Record<string, Readonly<Record<string, KeptPart>>>>) {
  await using w = reviewWorld({ a: {}, b: {}, c: {} });
  for (const [read, parts] of Object.entries(others)) w.keep(read as 'b accepted', parts);
  w.keep('a candidate', { 'a.csv': grid(drivers) });
  const { a } = await w.review();
  return [a?.state, a?.reason, a?.hint, a?.approvable, a?.conflictsWith];
}

const belongs = (driver: string, owner: string): string =>
  `driver "${driver}" of source "a" belongs to source "${owner}"`;

describe('drivers that their source only carries', () => {
  test('go with all parts that are gone by one command', async () => {
    const b = { 'b.csv': grid(['B']), 'x.csv': gone('X', 'Z'), 'y.csv': gone('Y') };
    expect(await told(['X', 'Y', 'Z'], { 'b accepted': b })).toEqual([
      'held',
      belongs('X', 'b'),
      '"b" carries it of x.csv and 1 more, gone by now: put that back, or let it go with "driver-sync forget b"',
      false,
      'b',
    ]);
    expect((await told(['X', 'Z'], { 'b accepted': b }))[2]).toBe(
      '"b" carries it of x.csv, gone by now: put that back, or let it go with "driver-sync forget b x.csv"',
    );
  });

  test('go with each source that carries them', async () => {
    const others = { 'b accepted': { 'x.csv': gone('X') }, 'c accepted': { 'y.csv': gone('Y') } };
    expect((await told(['X', 'Y'], others))[2]).toBe(
      '"b" carries it of x.csv, gone by now: put that back, or let it go with "driver-sync forget b x.csv"; ' +
        '"c" carries it of y.csv, gone by now: put that back, or let it go with "driver-sync forget c y.csv"',
    );
  });

  test('do not go where one of them is shown, which is the one that is named', async () => {
    const b = { 'b.csv': grid(['Y']), 'x.csv': gone('X') };
    expect(await told(['X', 'Y'], { 'b accepted': b })).toEqual(['held', belongs('Y', 'b'), forever, false, 'b']);
  });

  test('do not go where another part that is there has some months of one', async () => {
    const b = { 'b.csv': grid(['X'], ['2026-02']), 'x.csv': gone('X') };
    expect((await told(['X'], { 'b accepted': b }))[2]).toBe(forever);
  });

  test('are those which the newest read of their source carries', async () => {
    const accepted = { 'b.csv': grid(['B']), 'x.csv': grid(['X']) };
    const carrying = { 'b.csv': { ...grid(['B', 'B2']), hash: 'new' }, 'x.csv': gone('X') };
    const both = { 'b accepted': accepted, 'b candidate': carrying };
    expect((await told(['X'], both))[2]).toContain('"driver-sync forget b x.csv"');
    expect((await told(['X'], { 'b accepted': accepted }))[2]).toBe(forever);
  });
});

describe('drivers that two sources begin with', () => {
  test('are of the first in the config', async () => {
    expect((await told(['X', 'A'], { 'b candidate': { 'b.csv': grid(['X']) } }))[0]).toBe('accepted');
    await using w = reviewWorld({ b: {}, a: {} });
    w.keep('a candidate', { 'a.csv': grid(['X']) });
    w.keep('b candidate', { 'b.csv': grid(['X']) });
    expect(await w.review()).toMatchObject({ a: { state: 'held', conflictsWith: 'b', hint: forever } });
  });
});

describe('of several sources that have what a read gives up', () => {
  test('the one that is held is waited for', async () => {
    await using w = reviewWorld({ a: {}, b: {}, c: {} });
    const many = ids(1, 20);
    w.keep('a accepted', { 'a.csv': grid([...many, 'X', 'Y']) });
    w.keep('a candidate', { 'a.csv': grid(many) });
    w.keep('b accepted', { 'b.csv': grid(ids(31, 50)) });
    w.keep('b candidate', { 'b.csv': grid(['X', 'Y']) });
    w.keep('c candidate', { 'c.csv': grid(['C']) });
    expect(await w.review()).toMatchObject({
      a: {
        state: 'held',
        reason: 'driver "X" and 1 more of source "a" moved to source "b", whose read is held',
        approvable: false,
        conflictsWith: 'b',
      },
      b: { state: 'held', approvable: true },
      c: { state: 'accepted' },
    });
    w.keep('b candidate', { 'b.csv': grid(ids(31, 50)) });
    expect(await w.review()).toMatchObject({ a: { state: 'accepted' }, b: { state: 'unchanged' } });
  });

  test('an approval waits with the source that it is of', async () => {
    await using w = reviewWorld({ a: {}, b: {} });
    w.keep('a accepted', { 'a.csv': grid(ids(1, 20)) });
    w.keep('a candidate', { 'a.csv': grid(ids(11, 20)) });
    w.keep('b accepted', { 'b.csv': grid(ids(31, 50)) });
    await w.review();
    await w.approve('a');
    w.keep('b candidate', { 'b.csv': grid(ids(1, 10)) });
    expect(await w.review()).toMatchObject({ a: { state: 'held', conflictsWith: 'b' }, b: { state: 'held' } });
    expect(await w.approvals()).toEqual([['a', 'pending', undefined]]);
    await w.approve('b');
    expect(await w.review()).toMatchObject({ a: { state: 'accepted' }, b: { state: 'accepted' } });
  });

  test('the one that is not read is waited for, by what was last read of it', async () => {
    await using w = reviewWorld({ a: {}, b: {}, c: {} });
    w.keep('a accepted', { 'a.csv': grid([...ids(1, 20), 'X']) });
    w.keep('a candidate', { 'a.csv': grid(ids(1, 20)) });
    for (const name of ['b', 'c']) w.keep(`${name} partial` as 'b partial', { 'x.csv': grid(['X']) });
    expect(await w.review({ unread: { b: 'no such file' } })).toMatchObject({
      a: { state: 'held', reason: 'driver "X" of source "a" moved to source "b", which is not read' },
      b: { state: 'unread' },
    });
    expect(await w.review()).toMatchObject({ a: { state: 'accepted' } });
  });
});
