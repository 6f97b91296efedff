/** What a config's own settings let through, as histories of this very config. */
import { readFileSync, readdirSync } from 'node:fs';
import path from 'node:path';
import { expect, test } from 'vitest';
import { unseenHold } from '../../src/simulate/losses/unseen.ts';
import { findLoss, watchLoss } from '../../src/simulate/losses/find-loss.ts';
import { stageWith } from '../../src/simulate/stage.ts';
import { parseStory } from '../../src/simulate/story.ts';
import { looseSettings } from '../../src/simulate/warnings.ts';
import { longConfig, settingsOf, stageOf } from '../support/stages.ts';
import { simulated } from '../support/simulated.ts';
import { twoSources } from './planted/configs.ts';

/** A snapshot that is empty is held whoever emptied it, so that it takes another source. */
const emptyBeside = {
  ...twoSources,
  sources: { ...twoSources.sources, sales: { ...twoSources.sources.sales, mayBeEmpty: true } },
};

const loose = [
  ['guard.maxDeletes', longConfig({}, { guard: { maxDeletes: '100%' } })],
  ['guard.maxDeletes', longConfig({}, { guard: { maxDeletes: 5000 } })],
  ['guard.maxDeletes', longConfig({}, { guard: { maxDeletes: '30%' } })],
  ['guard.floor', longConfig({}, { guard: { floor: 500 } })],
  ['guard.maxRejects', longConfig({ drivers: daily('sum') }, { guard: { maxRejects: '100%' } })],
  ['guard.maxRejects', longConfig({ drivers: daily('average') }, { guard: { maxRejects: '20%' } })],
  ['guard.values', longConfig({}, { guard: { values: 'off' } })],
  ['guard.values', longConfig({}, { guard: { values: 'warn' } })],
  ['guard.firstPush', longConfig()],
  ['destination.shouldDeleteMissing', keepsAll(longConfig())],
  ['sources.sales.removed', longConfig({ removed: 'delete' })],
  ['sources.sales.mayBeEmpty', emptyBeside],
  ['sources.sales.lineEnd', longConfig({ lineEnd: 'any' })],
  ['sources.sales.guard.values', longConfig({ guard: { values: 'off' } })],
  ['sources.sales.drivers', longConfig({ drivers: daily('last') })],
] as const;

/** Rows of single days. */
function daily(collapse: string): object[] {
  return [{ id: '{id}', path: ['{id}'], time: { from: '{day}', format: 'dd.MM.yyyy' }, value: '{value}', collapse }];
}

function keepsAll(config: object): object {
  return { ...config, destination: { url: 'https://plan.test', shouldDeleteMissing: false } };
}

test.each(loose)(
  '%s loses something in a history, and what is usual instead loses nothing there',
  async (key, config) => {
    const settings = settingsOf(config);
    const { stage } = stageOf(config);
    const setting = looseSettings(settings).find((one) => one.path === key)!;
    const found = (await findLoss(stage, setting, 1))!;
    expect(found.points).toBeGreaterThan(0);
    expect(found.history.events.length).toBeLessThanOrEqual(4);
    expect(found.played.told.at(-1)).toMatch(
      /LOST: \d+ of \d+ numbers (go|become|lack)|\d+ numbers? stays? at the service/,
    );
    const usual = await watchLoss(stageWith(stage, setting.tighten(stage.settings)), setting, found.history);
    expect(usual.loss).toBeUndefined();
  },
);

test.each([
  ['guard.values', longConfig({}, { guard: { values: 'off' } }), /became 0|times|sign|moved|exchanged|copied/],
  ['sources.sales.mayBeEmpty', emptyBeside, /it turned empty/],
  ['sources.sales.lineEnd', longConfig({ lineEnd: 'any' }), /ends without a line end/],
  ['guard.firstPush', longConfig(), /waits for approval/],
])('it says what stops the loss of %s where the setting is the usual one', async (key, config, stop) => {
  const setting = looseSettings(settingsOf(config)).find((one) => one.path === key)!;
  const found = await findLoss(stageOf(config).stage, setting, 1);
  expect(found?.stoppedBy).toMatch(stop);
});

