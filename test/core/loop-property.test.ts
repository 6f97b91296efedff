/** Whatever happens and whenever: a push that is due is never lost, never doubled and never early. */
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { runsOf } from '../support/campaign.ts';
import { type Answer, LoopWorld, type Tried } from '../support/loop-world.ts';

const seconds = 1000;
const minutes = 60 * seconds;
const hours = 60 * minutes;

const answers = fc.oneof(
  fc.constant<Answer>({ outcome: 'acknowledged' }),
  fc.record({
    outcome: fc.constantFrom('refused' as const, 'unreachable' as const, 'unknown' as const),
    askedMs: fc.constantFrom(0, 0, 90 * seconds, 30 * minutes),
  }),
);

const step = fc.oneof(
  { weight: 6, arbitrary: fc.record({ runMs: fc.integer({ min: 0, max: 30 }).map((n) => n ** 3 * seconds) }) },
  { weight: 4, arbitrary: fc.record({ answers: fc.array(answers, { minLength: 1, maxLength: 4 }) }) },
  { weight: 4, arbitrary: fc.constant({ change: true }) },
  // A push without an answer, which is followed by another snapshot: rare without help.
  { weight: 2, arbitrary: fc.record({ overtakenAnd: fc.array(answers, { maxLength: 4 }) }) },
  { weight: 1, arbitrary: fc.record({ isReadable: fc.boolean() }) },
  { weight: 1, arbitrary: fc.record({ isBlocked: fc.boolean() }) },
  { weight: 1, arbitrary: fc.record({ breaks: fc.integer({ min: 1, max: 3 }) }) },
  {
    weight: 1,
    arbitrary: fc.record({ event: fc.constantFrom('pass' as const, 'source' as const, 'request' as const) }),
  },
  { weight: 1, arbitrary: fc.constant({ approve: true }) },
  { weight: 1, arbitrary: fc.constant({ lateApprovals: 1 }) },
  { weight: 1, arbitrary: fc.record({ restartMs: fc.constantFrom(0, 5 * minutes, 3 * hours) }) },
);
type Step = typeof step extends fc.Arbitrary<infer T> ? T : never;

const settings = fc.record({
  everyMs: fc.constantFrom(1 * hours, 24 * hours),
  pollMs: fc.constantFrom(5 * minutes, 2 * hours),
  pushOnChangeMs: fc.constantFrom(undefined, 30 * seconds, 10 * minutes),
});

/** `reopenedAtMs`: restarts, and when something that kept a push back was over. */
function act(w: LoopWorld, one: Step, reopenedAtMs: number[]): void {
  if ('runMs' in one) w.run(one.runMs);
  else if ('answers' in one) w.answers = [...one.answers];
  else if ('change' in one) w.change();
  else if ('overtakenAnd' in one) overtake(w, one.overtakenAnd);
  else if ('isReadable' in one) {
    if (one.isReadable) reopenedAtMs.push(w.nowMs);
    w.isReadable = one.isReadable;
  } else if ('isBlocked' in one) {
    if (!one.isBlocked) reopenedAtMs.push(w.nowMs);
    w.isBlocked = one.isBlocked;
  } else if ('breaks' in one) w.breaks = one.breaks;
  else if ('event' in one) w.wake(one.event);
  else if ('approve' in one) w.approve();
  else if ('lateApprovals' in one) w.lateApprovals = one.lateApprovals;
  else {
    w.restart(one.restartMs);
    reopenedAtMs.push(w.nowMs);
  }
}

function overtake(w: LoopWorld, next: readonly Answer[]): void {
  w.answers = [{ outcome: 'unknown', askedMs: 0 }, { outcome: 'acknowledged' }, ...next];
  for (let pushes = 0; pushes < 2; pushes++) {
    w.change();
    w.wake('pass');
    w.run(0);
  }
}

const calm = 26 * hours;

/** Runs steps, then a calm day in which all is well, mostly with new data at its beginning. */
function live(w: LoopWorld, steps: readonly Step[], { isNew = true } = {}): number[] {
  const reopenedAtMs: number[] = [];
  w.run(0);
  for (const one of steps) act(w, one, reopenedAtMs);
  w.answers = [];
  w.breaks = 0;
  w.isReadable = true;
  w.isBlocked = false;
  if (isNew) w.change();
  reopenedAtMs.push(w.nowMs);
  w.run(calm);
  return reopenedAtMs;
}

