/** What no candidate is judged for alone: that every driver has one source, and that the snapshot is not empty. */
import { describe, expect, test } from 'vitest';
import type { Dependencies } from '../../src/app/dependencies.ts';
import type { CandidateDecision } from '../../src/app/review/decision.ts';
import type { Move } from '../../src/app/review/moves.ts';
import { holdConflicts, holdEmptySnapshot } from '../../src/app/review/together.ts';
import { compareRuns } from '../../src/core/series/compare.ts';
import { type Reads, bufferOf, driversOf } from '../support/few-reads.ts';

const year = ['2026-01', '2026-02', '2026-03'];

interface World {
  readonly sources?: readonly string[];
  readonly reads: Reads;
  readonly carried?: Readonly<Record<string, readonly string[]>>;
  readonly approvals?: readonly { readonly source: string; readonly state: string }[];
  readonly shouldDeleteMissing?: boolean;
}

function depsOf({
  sources = ['a', 'b', 'c'],
  reads,
  carried,
  approvals = [],
  shouldDeleteMissing = true,
}: World): Dependencies {
  const settings = { sources: sources.map((name) => ({ name })), shouldDeleteMissing };
  const ledger = { holds: { approvals: () => Promise.resolve(approvals) } };
  return { settings, buffer: bufferOf(reads, carried), ledger } as unknown as Dependencies;
}

type Kind = 'accept' | 'covered' | 'hold' | 'unapprovable' | 'coveredAndHeld';

function decisionOf(reads: Reads, source: string, kind: Kind): CandidateDecision {
  const comparison = compareRuns(driversOf(reads, source, 'accepted'), driversOf(reads, source, 'candidate'));
  const facts = { source, comparison, isCovered: kind.startsWith('covered') };
  const isHeld = kind !== 'accept' && kind !== 'covered';
  return (isHeld
    ? {
        ...facts,
        kind: 'hold',
        reason: `${source} lacks much`,
        hint: 'approve',
        approvable: kind === 'hold',
        whyDropped: 'no',
      }
    : { ...facts, kind: 'accept', isApproved: false }) as unknown as CandidateDecision;
}

/** What is decided in the end, by source. */
function together(world: World, kinds: Readonly<Record<string, Kind>>, moves: readonly Move[] = []) {
  const decisions = Object.entries(kinds).map(([source, kind]) => decisionOf(world.reads, source, kind));
  const decided = holdConflicts(depsOf(world), decisions, moves);
  return Object.fromEntries(decided.map((one) => [one.source, one]));
}

const accepted = { kind: 'accept' };
const forever = 'give one of them another id, or take the driver out of one source with "where"';

