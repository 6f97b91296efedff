import { describe, expect, test } from 'vitest';
import { type Changes, countChanges, diffDrivers, pairDrivers } from '../../src/core/series/diff.ts';
import { formatMonth } from '../../src/core/time/month.ts';
import { driver } from '../support/packed.ts';

const march = { '2026-03': '1.50' };

function changes(before: ReturnType<typeof driver>[], after: ReturnType<typeof driver>[]): Changes {
  return countChanges(diffDrivers(before, after));
}

const counts = (create: number, update: number, deleted: number) => ({ create, update, delete: deleted });

describe('the difference of two reads', () => {
  test('is nothing where they are equal', () => {
    expect(changes([driver('a', march)], [driver('a', march)])).toEqual({
      drivers: counts(0, 0, 0),
      points: counts(0, 0, 0),
    });
  });

  test('counts a driver that came with its points, and one that went with its points', () => {
    const before = [driver('a', march), driver('c', { ...march, '2026-04': '2' })];
    const after = [driver('a', march), driver('b', march)];
    expect(changes(before, after)).toEqual({ drivers: counts(1, 0, 1), points: counts(1, 0, 2) });
  });

  test('counts points that came, changed and went', () => {
    const before = driver('a', { '2026-01': '1', '2026-02': '2', '2026-03': '3' });
    const after = driver('a', { '2026-02': '2', '2026-03': '3.0', '2026-04': '4' });
    expect(changes([before], [after])).toEqual({ drivers: counts(0, 1, 0), points: counts(1, 1, 1) });
    const [change] = diffDrivers([before], [after]);
    expect(change?.deleted.map(formatMonth)).toEqual(['2026-01']);
    expect(change?.updated.map(formatMonth)).toEqual(['2026-03']);
    expect(change?.created.map(formatMonth)).toEqual(['2026-04']);
  });

  test('counts a driver under another path as updated, with no point', () => {
    const moved = changes([driver('a', march, ['Old'])], [driver('a', march, ['New'])]);
    expect(moved).toEqual({ drivers: counts(0, 1, 0), points: counts(0, 0, 0) });
  });
});

test('two runs are walked side by side, and both are let go early', () => {
  const ended: string[] = [];
  const run = function* (name: string, ids: string[]) {
    try {
      for (const id of ids) yield driver(id, march);
    } finally {
      ended.push(name);
    }
  };
  for (const [a, b] of pairDrivers(run('left', ['a', 'b', 'd']), run('right', ['b', 'c', 'd']))) {
    if (a !== undefined && b !== undefined) break;
  }
  expect(ended).toEqual(['left', 'right']);
});

test('runs that take back the bytes of a driver once the next is asked for are compared all the same', () => {
  const run = function* (values: Readonly<Record<string, string>>) {
    for (const [id, value] of Object.entries(values)) {
      const one = driver(id, { '2026-03': value });
      const points = Uint8Array.from(one.points);
      yield { ...one, points };
      points.buffer.transfer(0);
    }
  };
  const found = [...diffDrivers(run({ a: '1', b: '2', d: '4' }), run({ a: '1', b: '3', c: '5' }))];
  expect(found.map(({ kind, id }) => [kind, id])).toEqual([
    ['update', 'b'],
    ['create', 'c'],
    ['delete', 'd'],
  ]);
});

test('drivers whose bytes were taken back are not taken for equal ones', () => {
  const gone = { ...driver('a', march), points: new Uint8Array(0) };
  expect(() => [...diffDrivers([gone], [gone])]).toThrow('driver "a" is used after its run has moved on');
});
