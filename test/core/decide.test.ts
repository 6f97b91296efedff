/** What the loop does at one moment, for each thing that it may go by. Whole days of it are in `loop.test.ts` and `loop-property.test.ts`. */
import { describe, expect, test } from 'vitest';
import { type Facts, type LoopEvent, decide, nextPush } from '../../src/core/loop/decide.ts';
import type { Broken, LoopState, PlannedPass } from '../../src/core/loop/state.ts';

const minutes = 60_000;
const hours = 60 * minutes;
const nowMs = 10 * minutes;
function hourly(afterMs: number): number {
  if (!Number.isFinite(afterMs)) throw new Error('a schedule has no time after no time');
  return (Math.floor(afterMs / hours) + 1) * hours;
}

/** Everything was served at midnight, and nothing has happened since. */
const still: LoopState = {
  address: 'a',
  notedMs: 0,
  servedMs: 0,
  polledMs: 0,
  unread: { now: [], atPush: [] },
  repeatsMs: [],
  asked: 'once',
};

/** Ten past midnight: the next poll is at a quarter past, and the schedule at one. */
const calm: Facts = {
  nowMs,
  nextScheduledMs: hourly,
  pushOnChangeMs: undefined,
  pollMs: 15 * minutes,
  hasPushed: true,
  isOpen: false,
  rollbackOpenMs: undefined,
  isBlocked: false,
  isDoubted: false,
  revision: 1,
  asked: 'once',
  hasRequest: false,
  hasNewToken: false,
};

const no: PlannedPass = { push: 'no', resume: false, polls: 'all' };
const newest: PlannedPass = { push: 'newest', resume: false, polls: 'all' };

interface Moment {
  readonly state?: Partial<LoopState>;
  readonly facts?: Partial<Facts>;
  readonly events?: readonly LoopEvent[];
}

function decided({ state, facts, events = [] }: Moment): ReturnType<typeof decide> {
  return decide({ ...still, ...state }, { ...calm, ...facts }, new Set(events));
}

const next = ({ state, facts }: Moment): ReturnType<typeof nextPush> =>
  nextPush({ ...still, ...state }, { ...calm, ...facts });

const pass = (planned: PlannedPass): unknown => ({ kind: 'pass', pass: planned });
const wait = (untilMs: number): unknown => ({ kind: 'wait', untilMs });

describe('where nothing has happened', () => {
  test.each<[string, Partial<Facts>, number]>([
    ['the next poll', {}, 15 * minutes],
    ['the next push, where that is sooner', { pollMs: 3 * hours }, 1 * hours],
    ['the next poll, where no push comes', { pollMs: 3 * hours, isBlocked: true }, 3 * hours],
    ['a poll of the very next millisecond', { pollMs: nowMs + 1 }, nowMs + 1],
  ])('the loop waits for %s', (_, facts, untilMs) => {
    expect(decided({ facts })).toEqual(wait(untilMs));
  });

  test('a poll that is due reads what is due, and pushes nothing', () => {
    expect(decided({ facts: { pollMs: nowMs } })).toEqual(pass({ ...no, polls: 'due' }));
  });
});

describe('an event', () => {
  test.each<[LoopEvent, PlannedPass]>([
    ['start', no],
    ['source', { ...no, polls: 'due' }],
    ['request', no],
    ['pass', { ...newest, resume: true }],
    ['reload', newest],
    ['settings', { ...no, resume: true }],
  ])('%s', (event, planned) => {
    expect(decided({ events: [event] })).toEqual(pass(planned));
  });

  test('beside another one has its due', () => {
    expect(decided({ events: ['source', 'request'] })).toEqual(pass(no));
    expect(decided({ events: ['reload', 'settings'] })).toEqual(pass({ ...newest, resume: true }));
  });

  test('of a start pushes what was never pushed to this address', () => {
    const facts = { hasPushed: false, isBlocked: true };
    expect(decided({ facts, events: ['start'] })).toEqual(pass(newest));
    expect(decided({ facts, events: ['source'] })).toEqual(pass({ ...no, polls: 'due' }));
  });

  test('is not needed where something was asked for', () => {
    expect(decided({ facts: { asked: 'twice' } })).toEqual(pass(newest));
    expect(next({ facts: { asked: 'twice' } })).toEqual({
      atMs: nowMs,
      push: 'newest',
      why: 'somebody asked for it',
    });
  });

  test('waits for what Retry-After asked for where something was asked for', () => {
    const retry = { push: 'newest', failures: 1, atMs: 20 * minutes, askedUntilMs: 15 * minutes } as const;
    const asked = { push: 'newest', why: 'somebody asked for it' };
    expect(next({ state: { retry }, facts: { asked: 'twice' } })).toEqual({ ...asked, atMs: 15 * minutes });
    const over = { ...retry, askedUntilMs: 5 * minutes };
    expect(next({ state: { retry: over }, facts: { asked: 'twice' } })).toEqual({ ...asked, atMs: nowMs });
  });
});

