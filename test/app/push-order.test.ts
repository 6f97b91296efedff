/** Whatever the service answers and whenever: the newest snapshot arrives, and no older one after it. */
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { runsOf } from '../support/campaign.ts';
import { daemonWorld, hours, minutes, rows, seconds } from '../support/daemon-world.ts';
import { type Answer, pointsOf } from '../support/receiver.ts';

const timeoutMs = 60 * seconds;

const step = fc.record({
  /** What the file says now; few values, so that older snapshots come back. */
  value: fc.integer({ min: 1, max: 3 }),
  answers: fc.array(fc.constantFrom<Answer>(200, 'drop', 500, 503, 408, 202, 400, 429), { maxLength: 3 }),
  retryForMs: fc.constantFrom(0, 60 * seconds),
  thenMs: fc.constantFrom(0, 1 * seconds, 59 * seconds, 61 * seconds, 21 * hours),
});

test('different snapshots keep their distance, equal ones are not repeated, and the newest is there in the end', async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(step, { minLength: 2, maxLength: 6 }), async (steps) => {
      await using w = await daemonWorld();
      for (const { value, answers, retryForMs, thenMs } of steps) {
        await w.write('a.csv', rows(`a,2026-01,${value}`));
        w.service.answer(...answers);
        await w.sync({ retryForMs });
        await w.clock.advance(thenMs);
      }
      // Until what is left of the answers is used up.
      let outcome: string | undefined;
      while (outcome !== 'acknowledged' && outcome !== 'unchanged') ({ outcome } = await w.sync({ retryForMs: 0 }));

      const pushes = (await w.open(({ ledger }) => ledger.pushes.all())).toReversed();
      for (const [index, push] of pushes.entries()) {
        const earlier = pushes.slice(0, index);
        for (const open of earlier) {
          if (!open.maybeTaken || open.outcome === 'acknowledged' || open.digest === push.digest) continue;
          expect(push.atMs - (open.endedAtMs ?? Infinity)).toBeGreaterThanOrEqual(timeoutMs);
        }
        const last = earlier.findLast((one) => one.outcome === 'acknowledged');
        const isOpen = earlier.slice(last === undefined ? 0 : earlier.indexOf(last)).some((one) => one.maybeTaken);
        const ageMs = push.atMs - (last?.endedAtMs ?? 0);
        // What another one may have undone is repeated, after ten minutes at the earliest.
        const isRepeat = ageMs >= 10 * minutes && earlier.some((one) => one.maybeTaken && one.digest !== push.digest);
        expect(last?.digest === push.digest && !isOpen && !isRepeat && ageMs < 20 * hours).toBe(false);
      }
      const held = pushes.findLast((push) => push.outcome === 'acknowledged');
      const post = w.service.posts.find(({ digest }) => digest === held?.digest);
      expect(pointsOf(post!)).toEqual({ a: { '2026-01': String(steps.at(-1)?.value) } });
      expect((await w.sync()).outcome).toBe('unchanged');
    }),
    runsOf(2, 24),
  );
});

const event = fc.oneof(
  { weight: 4, arbitrary: fc.record({ value: fc.integer({ min: 1, max: 3 }) }) },
  {
    weight: 3,
    arbitrary: fc.record({
      answer: fc.constantFrom<Answer>('drop', 500, 503, 408, 429, { status: 503, headers: { 'retry-after': '90' } }),
    }),
  },
  { weight: 3, arbitrary: fc.record({ waitMs: fc.constantFrom(1 * seconds, 4 * seconds, 7 * seconds, 65 * seconds) }) },
  { weight: 2, arbitrary: fc.record({ stopForMs: fc.constantFrom(0, 10 * minutes) }) },
  { weight: 1, arbitrary: fc.record({ jumpMs: fc.constantFrom(-1 * hours, 1 * hours) }) },
);

test('with pushOnChange the daemon brings what the file says last, through failures, restarts and clocks', async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(event, { minLength: 2, maxLength: 8 }), async (events) => {
      await using w = await daemonWorld({ pushOnChange: '5s' });
      let value = 1;
      await w.write('a.csv', rows(`a,2026-01,${value}`));
      await w.start();
      for (const one of events) {
        if ('value' in one) {
          value = one.value;
          await w.write('a.csv', rows(`a,2026-01,${value}`));
        } else if ('answer' in one) w.service.answer(one.answer);
        else if ('waitMs' in one) await w.wait(one.waitMs);
        else if ('jumpMs' in one) w.clock.jump(one.jumpMs);
        else {
          await w.stop();
          w.clock.jump(one.stopForMs);
          await w.start();
        }
      }
      // A poll, the wait for the change, the longest Retry-After, an older push, and the backoff of a few failures.
      await w.wait(10 * minutes);
      const sent = w.service.posts.length;
      const held = await w.open(({ ledger, address }) => ledger.pushes.lastAcknowledged(address));
      const post = w.service.posts.find(({ digest }) => digest === held?.digest);
      expect(pointsOf(post!)).toEqual({ a: { '2026-01': String(value) } });
      await w.wait(10 * minutes);
      const repeats = w.service.posts.slice(sent);
      expect(repeats.every(({ digest }) => digest === post?.digest)).toBe(true);
      expect(repeats.length).toBeLessThanOrEqual(1);
    }),
    runsOf(1, 15),
  );
});
