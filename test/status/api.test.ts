/** What scripts get: the same as the commands print. */
import { rm } from 'node:fs/promises';
import path from 'node:path';
import { describe, expect, test } from 'vitest';
import { busyWorld } from '../support/busy-world.ts';
import { commandsWorld, twoPushes } from '../support/commands-world.ts';
import { csv } from '../support/process.ts';
import { statusWorld } from '../support/status-world.ts';

test('/api/status is what "status --json" prints, of an agent that runs', async () => {
  const commands = await twoPushes();
  const page = await statusWorld(commands);
  const printed = await commands.json<object>('status');
  const { nextPush, nextPushWhy, ...served } = await page.json<Record<string, unknown>>('/api/status');
  expect(served).toEqual({ ...printed, agent: { pid: 7, since: '2026-03-01T00:00:00.000Z' } });
  expect({ nextPush, nextPushWhy }).toEqual({ nextPush: expect.any(String), nextPushWhy: expect.any(String) });
});

test('and so it is where the state cannot be opened: the error, its hint, and the exit code', async () => {
  const commands = await twoPushes();
  const page = await statusWorld(commands);
  await rm(path.join(commands.at.state, 'ledger.db'));
  const served = await page.ask('/api/status');
  expect(served.status).toBe(503);
  expect(JSON.parse(served.body)).toEqual(await commands.json('status'));
});

test('and so it is after a rollback, when the sources are those of the snapshot', async () => {
  // Two readings of one month at one same time: status warns of them.
  const commands = await commandsWorld(
    { revenue: csv('a.csv') },
    { 'a.csv': 'id,time,value\nNorth,2026-01-01,1\nNorth,2026-01-01,2\n' },
  );
  await commands.run('sync');
  await commands.at.write('a.csv', 'id,time,value\nNorth,2026-01-01,1\nNorth,2026-01-01,3\n');
  await commands.run('sync');
  await commands.run('rollback', '1', '--reason', 'to see');
  const page = await statusWorld(commands);
  const printed = await commands.json<{ sources: unknown[]; rolledBackTo: number }>('status');
  expect(printed.rolledBackTo).toBe(1);
  expect(await page.json('/api/status')).toMatchObject({ sources: printed.sources, rolledBackTo: 1 });
});

test('its siblings are what the commands of their names print', async () => {
  const commands = await busyWorld();
  const page = await statusWorld(commands);
  expect(await page.json('/api/history')).toEqual(await commands.json('history'));
  expect(await page.json('/api/explain?driver=Sales%2FNorth')).toEqual(await commands.json('explain', 'Sales/North'));
  expect(await page.json('/api/explain?driver=Sales%2FNorth&month=2025-01')).toEqual(
    await commands.json('explain', 'Sales/North', '2025-01'),
  );
  const { drivers: _drivers, ...printed } = await commands.json<Record<string, unknown>>('diff', '2', '3');
  expect(await page.json('/api/diff?a=2&b=3')).toEqual(printed);
  const rejects = await page.ask('/api/rejects?source=costs');
  expect(rejects.body).toBe((await commands.run('rejects', 'costs')).stdout);
  expect(rejects.headers).toMatchObject({
    'content-type': 'text/csv; charset=utf-8',
    'content-disposition': 'attachment; filename="rejects.csv"',
  });
});

test('a download of rejects ends with what is left out of it', async () => {
  const bad = `id,time,value\n${'North,2026-01,x\n'.repeat(1200)}${'North,2026-01,1\n'.repeat(200)}`;
  const commands = await commandsWorld({ revenue: csv('a.csv') }, { 'a.csv': bad }, { guard: { maxRejects: '90%' } });
  await commands.run('sync');
  const page = await statusWorld(commands);
  const { body } = await page.ask('/api/rejects?source=revenue');
  const last = 'revenue,a.csv,,1200 rows could not be used; only the first 1000 stand here,\n';
  expect(body).toBe(`${(await commands.run('rejects')).stdout}${last}`);
  expect((await page.ask('/source?name=revenue')).body).toMatch(
    /1\u202F200 rows could not be[^]*Download the first 1\u202F000 of each part as CSV/,
  );
});

