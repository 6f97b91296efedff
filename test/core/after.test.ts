/** What the loop remembers of what was done: each outcome, and what it leaves as it was. */
import { describe, expect, test } from 'vitest';
import { type Attempt, type PassEnded, after, putOffRepeats } from '../../src/core/loop/after.ts';
import { type LoopState, recall, settle, start } from '../../src/core/loop/state.ts';

const minuteMs = 60_000;
const stopped = { atMs: 5, revision: 1, isRefused: false, reason: 'because', hint: 'do' };
const retry = { push: 'repeat', failures: 3, atMs: 700, askedUntilMs: 650 } as const;

const state: LoopState = {
  address: 'a',
  notedMs: 100,
  servedMs: 10,
  polledMs: 20,
  changed: { firstMs: 30, lastMs: 40 },
  unread: { now: ['x'], atPush: ['y'] },
  retry,
  stopped,
  repeatsMs: [900, 1000, 2000],
  asked: 'before',
};

const attempt: Attempt = {
  kind: 'attempt',
  push: 'newest',
  outcome: 'acknowledged',
  reason: 'said',
  begunMs: 1000,
  endedMs: 1500,
  askedMs: 0,
  jitter: 0.5,
  revision: 7,
  isSame: true,
  followsOpenPush: false,
};

describe('an attempt', () => {
  test('that is acknowledged ends what waited for it, and is itself the repeat that was due when it began', () => {
    expect(after(state, attempt)).toEqual({
      ...state,
      notedMs: 1500,
      retry: undefined,
      stopped: undefined,
      repeatsMs: [2000],
    });
  });

  test.each(['acknowledged', 'refused', 'unreachable'] as const)(
    'of a repeat that is %s leaves what the newest snapshot waits for',
    (outcome) => {
      const failed = { ...state, retry: { ...retry, push: 'newest' } } as const;
      const repeated = after(failed, { ...attempt, push: 'repeat', outcome });
      expect(repeated.stopped).toBe(stopped);
      expect(repeated.retry?.push).toBe('newest');
    },
  );

  test.each(['acknowledged', 'refused'] as const)('of a repeat that is %s ends its own retry', (outcome) => {
    expect(after(state, { ...attempt, push: 'repeat', outcome }).retry).toBeUndefined();
  });

  test('that follows an open push is repeated after ten minutes and after an hour', () => {
    const { repeatsMs } = after(state, { ...attempt, followsOpenPush: true });
    expect(repeatsMs).toEqual([1500 + 10 * minuteMs, 1500 + 60 * minuteMs]);
  });

  test('that is refused leaves the repeats of other bytes where they are', () => {
    const { repeatsMs, putOffMs } = after(state, { ...attempt, outcome: 'refused', isSame: false });
    expect([repeatsMs, putOffMs]).toEqual([state.repeatsMs, undefined]);
  });

  test('that is refused puts off the last repeat that is left, until something is acknowledged', () => {
    const refused = { ...attempt, outcome: 'refused', push: 'repeat', endedMs: 2000 } as const;
    const owed = after(state, refused);
    expect([owed.repeatsMs, owed.putOffMs]).toEqual([[2000], 2000]);
    const again = after(owed, { ...refused, begunMs: 2900, endedMs: 3000 });
    expect([again.repeatsMs, again.putOffMs]).toEqual([[2000], 3000]);
    const done = after(again, { ...attempt, begunMs: 3500, endedMs: 3600 });
    expect([done.repeatsMs, done.putOffMs]).toEqual([[], undefined]);
  });

  test('that is refused stops the newest snapshot, and a refused repeat stops nothing', () => {
    const refused = { ...attempt, outcome: 'refused' } as const;
    expect(after(state, refused)).toEqual({
      ...state,
      notedMs: 1500,
      retry: undefined,
      stopped: { atMs: 1000, revision: 7, isRefused: true, reason: 'said' },
      repeatsMs: [2000],
      putOffMs: 1500,
    });
    expect(after(state, { ...refused, push: 'repeat' }).stopped).toBe(stopped);
  });

  test.each(['unreachable', 'unknown'] as const)('that is %s is tried again, the longer the more failed', (outcome) => {
    expect(after(state, { ...attempt, outcome })).toEqual({
      ...state,
      notedMs: 1500,
      stopped: undefined,
      // Half of 8 s.
      retry: { push: 'newest', failures: 4, atMs: 1500 + 4000, askedUntilMs: undefined },
    });
    const first = after({ ...state, retry: undefined }, { ...attempt, outcome, push: 'repeat' });
    expect(first.retry).toEqual({ push: 'repeat', failures: 1, atMs: 1500 + 500, askedUntilMs: undefined });
    expect(first.stopped).toBe(stopped);
  });

  test('whose service asks for time is not tried before', () => {
    const { retry: asked } = after(state, { ...attempt, outcome: 'unreachable', askedMs: 90_000 });
    expect(asked).toEqual({ push: 'newest', failures: 4, atMs: 91_500, askedUntilMs: 91_500 });
    expect(after(state, { ...attempt, outcome: 'unreachable', askedMs: 10 }).retry).toMatchObject({
      atMs: 5500,
      askedUntilMs: 1510,
    });
  });
});

