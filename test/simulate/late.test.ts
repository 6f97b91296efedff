/** A push that is held back on its way: how long the agent has to wait for it. */
import path from 'node:path';
import { expect, test } from 'vitest';
import { openStage } from '../../src/compose/simulated.ts';
import { loadConfig } from '../../src/config/load.ts';
import { play } from '../../src/simulate/history/play.ts';
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

/** In both a push is given up, a newer one is acknowledged, the agent is killed, and the older push lands just after the restart. */
test.each([
  { seed: 12_540, late: [2000, 483_623_719], killed: [357_717, 1_217_969_963] },
  { seed: 13_857, late: [2000, 587_954_542], killed: [265_416, 540_015_757] },
] as const)(
  'the agent waits for a push since it gave it up, and a later restart changes nothing: $seed',
  async (story) => {
    const sample = path.join(import.meta.dirname, '../../config/driver-sync.yaml');
    const { settings } = loadConfig(sample, { env: {}, secrets: 'optional' });
    const events = [
      { kind: 'late', gapMs: story.late[0], draw: story.late[1] },
      { kind: 'killWrite', gapMs: story.killed[0], draw: story.killed[1] },
    ] as const;
    const { violation, lines } = await play(openStage(settings!).stage, { seed: story.seed, events }, { isKept: true });
    const landed = lines.flatMap((line) => / landed (\d+)/.exec(line)?.[1] ?? []);
    expect(landed.indexOf('2')).toBeGreaterThan(landed.indexOf('3'));
    expect(violation).toBeUndefined();
  },
);
