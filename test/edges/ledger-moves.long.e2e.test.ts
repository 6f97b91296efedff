/** What moves a ledger forgets no push: what is there already is kept, or refuses what would replace it. */
import { readdirSync } from 'node:fs';
import path from 'node:path';
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest';
import { commandAt } from '../support/command-line.ts';
import { type Machines, machines, rowsOf } from '../support/machines-world.ts';
import { type Place, csv } from '../support/process.ts';
import { type TestServer, cannotPostgres, postgresName, postgresServer } from '../support/servers.ts';

describe.skipIf(cannotPostgres)(`a ledger that moves to ${postgresName} and back`, () => {
  let server: TestServer;
  let databases = 0;

  beforeAll(async () => {
    server = await postgresServer();
  });
  afterAll(async () => server?.[Symbol.asyncDispose]());

  /** Two machines; the config that each has alone, and the ledger of the first one in the database. */
  async function moved(): Promise<Machines & { readonly alone: object }> {
    const database = `moved_${++databases}`;
    await server.run(`CREATE DATABASE ${database}`);
    const url = server.url({ database });
    vi.stubEnv('LEDGER_URL', url);
    const world = await machines({ count: 2, server, url });
    return Object.assign(world, { alone: { ...world.config, ledger: undefined } });
  }

  async function pushedAlone(place: Place, alone: object, shared: object): Promise<string> {
    await place.configure(alone);
    expect((await commandAt(place, 'sync')).code).toBe(0);
    const { head } = (await commandAt(place, 'verify', '--json')).json<{ head: string }>();
    await place.configure(shared);
    return head;
  }

  test('give-back, said instead of take-over, leaves a ledger with pushes of its own as it is', async () => {
    await using world = await moved();
    const [one] = world.places as [Place, Place];
    const head = await pushedAlone(one, world.alone, world.config);
    const looked = await commandAt(one, 'status');
    expect(looked.code).toBe(78);
    expect(looked.stderr).toMatch(/there is no ledger at .*\n.*"driver-sync ledger take-over" on its machine makes it/);
    const refused = await commandAt(one, 'ledger', 'give-back');
    expect(refused.code).toBe(78);
    expect(refused.stderr).toMatch(/has a ledger of its own with 1 push.*\n.*driver-sync ledger take-over/);
    await one.configure(world.alone);
    expect((await commandAt(one, 'verify', '--head', head)).code).toBe(0);
    await one.configure(world.config);
    expect((await commandAt(one, 'ledger', 'take-over')).code).toBe(0);
  });

  test('give-back keeps the ledger that it replaces beside the new one', async () => {
    await using world = await moved();
    const [one] = world.places as [Place, Place];
    await pushedAlone(one, world.alone, world.config);
    expect((await commandAt(one, 'ledger', 'take-over')).code).toBe(0);
    expect((await commandAt(one, 'ledger', 'give-back')).code).toBe(0);
    const kept = readdirSync(one.state).filter((name) => name.startsWith('ledger.db'));
    expect(kept.toSorted()).toEqual(['ledger.db', expect.stringMatching(/^ledger\.db\.before-\d+$/)]);
  });

  test('one machine has the ledger back: another one is told which, and the same one may say it again', async () => {
    await using world = await moved();
    const [one, two] = world.places as [Place, Place];
    await pushedAlone(one, world.alone, world.config);
    expect((await commandAt(one, 'ledger', 'take-over')).code).toBe(0);
    expect((await commandAt(two, 'ledger', 'give-back')).code).toBe(0);
    // This one has all pushes too, as they were before the others took part.
    for (const way of ['give-back', 'take-over']) {
      const refused = await commandAt(one, 'ledger', way);
      expect(refused.code, way).toBe(78);
      expect(refused.stderr, way).toContain(`was given back to the agent in ${path.join(two.dir, '.driver-sync')}`);
    }
    await one.configure(world.alone);
    expect((await commandAt(one, 'sync')).code, 'a refused machine does not go on alone').toBe(78);
    expect((await commandAt(two, 'ledger', 'give-back')).code).toBe(0);
    expect((await commandAt(two, 'ledger', 'take-over')).code).toBe(0);
    await one.configure(world.config);
    expect((await commandAt(one, 'sync')).code).toBe(0);
    expect((await commandAt(one, 'ledger', 'give-back')).code).toBe(0);
  });

  test('nothing is asked of a ledger that was given back: nobody would hear it', async () => {
    await using world = await moved();
    const [one, two] = world.places as [Place, Place];
    // What left the config can be forgotten.
    await one.write('rents.csv', rowsOf({ office: '300' }));
    const { sources } = world.config as { readonly sources: object };
    const alone = { ...world.alone, sources: { ...sources, rents: csv('rents.csv') } };
    await pushedAlone(one, alone, world.config);
    expect((await commandAt(one, 'ledger', 'take-over')).code).toBe(0);
    expect((await commandAt(two, 'ledger', 'give-back')).code).toBe(0);
    const refused = [await commandAt(one, 'approve', 'abcdef0123'), await commandAt(one, 'forget', 'rents', '--yes')];
    for (const { code, stderr } of refused) {
      expect({ code, stderr }).toEqual({ code: 78, stderr: expect.stringContaining('was given back to') as string });
    }
    const status = await commandAt(one, 'status');
    expect(status.code).toBe(0);
    expect(status.stdout).toMatch(
      /leads +nobody: the ledger was given back to the agent in .*, which pushes alone\n(?:.*\n)*next push +none of this ledger: it was given back/,
    );
    // A record that its agent does not know would keep it from this.
    expect((await commandAt(two, 'ledger', 'take-over')).code).toBe(0);
  });
});
