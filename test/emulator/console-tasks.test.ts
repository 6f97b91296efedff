/** The tasks of the console, as a browser without JavaScript sees them. */
import { expect, test } from 'vitest';
import type { Emulator } from '../../src/emulator/index.ts';
import { createRouter, read, submit } from '../support/console-world.ts';
import { emulatorWorld } from '../support/emulator-world.ts';

interface World {
  readonly emulator: Emulator;
  /** Creates a task and returns its id. */
  readonly generate: (promptText?: string, modality?: 'image' | 'video' | 'audio') => Promise<string>;
  /** Prompts of the tasks in a list. */
  readonly listed: (query?: string) => Promise<string[]>;
  readonly page: (id: string) => Promise<string>;
}

async function world(): Promise<World> {
  const emulator = await emulatorWorld({ speed: 0 });
  await createRouter(emulator);
  return {
    emulator,
    async generate(promptText = 'a lighthouse', modality = 'image') {
      const body = JSON.stringify({ configId: 'campaign', input: { promptText } });
      const response = await emulator.fetch(`/v1/generate/${modality}`, { method: 'POST', body });
      expect(response.status).toBe(200);
      return ((await response.json()) as { id: string }).id;
    },
    async listed(query = '') {
      const page = await read(emulator, `/console/tasks${query}`);
      return [...page.matchAll(/href="\/console\/tasks\/[^"/]+"><bdi>([^<]+)</g)].map(([, prompt = '']) => prompt);
    },
    page: (id) => read(emulator, `/console/tasks/${id}`),
  };
}

test('a task is shown with its state and how far it is, and its output once it has one', async () => {
  const { emulator, generate, page } = await world();
  const id = await generate();
  expect(await page(id)).toContain('</span>pending');
  emulator.advance(3);
  expect(await page(id)).toMatch(/running (\d+)\u00A0%<.*<progress max="100" value="\1"/s);
  expect(await read(emulator, '/console/tasks')).toMatch(/running \d+\u00A0%</);
  emulator.advance(60);
  const done = await page(id);
  expect(done).toContain('</span>succeeded');
  const [, image = ''] = /<img src="(\/console\/media\/[^"]+)"/.exec(done) ?? [];
  const output = await emulator.fetch(image);
  expect(output.headers.get('content-type')).toBe('image/png');
  expect(await read(emulator, '/console/tasks')).toContain(`<img src="${image}"`);
});

test.for([
  ['video', 'video', 'video/mp4'],
  ['audio', 'audio', 'audio/wav'],
] as const)('a task of %s has a player', async ([modality, element, type]) => {
  const { emulator, generate, page } = await world();
  const id = await generate('a storm', modality);
  emulator.advance(600);
  const [, source = ''] = new RegExp(`<${element} controls[^>]* src="([^"]+)"`).exec(await page(id)) ?? [];
  const output = await emulator.fetch(source);
  expect(output.headers.get('content-type')).toBe(type);
  expect((await output.bytes()).length).toBe(Number(output.headers.get('content-length')));
});

test.for([
  ['bytes=0-', 206, 0, Infinity],
  ['bytes=10-19', 206, 10, 20],
  ['bytes=10-', 206, 10, Infinity],
  ['bytes=999999999-', 200, 0, Infinity],
  ['bytes=-5', 200, 0, Infinity],
  ['lines=1-2', 200, 0, Infinity],
] as const)('a player gets the part that it asks for: %s', async ([range, status, from, to]) => {
  const { emulator, generate } = await world();
  const path = `/console/media/${await generate('a storm', 'video')}/0`;
  emulator.advance(600);
  const whole = await (await emulator.fetch(path)).bytes();
  const part = await emulator.fetch(path, { headers: { range } });
  expect(part.status).toBe(status);
  const wanted = whole.slice(from, to === Infinity ? undefined : to);
  expect(Buffer.compare(await part.bytes(), wanted)).toBe(0);
  expect(part.headers.get('content-range')).toBe(
    status === 206 ? `bytes ${from}-${from + wanted.length - 1}/${whole.length}` : null,
  );
});

test('a look at an output is not a request to the service, and there is none that a task does not have', async () => {
  const { emulator, generate } = await world();
  const id = await generate();
  expect((await emulator.fetch(`/console/media/${id}/0`)).status).toBe(404);
  emulator.advance(60);
  const before = emulator.requests().length;
  const statusOf = async (output: string) => (await emulator.fetch(`/console/media/${id}/${output}`)).status;
  expect(await Promise.all(['0', '1', '-1', '0.5', 'length'].map(statusOf))).toEqual([200, 404, 404, 404, 404]);
  expect(emulator.requests()).toHaveLength(before);
});