describe('a pass that broke', () => {
  const broken = (what: Partial<Broken> = {}): Partial<LoopState> => ({
    broken: { pass: no, asked: 'once', times: 1, untilMs: nowMs + 1, ...what },
  });

  test.each<[readonly LoopEvent[]]>([[[]], [['source']], [['start']], [['settings']]])(
    'is left alone until its time, whatever comes (%s)',
    (events) => {
      expect(decided({ state: broken(), facts: { pollMs: 0 }, events })).toEqual(wait(nowMs + 1));
    },
  );

  test.each<[LoopEvent, PlannedPass]>([
    ['pass', { ...newest, resume: true }],
    ['request', no],
    ['reload', newest],
  ])('is done again at once for whoever asks (%s)', (event, planned) => {
    expect(decided({ state: broken(), events: [event] })).toEqual(pass(planned));
  });

  test.each<[string, Partial<PlannedPass>, Partial<PlannedPass>]>([
    ['what it polled for', {}, {}],
    ['the push that it was for', { push: 'newest' }, { push: 'newest' }],
    ['a repeat', { push: 'repeat' }, { push: 'repeat' }],
    ['going on from the sources', { resume: true }, { resume: true }],
  ])('is done again once its time has come: %s', (_, was, again) => {
    const state = broken({ untilMs: nowMs, pass: { ...no, polls: 'due', ...was } });
    expect(decided({ state })).toEqual(pass({ ...no, ...again }));
  });

  test('is done again for the newest snapshot where that is due meanwhile', () => {
    const state = { ...broken({ untilMs: nowMs, pass: { ...no, push: 'repeat' } }), servedMs: -1 };
    expect(decided({ state })).toEqual(pass(newest));
  });

  test('holds the next push up', () => {
    const state = broken({ untilMs: 90 * minutes });
    expect(next({ state })).toEqual({ atMs: 90 * minutes, push: 'newest', why: 'the schedule' });
    expect(next({ state: broken() })).toEqual({ atMs: 1 * hours, push: 'newest', why: 'the schedule' });
    expect(next({ state, facts: { isBlocked: true } })).toBeUndefined();
  });
});

describe('whoever goes on from the sources', () => {
  const resumes = (moment: Moment): boolean => {
    const decision = decided({ ...moment, events: ['pass', ...(moment.events ?? [])] });
    return decision.kind === 'pass' && decision.pass.resume;
  };

  test('ends a rollback that was taken up, and none that was asked for since', () => {
    const waiting = { hasRequest: true, asked: 'once' };
    expect(resumes({ facts: waiting })).toBe(true);
    expect(resumes({ facts: { ...waiting, asked: 'twice' } })).toBe(false);
    expect(resumes({ facts: { asked: 'twice' } })).toBe(true);
  });

  test('ends one whose pass broke', () => {
    const broken: Broken = { pass: newest, asked: 'twice', times: 1, untilMs: nowMs };
    expect(resumes({ state: { broken }, facts: { hasRequest: true, asked: 'twice' } })).toBe(true);
    expect(resumes({ state: { broken }, facts: { hasRequest: true, asked: 'thrice' } })).toBe(false);
  });
});

