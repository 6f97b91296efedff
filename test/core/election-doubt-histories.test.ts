/** What is doubted after losses of every kind, against what was really lost. */
import { expect, test } from 'vitest';
import { isCampaign } from '../support/campaign.ts';
import { type PlayedDoubts, playDoubts } from '../support/doubt-world.ts';

const histories = isCampaign ? 50_000 : 1500;

test(`in ${histories} histories nothing that was lost goes unasked, and nobody asks again what was answered`, () => {
  const sum: PlayedDoubts = { pushes: 0, losses: 0, asked: 0, askedOfRecords: 0, settledByOthers: 0, lostLeads: 0 };
  for (let seed = 1; seed <= histories; seed++) {
    try {
      const played = playDoubts(seed);
      for (const key of Object.keys(sum) as (keyof PlayedDoubts)[]) sum[key] += played[key];
    } catch (error) {
      throw new Error(`seed ${seed}`, { cause: error });
    }
  }
  // Each of these happened, and often: else the histories show nothing.
  for (const [what, count] of Object.entries(sum)) expect(count, what).toBeGreaterThan(histories / 10);
});
