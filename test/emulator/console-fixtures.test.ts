/** Fixtures in the console: they are chosen, what they would change is shown, and they are loaded and taken back. */
import { expect, test } from 'vitest';
import type { Emulator } from '../../src/emulator/index.ts';
import { createRouter, everyModel, read, submit, undo } from '../support/console-world.ts';
import { driver, emulatorWorld, push } from '../support/emulator-world.ts';

/** Sends the form as a browser without a script does: with an empty file where none was chosen. */
async function choose(
  emulator: Emulator,
  { text = '', file = '' as string | Uint8Array<ArrayBuffer> },
): Promise<Response> {
  const body = new FormData();
  body.set('file', new File([file], file.length === 0 ? '' : 'fixtures.json'));
  body.set('text', text);
  return emulator.fetch('/console/fixtures', { method: 'POST', body, redirect: 'manual' });
}

/** Chooses fixtures and gives the address of the page that shows what they change. */
async function chosen(emulator: Emulator, fixtures: unknown): Promise<string> {
  const answer = await choose(emulator, { text: JSON.stringify(fixtures) });
  expect(answer.status).toBe(303);
  return answer.headers.get('location') ?? '';
}

/** The rows of a page's tables, each as its cells. */
function rowsOf(page: string): string[][] {
  return [...page.matchAll(/<tr[^>]*>(.*?)<\/tr>/gs)]
    .map(([, row = '']) =>
      [...row.matchAll(/<(?:td|th scope="row")[^>]*>(.*?)<\/t[dh]>/gs)].map(([, cell = '']) =>
        cell.replaceAll(/<[^>]+>/g, '').trim(),
      ),
    )
    .filter((cells) => cells.length > 0);
}

const jan = '1704067200';
const feb = '1706745600';

async function filled(): Promise<Emulator> {
  const emulator = await emulatorWorld({ credits: 12_345, speed: 0 });
  await push(emulator, { extDrivers: [driver('sales', `${jan} 100`, `${feb} 200`)] });
  emulator.clock({ now: '2026-03-01T00:00:00Z' });
  return emulator;
}

const fixtures = {
  drivers: [
    { id: 'sales', path: ['Money', 'Sales'], timeSeries: driver('', `${jan} 150`, '1709251200 300').timeSeries },
    driver('signups', `${jan} 7`),
  ],
  routers: [{ slug: 'draft', name: 'Draft' }],
  credits: 5_000,
  now: '2026-04-01T00:00:00Z',
  speed: 2,
  catalog: { remove: ['h3_max'] },
  faults: { faults: [{ status: 503 }, { status: 500 }] },
};

test('what fixtures would change is shown, and nothing has changed by then', async () => {
  const emulator = await filled();
  emulator.faults({ status: 429 });
  const before = emulator.drivers();
  const page = await read(emulator, await chosen(emulator, fixtures));
  expect(rowsOf(page)).toEqual([
    ['Drivers', '1', '2', '1 new driver, 2 new points, 1 value replaced, 1 path replaced'],
    ['Routers', '0', '1', 'new: draft'],
    ['Credits', '12\u202F345', '5\u202F000', ''],
    ['Time', '2026-03-01 00:00:00 UTC', '2026-04-01 00:00:00 UTC', ''],
    ['Speed of time', '0', '2', ''],
    ['Models', String(everyModel.length), String(everyModel.length - 1), 'removed: h3_max'],
    ['Faults that wait', '1', '2', '2 faults in the place of 1'],
    ['sales', '2024-01', '100', '150'],
    ['sales', 'sales', 'Money › Sales'],
  ]);
  expect(emulator.drivers()).toEqual(before);
  expect(emulator.clock()).toEqual({ now: new Date('2026-03-01T00:00:00Z'), speed: 0 });
  emulator.clearFaults();
  expect(await (await emulator.fetch('/v1/routers')).json()).toMatchObject({ data: [] });
});

test('loading them is taken back by one button, and the requests stay', async () => {
  const emulator = await filled();
  emulator.faults({ status: 429, path: '/v1/tasks/*' });
  const held = async () => ({
    drivers: emulator.drivers(),
    clock: emulator.clock(),
    organization: await (await emulator.fetch('/v1/organization')).json(),
    faults: await (await emulator.fetch('/_emulator/faults')).json(),
    catalog: await (await emulator.fetch('/_emulator/catalog')).json(),
  });
  const before = await held();
  const calm = { ...fixtures, speed: 0, faults: { faults: [] } };
  const loaded = await submit(emulator, await chosen(emulator, calm), {});
  expect(loaded.status).toBe(303);
  expect(emulator.drivers().map(({ id }) => id)).toEqual(['sales', 'signups']);
  expect((await held()).clock).toEqual({ now: new Date('2026-04-01T00:00:00Z'), speed: 0 });
  const page = await read(emulator, loaded.headers.get('location') ?? '');
  expect(page).toContain('Loaded: <bdi>1 new driver, 2 new points');
  const requests = emulator.requests().length;
  expect(await undo(emulator, page)).toBe(303);
  expect(await held()).toEqual(before);
  expect(emulator.requests().length).toBeGreaterThanOrEqual(requests);
  expect(await undo(emulator, page)).toBe(404);
});

