/** Faults in the console: what waits, how another is ordered, and how all are taken away. */
import { expect, test } from 'vitest';
import type { Emulator, FaultInput } from '../../src/emulator/index.ts';
import { read, submit, undo } from '../support/console-world.ts';
import { driver, emulatorWorld, push } from '../support/emulator-world.ts';

const update = { extDrivers: [driver('a', '0 1')] };

interface Named {
  readonly id: string;
}

async function pending(emulator: Emulator): Promise<Named[]> {
  return ((await (await emulator.fetch('/_emulator/faults')).json()) as { faults: Named[] }).faults;
}

/** Without their names, which are checked where they matter. */
async function ordered(emulator: Emulator): Promise<object[]> {
  return (await pending(emulator)).map(({ id: _id, ...fault }) => fault);
}

const defaults = { times: 1, probability: 1, fromSeconds: 0, delayMs: 0 };
const usual = { kind: 'refuses', status: '503', path: '', times: '1', share: '100' };

test.for([
  [{}, { status: 503 }],
  [{ retryAfter: '2' }, { status: 503, retryAfter: 2 }],
  [
    { status: '429', times: 'always', share: '12.5' },
    { status: 429, times: 'always', probability: 0.125 },
  ],
  [
    { kind: 'slow', delayMs: '250', path: '/v1/*' },
    { delayMs: 250, path: '/v1/*' },
  ],
  [
    { kind: 'hangs', times: '3' },
    { hang: true, times: 3 },
  ],
  [{ kind: 'drop-before' }, { drop: 'before' }],
  [{ kind: 'drop-after' }, { drop: 'after' }],
  [{ kind: 'reset-after' }, { reset: 'after' }],
  [{ kind: 'cut', truncate: '5' }, { truncate: 5 }],
  [{ kind: 'task-fails', failureCode: 'INTERNAL' }, { failureCode: 'INTERNAL' }],
  [{ kind: 'task-cancelled' }, { cancelled: true }],
] as const)('the form %o orders %o', async ([fields, fault]) => {
  const emulator = await emulatorWorld();
  expect((await submit(emulator, '/console/faults', { ...usual, ...fields })).status).toBe(303);
  expect(await ordered(emulator)).toEqual([{ ...defaults, ...fault }]);
});

test('a fault is met by the next request that it is for, and is gone from the page', async () => {
  const emulator = await emulatorWorld();
  expect(await read(emulator, '/console/faults')).toContain('No faults wait');
  await submit(emulator, '/console/faults', { ...usual, path: '/api/extDrivers/update' });
  expect(await read(emulator, '/console/faults')).toMatch(/1 fault wait.*Answers 503.*\/api\/extDrivers\/update/s);
  expect(await push(emulator, update)).toBe(503);
  expect(await read(emulator, '/console/faults')).toContain('No faults wait');
});

test.for<[FaultInput, string]>([
  [{ status: 503, retryAfter: 2, times: 2 }, 'Answers 503, to be tried again after 2 s|any request|the next 2'],
  [
    { status: 500, apply: true, method: 'POST' },
    'Answers 500, and applies the request nevertheless|any POST|the next one',
  ],
  [{ redirect: 'https://elsewhere.example' }, 'Sends to https://elsewhere.example (307)|any request|the next one'],
  [{ hang: true, times: 'always', path: '/v1/*', method: 'GET' }, 'Never answers|GET /v1/*|every one'],
  [
    { drop: 'after', probability: 0.025 },
    'Closes the connection after the request is applied|any request|the next one, 2.5 % of them',
  ],
  [
    { reset: 'before', fromSeconds: 60 },
    'Resets the connection before the request is applied|any request|the next one, from 60 s after it was ordered',
  ],
  [
    { delayMs: { uniform: { minMs: 10, maxMs: 1_500 } }, truncate: 9 },
    'Waits 10 to 1\u202F500 ms, cuts the answer after 9 bytes|any request|the next one',
  ],
  [
    { delayMs: { logNormal: { medianMs: 120, sigma: 1 } }, fromSeconds: 1, untilSeconds: 9 },
    'Waits about 120 ms, now and then much longer|any request|the next one, from 1 s up to 9 s after it was ordered',
  ],
  [
    { slowRead: { bytesPerSecond: 100 }, trickle: { bytes: 1, everyMs: 5 } },
    'Reads 100 bytes a second, sends 1 bytes every 5 ms|any request|the next one',
  ],
  [{ failureCode: 'INTERNAL' }, 'Its task fails with INTERNAL|any request|the next one'],
  [{ cancelled: true }, 'Its task ends cancelled|any request|the next one'],
])('the page says of %o: %s', async ([fault, words]) => {
  const emulator = await emulatorWorld();
  emulator.faults(fault);
  const [, row = ''] = /<tbody>(.*?)<\/tbody>/s.exec(await read(emulator, '/console/faults')) ?? [];
  expect([...row.matchAll(/<t[hd][^>]*>([^<]+)</g)].map(([, cell]) => cell?.trim()).join('|')).toBe(words);
});

test('a script takes the place of all, and what it replaced comes back by one button', async () => {
  const emulator = await emulatorWorld();
  emulator.faults({ status: 500 });
  const script = JSON.stringify({ seed: 7, faults: [{ status: 503, times: 2 }] });
  const played = await submit(emulator, '/console/faults', { script });
  const page = await read(emulator, played.headers.get('location') ?? '');
  expect(page).toContain('Replaced: <bdi>1 fault</bdi>');
  expect(await ordered(emulator)).toEqual([{ ...defaults, status: 503, times: 2 }]);
  expect(await undo(emulator, page)).toBe(303);
  expect(await ordered(emulator)).toEqual([{ ...defaults, status: 500 }]);
});