describe('a driver has one source', () => {
  test('and nothing is held where no two have it', () => {
    const reads: Reads = { 'a candidate': { X: year }, 'b candidate': { Y: year } };
    expect(together({ reads }, { a: 'accept', b: 'accept' })).toMatchObject({ a: accepted, b: accepted });
  });

  test('which is the one that has it accepted', () => {
    const reads: Reads = { 'a candidate': { X: year }, 'b accepted': { X: year } };
    expect(together({ reads }, { a: 'accept' })).toMatchObject({
      a: {
        kind: 'hold',
        approvable: false,
        conflictsWith: 'b',
        reason: 'driver "X" of source "a" belongs to source "b"',
        hint: forever,
        whyDropped: 'driver "X" of source "a" belongs to source "b"',
      },
    });
  });

  test.each([
    [['a', 'b'], 'b', 'a'],
    [['b', 'a'], 'a', 'b'],
  ])('and between two first reads the first in the config %j: %s is held', (sources, held, owner) => {
    const reads: Reads = { 'a candidate': { X: year }, 'b candidate': { X: year } };
    expect(together({ sources, reads }, { a: 'accept', b: 'accept' })).toMatchObject({
      [held]: { kind: 'hold', conflictsWith: owner },
      [owner]: accepted,
    });
  });

  test('and whoever takes it waits for the held read of its owner, with its approval', () => {
    const reads: Reads = { 'a accepted': { X: year }, 'a candidate': { Y: year }, 'b candidate': { X: year } };
    expect(together({ reads }, { a: 'hold', b: 'accept' })).toMatchObject({
      a: { kind: 'hold', reason: 'a lacks much', approvable: true },
      b: {
        kind: 'hold',
        approvable: false,
        conflictsWith: 'a',
        reason: 'driver "X" of source "b" belongs to source "a" until the held read of "a" is accepted',
        hint: 'if the driver has moved, approve "a" too: both are then accepted together; else mend what holds "a"',
        whyDropped: undefined,
      },
    });
  });

  test('and one that would stay in conflict is named before one that ends', () => {
    const reads: Reads = {
      'a accepted': { W: year },
      'a candidate': {},
      'b candidate': { W: year, X: year },
      'c accepted': { X: year },
    };
    expect(together({ reads }, { a: 'hold', b: 'accept' })).toMatchObject({
      b: { reason: 'driver "X" of source "b" belongs to source "c"', hint: forever, conflictsWith: 'c' },
    });
  });

  test('and a source that is held gives its accepted drivers back, which others must not have then', () => {
    const reads: Reads = {
      'a accepted': { X: year },
      'a candidate': { Y: year },
      'b accepted': { Y: year },
      'c candidate': { X: year },
    };
    expect(together({ reads }, { a: 'accept', c: 'accept' })).toMatchObject({
      a: { kind: 'hold', conflictsWith: 'b' },
      c: { kind: 'hold', conflictsWith: 'a' },
    });
    expect(together({ reads: { ...reads, 'b accepted': {} } }, { a: 'accept', c: 'accept' })).toMatchObject({
      a: accepted,
      c: accepted,
    });
  });

  test('and what the guard holds and another source keeps cannot be approved', () => {
    const reads: Reads = { 'a accepted': { X: year, Y: year }, 'a candidate': { Z: year }, 'b accepted': { Z: year } };
    const reason = 'driver "Z" of source "a" belongs to source "b"';
    expect(together({ reads }, { a: 'hold' })).toMatchObject({
      a: { kind: 'hold', approvable: false, reason: `${reason}; a lacks much`, hint: forever, whyDropped: reason },
    });
    expect(together({ reads }, { a: 'unapprovable' })).toMatchObject({ a: { reason: 'a lacks much' } });
    expect(together({ reads: { ...reads, 'b accepted': {} } }, { a: 'hold' })).toMatchObject({
      a: { reason: 'a lacks much', approvable: true },
    });
  });

  test('and two that are held for it can both be approved, until one of them passes', () => {
    const reads: Reads = { 'a candidate': { X: year }, 'b candidate': { X: year } };
    expect(together({ reads }, { a: 'hold', b: 'hold' })).toMatchObject({
      a: { approvable: true },
      b: { approvable: true },
    });
    expect(together({ reads }, { a: 'hold', b: 'accept' })).toMatchObject({
      a: { approvable: false, conflictsWith: 'b' },
      b: accepted,
    });
  });
});

describe('an owner that only carries the driver', () => {
  const reads: Reads = { 'a candidate': { X: year, Y: year }, 'b accepted': { X: year }, 'c accepted': { Y: year } };
  const hint = (world: Omit<World, 'reads'>, kept = reads): string | undefined => {
    const { a } = together({ reads: kept, ...world }, { a: 'accept' });
    return a?.kind === 'hold' ? a.hint : undefined;
  };
  const onlyX: Reads = { 'a candidate': { X: year }, 'b accepted': { X: year } };

  test('lets it go with the part that is gone', () => {
    expect(hint({ carried: { b: ['gone.csv'] } }, onlyX)).toBe(
      '"b" carries it of gone.csv, gone by now: put that back, or let it go with "driver-sync forget b gone.csv"',
    );
    expect(hint({ carried: { b: ["it's.csv"] } }, onlyX)).toContain(`forget b 'it'\\''s.csv'`);
  });

  test('is not asked to where another one shows it', () => {
    expect(hint({ carried: { b: ['gone.csv'] } })).toBe(forever);
  });
});

describe('whoever gives drivers up waits for the source that has them', () => {
  const reads: Reads = {
    'a accepted': { W: year, X: year, Y: year },
    'a candidate': { Y: ['2026-01'] },
    'b candidate': { X: year },
  };
  const move = (drivers: readonly string[]): Move => ({ from: 'a', to: 'b', drivers: new Set(drivers), reads: [] });

  test('while its read is held', () => {
    expect(together({ reads }, { a: 'accept', b: 'unapprovable' }, [move(['X'])])).toMatchObject({
      a: {
        kind: 'hold',
        approvable: false,
        conflictsWith: 'b',
        reason: 'driver "X" of source "a" moved to source "b", whose read is held',
        hint: 'see to "b": once its read is accepted, this one is accepted with it',
        whyDropped: undefined,
      },
    });
  });

  test('while it is not read', () => {
    expect(together({ reads }, { a: 'accept' }, [move(['W', 'X'])])).toMatchObject({
      a: { reason: 'driver "W" and 1 more of source "a" moved to source "b", which is not read' },
    });
  });

  test('also for some months of them', () => {
    expect(together({ reads }, { a: 'accept' }, [move(['Y'])])).toMatchObject({
      a: {
        reason: 'months of driver "Y" that it would delete are in source "b", which is not read',
        hint: 'see to "b": this one is accepted once no other source has those months',
      },
    });
    expect(together({ reads }, { a: 'accept' }, [move(['Y', 'X'])])).toMatchObject({
      a: { reason: 'driver "X" and 1 more of source "a" moved to source "b", which is not read' },
    });
  });

  test('and not once both pass, or where it is held itself', () => {
    expect(together({ reads }, { a: 'accept', b: 'accept' }, [move(['X'])])).toMatchObject({
      a: accepted,
      b: accepted,
    });
    expect(together({ reads }, { a: 'unapprovable' }, [move(['X'])])).toMatchObject({ a: { reason: 'a lacks much' } });
  });
});