test('a file comes before the text, and may begin with a byte order mark', async () => {
  const emulator = await emulatorWorld();
  const file = `\uFEFF${JSON.stringify({ drivers: [driver('a', '0 1')] })}`;
  const answer = await choose(emulator, { file, text: 'not JSON' });
  await submit(emulator, answer.headers.get('location') ?? '', {});
  expect(emulator.drivers().map(({ id }) => id)).toEqual(['a']);
});

test('a catalog alone stands for fixtures with it, whole, as a list or as changes', async () => {
  const emulator = await emulatorWorld();
  const { models } = (await (await emulator.fetch('/_emulator/catalog')).json()) as {
    models: { id: string; quality: number }[];
  };
  const [first, second] = models;
  for (const catalog of [{ models: models.slice(1) }, models.slice(1), { remove: [first?.id] }]) {
    const page = await read(emulator, await chosen(emulator, catalog));
    expect(rowsOf(page)).toEqual([['Models', `${models.length}`, `${models.length - 1}`, `removed: ${first?.id}`]]);
  }
  const changed = { ...first, quality: 1 };
  const page = await read(emulator, await chosen(emulator, { add: [changed, { ...second, id: 'new' }] }));
  expect(rowsOf(page)).toEqual([
    ['Models', `${models.length}`, `${models.length + 1}`, `added: new; changed: ${first?.id}`],
  ]);
});

test('fixtures that are held already change nothing, and the page says so', async () => {
  const emulator = await filled();
  const page = await read(emulator, await chosen(emulator, { drivers: emulator.drivers() }));
  expect(page).toContain('It changes nothing');
});

test.for([
  ['', 'choose a file, or paste its text', 400],
  ['{"drivers":', 'not JSON: ', 400],
  ['{"drivers":[{"id":"a"}]}', 'drivers.0.path: is required', 400],
  ['{"tasks":[]}', 'Unrecognized key', 400],
  ['{"routers":[{"slug":"campaign","name":"x"}]}', 'campaign', 409],
  ['{"now":"1999-01-01T00:00:00Z"}', 'the time cannot go back', 409],
  ['{"now":"0001-01-01T00:00:00Z"}', 'must be from 1970 to 9998', 400],
  ['{"speed":1e9}', 'speed', 400],
  ['{"remove":["none"]}', 'there is no model none to remove', 400],
] as const)('%s is refused beside its field: %s', async ([text, why, status]) => {
  const emulator = await emulatorWorld();
  await createRouter(emulator);
  const refused = await choose(emulator, { text });
  expect(refused.status).toBe(status);
  const page = await refused.text();
  expect(page).toContain(why);
  expect(page).toMatch(/id="text"[^>]*aria-invalid="true"/s);
  // What was written is still there.
  expect(page).toContain(text.replaceAll('"', '&quot;'));
});

test('what is no text and what is no form is refused', async () => {
  const emulator = await emulatorWorld();
  const binary = await choose(emulator, { file: new Uint8Array([0xff, 0xfe, 0x7b]) });
  expect([binary.status, await binary.text()]).toEqual([400, expect.stringContaining('not UTF-8')]);
  const body = 'text={}';
  const plain = await emulator.fetch('/console/fixtures', {
    method: 'POST',
    body,
    headers: { 'content-type': 'text/plain' },
  });
  expect(plain.status).toBe(400);
});

test('fixtures are tried again before they are loaded, and are loaded once', async () => {
  const emulator = await emulatorWorld();
  const address = await chosen(emulator, { routers: [{ slug: 'campaign', name: 'x' }] });
  const router = await createRouter(emulator);
  expect((await emulator.fetch(address)).status).toBe(409);
  expect((await submit(emulator, address, {})).status).toBe(409);
  await submit(emulator, `${router}/delete`, {});
  expect((await submit(emulator, address, {})).status).toBe(303);
  expect((await submit(emulator, address, {})).status).toBe(404);
});

test('the oldest of many that wait are forgotten', async () => {
  const emulator = await emulatorWorld();
  const first = await chosen(emulator, { credits: 1 });
  for (let more = 0; more < 4; more++) await chosen(emulator, { credits: 2 });
  expect((await emulator.fetch(first)).status).toBe(404);
});