test('taking all away is asked for, done, and taken back with the chances that they had', async () => {
  const emulator = await emulatorWorld();
  const script = { seed: 11, faults: [{ status: 503, probability: 0.5, times: 'always' as const }] };
  const statuses = async () => [
    await push(emulator, update),
    await push(emulator, update),
    await push(emulator, update),
  ];
  emulator.play(script);
  const first = [...(await statuses()), ...(await statuses())];
  emulator.play(script);
  expect(await statuses()).toEqual(first.slice(0, 3));
  expect(await read(emulator, '/console/faults/clear')).toContain('Take all faults away?');
  const cleared = await submit(emulator, '/console/faults/clear', {});
  expect(await statuses()).toEqual([200, 200, 200]);
  const page = await read(emulator, cleared.headers.get('location') ?? '');
  expect(await undo(emulator, page)).toBe(303);
  expect(await statuses()).toEqual(first.slice(3));
});

test.for([
  [{ ...usual, status: 'none' }, 'status', 'Status: '],
  [{ ...usual, times: '0' }, 'times', 'How many: '],
  [{ ...usual, share: '200' }, 'share', 'Share of them: '],
  [{ ...usual, kind: 'slow', delayMs: '-1' }, 'delayMs', 'Wait (ms): '],
  [{ script: '{"faults":' }, 'script', 'Script: is not JSON'],
] as const)('what cannot be ordered says so beside its field: %o', async ([fields, field, why]) => {
  const emulator = await emulatorWorld();
  const refused = await submit(emulator, '/console/faults', fields);
  expect(refused.status).toBe(400);
  const page = await refused.text();
  expect(page).toContain(`<a href="#${field}">${why}`);
  expect(page).toMatch(new RegExp(`id="${field}"[^>]*aria-invalid="true"`, 's'));
  expect(await pending(emulator)).toEqual([]);
});

test('a script that does not fit says where', async () => {
  const emulator = await emulatorWorld();
  const refused = await submit(emulator, '/console/faults', { script: '{"faults":[{"status":1}]}' });
  expect(await refused.text()).toContain('faults.0.status: ');
});

/** Saves a fault's page with this JSON. */
const change = (emulator: Emulator, id: string, fault: object | string) =>
  submit(emulator, `/console/faults/waiting/${id}`, {
    fault: typeof fault === 'string' ? fault : JSON.stringify(fault),
  });

async function threeWait(): Promise<Emulator> {
  const emulator = await emulatorWorld();
  emulator.faults({ status: 500 }, { id: 'clear', status: 503, retryAfter: 2, times: 5 }, { hang: true });
  return emulator;
}

const names = async (emulator: Emulator) => (await pending(emulator)).map(({ id }) => id);

test('one of several is removed, and comes back to its place by one button', async () => {
  const emulator = await threeWait();
  expect(await read(emulator, '/console/faults')).toContain('aria-label="Remove: Answers 503, to be tried again');
  const removed = await submit(emulator, '/console/faults/waiting/clear/remove', {});
  const page = await read(emulator, removed.headers.get('location') ?? '');
  expect(page).toContain('Removed: <bdi>Answers 503');
  expect(await names(emulator)).toEqual(['1', '2']);
  expect(await undo(emulator, page)).toBe(303);
  expect(await names(emulator)).toEqual(['1', 'clear', '2']);
});

test('one of several is changed in its place, and is what it was by one button', async () => {
  const emulator = await threeWait();
  const page = await read(emulator, '/console/faults/waiting/clear');
  const [, shown = ''] = /<textarea[^>]*>(.*?)<\/textarea>/s.exec(page) ?? [];
  expect(JSON.parse(shown.replaceAll('&quot;', '"'))).toEqual({ status: 503, retryAfter: 2, times: 5 });
  const changed = await change(emulator, 'clear', { status: 429, times: 2 });
  expect(changed.status).toBe(303);
  expect((await pending(emulator))[1]).toEqual({ id: 'clear', ...defaults, status: 429, times: 2 });
  expect(await names(emulator)).toEqual(['1', 'clear', '2']);
  expect(await undo(emulator, await read(emulator, changed.headers.get('location') ?? ''))).toBe(303);
  expect((await pending(emulator))[1]).toEqual({ id: 'clear', ...defaults, status: 503, retryAfter: 2, times: 5 });
});

test.for([
  ['{"status":', 'Fault: is not JSON'],
  ['{"status":1}', 'status: '],
  ['{"status":503,"hang":true}', 'must have exactly one of status'],
  ['{"id":"other","status":503}', 'id: cannot be changed'],
  ['[]', 'expected record'],
] as const)('a change that cannot be says so beside its field, and keeps the text: %s', async ([text, why]) => {
  const emulator = await threeWait();
  const before = await pending(emulator);
  const refused = await change(emulator, 'clear', text);
  expect(refused.status).toBe(400);
  const page = await refused.text();
  expect(page).toContain(why);
  expect(page).toContain(text.replaceAll('"', '&quot;'));
  expect(page).toMatch(/id="fault"[^>]*aria-invalid="true"/s);
  expect(await pending(emulator)).toEqual(before);
});

test('a fault that waits no more is not found', async () => {
  const emulator = await threeWait();
  for (const path of ['none', 'none/remove']) {
    expect((await submit(emulator, `/console/faults/waiting/${path}`, { fault: '{}' })).status).toBe(404);
  }
  expect((await emulator.fetch('/console/faults/waiting/none')).status).toBe(404);
});