test('repeats whose moment has come are left to the next one, and the last one is put off', () => {
  expect(putOffRepeats(state, 1000)).toEqual({ ...state, repeatsMs: [2000], putOffMs: 1000 });
  expect(putOffRepeats(state, 999)).toEqual({ ...state, repeatsMs: [1000, 2000], putOffMs: 999 });
  expect(putOffRepeats(state, 2000)).toEqual({ ...state, repeatsMs: [2000], putOffMs: 2000 });
  // What another push has undone is owed without a moment.
  expect(putOffRepeats({ ...state, repeatsMs: [] }, 2000)).toEqual({ ...state, repeatsMs: [], putOffMs: 2000 });
});

const passed: PassEnded = {
  kind: 'pass',
  push: 'newest',
  polls: 'all',
  outcome: 'acknowledged',
  begunMs: 1000,
  endedMs: 1500,
  hasAccepted: true,
  unread: ['z'],
  asked: 'now',
  revision: 7,
};

describe('a pass', () => {
  const base = { ...state, notedMs: 1500, asked: 'now', polledMs: 1000, broken: undefined };
  const pushed = { ...base, changed: undefined, unread: { now: ['z'], atPush: ['z'] } };

  test.each(['acknowledged', 'unchanged'] as const)(
    'that is %s has served the schedule up to its beginning',
    (outcome) => {
      expect(after(state, { ...passed, outcome })).toEqual({
        ...pushed,
        servedMs: 1000,
        stopped: undefined,
        retry: undefined,
      });
    },
  );

  test('within which the clock was set back counts as begun when it ended', () => {
    const back = after(state, { ...passed, endedMs: 600 });
    expect([back.servedMs, back.polledMs]).toEqual([600, 600]);
  });

  test('that is blocked remembers why, and has not served the schedule', () => {
    const why = { reason: 'held', hint: 'approve' };
    expect(after(state, { ...passed, outcome: 'blocked', ...why })).toEqual({
      ...pushed,
      stopped: { atMs: 1000, revision: 7, isRefused: false, ...why },
    });
  });

  test('that is refused leaves what its attempt said', () => {
    expect(after(state, { ...passed, outcome: 'refused' })).toEqual(pushed);
  });

  test.each(['unreachable', 'unknown'] as const)(
    'that is %s makes of its retry one of the newest snapshot, whatever stopped that before',
    (outcome) => {
      expect(after(state, { ...passed, outcome })).toEqual({
        ...pushed,
        stopped: undefined,
        retry: { ...retry, push: 'newest' },
      });
      expect(after({ ...state, retry: undefined }, { ...passed, outcome }).retry).toBeUndefined();
    },
  );

  test('that pushes nothing notes what it accepted, and leaves what waits for a push and what somebody asked for', () => {
    const quiet = { ...passed, push: 'no', outcome: 'unchanged' } as const;
    const unread = { now: ['z'], atPush: ['y'] };
    const { asked } = state;
    expect(after(state, quiet)).toEqual({ ...base, asked, unread, changed: { firstMs: 30, lastMs: 1500 } });
    expect(after({ ...state, changed: undefined }, quiet).changed).toEqual({ firstMs: 1500, lastMs: 1500 });
    expect(after(state, { ...quiet, hasAccepted: false }).changed).toEqual(state.changed);
  });

  test('that polled what was due is no poll of all', () => {
    expect(after(state, { ...passed, polls: 'due' }).polledMs).toBe(20);
  });

  test('that broke is tried again after a minute, and nothing else is different', () => {
    const pass = { push: 'newest', resume: false, polls: 'all' } as const;
    const broke = { kind: 'broke', pass, asked: 'now', atMs: 800, hasUnpushed: false } as const;
    const broken = { pass, asked: 'now', times: 1, untilMs: 800 + minuteMs };
    expect(after(state, broke)).toEqual({ ...state, broken });
    expect(after({ ...state, broken: { ...broken, untilMs: 1 } }, passed).broken).toBeUndefined();
  });

  test('that broke on a ledger that did not answer is tried again soon, and later each time, for up to a minute', () => {
    const pass = { push: 'newest', resume: false, polls: 'all' } as const;
    const broke = { kind: 'broke', pass, asked: 'now', atMs: 0, hasUnpushed: false, isAway: true } as const;
    const pauses: (number | undefined)[] = [];
    let now = state;
    for (let time = 0; time < 8; time++) {
      now = after(now, broke);
      pauses.push(now.broken?.untilMs);
    }
    expect(pauses).toEqual([1_000, 2_000, 4_000, 8_000, 16_000, 32_000, 60_000, 60_000]);
    expect(after(after(now, passed), broke).broken?.untilMs).toBe(1_000);
  });

  test('that broke after it accepted data has seen a change', () => {
    const pass = { push: 'no', resume: false, polls: 'due' } as const;
    const broke = { kind: 'broke', pass, asked: 'now', atMs: 800, hasUnpushed: true } as const;
    expect(after({ ...state, changed: undefined }, broke).changed).toEqual({ firstMs: 800, lastMs: 800 });
    expect(after(state, broke).changed).toEqual(state.changed);
  });
});