describe('a snapshot without drivers', () => {
  const empty: Reads = { 'a accepted': { X: year }, 'a candidate': {}, 'b accepted': {}, 'b candidate': {} };

  async function emptied(world: World, kinds: Readonly<Record<string, Kind>>) {
    const decisions = Object.entries(kinds).map(([source, kind]) => decisionOf(world.reads, source, kind));
    const { decisions: decided, isEmptyApproved } = await holdEmptySnapshot(depsOf(world), decisions);
    return { isEmptyApproved, ...Object.fromEntries(decided.map((one) => [one.source, one])) };
  }

  const reason = 'the snapshot would be empty, which deletes every driver of the service';
  const held = { kind: 'hold', reason, hint: 'approve it if that is meant', approvable: true, whyDropped: reason };

  test('waits for approval', async () => {
    expect(await emptied({ reads: empty }, { a: 'accept' })).toMatchObject({ isEmptyApproved: false, a: held });
  });

  test('goes once what empties it is approved', async () => {
    expect(await emptied({ reads: empty }, { a: 'covered' })).toMatchObject({
      isEmptyApproved: true,
      a: { ...accepted, isApproved: true },
    });
  });

  test('needs no approval of a source that has nothing to lose, beside an approved one', async () => {
    expect(await emptied({ reads: empty }, { a: 'covered', b: 'accept' })).toMatchObject({
      isEmptyApproved: true,
      a: accepted,
      b: { ...accepted, isApproved: false },
    });
    expect(await emptied({ reads: empty }, { a: 'accept', b: 'covered' })).toMatchObject({
      isEmptyApproved: false,
      a: held,
      b: accepted,
    });
    const bare = { ...empty, 'a accepted': {} };
    expect(await emptied({ reads: bare }, { a: 'accept', b: 'accept' })).toMatchObject({ a: held, b: held });
    expect(await emptied({ reads: bare }, { a: 'coveredAndHeld', b: 'accept' })).toMatchObject({
      isEmptyApproved: false,
      b: held,
    });
  });

  test('is none where some source has drivers, or nothing passes, or nothing is deleted', async () => {
    const passing = { isEmptyApproved: false, a: { ...accepted, isApproved: false } };
    expect(await emptied({ reads: { ...empty, 'c accepted': { Z: year } } }, { a: 'accept' })).toMatchObject(passing);
    expect(
      await emptied({ reads: { ...empty, 'b candidate': { Z: year } } }, { a: 'accept', b: 'accept' }),
    ).toMatchObject(passing);
    expect(await emptied({ reads: empty, shouldDeleteMissing: false }, { a: 'accept' })).toMatchObject(passing);
    expect(await emptied({ reads: { 'b accepted': {} } }, {})).toEqual({ isEmptyApproved: false });
    const beside = await emptied({ reads: empty }, { a: 'coveredAndHeld', b: 'accept' });
    expect(beside).toMatchObject({ isEmptyApproved: false, b: accepted });
    const kept = await emptied({ reads: { ...empty, 'a accepted': {} } }, { a: 'hold' });
    expect(kept).toMatchObject({ isEmptyApproved: false, a: { reason: 'a lacks much' } });
  });

  test('is one where a source that left the config has the rest, and that was approved to go', async () => {
    const world = { sources: ['a'], reads: { ...empty, 'b accepted': { Y: year } } };
    expect(await emptied(world, { a: 'accept' })).toMatchObject({ a: accepted });
    const approved = (state: string, source = 'b') =>
      emptied({ ...world, approvals: [{ source, state }] }, { a: 'accept' });
    expect(await approved('pending')).toMatchObject({ a: held });
    expect(await approved('used')).toMatchObject({ a: accepted });
    expect(await approved('pending', 'a')).toMatchObject({ a: accepted });
  });
});
