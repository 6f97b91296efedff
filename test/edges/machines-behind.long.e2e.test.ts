/** A machine whose state directory is behind: another one has made the last push since it read. */
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest';
import { commandAt } from '../support/command-line.ts';
import { type Machines, machines, rowsOf } from '../support/machines-world.ts';
import { type Place, csv } from '../support/process.ts';
import { pointsOf } from '../support/receiver.ts';
import { type TestServer, cannotPostgres, postgresName, postgresServer } from '../support/servers.ts';

/** So many drivers, the first of them with a value of its own. */
function drivers(count: number, first = '1'): string {
  return rowsOf(Object.fromEntries(Array.from({ length: count }, (_, at) => [`d${at}`, at === 0 ? first : '1'])));
}

describe.skipIf(cannotPostgres)(`a machine that is behind, in ${postgresName}`, () => {
  let server: TestServer;
  let databases = 0;

  beforeAll(async () => {
    server = await postgresServer();
  });
  afterAll(async () => server?.[Symbol.asyncDispose]());

  async function behind(more: object = {}): Promise<Machines & { readonly alone: object }> {
    const database = `behind_${++databases}`;
    await server.run(`CREATE DATABASE ${database}`);
    const url = server.url({ database });
    vi.stubEnv('LEDGER_URL', url);
    const world = await machines({ count: 2, server, url, more });
    return Object.assign(world, { alone: { ...world.config, ledger: undefined } });
  }

  async function giveBackTo(place: Place, alone: object): Promise<void> {
    expect((await commandAt(place, 'ledger', 'give-back')).code).toBe(0);
    await place.configure(alone);
  }

  test('a ledger that is given back to it: a source that it cannot read stays as another machine has pushed it', async () => {
    const sources = { sales: csv('sales.csv'), rents: csv('rents.csv') };
    await using world = await behind({ sources });
    const [one, two] = world.places as [Place, Place];
    for (const [place, value] of [
      [one, '1'],
      [two, '2'],
    ] as const) {
      await place.write('sales.csv', drivers(10, value));
      await place.write('rents.csv', rowsOf({ office: value }));
      expect((await commandAt(place, 'sync')).code).toBe(0);
    }
    await giveBackTo(one, world.alone);
    await one.remove('sales.csv');
    await one.write('rents.csv', rowsOf({ office: '3' }));
    expect((await commandAt(one, 'plan', '--json')).json()).toMatchObject({
      changes: { drivers: { create: 0, update: 1, delete: 0 } },
    });
    expect((await commandAt(one, 'sync')).code).toBe(3);
    expect(pointsOf(await world.service.post(3))).toMatchObject({
      d0: { '2026-01': '2' },
      office: { '2026-01': '3' },
    });
  });

  test('a ledger that is given back to it: deletes that were approved elsewhere are not asked for again', async () => {
    await using world = await behind();
    const [one, two] = world.places as [Place, Place];
    for (const place of [one, two]) await place.write('sales.csv', drivers(40));
    expect((await commandAt(one, 'sync')).code).toBe(0);
    for (const place of [one, two]) await place.write('sales.csv', drivers(10));
    await approveAt(two);
    expect((await commandAt(two, 'sync')).code).toBe(0);
    await giveBackTo(one, world.alone);
    expect((await commandAt(one, 'sync', '--json')).json()).toMatchObject({ outcome: 'unchanged', exit: 0 });
    expect(Object.keys(pointsOf(world.service.holds()!))).toHaveLength(10);
  });

  test('a ledger that is given back to it: what a rollback took back stays so where it cannot be read', async () => {
    await using world = await behind({ sources: { sales: csv('sales.csv'), rents: csv('rents.csv') } });
    const [one, two] = world.places as [Place, Place];
    await one.write('rents.csv', rowsOf({ office: '1' }));
    for (const value of ['1', '2']) {
      await one.write('sales.csv', drivers(10, value));
      expect((await commandAt(one, 'sync')).code).toBe(0);
    }
    expect((await commandAt(two, 'rollback', '1')).code).toBe(0);
    await giveBackTo(one, world.alone);
    await one.remove('sales.csv');
    await one.write('rents.csv', rowsOf({ office: '3' }));
    expect((await commandAt(one, 'sync')).code).toBe(3);
    expect(pointsOf(await world.service.post(4))).toMatchObject({
      d0: { '2026-01': '1' },
      office: { '2026-01': '3' },
    });
  });
});

interface Held {
  readonly held: readonly { readonly digest: string; readonly reason: string }[];
}

/** Has the pass of a machine held, and approves what it holds. */
async function approveAt(place: Place): Promise<void> {
  expect((await commandAt(place, 'sync')).code).toBe(4);
  const { held } = (await commandAt(place, 'status', '--json')).json<Held>();
  expect((await commandAt(place, 'approve', held[0]!.digest)).code).toBe(0);
}
