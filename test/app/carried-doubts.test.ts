/** Which readings may bring another one to count that nobody can read any more. */
import { expect, test } from 'vitest';
import { isWeaker } from '../../src/app/review/carried-doubts.ts';
import type { Rule } from '../../src/core/model.ts';

const cell = (value: string, seconds = 0, nanos = 0) => ({ value, seconds, nanos });

test.each<[Rule, ReturnType<typeof cell>, ReturnType<typeof cell> | undefined, boolean]>([
  ['last', cell('1', 10), undefined, true],
  ['last', cell('1', 10), cell('1', 9), true],
  ['last', cell('1', 10), cell('1', 10), false],
  ['last', cell('1', 10), cell('1', 11), false],
  ['last', cell('1', 10, 5), cell('1', 10, 4), true],
  ['last', cell('1', 10, 5), cell('1', 10, 6), false],
  ['last', cell('1', 10, 5), cell('1', 11, 4), false],
  ['first', cell('1', 10), cell('1', 11), true],
  ['first', cell('1', 10), cell('1', 10), false],
  ['first', cell('1', 10), cell('1', 9), false],
  ['first', cell('1', 10, 5), cell('1', 10, 6), true],
  ['min', cell('2'), cell('3'), true],
  ['min', cell('2'), cell('2.0'), false],
  ['min', cell('2'), cell('-9'), false],
  ['max', cell('2'), cell('1'), true],
  ['max', cell('2'), cell('2.0'), false],
  ['max', cell('2'), cell('10'), false],
  ['sum', cell('2'), undefined, false],
  ['average', cell('2'), cell('1'), false],
  ['count', cell('2'), undefined, false],
])('by %s, after %o, %o is weaker: %s', (rule, old, now, expected) => {
  expect(isWeaker({ rule }, old, now)).toBe(expected);
});
