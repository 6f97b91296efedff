/** `check --destination` tries the address as a push would, with an update that changes and deletes nothing. */
import { expect, test, vi } from 'vitest';
import { commandsWorld } from '../support/commands-world.ts';
import { csv } from '../support/process.ts';
import { longFile } from '../support/world.ts';

interface Checked {
  readonly ok: boolean;
  readonly destination?: { readonly outcome: string; readonly steps: readonly { step: string; holds: boolean }[] };
  readonly problems: readonly { readonly path: string; readonly line: number; readonly message: string }[];
}

const books = { books: csv('books.csv') };
const files = { 'books.csv': longFile({ A: { '2026-01': 1 } }) };

test('says step by step what holds, and sends an update that deletes nothing', async () => {
  const { run, receiver } = await commandsWorld(books, files);
  const { code, stdout } = await run('check', '--destination');
  expect(code).toBe(0);
  expect(stdout).toMatch(/^destination\n {2}name +ok: .*\n {2}connection +ok: .*\n {2}update +ok: .*acknowledged/m);
  expect(receiver.posts.map(({ body }) => body)).toEqual(['{"shouldDeleteMissing":false,"extDrivers":[]}']);
  const { ok, destination } = (await run('check', '--destination', '--json')).json<Checked>();
  expect({ ok, destination }).toMatchObject({
    ok: true,
    destination: {
      outcome: 'acknowledged',
      steps: [
        { step: 'name', holds: true },
        { step: 'connection', holds: true },
        { step: 'update', holds: true },
      ],
    },
  });
});

test('tries no address without it', async () => {
  const { run, receiver } = await commandsWorld(books, files);
  expect((await run('check', '--json')).json<Checked>().destination).toBeUndefined();
  expect(receiver.posts).toEqual([]);
});

test('is 5 where the service refuses the token, and says so', async () => {
  const { run, receiver } = await commandsWorld(books, files);
  receiver.answer(401, 401);
  const { code, json } = await run('check', '--destination', '--json');
  expect(code).toBe(5);
  expect(json<Checked>()).toMatchObject({
    ok: false,
    destination: {
      outcome: 'refused',
      steps: expect.arrayContaining([expect.objectContaining({ step: 'token', holds: false })]),
    },
  });
  const { stdout } = await run('check', '--destination');
  expect(stdout).toMatch(/ {2}token +fails: 401/);
  expect(stdout).toContain('the config is valid, but nothing could be pushed now');
});

test('is 75 where the address cannot be reached, before what else is wrong but the config', async () => {
  const { run, receiver, at, configure } = await commandsWorld(books, files);
  await at.remove('books.csv');
  await receiver[Symbol.asyncDispose]();
  const { code, json } = await run('check', '--destination', '--json');
  expect(code).toBe(75);
  expect(json<Checked>()).toMatchObject({
    ok: false,
    destination: { outcome: 'unreachable', steps: [{ step: 'name' }, { step: 'connection', holds: false }] },
  });
  await at.write('books.csv', 'id,time,value\nA,2026-01,x\n');
  expect((await run('check', '--destination')).code).toBe(75);
  await configure({ books: csv('books.csv', { drivers: [{ path: ['{no}'], time: '{time}', value: '{value}' }] }) });
  expect((await run('check', '--destination')).code).toBe(78);
});

test('a proxy that cannot be used is a problem, where the config names the destination', async () => {
  const { run, receiver } = await commandsWorld(books, files);
  vi.stubEnv('HTTP_PROXY', 'ftp://proxy.example.com');
  const { code, json } = await run('check', '--destination', '--json');
  expect(code).toBe(78);
  expect(json<Checked>()).toMatchObject({
    ok: false,
    problems: [{ path: 'destination', line: expect.any(Number), message: expect.stringMatching(/proxy/i) }],
  });
  expect(receiver.posts).toEqual([]);
});

test('has no address to try where the emulator is embedded', async () => {
  const { at, run } = await commandsWorld(books, files);
  await at.configure({ destination: 'emulator', sources: books });
  const { code, stdout } = await run('check', '--destination');
  expect(code).toBe(0);
  expect(stdout).toContain('note: destination is the emulator');
});
