import { expect, test } from 'vitest';
import { Patience } from '../../src/core/election/patience.ts';

test('an agent gives way after three leases of passes that break, and each further time after twice as long', () => {
  const patience = new Patience(10);
  const passes = (isBroken: boolean, nowMs: number, isLeading = true): void =>
    patience.passed({ isBroken, isLeading }, nowMs);
  passes(true, 100);
  passes(true, 120);
  expect(patience.isOver(129)).toBe(false);
  expect(patience.isOver(130)).toBe(true);
  // A pass that it only read along went well, which says nothing of the pushes.
  patience.gaveWay();
  passes(false, 140, false);
  expect(patience.isOver(1_000)).toBe(false);
  passes(true, 200);
  expect(patience.isOver(259)).toBe(false);
  expect(patience.isOver(260)).toBe(true);
  passes(false, 300);
  passes(true, 400);
  expect(patience.isOver(430)).toBe(true);
});