test.each([
  ['sources.sales.removed', longConfig({ removed: 'delete' }), 'the numbers of a file that is gone stay'],
  ['sources.sales.drivers', longConfig({ drivers: daily('last') }), 'all of them are added up'],
  ['destination.shouldDeleteMissing', keepsAll(longConfig()), 'what no source has any more is deleted'],
])('it says what is done instead of %s, where nothing has to be stopped', async (key, config, instead) => {
  const { json } = await simulated(config, { histories: '1' });
  const warnings = json['warnings'] as { path: string; loss?: object }[];
  const { loss } = warnings.find((one) => one.path === key)!;
  expect(loss).toMatchObject({ instead: expect.stringContaining(instead) as string });
  expect(loss).not.toHaveProperty('stoppedBy');
});

test('a setting that another rule makes up for loses nothing, and that is said', async () => {
  const { json } = await simulated(longConfig({ mayBeEmpty: true }), { histories: '1' });
  const warning = (json['warnings'] as { path: string; message: string }[]).find(({ path: key }) => /Empty/.test(key));
  expect(warning?.message).toMatch(/none of 80 histories shows it/);
  expect(warning).not.toHaveProperty('loss');
});

test('a careful config is warned of the first push and of nothing else', () => {
  expect(looseSettings(settingsOf(longConfig())).map((one) => one.path)).toEqual(['guard.firstPush']);
  expect(looseSettings(settingsOf(longConfig({}, { guard: { firstPush: 'approve' } })))).toEqual([]);
});

test('bookings of days under collapse: last are told with what was booked, and under collapse: sum nothing is said', async () => {
  const { json } = await simulated(longConfig({ drivers: daily('last') }), { histories: '1' });
  const warnings = json['warnings'] as { path: string; loss?: { story: string[]; example: object } }[];
  const { loss } = warnings.find((one) => one.path === 'sources.sales.drivers')!;
  expect(loss?.story.join('\n')).toContain('sales has another booking of its last month');
  expect(loss?.story.at(-1)).toMatch(
    /^[-\d: ]+ LOST: .* lack bookings, such as ".+" in 20\d\d-\d\d, which is .+ where .+ was booked$/,
  );
  const paths = (config: object): string[] => looseSettings(settingsOf(config)).map((one) => one.path);
  expect(paths(longConfig({ drivers: daily('sum') }))).toEqual(['guard.firstPush']);
  expect(paths(longConfig({ drivers: [{ id: '{id}', path: ['{id}'], time: '{time}', value: '{value}' }] }))).toEqual([
    'guard.firstPush',
  ]);
});

test('the story of a loss is kept, and plays again', async () => {
  const { dir, json } = await simulated(emptyBeside, { histories: '1', stories: 'stories' });
  const file = path.join(dir, 'stories', 'driver-sync-loss-sources.sales.mayBeEmpty.json');
  expect(readdirSync(path.join(dir, 'stories'))).toContain(path.basename(file));
  const story = parseStory(readFileSync(file, 'utf8'), file);
  expect(story).toMatchObject({ promise: 'loss', loose: 'sources.sales.mayBeEmpty' });
  const warnings = json['warnings'] as { path: string; loss?: { file: string; story: string[] } }[];
  const shown = warnings.find((one) => one.path === 'sources.sales.mayBeEmpty')?.loss;
  expect(shown?.file).toBe(file);
  const again = await simulated(emptyBeside, { story: file });
  expect(again.exit).toBe(0);
  expect(again.json).toMatchObject({ histories: 1, digest: expect.any(String) as string });
  expect(again.json).not.toHaveProperty('diverged');
  expect(again.json['digest']).toMatch(/^[0-9a-f]{64}$/);
  const [told] = again.json['warnings'] as [{ path: string; loss: { points: number; story: string[]; file: string } }];
  expect(told).toMatchObject({ path: 'sources.sales.mayBeEmpty', loss: { story: shown?.story, file } });
  expect(told.loss.points).toBeGreaterThan(0);
});

