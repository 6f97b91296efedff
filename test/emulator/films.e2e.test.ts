/** The films that stand for generated video. */
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, onTestFinished, test } from 'vitest';
import { filmDirectory, readFilm } from '../../src/emulator/routing/films.ts';
import { emulatorWorld } from '../support/emulator-world.ts';
import { browserName, cannotBrowse, launchBrowser } from '../support/real-browser.ts';
import { writeFilms } from '../support/write-films.ts';

test('are up to date; if not: node test/support/write-films.ts', () => {
  const films = writeFilms();
  expect(readdirSync(filmDirectory).toSorted()).toEqual([...films.keys()].toSorted());
  for (const [name, film] of films) expect(film.equals(readFileSync(join(filmDirectory, name))), name).toBe(true);
});

test('have the nearest of the shapes, for any ratio in a catalog', () => {
  const shapeOf = (ratio: string): string => {
    const film = readFilm({ ratio, variant: 0, seconds: 1 });
    const track = film.indexOf('tkhd');
    return [80, 84].map((at) => film.readUInt32BE(track + at) / 0x10000).join('x');
  };
  expect(['1280:720', '1104:832', '2206:946', '5:4', '1:3', '960:960'].map(shapeOf)).toEqual([
    '64x36',
    '64x48',
    '64x28',
    '64x48',
    '36x64',
    '64x64',
  ]);
});

describe.skipIf(cannotBrowse)(`in ${browserName}`, () => {
  test('play in their shape, for as long as was asked', async () => {
    const browser = await launchBrowser();
    onTestFinished(() => browser.close());
    const emulator = await emulatorWorld({ speed: 0 });
    const json = async (path: string, body: object): Promise<{ id: string }> =>
      (await emulator.fetch(path, { method: 'POST', body: JSON.stringify(body) })).json() as Promise<{ id: string }>;
    await json('/v1/routers', { slug: 'a', name: 'A' });
    const input = { promptText: 'waves', duration: 7, aspectRatio: '9:16' };
    const { id } = await json('/v1/generate/video', { configId: 'a', input });
    emulator.advance(600);
    const { output } = (await (await emulator.fetch(`/v1/tasks/${id}`)).json()) as { output: string[] };
    const page = await browser.newPage();
    await page.goto(`${emulator.url}/_emulator/drivers`);
    // As text, since the tests have no types of the DOM.
    const played: unknown = await page.evaluate(`new Promise((resolve, reject) => {
      const video = document.createElement('video');
      video.addEventListener('loadeddata', () => resolve([video.videoWidth, video.videoHeight, video.duration]));
      video.addEventListener('error', () => reject(new Error(video.error?.message)));
      video.src = ${JSON.stringify(output[0])};
    })`);
    expect(played).toEqual([36, 64, 7]);
  });
});
