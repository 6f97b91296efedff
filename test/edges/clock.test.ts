import { getEventListeners } from 'node:events';
import { afterEach, expect, test, vi } from 'vitest';
import { systemClock } from '../../src/edges/clock.ts';
import { handClock } from '../support/hand-clock.ts';

const dayMs = 86_400_000;
const never = new AbortController().signal;

afterEach(() => {
  vi.useRealTimers();
});

test('a sleep of a month does not overflow a timer', async () => {
  vi.useFakeTimers();
  let awake = false;
  const sleep = systemClock.sleep(31 * dayMs, never).then(() => (awake = true));
  await vi.advanceTimersByTimeAsync(31 * dayMs - 1);
  expect(awake).toBe(false);
  await vi.advanceTimersByTimeAsync(1);
  await sleep;
  expect(awake).toBe(true);
});

test('a sleep takes at least its time, and no time at all for nothing', async () => {
  const begin = systemClock.monotonicMs();
  await systemClock.sleep(5.5, never);
  expect(systemClock.monotonicMs() - begin).toBeGreaterThanOrEqual(5.5);
  await systemClock.sleep(0, never);
  await systemClock.sleep(-1, never);
});

test('a sleep ends with the reason of its signal', async () => {
  const controller = new AbortController();
  const sleep = systemClock.sleep(40 * dayMs, controller.signal);
  controller.abort(new Error('enough'));
  await expect(sleep).rejects.toThrow('enough');
  await expect(systemClock.sleep(1, controller.signal)).rejects.toThrow('enough');
  await expect(systemClock.sleep(0, controller.signal)).rejects.toThrow('enough');
});

test('a signal that outlives many sleeps gathers no listeners', async () => {
  const { signal } = new AbortController();
  for (let sleeps = 0; sleeps < 20; sleeps += 1) await systemClock.sleep(0.1, signal);
  expect(getEventListeners(signal, 'abort')).toHaveLength(0);
});

test('the hand-held clock wakes sleepers in their order, each at its own time', async () => {
  const clock = handClock(new Date('2026-03-01T00:00:00Z'));
  const woken: string[] = [];
  const sleeper = async (name: string, ms: number): Promise<void> => {
    await clock.sleep(ms, never);
    woken.push(`${name} ${clock.now().toISOString().slice(11, 19)}`);
  };
  void sleeper('late', 60_000);
  void sleeper('early', 1000).then(() => sleeper('again', 2000));
  await clock.advance(59_999);
  expect(woken).toEqual(['early 00:00:01', 'again 00:00:03']);
  expect(clock.sleepers()).toBe(1);
  await clock.advance(1);
  expect(woken).toEqual(['early 00:00:01', 'again 00:00:03', 'late 00:01:00']);
});

test('the hand-held clock lets a sleep be stopped, and a wall clock jump', async () => {
  const clock = handClock(new Date('2026-03-01T00:00:00Z'));
  const controller = new AbortController();
  const sleep = clock.sleep(1000, controller.signal);
  controller.abort(new Error('enough'));
  await expect(sleep).rejects.toThrow('enough');
  expect(clock.sleepers()).toBe(0);
  clock.jump(-dayMs);
  expect(clock.now()).toEqual(new Date('2026-02-28T00:00:00Z'));
  expect(clock.monotonicMs()).toBe(0);
});