test('a held candidate comes with what approving it changes, as plan prints it', async () => {
  const commands = await busyWorld();
  const page = await statusWorld(commands);
  const plan = await commands.json<{
    sources: { name: string; digest?: string; largest: unknown[]; changedPoints: number }[];
  }>('plan');
  const planned = plan.sources.find(({ name }) => name === 'sales');
  const held = await page.json<{ digest: string; largest: unknown[]; changedPoints: number }>('/api/held?source=sales');
  expect(held.digest).toBe(planned?.digest);
  expect(held.changedPoints).toBe(planned?.changedPoints);
  expect(held.largest.slice(0, 20)).toEqual(planned?.largest);
  expect(await page.json('/api/held')).toEqual({ held: [held] });
});

test('a driver comes with what it was in each snapshot that had other points, newest first', async () => {
  const commands = await busyWorld();
  const page = await statusWorld(commands);
  const { past, points } = await page.json<{
    past: { push: number; points: { month: string; value: string }[] }[];
    points: { month: string; value: string }[];
  }>('/api/driver?id=Sales%2FNorth');
  const september = (list: readonly { month: string; value: string }[]): string | undefined =>
    list.find(({ month }) => month === '2024-09')?.value;
  expect(september(points)).toBe('298700.00');
  expect(past.map((one) => [one.push, september(one.points)])).toEqual([
    [3, '261200.00'],
    [2, '283200.00'],
    [1, '275200.00'],
  ]);
});

test('what is missing or wrong in an address is said, and nothing is guessed', async () => {
  const page = await statusWorld(await twoPushes());
  const errorOf = async (address: string): Promise<unknown> => {
    const { status, body } = await page.ask(address);
    return { status, message: (JSON.parse(body) as { error: { message: string } }).error.message };
  };
  expect(await errorOf('/api/driver')).toEqual({ status: 404, message: '"id" is missing in the address' });
  expect(await errorOf('/api/diff?a=1')).toEqual({ status: 404, message: '"b" is missing in the address' });
  expect(await errorOf('/api/diff?a=1&b=9')).toEqual({ status: 404, message: 'there is no acknowledged push 9' });
  expect(await errorOf('/api/explain?driver=North&month=May')).toEqual({ status: 404, message: '"May" is no month' });
  expect(await errorOf('/api/rejects?source=x')).toEqual({ status: 404, message: 'there is no source "x"' });
  expect(await errorOf('/api/held?source=x')).toEqual({ status: 404, message: 'nothing of "x" is held' });
});

describe('what a push changed', () => {
  test('is worked out once, and for all who ask meanwhile', async () => {
    const page = await statusWorld(await twoPushes());
    const asked = await Promise.all(['/api/push?id=2', '/api/push?id=2'].map((at) => page.json(at)));
    expect(asked[0]).toMatchObject({ difference: { from: 1, to: 2, changes: { points: { create: 1, update: 1 } } } });
    expect(asked[1]).toEqual(asked[0]);
    const read = page.agent.walks;
    expect(read).toBeGreaterThan(0);
    expect(await page.json('/api/push?id=2')).toEqual(asked[0]);
    expect(await page.json('/api/diff?a=1&b=2')).toMatchObject({ from: 1, to: 2 });
    expect(page.agent.walks).toBe(read);
    await page.json('/api/diff?a=2&b=1');
    expect(page.agent.walks).toBe(read * 2);
  });

  test('is not shown any more where a snapshot of it is gone', async () => {
    const commands = await twoPushes();
    const page = await statusWorld(commands);
    await page.json('/api/push?id=2');
    await rm(path.join(commands.at.dir, '.driver-sync/archive'), { recursive: true });
    expect(await page.json('/api/push?id=2')).toMatchObject({
      why: expect.stringContaining('the snapshot of push 1 is missing'),
    });
  });
});

test('a page is told that there is news, and only then', async () => {
  const page = await statusWorld(await twoPushes());
  const response = await fetch(`${page.url}/events`);
  expect(response.headers.get('content-type')).toBe('text/event-stream');
  const reader = (response.body as ReadableStream<Uint8Array>).pipeThrough(new TextDecoderStream()).getReader();
  expect((await reader.read()).value).toBe('retry: 2000\n\n');
  page.tellNews();
  expect((await reader.read()).value).toBe('event: news\ndata: {}\n\n');
  await reader.cancel();
});
