/** `simulate` with hundreds of sources: a history has some of them, and what many settings let through is shown for a few. */
import { expect, test } from 'vitest';
import { type Simulated, showSimulated } from '../../src/cli/simulate-text.ts';
import { drawHistory } from '../../src/simulate/history/draw.ts';
import { play } from '../../src/simulate/history/play.ts';
import { castFor, castMax } from '../../src/simulate/stage.ts';
import { simulated } from '../support/simulated.ts';
import { stageOf } from '../support/stages.ts';

function manySources(count: number): object {
  const names = Array.from({ length: count }, (_, at) => `s${at}`);
  const sources = names.map((name) => {
    const drivers = [{ path: [name, '{id}'], time: '{time}', value: '{value}' }];
    return [name, { type: 'csv', files: [`${name}/*.csv`], drivers, removed: 'delete' }];
  });
  return { destination: { url: 'https://plan.test' }, sources: Object.fromEntries(sources) as object };
}

const many = manySources(100);

test('a history has some of the sources, each seed others, and always the same', async () => {
  const { stage, warnings } = stageOf(many);
  expect(warnings).toContainEqual({
    path: 'sources',
    message: expect.stringContaining(`each history has ${castMax} of the 100 sources`) as string,
  });
  const castOf = (seed: number): string[] => castFor(stage, seed).settings.sources.map(({ name }) => name);
  const casts = Array.from({ length: 200 }, (_, at) => castOf(at + 1));
  expect(new Set(casts.map(({ length }) => length))).toEqual(new Set([castMax]));
  expect(new Set(casts.flat()).size).toBe(100);
  expect(castOf(7)).toEqual(castOf(7));
  const [first, second] = [await play(stage, drawHistory(stage, 1, 3)), await play(stage, drawHistory(stage, 1, 3))];
  expect(first.violation).toBeUndefined();
  expect(second.digest).toBe(first.digest);
});

test('few sources are all in each history', () => {
  const { stage, warnings } = stageOf(manySources(castMax));
  expect(castFor(stage, 1)).toBe(stage);
  expect(warnings).toEqual([]);
});

test('what all of them let through is shown for three, also where the history has none of these by its seed', async () => {
  const { json } = await simulated(manySources(30), { histories: '1' });
  const { warnings } = json as unknown as Simulated;
  const removed = warnings.filter(({ path }) => path.endsWith('.removed'));
  expect(removed).toHaveLength(30);
  expect(removed.filter(({ loss }) => loss !== undefined).map(({ path }) => path)).toEqual(
    ['s0', 's1', 's2'].map((name) => `sources.${name}.removed`),
  );
  expect(removed[29]?.message).toMatch(/\(as sources\.s0\.removed, sources\.s1\.removed, sources\.s2\.removed\)$/);
  const text = showSimulated(json as unknown as Simulated, { hasMarks: false }).join('\n');
  expect(text).toContain('sources.s3.removed and 26 more like it: a file that is missing');
  expect(text).not.toContain('sources.s4.removed');
});
