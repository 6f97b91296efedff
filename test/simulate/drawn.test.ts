/** Configs that nobody wrote, each with histories of its own: no promise is broken in them. */
import { expect, test } from 'vitest';
import { type PlaySeed, type Seeds, playSeeds } from '../../src/simulate/campaign.ts';
import { playFleet } from '../../src/simulate/machines/play-fleet.ts';
import { isCampaign } from '../support/campaign.ts';
import { drawConfig, drawSharedConfig, drawnSeeds } from '../support/drawn-configs.ts';
import { stageOf } from '../support/stages.ts';

const [configs, historiesEach] = isCampaign ? [400, 10] : [12, 1];
const [sharedConfigs, sharedEach] = isCampaign ? [60, 4] : [3, 1];

async function violationIn(config: object, seeds: Seeds, playSeed?: PlaySeed): Promise<unknown> {
  const { failed } = await playSeeds(stageOf(config).stage, seeds, () => undefined, playSeed);
  return failed && { seed: failed.seed, ...failed.played.violation };
}

test('no promise is broken in them', async () => {
  for (let number = 1; number <= configs; number++) {
    const violation = await violationIn(drawConfig(number), drawnSeeds(number, historiesEach));
    expect({ number, violation }).toEqual({ number, violation: undefined });
  }
});

test('nor by machines that share a ledger', async () => {
  for (let number = 1; number <= sharedConfigs; number++) {
    const violation = await violationIn(drawSharedConfig(number), drawnSeeds(number, sharedEach), playFleet);
    expect({ number, violation }).toEqual({ number, violation: undefined });
  }
});

test('they differ, and one number is always the same config', () => {
  const texts = Array.from({ length: 100 }, (_, number) => JSON.stringify(drawConfig(number)));
  expect(new Set(texts).size).toBe(100);
  expect(Array.from({ length: 100 }, (_, number) => JSON.stringify(drawConfig(number)))).toEqual(texts);
});

test.each([
  [200_438, 2_405_266],
  [200_548, 2_406_581],
  [202_130, 2_425_563],
])('config %i, whose seed %i stopped a run', async (number, seed) => {
  expect(await violationIn(drawConfig(number), { from: seed, count: 1 })).toBeUndefined();
});