const runs = runsOf(130, 1600);

test('a due push is never lost: every schedule time is served in the end, and the newest data arrives', () => {
  fc.assert(
    fc.property(settings, fc.array(step, { maxLength: 25 }), (how, steps) => {
      const w = new LoopWorld(how);
      live(w, steps);
      expect(w.held).toBe(w.revision);
      expect(w.nowMs - servedBefore(w, w.nowMs)).toBeLessThanOrEqual(how.everyMs);
      // The longest wait that a service asks for here, and a pass that broke.
      const slackMs = 31 * minutes + how.pollMs;
      const calmMs = w.nowMs - calm;
      const arrived = w.tried.find(({ atMs, revision }) => atMs >= calmMs && revision === w.revision);
      expect((arrived?.atMs ?? Infinity) - calmMs).toBeLessThanOrEqual((how.pushOnChangeMs ?? how.everyMs) + slackMs);
      expect(lateRetries(w, calmMs)).toEqual([]);
      expect(w.state.repeatsMs).toEqual([]);
    }),
    runs,
  );
});

test('what may land late is undone: in the end the service got the newest snapshot an hour after one that followed it', () => {
  fc.assert(
    fc.property(settings, fc.array(step, { maxLength: 25 }), (how, steps) => {
      const w = new LoopWorld(how);
      live(w, steps, { isNew: false });
      expect(notUndone(w)).toEqual([]);
      expect(w.state.repeatsMs).toEqual([]);
    }),
    runs,
  );
});

test('a push is never early: something stands for it, and nothing that the service or a rule asked for is cut short', () => {
  fc.assert(
    fc.property(settings, fc.array(step, { maxLength: 25 }), (how, steps) => {
      const w = new LoopWorld(how);
      const reopenedAtMs = live(w, steps);
      const unasked = w.tried.map((push, index) => ({ push, index })).filter(({ push }) => !push.isAsked);
      expect(unasked.filter(({ index }) => isTooSoon(w, index, reopenedAtMs))).toEqual([]);
      const newest = unasked.filter(({ push }) => push.push === 'newest');
      expect(newest.filter(({ index }) => reasonsOf(w, index, reopenedAtMs).length === 0)).toEqual([]);
      const repeats = unasked.filter(({ push }) => push.push === 'repeat');
      expect(repeats.filter(({ index }) => !isRepeat(w, index) || isUndoing(w, index))).toEqual([]);
    }),
    runs,
  );
});

test('a push is never doubled: the service gets a snapshot once, and again only after a push without an answer', () => {
  fc.assert(
    fc.property(settings, fc.array(step, { maxLength: 25 }), (how, steps) => {
      const w = new LoopWorld(how);
      live(w, steps);
      const again = [...w.tried.keys()].filter((index) => isHeld(w, index) && !isRepeat(w, index));
      expect(again).toEqual([]);
      const opens = w.tried.filter(({ answer: { outcome } }) => outcome === 'unknown').length;
      const repeats = w.tried.filter(({ push, answer }) => push === 'repeat' && answer.outcome === 'acknowledged');
      expect(repeats.length).toBeLessThanOrEqual(2 * opens);
    }),
    runs,
  );
});

const isAcknowledged = ({ answer }: Tried): boolean => answer.outcome === 'acknowledged';
const isOpen = ({ answer }: Tried): boolean => answer.outcome === 'unknown';

/** When the last pass began before a moment that brought the service what it should have. */
function servedBefore({ served }: LoopWorld, beforeMs: number): number {
  const last = served.findLast(
    ({ atMs, outcome }) => atMs < beforeMs && (outcome === 'acknowledged' || outcome === 'unchanged'),
  );
  return last?.atMs ?? -Infinity;
}

