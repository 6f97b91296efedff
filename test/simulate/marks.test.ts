/** A campaign reaches what is rare. `npm run campaigns` plays 10 000 histories, and every mark has to be reached. */
import { expect, test } from 'vitest';
import { playSeeds } from '../../src/simulate/campaign.ts';
import { eventKinds } from '../../src/simulate/history/events.ts';
import { isCampaign } from '../support/campaign.ts';
import { stageOf, stageOfSample } from '../support/stages.ts';
import { answered, lagging, lenient, movingDrivers, oneSource, shapedConfig, twoSources } from './planted/configs.ts';

const { sales, costs } = twoSources.sources;

/** Between them these configs may reach all. */
const configs: readonly (readonly [name: string, open: () => ReturnType<typeof stageOf>])[] = [
  ['the sample', stageOfSample],
  ['two sources', () => stageOf(twoSources)],
  ['rows that nobody can read', () => stageOf(lenient)],
  ['drivers that move', () => stageOf(movingDrivers)],
  ['bookings that add up', () => stageOf(shapedConfig)],
  [
    'one source that may turn empty',
    () => stageOf({ ...oneSource, sources: { sales: { ...sales, mayBeEmpty: true } } }),
  ],
  [
    'a first push to approve, and closed months',
    () => stageOf({ ...twoSources, guard: { firstPush: 'approve' }, lastClose: { day: 10 } }),
  ],
  [
    'dated exports and a rolling one',
    () =>
      stageOf({
        ...twoSources,
        sources: { sales: { ...sales, parts: 'newest' }, costs: { ...costs, history: 'carry' } },
      }),
  ],
  ['a database that says when it was changed, and a workbook', () => stageOf(answered)],
  ['a database that lags', () => stageOf({ ...lagging, guard: { maxDeletes: '60%' } })],
];

const marks = [
  ...eventKinds.map((kind) => `event ${kind}`),
  ...['0', '3', '4', '5', '75'].map((exit) => `exit ${exit}`),
  ...['acknowledged', 'unchanged', 'refused', 'unreachable', 'unknown', 'blocked'].map(
    (outcome) => `outcome ${outcome}`,
  ),
  ...['acknowledged', 'refused', 'unreachable', 'unknown'].map((outcome) => `push ${outcome}`),
  ...['accepted', 'unchanged', 'held', 'unread'].map((state) => `source ${state}`),
  ...['factor', 'moved', 'exchanged', 'copied', 'zeros', 'closed'].map((kind) => `finding ${kind}`),
  ...[
    'turned empty',
    'starts empty',
    'too many drivers',
    'too many points',
    'too many in a day',
    'more rejects',
    'oldest months',
    'counted twice',
    'left the config',
    'empty snapshot',
    'belongs to another',
    'moved to a held one',
    'moved to an unread one',
    'months in a held one',
    'months in an unread one',
  ].map((reason) => `hold: ${reason}`),
  ...[
    'too many rejects',
    'line end',
    'half way',
    'unreachable',
    'gone',
    'no header',
    'no column',
    'no column to unpivot',
    'too long',
    'cut workbook',
  ].map((reason) => `unread: ${reason}`),
  ...['same, by proof', 'changed, by proof', 'changed, by evidence', 'grown, by proof', 'grown, by evidence'].map(
    (look) => `file ${look}`,
  ),
  ...['torn, by proof', 'torn, by evidence', 'changed above, unseen'].map((look) => `file ${look}`),
  ...['rolled back', 'first push waits', 'new buffer waits', 'first push to approve'].map(
    (reason) => `blocked: ${reason}`,
  ),
  'next push: a source that the last push went without can be read again',
  'next push: pushOnChange',
  'next push: the last push did not arrive and is tried again',
  'next push: the same bytes once more, since an earlier push may have landed after them',
  'next push: the schedule',
];

const historiesEach = isCampaign ? 2000 : 12;

/** Tests come in any order, and each config is played once. */
const played = new Map<string, ReturnType<typeof playSeeds>>();

function playOnce([name, open]: (typeof configs)[number]): ReturnType<typeof playSeeds> {
  const known = played.get(name) ?? playSeeds(open().stage, { from: 1, count: historiesEach }, () => undefined);
  played.set(name, known);
  return known;
}

test.each(configs)('no promise is broken, and each reason has a mark, with %s', async (...config) => {
  const { failed, marks: reached } = await playOnce(config);
  expect(failed).toBeUndefined();
  expect([...reached.keys()].filter((mark) => mark.includes('unnamed'))).toEqual([]);
});

test.runIf(isCampaign)('every mark is reached', async () => {
  const reached = new Set<string>();
  for (const config of configs) for (const mark of (await playOnce(config)).marks.keys()) reached.add(mark);
  expect(marks.filter((mark) => !reached.has(mark))).toEqual([]);
});
