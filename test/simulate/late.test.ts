/** A push that is held back on its way: which one the agent has to wait for since its restart. */
import { expect, test } from 'vitest';
import { Plug } from '../../src/simulate/world/plug.ts';
import { type Landing, Receiver } from '../../src/simulate/world/receiver.ts';
import { WorldClock } from '../../src/simulate/world/clock.ts';

const timeoutMs = 60_000;

async function* noBytes(): AsyncGenerator<Uint8Array> {}

/** What lands of a push that is held back for so long, whose process is killed after so long. */
async function landingOf(lateMs: number, killedMs: number): Promise<Landing | undefined> {
  const clock = new WorldClock(0, () => false);
  const plug = new Plug({ isFull: false, isBufferDamaged: false }, () => undefined);
  let landing: Landing | undefined;
  const receiver = new Receiver(clock, {
    sent: () => undefined,
    answered: () => undefined,
    landed: (landed) => {
      landing = landed;
    },
  });
  receiver.willAnswer({ kind: 'late', afterMs: lateMs });
  const body = { digest: 'abc', bytes: 0, chunks: noBytes };
  const pushed = receiver.destination(timeoutMs, plug).push(body, new AbortController().signal);
  const ended = Promise.allSettled([pushed]);
  await clock.advance(killedMs);
  plug.pull();
  await clock.advance(timeoutMs + lateMs - killedMs);
  await ended;
  return landing;
}

test('a push is an orphan where its process is killed before it gives it up', async () => {
  expect(await landingOf(400_000, timeoutMs - 1)).toMatchObject({ lateMs: 400_000, isOrphan: true });
});

test('a push that was given up is no orphan, though its process is killed before it lands', async () => {
  expect(await landingOf(400_000, timeoutMs + 1)).toMatchObject({ lateMs: 400_000, isOrphan: false });
});
