/** The same histories on both kinds of stores: whatever is observed, is the same. */
import { expect, test } from 'vitest';
import { drawHistory } from '../../src/simulate/history/draw.ts';
import { play } from '../../src/simulate/history/play.ts';
import { isCampaign, isExhaustive } from '../support/campaign.ts';
import { longConfig, stageOf } from '../support/stages.ts';
import { sqliteState } from '../support/two-stores.ts';

const first = Array.from({ length: isExhaustive ? 200 : isCampaign ? 60 : 4 }, (_, at) => at + 1);
/** These differed once: what a start has begun was not waited for on a real disk, and snapshots were damaged in another way. */
const seeds = new Set([...first, 80, 85, 160, 171]);

test.each([...seeds])('seed %i is the same history in memory and on SQLite', async (seed) => {
  const { stage } = stageOf(longConfig({}, { pushOnChange: '1m' }));
  const drawn = drawHistory(stage, seed, 8);
  // Between which two calls the clock is set in the middle of a pass depends on how long a real disk takes beside it.
  const history = { ...drawn, events: drawn.events.filter(({ kind }) => kind !== 'clockStep') };
  const inMemory = await play(stage, history, { isKept: true });
  const onDisk = await play({ ...stage, openState: sqliteState }, history, { isKept: true });
  expect(onDisk.lines).toEqual(inMemory.lines);
  expect(onDisk.violation).toBeUndefined();
});
