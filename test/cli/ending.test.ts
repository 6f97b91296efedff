/** What a signal to end does while a push is under way, and after one that came to no end. */
import { expect, test } from 'vitest';
import { openEnding } from '../../src/cli/ending.ts';

/** The first signal, as the process gets it. */
function signalled(make: () => ReturnType<typeof openEnding>) {
  const before = new Set(process.listeners('SIGTERM'));
  const ending = make();
  const listener = process.listeners('SIGTERM').find((one) => !before.has(one));
  return { ending, terminate: () => listener!('SIGTERM') };
}

test.each([
  ['recorded', 'push.recorded'],
  ['broken, as where another agent leads meanwhile', 'push.broken'],
] as const)('a push that was %s is waited for no more', (_how, kind) => {
  const asked: boolean[] = [];
  const { ending, terminate } = signalled(() =>
    openEnding('push.recorded', (_name, isPushing) => asked.push(isPushing)),
  );
  using _ending = ending;
  ending.note({ kind: 'push.begun', push: 1, bytes: 1 });
  ending.note({ kind, push: 1 });
  terminate();
  expect({ asked, isEnded: ending.signal.aborted }).toEqual({ asked: [false], isEnded: true });
});

test.each([
  ['is recorded', 'push.recorded'],
  ['breaks', 'push.broken'],
] as const)('a push under way is waited for until it %s', (_how, kind) => {
  const asked: boolean[] = [];
  const { ending, terminate } = signalled(() =>
    openEnding('push.recorded', (_name, isPushing) => asked.push(isPushing)),
  );
  using _ending = ending;
  ending.note({ kind: 'push.begun', push: 1, bytes: 1 });
  terminate();
  expect({ asked, isEnded: ending.signal.aborted }).toEqual({ asked: [true], isEnded: false });
  ending.note({ kind, push: 1 });
  expect(ending.signal.aborted).toBe(true);
});
