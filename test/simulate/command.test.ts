/** `driver-sync simulate`, as it is typed. */
import { readdirSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { expect, test } from 'vitest';
import { simulate } from '../../src/cli/simulate.ts';
import { keepStory } from '../../src/cli/simulate-stories.ts';
import { showSimulated } from '../../src/cli/simulate-text.ts';
import type { Context } from '../../src/cli/context.ts';
import { parseStory } from '../../src/simulate/story.ts';
import { simulated } from '../support/simulated.ts';
import { configFolder, longConfig } from '../support/stages.ts';

test('it says what was reached, opens nothing and leaves nothing behind', async () => {
  const { dir, exit, json } = await simulated(longConfig(), { seed: '1', histories: '5' });
  expect(exit).toBe(0);
  expect(json).toMatchObject({ seed: 1, histories: 5, digest: expect.stringMatching(/^[0-9a-f]{64}$/) as string });
  expect(json['marks']).toMatchObject({ 'push acknowledged': expect.any(Number) as number });
  expect(json).not.toHaveProperty('violation');
  expect(readdirSync(dir)).toEqual(['driver-sync.yaml']);
});

test('a secret that is not there is not needed', async () => {
  const config = longConfig({}, {});
  const destination = { url: 'https://plan.test', tokenFile: '/nowhere/token' };
  const { exit } = await simulated({ ...config, destination }, { histories: '1' });
  expect(exit).toBe(0);
  const elsewhere = { ...config, ledger: '${LEDGER_NOT_SET}', state: '${STATE_NOT_SET}' };
  expect((await simulated(elsewhere, { histories: '1' })).exit).toBe(0);
});

test('a setting whose variable is not set is named, where it makes a difference', async () => {
  const config = { ...longConfig({ removed: '${REMOVED}' }, { guard: { floor: '${FLOOR}' } }), state: '${STATE}' };
  const { json } = await simulated(config, { histories: '1' });
  const unset = (json['warnings'] as { path: string; message: string }[]).filter(({ message }) =>
    message.includes('not set'),
  );
  expect(unset).toEqual([
    {
      path: 'guard.floor',
      message: 'the environment variable FLOOR is not set: it is played as if it were left out',
    },
    {
      path: 'sources.sales.removed',
      message: 'the environment variable REMOVED is not set: it is played as if it were left out',
    },
  ]);
});

test.each([
  ['guard.maxDeletes', longConfig({}, { guard: { maxDeletes: '100%' } })],
  ['guard.values', longConfig({}, { guard: { values: 'off' } })],
  ['sources.sales.removed', longConfig({ removed: 'delete' })],
  ['sources.sales.mayBeEmpty', longConfig({ mayBeEmpty: true })],
  ['sources.sales.lineEnd', longConfig({ lineEnd: 'any' })],
  ['notify', longConfig()],
])('%s lets a loss through, and a warning says so', async (key, config) => {
  const { json, exit } = await simulated(config, { histories: '3' });
  expect(exit).toBe(0);
  const warning = (json['warnings'] as { path: string }[]).find(({ path: about }) => about === key);
  expect(warning).toMatchObject({ message: expect.any(String) as string });
});

test('a config without a source has nothing to play', async () => {
  await expect(simulated({ ...longConfig(), sources: {} }, {})).rejects.toMatchObject({
    exit: 78,
    message: expect.stringContaining('no source'),
  });
});

test.each([
  ['the output of a program', { type: 'command', command: ['cat', 'a.csv'] }],
  ['the answer of an address', { type: 'http', url: 'https://books.example/a.csv' }],
])('%s is never cut in a history, and a warning says so', async (what, keys) => {
  const { json } = await simulated(longConfig({ ...keys, format: 'csv', files: undefined, lineEnd: 'any' }), {
    histories: '1',
  });
  const warning = (json['warnings'] as { path: string }[]).find(({ path: about }) => about === 'sources.sales.lineEnd');
  expect(warning).toMatchObject({ message: expect.stringContaining(`${what} is never cut in a history`) });
});

test.each([
  ['--seed is "x"', { seed: 'x' }],
  ['--histories is "0"', { histories: '0' }],
  ['cannot be read', { story: 'nowhere.json' }],
])('refuses what it cannot use: %s', async (message, options) => {
  await expect(simulated(longConfig(), options)).rejects.toMatchObject({
    code: 'usage',
    message: expect.stringContaining(message) as string,
  });
});

test('a place where no story can be kept is refused before anything is played', async () => {
  const started = performance.now();
  await expect(simulated(longConfig(), { histories: '100000000', stories: 'driver-sync.yaml' })).rejects.toMatchObject({
    code: 'usage',
    message: expect.stringMatching(/^no story can be kept in .* \(EEXIST\)$/),
  });
  expect(performance.now() - started).toBeLessThan(30_000);
});

test('a story that could not be kept is told all the same', () => {
  const kept = keepStory({ cwd: '/' }, '/nowhere/driver-sync-story-7.json', {});
  expect(kept).toEqual({ unkept: '/nowhere/driver-sync-story-7.json cannot be written (ENOENT)' });
  const violation = { seed: 7, promise: 'nothing is lost', story: ['then it was lost'], ...kept };
  const found = { seed: 1, histories: 9, steps: 9, digest: 'd', marks: {}, warnings: [], violation };
  const shown = showSimulated(found, { hasMarks: false }).join('\n');
  for (const text of ['Seed 7 breaks a promise: nothing is lost', 'then it was lost', 'cannot be written (ENOENT)']) {
    expect(shown).toContain(text);
  }
  expect(shown).toContain('--seed 7 --histories 1');
  expect(shown).not.toContain('--story ');
});

test.each([-1, 1e18, 0.5])('a story whose events are %d ms apart is refused', (gapMs) => {
  const story = {
    story: 1,
    config: '',
    promise: 'digits',
    seed: 1,
    events: [{ kind: 'pass', gapMs, draw: 1 }],
    observed: [],
  };
  expect(() => parseStory(JSON.stringify(story), 'story.json')).toThrow('story.json is no story');
  const [event] = story.events;
  const usual = { ...story, events: [{ ...event, gapMs: 2000 }] };
  expect(parseStory(JSON.stringify(usual), 'story.json').events).toHaveLength(1);
});

test('a file that is no story is refused', async () => {
  const { dir, file } = configFolder(longConfig());
  writeFileSync(path.join(dir, 'story.json'), '{}');
  const context: Context = { options: { config: file, json: true }, env: {}, cwd: dir, version: '0.0.0' };
  await expect(simulate(context, { story: 'story.json' })).rejects.toMatchObject({
    code: 'usage',
    message: 'story.json is no story',
  });
});
