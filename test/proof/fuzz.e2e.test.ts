/** Every parser on inputs that nobody thought of. `npm run fuzz` feeds them for as long as it is told. */
import { expect, test } from 'vitest';
import { isCampaign } from '../support/campaign.ts';
import { feed, targets } from '../support/fuzz.ts';
import { propertySeed } from '../support/seeds.ts';

const count = isCampaign ? 1500 : 100;

test.each([
  ['a column that is none', 20, 13_490],
  ['a page that does not say how long its levels are', 22, 17_895],
  ['a column of another type than the schema says', 24, 30_877],
  ['blocks of less than no miniblocks', 4501, 480_970],
  ['a number of children of another type', 4601, 536_072],
  ['a date of 64 bits', 4801, 564_760],
])('parquet: %s ends nothing, and is told', async (_what, seed, from) => {
  expect(await feed('parquet', { seed, from, count: 1, untilMs: Infinity })).toBe(1);
});

test.each(Object.keys(targets))(`%s: ${count} inputs break no rule`, async (name) => {
  expect(await feed(name, { seed: propertySeed, from: 0, count, untilMs: Infinity })).toBe(count);
});
