/** Single decisions of the loop, and what `status` says of the next push. */
import { expect, test } from 'vitest';
import { after } from '../../src/core/loop/after.ts';
import { type LoopEvent, decide, nextPush } from '../../src/core/loop/decide.ts';
import { type Broken, type LoopState, recall, settle } from '../../src/core/loop/state.ts';
import { type Answer, LoopWorld } from '../support/loop-world.ts';

const seconds = 1000;
const minutes = 60 * seconds;
const hours = 60 * minutes;

const unknown: Answer = { outcome: 'unknown', askedMs: 0 };
const refused: Answer = { outcome: 'refused', askedMs: 0 };

function loop(keys: Partial<LoopWorld['settings']> = {}): LoopWorld {
  const w = new LoopWorld({ everyMs: 24 * hours, pollMs: 1 * minutes, pushOnChangeMs: undefined, ...keys });
  w.run(0);
  return w;
}

const next = (w: LoopWorld): ReturnType<typeof nextPush> => nextPush(w.state, w.facts());

test('a daemon that has pushed nothing reads and pushes in one pass, though nothing was read yet', () => {
  const w = loop();
  const facts = { ...w.facts(), hasPushed: false, isBlocked: true };
  expect(decide(w.state, facts, new Set(['start']))).toMatchObject({ kind: 'pass', pass: { push: 'newest' } });
  expect(decide(w.state, { ...facts, hasPushed: true }, new Set(['start']))).toMatchObject({ pass: { push: 'no' } });
});

test('the next push is the schedule, or pushOnChange where that is sooner', () => {
  const w = loop({ pushOnChangeMs: 90 * seconds });
  expect(next(w)).toMatchObject({ atMs: 24 * hours, why: 'the schedule' });
  w.change();
  w.run(1 * minutes);
  expect(next(w)).toMatchObject({ atMs: 150 * seconds, why: 'pushOnChange' });
});

test('the next push waits for the backoff, for what Retry-After asked for, and for a pass that broke', () => {
  const w = loop();
  w.answers = [{ outcome: 'unreachable', askedMs: 30 * minutes }];
  w.change();
  w.wake('pass');
  w.run(1 * minutes);
  expect(next(w)).toMatchObject({ atMs: 30 * minutes, push: 'newest' });
  const pass = { push: 'no', resume: false, polls: 'due' } as const;
  const broken = after(w.state, {
    kind: 'broke',
    pass,
    asked: '0',
    atMs: 30 * minutes - 1 * seconds,
    hasUnpushed: false,
  });
  expect(nextPush(broken, w.facts())?.atMs).toBe(31 * minutes - 1 * seconds);
});

test('there is no next push while a rollback holds, but for a request that waits', () => {
  const w = loop();
  w.isBlocked = true;
  expect(next(w)).toBeUndefined();
  w.approve();
  expect(next(w)).toMatchObject({ atMs: w.nowMs });
  const failed = { ...w.state, asked: '1', retry: { push: 'newest' as const, failures: 1, atMs: 5 * minutes } };
  expect(nextPush(failed, { ...w.facts(), hasRequest: true })).toMatchObject({ atMs: 5 * minutes });
});

test('whoever goes on from the sources after a rollback was tried in a pass that broke has the last word', () => {
  const w = loop();
  w.approve();
  const isResumed = (broken: Broken, events: readonly LoopEvent[]): boolean => {
    const decision = decide({ ...w.state, broken }, { ...w.facts(), hasRequest: true }, new Set(events));
    return decision.kind === 'pass' && decision.pass.resume;
  };
  const pass = { push: 'newest', resume: false, polls: 'all' } as const;
  const tried = { pass, asked: w.facts().asked, times: 1, untilMs: 0 };
  expect(isResumed(tried, ['pass'])).toBe(true);
  expect(isResumed(tried, [])).toBe(false);
  // The rollback came after the pass that broke, and may have come after SIGUSR2 too.
  expect(isResumed({ ...tried, asked: 'before' }, ['pass'])).toBe(false);
  const going = { ...tried, pass: { ...pass, resume: true } };
  expect(isResumed(going, [])).toBe(true);
  expect(isResumed({ ...going, asked: 'before' }, ['request'])).toBe(false);
});

