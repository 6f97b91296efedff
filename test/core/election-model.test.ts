/** The election as a whole: histories of agents that sleep, of answers that are late or lost, and of clocks that run apart. */
import { expect, test } from 'vitest';
import { isCampaign, isExhaustive } from '../support/campaign.ts';
import { type Played, playElection } from '../support/election-world.ts';

const histories = isExhaustive ? 100_000 : isCampaign ? 20_000 : 600;

test(`in ${histories} histories one agent leads at a time, no term falls, and no older data lands after newer`, () => {
  const sum: Record<keyof Played, number> = {
    terms: 0,
    applied: 0,
    sleeps: 0,
    brokenOff: 0,
    refusedWrites: 0,
    overdue: 0,
  };
  for (let seed = 1; seed <= histories; seed++) {
    try {
      const played = playElection(seed);
      for (const key of Object.keys(sum) as (keyof Played)[]) sum[key] += played[key];
    } catch (error) {
      throw new Error(`seed ${seed}`, { cause: error });
    }
  }
  // Each of these happened, and often: else the histories show nothing.
  for (const [what, count] of Object.entries(sum)) expect(count, what).toBeGreaterThan(histories / 10);
});

test.each(['confirmation', 'waiting', 'margin', 'patience', 'comparison'] as const)(
  'without the %s a history shows it',
  (without) => {
    const isFound = (seed: number): boolean => {
      try {
        playElection(seed, without);
        return false;
      } catch {
        return true;
      }
    };
    expect(Array.from({ length: 1500 }, (_, seed) => seed).some(isFound)).toBe(true);
  },
);
