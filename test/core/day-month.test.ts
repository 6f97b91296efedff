import { expect, test } from 'vitest';
import { exchangedFormat } from '../../src/core/time/day-month.ts';

test.each([
  ['MM/dd/yyyy', 'dd/MM/yyyy'],
  ['d.M.yy', 'M.d.yy'],
  ["dd-MM-yyyy 'at' HH:mm", "MM-dd-yyyy 'at' HH:mm"],
  ["'dd' MM/dd/yyyy", "'dd' dd/MM/yyyy"],
  ['LL/dd/yyyy', 'dd/LL/yyyy'],
  ['dd/MM', 'MM/dd'],
  ['dd/yyyy/MM', 'MM/yyyy/dd'],
  ["dd/MM 'o''clock", "MM/dd 'o''clock"],
])('%s with day and month exchanged is %s', (format, exchanged) => {
  expect(exchangedFormat(format)).toBe(exchanged);
});

test.each(['yyyy-MM-dd', 'yyyyMMdd', 'dd MMM yyyy', 'MM/yyyy', 'iso', 'unix', 'DDD yyyy', 'yyyy/dd/MM', ''])(
  '%s has no such pair',
  (format) => {
    expect(exchangedFormat(format)).toBeUndefined();
  },
);
