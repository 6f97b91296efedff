/** What a signal to end does while a push is under way, and after one that came to no end. */
import { expect, test } from 'vitest';
import { openEnding } from '../../src/cli/ending.ts';

/** A daemon in the middle of a push, and the first signal, as its process gets it. */
function pushing() {
  const before = new Set(process.listeners('SIGTERM'));
  const asked: boolean[] = [];
  const ending = openEnding('push.recorded', (_name, isPushing) => asked.push(isPushing));
  const listener = process.listeners('SIGTERM').find((one) => !before.has(one));
  ending.note({ kind: 'push.begun', push: 1, bytes: 1 });
  return { ending, asked, terminate: () => listener!('SIGTERM') };
}

test.each([
  ['recorded', 'push.recorded'],
  ['broken, as where another agent leads meanwhile', 'push.broken'],
] as const)('a push that was %s is waited for no more', (_how, kind) => {
  const { ending, asked, terminate } = pushing();
  using _ending = ending;
  ending.note({ kind, push: 1 });
  terminate();
  expect({ asked, isEnded: ending.signal.aborted }).toEqual({ asked: [false], isEnded: true });
});

test.each([
  ['is recorded', 'push.recorded'],
  ['breaks', 'push.broken'],
] as const)('a push under way is waited for until it %s', (_how, kind) => {
  const { ending, asked, terminate } = pushing();
  using _ending = ending;
  terminate();
  expect({ asked, isEnded: ending.signal.aborted }).toEqual({ asked: [true], isEnded: false });
  ending.note({ kind, push: 1 });
  expect(ending.signal.aborted).toBe(true);
});
