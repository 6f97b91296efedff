/** A campaign reaches what is rare. `npm run campaigns` plays 20 000 histories, and every mark has to be reached. */
import { expect, test } from 'vitest';
import { playSeeds } from '../../src/simulate/campaign.ts';
import { marksOf } from '../../src/simulate/marks.ts';
import { campaignConfigs, requiredMarks } from '../support/campaign-configs.ts';
import { isCampaign } from '../support/campaign.ts';
import { stageOf, stageOfSample } from '../support/stages.ts';

const historiesEach = isCampaign ? 2000 : 5;

/** Tests come in any order, and each config is played once. */
const played = new Map<string, ReturnType<typeof playSeeds>>();

function playOnce([name, config]: (typeof campaignConfigs)[number]): ReturnType<typeof playSeeds> {
  const open = (): ReturnType<typeof stageOf> => (config === 'sample' ? stageOfSample() : stageOf(config));
  const known = played.get(name) ?? playSeeds(open().stage, { from: 1, count: historiesEach }, () => undefined);
  played.set(name, known);
  return known;
}

test.each(campaignConfigs)('no promise is broken, and each reason has a mark, with %s', async (...config) => {
  const { failed, marks: reached } = await playOnce(config);
  expect(failed).toBeUndefined();
  expect([...reached.keys()].filter((mark) => mark.includes('unnamed'))).toEqual([]);
});

test.runIf(isCampaign)('every mark is reached', async () => {
  const reached = new Set<string>();
  for (const config of campaignConfigs) for (const mark of (await playOnce(config)).marks.keys()) reached.add(mark);
  expect(requiredMarks.filter((mark) => !reached.has(mark))).toEqual([]);
});

// 52 of a million histories reach it, and none of the 20 000 of a campaign does.
test('a source that is not read, since a share of a sum went with the buffer, has its mark', () => {
  const counts = { create: 0, update: 0, delete: 0 };
  const source = {
    name: 'ledger',
    state: 'unread',
    reason: 'part-3-copy.csv is gone, and its share of what adds up is not known any more',
    parts: 0,
    rows: 0,
    rejects: 0,
    drivers: 0,
    points: 0,
    changes: { drivers: counts, points: counts },
    carried: [],
    warnings: [],
  } as const;
  const marks = marksOf({ at: '', outcome: 'unchanged', exit: 3, sources: [source] });
  expect(marks).toEqual(['exit 3', 'outcome unchanged', 'source unread', 'unread: share not known']);
});