test('where the clock is set back, every moment moves along', () => {
  const pass = { push: 'newest', resume: false, polls: 'all' } as const;
  expect(settle({ ...state, broken: { pass, asked: 'now', times: 1, untilMs: 3000 } }, 60)).toEqual({
    ...state,
    notedMs: 60,
    servedMs: -30,
    polledMs: -20,
    changed: { firstMs: -10, lastMs: 0 },
    retry: { ...retry, atMs: 660, askedUntilMs: 610 },
    stopped: { ...stopped, atMs: -35 },
    repeatsMs: [860, 960, 1960],
    broken: { pass, asked: 'now', times: 1, untilMs: 2960 },
  });
  expect(settle(state, 500)).toEqual({ ...state, notedMs: 500 });
  expect(settle({ ...state, putOffMs: 90 }, 60).putOffMs).toBe(50);
  const unasked = { push: 'newest', failures: 1, atMs: 200, askedUntilMs: undefined } as const;
  expect(settle({ ...state, retry: unasked }, 90).retry).toEqual({ ...unasked, atMs: 190 });
  expect(settle({ address: 'a', notedMs: 100, unread: state.unread, repeatsMs: [], asked: '' }, 40)).toEqual({
    address: 'a',
    notedMs: 40,
    unread: state.unread,
    repeatsMs: [],
    asked: '',
  });
});

test('a schedule time that was served ahead of the clock counts as not served', () => {
  expect(recall({ ...state, servedMs: 301 }, 300).servedMs).toBeUndefined();
  expect(recall({ ...state, servedMs: 300 }, 300).servedMs).toBe(300);
});

test('a daemon that starts tries what was refused once the service lets it, and pushes what a crash left', () => {
  const now = { nowMs: 800, hasUnpushed: true };
  const refused = { ...state, stopped: { ...stopped, isRefused: true } };
  expect(start(refused, now)).toEqual({
    ...state,
    stopped: undefined,
    retry: { push: 'newest', failures: 0, atMs: 800, askedUntilMs: 650 },
  });
  const asked = { ...refused, retry: { ...retry, askedUntilMs: 1650 } };
  expect(start(asked, now).retry).toEqual({ push: 'newest', failures: 0, atMs: 1650, askedUntilMs: 1650 });
  expect(start({ ...refused, retry: undefined }, now).retry).toEqual({ push: 'newest', failures: 0, atMs: 800 });
  expect(start(state, now)).toEqual({ ...state, stopped: undefined });
  expect(start({ ...state, putOffMs: 90 }, now).putOffMs).toBeUndefined();
  const quiet = { ...state, changed: undefined };
  expect(start({ ...state, stopped: undefined }, now).retry).toBe(retry);
  expect(start(quiet, now).changed).toEqual({ firstMs: 800, lastMs: 800 });
  expect(start(quiet, { ...now, hasUnpushed: false }).changed).toBeUndefined();
});
