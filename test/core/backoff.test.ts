import fc from 'fast-check';
import { expect, test } from 'vitest';
import { fullJitterMs } from '../../src/core/loop/backoff.ts';

const highest = () => 1 - Number.EPSILON / 2;

test('the ceiling starts at a second and doubles with every attempt', () => {
  const ceilings = [1, 2, 3, 4].map((attempt) => fullJitterMs({ attempt, random: highest }) + 1);
  expect(ceilings).toEqual([1000, 2000, 4000, 8000]);
});

test('no wait is longer than five minutes, however often it failed', () => {
  for (const attempt of [9, 10, 100, 5000]) {
    expect(fullJitterMs({ attempt, random: highest })).toBeLessThanOrEqual(300_000);
  }
  expect(fullJitterMs({ attempt: 5000, random: () => 0.5 })).toBe(150_000);
});

test('full jitter may choose any wait below the ceiling, also none', () => {
  expect(fullJitterMs({ attempt: 3, random: () => 0 })).toBe(0);
  expect(fullJitterMs({ attempt: 3, random: () => 0.25 })).toBe(1000);
});

test('base and cap may be chosen', () => {
  expect(fullJitterMs({ attempt: 2, baseMs: 10, capMs: 15, random: () => 0.8 })).toBe(12);
});

test('a wait is a whole number of milliseconds from zero to the cap', () => {
  fc.assert(
    fc.property(
      fc.integer({ min: 1, max: 10_000 }),
      fc.double({ min: 0, max: 1, maxExcluded: true, noNaN: true }),
      (attempt, share) => {
        const ms = fullJitterMs({ attempt, random: () => share });
        expect(Number.isSafeInteger(ms) && ms >= 0 && ms <= 300_000).toBe(true);
      },
    ),
  );
});
