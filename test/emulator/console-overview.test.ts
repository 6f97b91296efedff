/** The overview of the console, as a browser without JavaScript sees it. */
import { expect, test } from 'vitest';
import type { Emulator, EmulatorOptions } from '../../src/emulator/index.ts';
import { createRouter, read, submit } from '../support/console-world.ts';
import { driver, emulatorWorld, push } from '../support/emulator-world.ts';

/** The text of the overview, without markup. */
async function textOf(emulator: Emulator): Promise<string> {
  const page = await read(emulator, '/console');
  return page
    .slice(page.indexOf('<main'))
    .replaceAll(/<[^>]*>/g, ' ')
    .replaceAll(/[ \n]+/g, ' ');
}

async function busy(options: EmulatorOptions = {}): Promise<Emulator> {
  const emulator = await emulatorWorld({ speed: 0, credits: 1_000, ...options });
  await createRouter(emulator);
  return emulator;
}

async function generate(emulator: Emulator, promptText: string): Promise<void> {
  const body = JSON.stringify({ configId: 'campaign', input: { promptText } });
  expect((await emulator.fetch('/v1/generate/image', { method: 'POST', body })).status).toBe(200);
}

test('says what is held, spent and under way, newest first', async () => {
  const emulator = await busy();
  expect(await textOf(emulator)).toMatch(/Last push none yet .*Drivers held 0 drivers .*Routers 1 router/);
  await push(emulator, { extDrivers: [driver('a', '1767225600 1', '1769904000 2'), driver('b')] });
  await generate(emulator, 'a lighthouse');
  const text = await textOf(emulator);
  expect(text).toMatch(/Last push (now|\d+ s ago) drivers: 2 added Drivers held 2 drivers 2 points in the last push/);
  expect(text).toMatch(/Balance 9\d\d credits \d+ used today/);
  expect(text).toMatch(/Tasks under way 1 task 1 in all/);
  expect(text).toMatch(/a lighthouse \w+, now .*pending/);
  expect(text).toMatch(/POST \/v1\/generate\/image .*200 answered POST \/api\/extDrivers\/update/);
  emulator.advance(60);
  expect(await textOf(emulator)).toMatch(/Tasks under way none .*a lighthouse \w+, 1 min ago .*succeeded/);
});

test('puts a task that still runs before those that have ended', async () => {
  const emulator = await busy();
  await generate(emulator, 'the first');
  emulator.advance(60);
  await generate(emulator, 'the second');
  emulator.advance(2);
  const text = await textOf(emulator);
  expect(text).toMatch(/the second .*running \d+\u00A0% .*the first/);
});

test.for([
  [{}, 'No key is needed', /curl http:\S+ -H &#39;content-type/],
  [{ strict: true }, 'Any key will do', /authorization: Bearer anything&#39;/],
  [{ token: 'very-secret' }, 'the token that it was started with', /authorization: Bearer \$TOKEN&quot;/],
] as const)('says how curl, the client, an agent and driver-sync reach it: %o', async ([options, key, header]) => {
  const emulator = await busy(options);
  const page = await read(emulator, '/console');
  expect(page).toContain(key);
  expect(page).toMatch(header);
  expect(page).not.toContain('very-secret');
  for (const way of ['curl', 'The official client', 'An agent', 'driver-sync'])
    expect(page).toContain(`<summary>${way}<`);
  expect(page).toContain(`baseURL: &#39;${emulator.url}&#39;`);
  expect(page).toContain(`&quot;url&quot;: &quot;${emulator.url}/mcp&quot;`);
  expect(page).toContain(`destination:\n  url: ${emulator.url}<`);
});

test('says how the time of model routing goes', async () => {
  expect(await textOf(await emulatorWorld())).toContain('is that of the machine');
  expect(await textOf(await emulatorWorld({ speed: 0 }))).toMatch(/stands still until it is advanced\. It is 2\d{3}-/);
  expect(await textOf(await emulatorWorld({ speed: 60 }))).toContain('runs 60 times as fast');
  const ahead = await emulatorWorld();
  ahead.advance(3_600);
  expect(await textOf(ahead)).toContain('is not that of the machine');
});

test('advances the time, freezes it and lets it go on', async () => {
  const emulator = await busy();
  await generate(emulator, 'a lighthouse');
  const before = emulator.clock().now.getTime();
  expect((await submit(emulator, '/console/time', { seconds: '2.5' })).headers.get('location')).toBe('/console');
  expect(emulator.clock().now.getTime() - before).toBe(2_500);
  expect(await textOf(emulator)).toMatch(/Let it run .*running/);
  await submit(emulator, '/console/time', { pace: 'run' });
  expect(emulator.clock().speed).toBe(1);
  expect(await textOf(emulator)).toContain('Freeze');
  await submit(emulator, '/console/time', { pace: 'freeze' });
  expect(emulator.clock().speed).toBe(0);
  const fast = await emulatorWorld({ speed: 60 });
  for (const pace of ['freeze', 'run']) await submit(fast, '/console/time', { pace });
  expect(fast.clock().speed).toBe(60);
});

test.for(['', 'soon', '-1', '1e99'])('does not advance the time by %j, and says why', async (seconds) => {
  const emulator = await busy();
  const before = emulator.clock().now;
  const refused = await submit(emulator, '/console/time', { seconds });
  expect(refused.status).toBe(400);
  expect(await refused.text()).toContain('seconds: ');
  expect(emulator.clock().now).toEqual(before);
});

test.for(['with a router', 'without one'])('the commands that it shows work as they are, %s', async (routers) => {
  const emulator = routers === 'with a router' ? await busy() : await emulatorWorld();
  const page = await read(emulator, '/console');
  const bodies = [...page.matchAll(/curl (\S+) [^<]*-d &#39;(\{[^<]*\})&#39;/g)];
  const statuses = bodies.map(async ([, url = '', body = '']) => {
    const sent = { method: 'POST', body: body.replaceAll('&quot;', '"') };
    return (await emulator.fetch(url, sent)).status;
  });
  expect(await Promise.all(statuses)).toEqual([200, 200]);
});
