/** A push that is held back on its way: how long the agent has to wait for it. */
import path from 'node:path';
import { expect, test } from 'vitest';
import { openStage } from '../../src/compose/simulated.ts';
import { loadConfig } from '../../src/config/load.ts';
import type { HistoryEvent } from '../../src/simulate/history/events.ts';
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

/** What happens in a history of the sample, line by line, and what it breaks. */
async function playSample(seed: number, events: readonly HistoryEvent[]) {
  const sample = path.join(import.meta.dirname, '../../config/driver-sync.yaml');
  const { settings } = loadConfig(sample, { env: {}, secrets: 'optional' });
  const { violation, lines } = await play(openStage(settings!).stage, { seed, events }, { isKept: true });
  const landed = lines.flatMap((line) => / landed (\d+)/.exec(line)?.[1] ?? []);
  return { violation, landed };
}

/** In both a push is given up, a newer one is acknowledged, the agent is killed, and the older push lands just after the restart. */
test.each([
  { seed: 12_540, late: [2000, 483_623_719], killed: [357_717, 1_217_969_963] },
  { seed: 13_857, late: [2000, 587_954_542], killed: [265_416, 540_015_757] },
] as const)(
  'the agent waits for a push since it gave it up, and a later restart changes nothing: $seed',
  async ({ seed, late, killed }) => {
    const { violation, landed } = await playSample(seed, [
      { kind: 'late', gapMs: late[0], draw: late[1] },
      { kind: 'killWrite', gapMs: killed[0], draw: killed[1] },
    ]);
    expect(landed.indexOf('2')).toBeGreaterThan(landed.indexOf('3'));
    expect(violation).toBeUndefined();
  },
);

test('a push that lands after repeats that a clock set forward has hurried is undone at the first schedule time behind refresh', async () => {
  const { violation, landed } = await playSample(23_370, [
    { kind: 'goneItem', gapMs: 35_676_846, draw: 2_058_927_829 },
    { kind: 'late', gapMs: 2000, draw: 151_558_792 },
    { kind: 'clockForth', gapMs: 442_410, draw: 2_132_914_696 },
  ]);
  expect(landed.indexOf('2')).toBe(landed.length - 2);
  expect(violation).toBeUndefined();
});