describe('why the newest snapshot is pushed', () => {
  const refused = { atMs: 5 * minutes, revision: 1, isRefused: true };

  test.each<[why: string, atMs: number, Moment]>([
    ['the schedule', 1 * hours, {}],
    ['the schedule', nowMs, { state: { servedMs: undefined } }],
    [
      'the last push did not arrive and is tried again',
      12 * minutes,
      { state: { retry: { push: 'newest', failures: 1, atMs: 12 * minutes } } },
    ],
    [
      'a source that the last push went without can be read again',
      nowMs,
      { state: { unread: { now: ['costs'], atPush: ['costs', 'sales'] } } },
    ],
    ['new data or a new token after a refusal', nowMs, { state: { stopped: refused }, facts: { revision: 2 } }],
    ['new data or a new token after a refusal', nowMs, { state: { stopped: refused }, facts: { hasNewToken: true } }],
    ['the first push to this address', nowMs, { facts: { hasPushed: false } }],
    ['the ledger may have lost pushes', nowMs, { facts: { isDoubted: true } }],
    ['the last push was not answered', nowMs, { facts: { isOpen: true } }],
    [
      'pushOnChange',
      11 * minutes,
      { state: { changed: { firstMs: 8 * minutes, lastMs: 9 * minutes } }, facts: { pushOnChangeMs: 2 * minutes } },
    ],
    [
      'pushOnChange',
      20 * minutes,
      { state: { changed: { firstMs: 0, lastMs: 19 * minutes } }, facts: { pushOnChangeMs: 2 * minutes } },
    ],
  ])('%s (at %i ms)', (why, atMs, moment) => {
    expect(next(moment)).toEqual({ atMs, push: 'newest', why });
    const isDue = atMs <= nowMs;
    expect(decided(moment)).toMatchObject(isDue ? { kind: 'pass', pass: { push: 'newest' } } : { kind: 'wait' });
  });

  test.each<[string, Moment]>([
    ['a source that is still unread', { state: { unread: { now: ['costs'], atPush: ['costs'] } } }],
    ['a source that became unread since', { state: { unread: { now: ['costs'], atPush: [] } } }],
    ['a change without pushOnChange', { state: { changed: { firstMs: 0, lastMs: 0 } } }],
    ['pushOnChange without a change', { facts: { pushOnChangeMs: 1 } }],
    ['a repeat that did not arrive', { state: { retry: { push: 'repeat', failures: 1, atMs: 0 } } }],
    [
      'new data after a push that was stopped here, and not by the service',
      { state: { stopped: { ...refused, isRefused: false } }, facts: { revision: 2 } },
    ],
    [
      'a new token for a push that was stopped here',
      { state: { stopped: { ...refused, isRefused: false } }, facts: { hasNewToken: true } },
    ],
  ])('not for %s', (_, moment) => {
    expect(next(moment)).toEqual({ atMs: 1 * hours, push: 'newest', why: 'the schedule' });
  });

  test('nothing goes before the retry of what did not arrive, and an unanswered push is that retry', () => {
    const retry = { push: 'newest', failures: 1, atMs: 12 * minutes } as const;
    const why = 'the last push did not arrive and is tried again';
    expect(next({ state: { retry }, facts: { isOpen: true } })).toEqual({ atMs: 12 * minutes, push: 'newest', why });
    const missed = { retry, servedMs: -1 };
    expect(next({ state: missed })?.atMs).toBe(12 * minutes);
  });

  test.each<[string, Partial<LoopState>, number]>([
    ['the first schedule time after it', {}, 3 * hours],
    ['also where nothing was ever served', { servedMs: undefined }, 3 * hours],
    ['also where a later time was served', { servedMs: 3.5 * hours }, 4 * hours],
  ])('a refusal waits for %s', (_, state, atMs) => {
    const stopped = { ...refused, atMs: 2.5 * hours };
    const facts = { nowMs: 2.6 * hours, pollMs: Infinity, isDoubted: true, isOpen: true, hasPushed: false };
    const moment = { state: { ...state, stopped }, facts };
    expect(next(moment)).toEqual({ atMs, push: 'newest', why: 'the schedule' });
    expect(decided(moment)).toEqual(wait(atMs));
  });

  test('a refusal stops the retry of what it refused', () => {
    const retry = { push: 'newest', failures: 1, atMs: 20 * minutes } as const;
    expect(next({ state: { retry, stopped: refused } })?.why).toBe('the schedule');
    expect(next({ state: { retry, stopped: refused }, facts: { revision: 2 } })).toMatchObject({ atMs: 20 * minutes });
  });

  test('a rollback that holds leaves none, but for a request that waits', () => {
    const moment = { state: { servedMs: -1 }, facts: { isBlocked: true } };
    expect(next(moment)).toBeUndefined();
    expect(next({ ...moment, facts: { isBlocked: true, hasRequest: true } })?.why).toBe('the schedule');
  });
});

