/** Which drivers of a pass move from one source to another one, and which of their points. */
import { describe, expect, test } from 'vitest';
import type { Dependencies } from '../../src/app/dependencies.ts';
import { type Unseen, findMoves, movedPoints } from '../../src/app/review/moves.ts';
import { compareRuns } from '../../src/core/series/compare.ts';
import { formatMonth } from '../../src/core/time/month.ts';
import { type Reads, bufferOf, driversOf } from '../support/few-reads.ts';
import { driver } from '../support/packed.ts';

const [january, february, march] = ['2026-01', '2026-02', '2026-03'];

function moves(reads: Reads, { unread = [], former = [] }: Partial<Unseen> = {}) {
  const sources = [...new Set(Object.keys(reads).map((name) => name.split(' ')[0] ?? ''))];
  const candidates = sources
    .filter((source) => `${source} candidate` in reads && !former.includes(source))
    .map((source) => {
      const comparison = compareRuns(driversOf(reads, source, 'accepted'), driversOf(reads, source, 'candidate'));
      return { source, comparison };
    });
  const found = findMoves({ buffer: bufferOf(reads) } as Dependencies, candidates, { unread, former });
  return found.map(({ from, to, drivers, reads: where }) => ({
    move: `${from} > ${to}`,
    drivers: [...drivers],
    where: where.map(({ kind }) => kind),
  }));
}

const year = [january, february, march];

describe('a driver moves', () => {
  test('where one source gives it up and the candidate of another one has it', () => {
    const reads: Reads = { 'a accepted': { X: year, Y: year }, 'a candidate': { Y: year }, 'b candidate': { X: year } };
    expect(moves(reads)).toEqual([{ move: 'a > b', drivers: ['X'], where: ['candidate'] }]);
  });

  test('not where it stays, or nobody else has it', () => {
    expect(moves({ 'a accepted': { X: year }, 'a candidate': { X: year }, 'b candidate': { X: year } })).toEqual([]);
    expect(moves({ 'a accepted': { X: year }, 'a candidate': {}, 'b candidate': { Y: year } })).toEqual([]);
    expect(moves({ 'a accepted': { X: year }, 'a candidate': {} })).toEqual([]);
  });

  test('where it stays without months that another one has, and not where that one has others', () => {
    const reads = (months: readonly string[]): Reads => ({
      'a accepted': { X: year },
      'a candidate': { X: [january] },
      'b candidate': { X: months },
    });
    expect(moves(reads([march]))).toEqual([{ move: 'a > b', drivers: ['X'], where: ['candidate'] }]);
    expect(moves(reads([january]))).toEqual([]);
  });

  test('whole where another one has any of it', () => {
    const reads: Reads = { 'a accepted': { X: [january] }, 'a candidate': {}, 'b candidate': { X: [march] } };
    expect(moves(reads)).toEqual([{ move: 'a > b', drivers: ['X'], where: ['candidate'] }]);
  });

  test('to each source that has it, and from each that gives it up', () => {
    const reads: Reads = {
      'a accepted': { X: year, Y: year },
      'a candidate': {},
      'b accepted': { Z: year },
      'b candidate': { X: year, Y: year },
      'c candidate': { Y: year, Z: year },
    };
    expect(moves(reads)).toEqual([
      { move: 'a > b', drivers: ['X', 'Y'], where: ['candidate'] },
      { move: 'a > c', drivers: ['Y'], where: ['candidate'] },
      { move: 'b > c', drivers: ['Z'], where: ['candidate'] },
    ]);
  });

  test('to one that was not read, by what was last read of it', () => {
    const reads: Reads = { 'a accepted': { X: year }, 'a candidate': {}, 'b partial': { X: year } };
    expect(moves(reads, { unread: ['b'] })).toEqual([{ move: 'a > b', drivers: ['X'], where: ['partial'] }]);
    expect(moves(reads)).toEqual([]);
  });

  test('to one that left the config only while another one is not read, which may be it', () => {
    const reads: Reads = { 'a accepted': { X: year }, 'a candidate': {}, 'old candidate': { X: year } };
    const unread = { unread: ['b'], former: ['old'] };
    expect(moves(reads, unread)).toEqual([{ move: 'a > old', drivers: ['X'], where: ['partial', 'candidate'] }]);
    expect(moves(reads, { former: ['old'] })).toEqual([]);
    const partly: Reads = { 'a accepted': { X: year }, 'a candidate': {}, 'old partial': { X: year } };
    expect(moves(partly, unread)).toEqual([{ move: 'a > old', drivers: ['X'], where: ['partial', 'candidate'] }]);
  });
});

test('the points that move are those which are given up and another one has, of all reads together', () => {
  const reads: Reads = {
    'b candidate': { X: [january], Y: year, Z: year },
    'c partial': { X: [february], Z: [march] },
  };
  const where = [
    { source: 'b', kind: 'candidate' },
    { source: 'c', kind: 'partial' },
  ] as const;
  const given = compareRuns(
    [driver('X', { [january]: '1', [february]: '1', [march]: '1' }), driver('Y', { [march]: '1', '2026-04': '1' })],
    [],
  ).deletes;
  const moved = movedPoints({ buffer: bufferOf(reads) }, [{ drivers: new Set(['X', 'Y']), reads: where }], given);
  const shown = [...moved].map(([id, months]) => [id, months.map(formatMonth)]);
  expect(Object.fromEntries(shown)).toEqual({ X: [january, february], Y: [march] });
  expect(movedPoints({ buffer: bufferOf(reads) }, [{ drivers: new Set(['X']), reads: where }], given).size).toBe(1);
  expect(movedPoints({ buffer: bufferOf(reads) }, [], given).size).toBe(0);
});
