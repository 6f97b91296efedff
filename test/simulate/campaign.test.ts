/** Histories of the agent's own loop and passes in a simulated world: the same each time, and no promise is broken in them. */
import { expect, test } from 'vitest';
import { digestOf, playSeeds } from '../../src/simulate/campaign.ts';
import { isCampaign } from '../support/campaign.ts';
import { longConfig, stageOf } from '../support/stages.ts';

const histories = isCampaign ? 100 : 30;

const silent = (): void => undefined;

test('no promise is broken in many histories of a plain config', async () => {
  const { stage, warnings } = stageOf(longConfig());
  const { failed, digests, steps } = await playSeeds(stage, { from: 1, count: histories }, silent);
  expect(warnings).toEqual([]);
  expect(failed).toBeUndefined();
  expect(digests).toHaveLength(histories);
  expect(steps).toBeGreaterThan(5 * histories);
});

test('one seed is one history, always the same, and no two seeds are', async () => {
  const [one, other] = [stageOf(longConfig()), stageOf(longConfig())];
  const first = await playSeeds(one.stage, { from: 7, count: 10 }, silent);
  const second = await playSeeds(other.stage, { from: 7, count: 10 }, silent);
  expect(digestOf(second.digests)).toBe(digestOf(first.digests));
  expect(second.marks).toEqual(first.marks);
  expect(new Set(first.digests).size).toBe(10);
});

test('a range of seeds is what its pieces are, one behind the other', async () => {
  const { stage } = stageOf(longConfig());
  const whole = await playSeeds(stage, { from: 1, count: 12 }, silent);
  const pieces = [
    await playSeeds(stage, { from: 1, count: 5 }, silent),
    await playSeeds(stage, { from: 6, count: 7 }, silent),
  ];
  expect(digestOf(pieces.flatMap(({ digests }) => digests))).toBe(digestOf(whole.digests));
});