describe('a repeat', () => {
  const why = 'the same bytes once more, since an earlier push may have landed after them';

  test('is sent when it is due, and asks no expensive source', () => {
    const state = { repeatsMs: [nowMs, 2 * hours] };
    expect(decided({ state })).toEqual(pass({ push: 'repeat', resume: false, polls: 'due' }));
    expect(next({ state: { repeatsMs: [30 * minutes] } })).toEqual({ atMs: 30 * minutes, push: 'repeat', why });
  });

  test('leaves alone what may have been taken since', () => {
    expect(next({ state: { repeatsMs: [nowMs] }, facts: { isOpen: true } })?.push).toBe('newest');
    const blocked = { isOpen: true, isBlocked: true };
    expect(next({ state: { repeatsMs: [nowMs] }, facts: blocked })).toBeUndefined();
  });

  test('that was put off waits for the schedule time after that, or for a new token', () => {
    const state = { servedMs: nowMs, repeatsMs: [5 * minutes], putOffMs: 6 * minutes };
    const moment = { state, facts: { isBlocked: true } };
    expect(next(moment)).toEqual({ atMs: 1 * hours, push: 'repeat', why });
    expect(next({ state, facts: { isBlocked: true, hasNewToken: true } })?.atMs).toBe(5 * minutes);
    expect(next({ ...moment, state: { ...state, repeatsMs: [2 * hours] } })?.atMs).toBe(2 * hours);
  });

  test('that was put off leaves a later one at its moment', () => {
    const state = { servedMs: nowMs, repeatsMs: [20 * minutes], putOffMs: 6 * minutes };
    expect(next({ state, facts: { isBlocked: true } })?.atMs).toBe(20 * minutes);
  });

  test('is due at once while a rollback holds that another push may have undone, and waits only for what waits itself', () => {
    const undone = 'the same bytes once more, since another push may have been taken after the rollback';
    const facts = { isBlocked: true, isOpen: true, rollbackOpenMs: 5 * minutes };
    const due = { atMs: nowMs, push: 'repeat', why: undone };
    expect(next({ facts })).toEqual(due);
    expect(next({ state: { repeatsMs: [2 * hours] }, facts })).toEqual(due);
    expect(next({ state: { putOffMs: 5 * minutes - 1 }, facts })).toEqual(due);
    expect(next({ state: { putOffMs: 5 * minutes }, facts })).toEqual({ ...due, atMs: 1 * hours });
    expect(next({ state: { putOffMs: 5 * minutes }, facts: { ...facts, hasNewToken: true } })).toEqual(due);
    const retry = { push: 'newest', failures: 2, atMs: 12 * minutes } as const;
    expect(next({ state: { retry }, facts })).toEqual({ ...due, atMs: 12 * minutes });
  });

  test('gives way to the newest snapshot where both are due, and to nothing that is not due yet', () => {
    const state = { repeatsMs: [5 * minutes] };
    expect(decided({ state, facts: { isDoubted: true } })).toMatchObject({ pass: { push: 'newest' } });
    const changed = { firstMs: 0, lastMs: 8 * minutes };
    const at = (pushOnChangeMs: number): Moment => ({ state: { ...state, changed }, facts: { pushOnChangeMs } });
    expect(decided(at(1 * minutes))).toMatchObject({ pass: { push: 'newest' } });
    expect(decided(at(2 * minutes))).toMatchObject({ pass: { push: 'newest' } });
    expect(decided(at(3 * minutes))).toMatchObject({ pass: { push: 'repeat' } });
    expect(next({ state: { repeatsMs: [2 * hours] } })?.why).toBe('the schedule');
  });

  test('goes on while a rollback holds', () => {
    const moment = { state: { repeatsMs: [nowMs] }, facts: { isBlocked: true } };
    expect(decided(moment)).toMatchObject({ pass: { push: 'repeat' } });
  });
});

describe('every source is polled', () => {
  const polls = (state: Partial<LoopState>, facts: Partial<Facts> = {}): string => {
    const decision = decided({ state, facts: { isDoubted: true, ...facts } });
    return decision.kind === 'pass' ? decision.pass.polls : 'none';
  };

  test.each<[string, Partial<LoopState>, Partial<Facts>]>([
    ['by the first push of all', { servedMs: undefined, polledMs: undefined }, {}],
    ['at the very moment of the schedule', {}, { nowMs: 1 * hours }],
    [
      'where a schedule time passed that no poll has served',
      { servedMs: undefined, polledMs: 0 },
      { nowMs: 2 * hours },
    ],
    ['where one passed since the last that was served', { polledMs: undefined }, { nowMs: 2 * hours }],
  ])('%s', (_, state, facts) => {
    expect(polls(state, facts)).toBe('all');
  });

  test.each<[string, Partial<LoopState>, Partial<Facts>]>([
    ['before the next schedule time', {}, { nowMs: 1 * hours - 1 }],
    ['where that one was polled for', { servedMs: 0, polledMs: 1 * hours }, { nowMs: 1.5 * hours }],
    ['where that one was served', { servedMs: 1 * hours, polledMs: 0 }, { nowMs: 1.5 * hours }],
    ['by a poll while nothing may be pushed', { servedMs: -1 }, { isBlocked: true, pollMs: nowMs }],
    ['by what was only polled, before the next time', { servedMs: undefined, polledMs: 0 }, {}],
    ['by what was only served, before the next time', { polledMs: undefined }, {}],
  ])('not %s', (_, state, facts) => {
    expect(polls(state, facts)).toBe('due');
  });
});