/** What failed last is tried again in its own time, and not with the next schedule. What was blocked since waits for a poll. */
function lateRetries({ tried, served }: LoopWorld, calmMs: number): readonly Tried[] {
  if (served.findLast((one) => one.atMs <= calmMs)?.outcome === 'blocked') return [];
  const at = tried.findLastIndex(({ atMs }) => atMs < calmMs);
  const { atMs, answer } = tried[at] ?? { atMs: 0, answer: { outcome: 'acknowledged' } as const };
  if (answer.outcome === 'acknowledged' || answer.outcome === 'refused') return [];
  const dueMs = Math.max(calmMs, atMs + Math.max(answer.askedMs, 5 * minutes));
  return tried.slice(at + 1, at + 2).filter((next) => next.atMs > dueMs + 1 * minutes);
}

/** A push that followed an open one, and nothing was acknowledged an hour after it: what landed late would stay. */
function notUndone({ tried }: LoopWorld): readonly Tried[] {
  return tried.filter((one, at) => {
    const before = tried.slice(0, at);
    const open = before.findLastIndex((two) => isOpen(two) && two.revision !== one.revision);
    if (!isAcknowledged(one) || open === -1 || before.slice(open).some(isAcknowledged)) return false;
    return !tried.slice(at).some((two) => isAcknowledged(two) && two.atMs >= one.atMs + 1 * hours);
  });
}

/** Before the time is over that the service asked for. */
function isTooSoon({ tried }: LoopWorld, index: number, reopenedAtMs: readonly number[]): boolean {
  const [before, push] = [tried[index - 1], tried[index]!];
  if (before === undefined || !('askedMs' in before.answer) || before.answer.outcome === 'refused') return false;
  const isRestarted = reopenedAtMs.some((ms) => ms >= before.atMs && ms <= push.atMs);
  return !isRestarted && push.atMs < before.atMs + before.answer.askedMs;
}

/** What is sent was the last to be acknowledged, and nothing was left open since. */
function isHeld({ tried }: LoopWorld, index: number): boolean {
  const earlier = tried.slice(0, index);
  const last = earlier.findLastIndex(isAcknowledged);
  return earlier[last]?.revision === tried[index]!.revision && !earlier.slice(last).some(isOpen);
}

/** What is sent was acknowledged last, and ten minutes ago at least a snapshot followed an open push. */
function isRepeat({ tried }: LoopWorld, index: number): boolean {
  const push = tried[index]!;
  const earlier = tried.slice(0, index);
  const follows = earlier.some(
    (one, at) => isAcknowledged(one) && one.atMs <= push.atMs - 10 * minutes && earlier.slice(0, at).some(isOpen),
  );
  return follows && earlier.findLast(isAcknowledged)?.revision === push.revision;
}

/** Something newer than what is sent may have been taken. */
function isUndoing({ tried }: LoopWorld, index: number): boolean {
  const earlier = tried.slice(0, index);
  const since = earlier.slice(earlier.findLastIndex(isAcknowledged));
  return since.some((one) => isOpen(one) && one.revision !== tried[index]!.revision);
}

/** By the rules in words, from the history alone: what stands for a push of the newest snapshot that nobody asked for. */
function reasonsOf(w: LoopWorld, index: number, reopenedAtMs: readonly number[]): string[] {
  const { everyMs, pushOnChangeMs = Infinity } = w.settings;
  const [before, push] = [w.tried[index - 1], w.tried[index]!];
  const servedMs = servedBefore(w, push.atMs);
  const changes = w.acceptedAtMs.filter((ms) => ms >= servedMs && ms < push.atMs);
  const [first = Infinity, last = Infinity] = [changes[0], changes.at(-1)];
  const reasons: Readonly<Record<string, boolean>> = {
    first: before === undefined,
    schedule: Math.floor(push.atMs / everyMs) * everyMs > servedMs,
    failed: before !== undefined && !isAcknowledged(before) && before.answer.outcome !== 'refused',
    mended: before?.answer.outcome === 'refused' && before.revision !== push.revision,
    reopened: reopenedAtMs.some((ms) => ms >= servedMs && ms <= push.atMs),
    change: Math.min(last + pushOnChangeMs, first + 10 * pushOnChangeMs) <= push.atMs,
  };
  return Object.keys(reasons).filter((name) => reasons[name]);
}
