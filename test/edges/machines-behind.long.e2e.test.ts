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
    const world = await machines({ count: 2, takeOver: '10m', server, url, more });
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

  test('plan, check and forget there go by the last push, and hold nothing that a pass would not', async () => {
    await using world = await behind({ sources: { sales: csv('sales*.csv') } });
    const [one, two] = world.places as [Place, Place];
    for (const place of [one, two]) {
      await place.write('sales.csv', drivers(40));
      await place.write('sales-more.csv', rowsOf({ east: '4' }));
    }
    expect((await commandAt(one, 'sync')).code).toBe(0);
    for (const place of [one, two]) {
      await place.write('sales.csv', drivers(10));
      await place.write('sales-more.csv', rowsOf({ east: '4', west: '5' }));
    }
    await approveAt(two);
    expect((await commandAt(two, 'sync')).code).toBe(0);
    expect((await commandAt(one, 'plan', '--json')).json()).toMatchObject({ exit: 0, changes: nothing });
    expect((await commandAt(one, 'check')).stdout).not.toContain('sync would not accept');
    expect(await heldAt(two)).toEqual([]);
    await two.remove('sales-more.csv');
    expect((await commandAt(two, 'sync')).code).toBe(3);
    const forgotten = (await commandAt(one, 'forget', 'sales', 'sales-more.csv', '--yes', '--json')).json();
    expect(forgotten).toMatchObject({ changes: { drivers: { delete: 2 }, points: { delete: 6 } } });
    const before = world.service.posts.length;
    expect((await commandAt(two, 'sync')).code).toBe(0);
    expect(Object.keys(pointsOf(await world.service.post(before + 1)))).toHaveLength(10);
  });

  test('deletes that it has accepted and not pushed are not counted twice by its plan', async () => {
    const onlyIfAsked = { pushOnChange: 'off', schedule: '0 0 29 2 *' };
    await using world = await behind(onlyIfAsked);
    const [one, two] = world.places as [Place, Place];
    for (const place of [one, two]) await place.write('sales.csv', drivers(82));
    const daemon = await one.daemon();
    // The service has it a moment before the ledger does.
    await daemon.says(/"pushed"/);
    await one.write('sales.csv', drivers(75));
    await daemon.says(/7 deleted.*source accepted/);
    daemon.kill('SIGTERM');
    await daemon.exit;
    expect((await commandAt(two, 'sync')).code).toBe(0);
    expect((await commandAt(one, 'plan', '--json')).json()).toMatchObject({
      sources: [{ state: 'accepted', changes: { drivers: { delete: 7 } } }],
    });
  });

  test('a plan beside an agent that leads on another machine leaves what that one holds', async () => {
    await using world = await behind();
    const [one, two] = world.places as [Place, Place];
    for (const place of [one, two]) await place.write('sales.csv', drivers(40));
    const daemon = await one.daemon();
    await daemon.says(/"pushed"/);
    await two.write('sales.csv', drivers(20));
    const unrecorded = await commandAt(two, 'plan');
    expect(unrecorded.stdout).toMatch(/sales: held: .*20 of 40.*\n +no pass holds this yet/);
    expect(unrecorded.stdout).not.toContain('approve it with');
    expect(await heldAt(one)).toEqual([]);
    await one.write('sales.csv', drivers(10));
    await daemon.says(/source held/);
    const [held] = await heldAt(one);
    expect((await commandAt(two, 'plan')).stdout).not.toContain('approve it with');
    expect(await heldAt(one)).toEqual([held]);
    await two.write('sales.csv', drivers(10));
    expect((await commandAt(two, 'plan')).stdout).toContain(
      `approve it with: driver-sync approve ${held!.digest.slice(0, 12)}`,
    );
    expect((await commandAt(two, 'approve', held!.digest)).code).toBe(0);
    expect(Object.keys(pointsOf(await world.service.post(2)))).toHaveLength(10);
  });

  test('a plan on the machine of the agent that leads holds what it finds, so that it can be approved', async () => {
    const cat = { type: 'command', command: ['cat', 'sales.csv'], format: 'csv', poll: '1h' };
    await using world = await behind({
      sources: { sales: { ...csv(''), files: undefined, settle: undefined, ...cat } },
    });
    const [one] = world.places as [Place, Place];
    await one.write('sales.csv', drivers(40));
    await using daemon = await one.daemon();
    await daemon.says(/"pushed"/);
    await one.write('sales.csv', drivers(10));
    // What is not recorded is not approvable. A pass that comes next may let go of it again, and one comes soon after the first.
    await expect
      .poll(async () => (await commandAt(one, 'plan', '--json')).json())
      .toMatchObject({ sources: [{ state: 'held', approvable: true }] });
  });
});

const none = { create: 0, update: 0, delete: 0 };
const nothing = { drivers: none, points: none };

interface Held {
  readonly held: readonly { readonly digest: string; readonly reason: string }[];
}

async function heldAt(place: Place): Promise<Held['held']> {
  return (await commandAt(place, 'status', '--json')).json<Held>().held;
}

/** Has the pass of a machine held, and approves what it holds. */
async function approveAt(place: Place): Promise<void> {
  expect((await commandAt(place, 'sync')).code).toBe(4);
  expect((await commandAt(place, 'approve', (await heldAt(place))[0]!.digest)).code).toBe(0);
}