test('what is approved just before a poll begins gets a pass that pushes', () => {
  const w = loop();
  w.run(1 * minutes);
  const { length } = w.served;
  w.lateApprovals = 1;
  w.wake('source');
  w.run(0);
  expect(w.served).toHaveLength(length + 1);
  w.run(1 * minutes);
  expect(w.served).toHaveLength(length + 1);
});

test('where the ledger may have lost pushes the next one is tried at once, once for each new data', () => {
  const w = loop();
  w.isDoubted = true;
  expect(next(w)).toMatchObject({ atMs: w.nowMs, why: 'the ledger may have lost pushes' });
  w.run(1 * minutes);
  expect(w.served.at(-1)).toMatchObject({ outcome: 'blocked' });
  const { length } = w.served;
  w.run(1 * hours);
  expect(w.served).toHaveLength(length);
  w.change();
  w.run(10 * minutes);
  expect(w.served).toHaveLength(length + 1);
});

test('a refusal leaves a push that may have been taken alone: no repeat of an older one undoes it', () => {
  const w = loop();
  const push = (...answers: Answer[]): void => {
    w.answers = answers;
    w.change();
    w.wake('pass');
    w.run(1 * seconds);
  };
  push(unknown);
  w.run(2 * minutes);
  push();
  expect(w.state.repeatsMs).toHaveLength(2);
  push(unknown, refused);
  w.run(2 * hours);
  expect(w.tried.slice(-2).map(({ revision, answer }) => [revision, answer.outcome])).toEqual([
    [w.revision, 'unknown'],
    [w.revision, 'refused'],
  ]);
});

test('a schedule time that came during a pass is for another push', () => {
  const w = loop({ everyMs: 1 * hours });
  const state = after(w.state, {
    kind: 'pass',
    push: 'newest',
    polls: 'all',
    outcome: 'acknowledged',
    begunMs: 1 * hours - 1,
    endedMs: 1 * hours + 5 * minutes,
    hasAccepted: false,
    unread: [],
    asked: '0',
    revision: 1,
  });
  const facts = { ...w.facts(), nowMs: 1 * hours + 5 * minutes, pollMs: Infinity };
  expect(decide(state, facts, new Set())).toMatchObject({ kind: 'pass', pass: { push: 'newest', polls: 'all' } });
});

test('a scheduled push that is tried again asks no expensive source again', () => {
  const w = loop({ everyMs: 1 * hours });
  const failed: LoopState = {
    ...w.state,
    polledMs: 1 * hours,
    retry: { push: 'newest', failures: 3, atMs: 1 * hours + 4 * seconds },
  };
  const facts = { ...w.facts(), nowMs: 1 * hours + 4 * seconds, pollMs: Infinity };
  expect(decide(failed, facts, new Set())).toMatchObject({ pass: { push: 'newest', polls: 'due' } });
});

test('a clock that is set back takes every moment along', () => {
  const state: LoopState = {
    address: 'a',
    notedMs: 100 * hours,
    servedMs: 99 * hours,
    polledMs: 99 * hours,
    changed: { firstMs: 98 * hours, lastMs: 99 * hours },
    unread: { now: [], atPush: [] },
    retry: { push: 'newest', failures: 1, atMs: 101 * hours, askedUntilMs: 101 * hours },
    stopped: { atMs: 97 * hours, revision: 1, isRefused: true },
    repeatsMs: [102 * hours],
    asked: '0',
  };
  expect(settle(state, 60 * hours)).toMatchObject({
    notedMs: 60 * hours,
    servedMs: 59 * hours,
    changed: { firstMs: 58 * hours, lastMs: 59 * hours },
    retry: { atMs: 61 * hours, askedUntilMs: 61 * hours },
    stopped: { atMs: 57 * hours },
    repeatsMs: [62 * hours],
  });
  // Another process knows only when this was noted: what was served may not have been.
  expect(recall(state, 60 * hours).servedMs).toBeUndefined();
  expect(recall(state, 100 * hours)).toMatchObject({ servedMs: 99 * hours });
});