test('the page of a task has its prompt, why its model was taken, and the way to the routing log', async () => {
  const { emulator, generate, page } = await world();
  const prompt = 'a <b>lighthouse</b>\nat dusk';
  const id = await generate(prompt);
  const text = await page(id);
  expect(text).toContain('<bdi>a &lt;b&gt;lighthouse&lt;/b&gt;\nat dusk</bdi></blockquote>');
  expect(text).toMatch(/lowest estimated cost.*<code>lowest_cost<\/code>.*<code>allow_deny<\/code>/s);
  const [, log = '', entry = ''] = /href="(\/console\/routers\/[^"]+\/log)#([^"]+)"/.exec(text) ?? [];
  expect(await read(emulator, log)).toContain(`id="${entry}"`);
});

test('a task whose router is gone says so, and needs it for nothing', async () => {
  const { emulator, generate, page } = await world();
  const id = await generate();
  await emulator.fetch('/v1/routers/campaign', { method: 'DELETE' });
  const text = await page(id);
  expect(text).toMatch(/<dt>Router<\/dt>\s*<dd>deleted<\/dd>/);
  expect(text).not.toContain('/log#');
  expect(await read(emulator, '/console/tasks')).toContain('>deleted</td>');
});

test('tasks are found by their state, prompt, model, router or id', async () => {
  const { emulator, generate, listed } = await world();
  const id = await generate('a lighthouse');
  emulator.advance(60);
  emulator.faults({ failureCode: 'SAFETY.INPUT.TEXT' });
  await generate('something refused');
  emulator.advance(60);
  await generate('a storm', 'video');
  expect(await listed()).toEqual(['a storm', 'something refused', 'a lighthouse']);
  expect(await listed('?state=failed')).toEqual(['something refused']);
  expect(await listed('?state=under+way')).toEqual(['a storm']);
  expect(await listed('?state=succeeded')).toEqual(['a lighthouse']);
  expect(await listed('?find=LIGHT')).toEqual(['a lighthouse']);
  expect(await listed(`?find=${id}`)).toEqual(['a lighthouse']);
  expect(await listed('?find=campaign')).toHaveLength(3);
  expect(await read(emulator, '/console/tasks?find=nothing')).toContain('No task is like that');
  expect((await emulator.fetch('/console/tasks/some-id')).status).toBe(404);
});

test('a task that failed says why, and by which code', async () => {
  const { emulator, generate, page } = await world();
  emulator.faults({ failureCode: 'SAFETY.INPUT.TEXT' });
  const id = await generate();
  emulator.advance(60);
  expect(await page(id)).toMatch(/<\/span>failed.*>SAFETY\.INPUT\.TEXT</s);
});

test('a task is cancelled once the person has read what that means, and gives its credits back', async () => {
  const { emulator, generate, listed } = await world();
  const id = await generate();
  const question = await read(emulator, `/console/tasks/${id}/remove`);
  expect(question).toMatch(/Cancel this task\?.*are given back.*cannot be started again/s);
  expect(await listed()).toHaveLength(1);
  expect((await submit(emulator, `/console/tasks/${id}/remove`, {})).headers.get('location')).toBe('/console/tasks');
  expect(await read(emulator, '/console/tasks')).toContain('There are no tasks');
  expect((await submit(emulator, `/console/tasks/${id}/remove`, {})).status).toBe(404);
  const second = await generate();
  emulator.advance(2);
  expect(await read(emulator, `/console/tasks/${second}/remove`)).toContain('are not given back');
});

test('a task that was deleted is taken back, once, to where it was', async () => {
  const { emulator, generate, listed } = await world();
  await generate('the first');
  const id = await generate('the second');
  await generate('the third');
  emulator.advance(60);
  expect(await read(emulator, `/console/tasks/${id}/remove`)).toContain('Delete this task?');
  const list = (await submit(emulator, `/console/tasks/${id}/remove`, {})).headers.get('location') ?? '';
  const page = await read(emulator, list);
  expect(page).toMatch(/Deleted: <bdi>the second<\/bdi>/);
  expect(await listed()).toEqual(['the third', 'the first']);
  const [, undo = ''] = /action="(\/console\/undo\/[^"]+)"/.exec(page) ?? [];
  expect((await submit(emulator, undo, {})).headers.get('location')).toBe('/console/tasks');
  expect(await listed()).toEqual(['the third', 'the second', 'the first']);
  expect((await submit(emulator, undo, {})).status).toBe(404);
  expect(await read(emulator, list)).not.toContain('Deleted:');
});

test('more than a page of tasks goes on at the older ones, with the same choice', async () => {
  const { emulator, generate, listed } = await world();
  for (let count = 1; count <= 51; count++) await generate(`number ${count}`);
  await emulator.fetch('/v1/routers', { method: 'POST', body: JSON.stringify({ slug: 'other', name: 'Other' }) });
  emulator.advance(6_000);
  const page = await read(emulator, '/console/tasks?state=succeeded&find=number');
  const [, older = ''] = /href="\/console\/tasks(\?[^"]+)">Older tasks/.exec(page) ?? [];
  expect(older).toContain('state=succeeded&amp;find=number');
  expect(await listed(older.replaceAll('&amp;', '&'))).toEqual(['number 1']);
});
