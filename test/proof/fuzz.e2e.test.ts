/** Every parser on inputs that nobody thought of. `npm run fuzz` feeds them for as long as it is told. */
import { expect, test } from 'vitest';
import { isCampaign } from '../support/campaign.ts';
import { feed, targets } from '../support/fuzz.ts';
import { propertySeed } from '../support/seeds.ts';

const count = isCampaign ? 1500 : 100;

test('parquet: an input that broke a rule once does so no more', async () => {
  expect(await feed('parquet', { seed: 20, from: 13_490, count: 1, untilMs: Infinity })).toBe(1);
});

test.each(Object.keys(targets))(`%s: ${count} inputs break no rule`, async (name) => {
  expect(await feed(name, { seed: propertySeed, from: 0, count, untilMs: Infinity })).toBe(count);
});