test('the story of a loss is refused by a config that lets nothing through there', async () => {
  const { dir } = await simulated(emptyBeside, { histories: '1', stories: 'stories' });
  const story = path.join(dir, 'stories', 'driver-sync-loss-sources.sales.mayBeEmpty.json');
  await expect(simulated(longConfig(), { story })).rejects.toMatchObject({
    code: 'usage',
    message: 'the story is about sources.sales.mayBeEmpty, which lets nothing through in this config',
  });
});

test('a hold that nobody looks for lasts, and pushes go on beside it', async () => {
  const { stage } = stageOf(longConfig());
  const unseen = (await unseenHold(stage, 1))!;
  expect(unseen).toMatchObject({ source: 'sales', days: 30 });
  expect(unseen.pushes).toBeGreaterThan(25);
  expect(unseen.reason).not.toBe('');
});

test('where a first push has to be approved it was', async () => {
  const config = longConfig({}, { guard: { firstPush: 'approve', values: 'off' } });
  const [values, ...others] = looseSettings(settingsOf(config));
  expect(others).toEqual([]);
  expect((await findLoss(stageOf(config).stage, values!, 1))?.points).toBeGreaterThan(0);
  expect(await unseenHold(stageOf(config).stage, 1)).toMatchObject({ source: 'sales', days: 30 });
});

test('rows of days of which one counts are told also where plain rows take their place', async () => {
  const id = '{id|match:^\\d{9}$}';
  const time = { from: '{day}', format: 'dd.MM.yyyy' };
  const config = longConfig({ drivers: [{ id, path: [id], time, value: '{value}', collapse: 'last' }] });
  const setting = looseSettings(settingsOf(config)).find((one) => one.path === 'sources.sales.drivers')!;
  expect((await findLoss(stageOf(config).stage, setting, 1))?.played.told.at(-1)).toContain('lack bookings');
});

test('who is told of holds is not warned', async () => {
  const notify = [{ url: 'https://hook.test' }];
  const told = await simulated(longConfig({}, { notify }), { histories: '1' });
  expect((told.json['warnings'] as { path: string }[]).map((one) => one.path)).toEqual(['guard.firstPush']);
  const unset = await simulated(longConfig({}, { notify: [{ url: '${NOT_SET_HERE}' }] }), { histories: '1' });
  expect((unset.json['warnings'] as { path: string }[]).map((one) => one.path)).toEqual(['guard.firstPush']);
  const other = await simulated(longConfig({}, { notify: [{ ...notify[0], on: ['refused'] }] }), { histories: '1' });
  expect((other.json['warnings'] as { path: string }[]).map((one) => one.path)).toContain('notify');
});

test('the text begins with what could happen, and has the marks where they are asked for', async () => {
  const plain = await simulated(emptyBeside, { histories: '20' }, { json: false });
  expect(plain.text).toMatch(/^20 histories of this config from seed 1/);
  expect(plain.text).toMatch(/\n\nWhat happened to your numbers, and how often:\n +\d+ {2}an export ended half way/);
  expect(plain.text).toContain('What stopped it');
  expect(plain.text).toContain('No promise was broken');
  expect(plain.text).toMatch(/sources\.sales\.mayBeEmpty: .*it happens in seed \d+:\n.*\n.*LOST: /);
  expect(plain.text).toMatch(/How long a hold lasts unseen: "(sales|costs)" was held /);
  expect(plain.text).not.toContain('push acknowledged');
  const marked = await simulated(longConfig(), { histories: '20', marks: true }, { json: false });
  expect(marked.text).toMatch(/Marks:\n(.*\n)*.*push acknowledged/);
});
