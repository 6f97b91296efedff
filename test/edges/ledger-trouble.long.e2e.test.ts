/** What can go wrong with a ledger that is shared: the agent says what and what to do, pushes nothing, and goes on by itself. */
import { describe, expect, test } from 'vitest';
import { type Machines, machines, rowsOf } from '../support/machines-world.ts';
import { movablePort } from '../support/movable-port.ts';
import { type Place, csv, place } from '../support/process.ts';
import { openReceiver, pointsOf } from '../support/receiver.ts';
import { type TestServer, cannotPostgres, postgresName, postgresServer, urlOf } from '../support/servers.ts';

const changed = rowsOf({ north: '1.75', south: '2' });
const schema = 'driver_sync';

interface Status {
  readonly lastPass?: { readonly outcome: string; readonly reason?: string; readonly hint?: string };
  readonly blocked?: { readonly reason: string };
  readonly lastAcknowledged?: object;
}

describe.skipIf(cannotPostgres)(`a ledger in ${postgresName}`, () => {
  test('that is away: nothing is pushed, and what was read meanwhile goes once it is back', async () => {
    await using world = await machines({ count: 1 });
    const [one] = world.places as [Place];
    const agent = await one.daemon();
    await world.service.post(1);
    await world.server.stop('SIGQUIT');
    await agent.says(/nothing is pushed/);
    await one.write('sales.csv', rowsOf({ north: '1.75', south: '2' }));
    expect((await one.command('sync')).code).toBe(75);
    expect(world.service.posts).toHaveLength(1);
    await world.server.start();
    expect(pointsOf(await world.service.post(2))).toMatchObject({ north: { '2026-01': '1.75' } });
  });

  test('that is away when somebody asks for a pass: it is made once the ledger is back', async () => {
    const onlyIfAsked = { pushOnChange: 'off', schedule: '0 0 29 2 *' };
    await using world = await machines({ count: 1, more: onlyIfAsked });
    const [one] = world.places as [Place];
    const agent = await one.daemon();
    await world.service.post(1);
    await acknowledged(one);
    await world.server.stop('SIGQUIT');
    await agent.says(/nothing is pushed/);
    await one.write('sales.csv', changed);
    agent.kill('SIGUSR2');
    await agent.says(/does not lead any more/);
    await world.server.start();
    expect(pointsOf(await world.service.post(2))).toMatchObject({ north: { '2026-01': '1.75' } });
  });

  test('whose disk is full while the agent leads: nothing is pushed, and what was read goes once there is room', async () => {
    await using world = await machines({ count: 1 });
    const [one] = world.places as [Place];
    const agent = await one.daemon();
    await world.service.post(1);
    await acknowledged(one);
    await fill(world.server, ['push', 'chain', 'piece', 'snapshot']);
    await one.write('sales.csv', changed);
    await agent.says(/its disk is full.*free some space.*the pass broke and is tried again/);
    const { lastPass } = (await one.command('status', '--json')).json<Status>();
    expect(lastPass).toMatchObject({ outcome: 'broken', hint: expect.stringContaining('free some space') as string });
    expect(world.service.posts).toHaveLength(1);
    await makeRoom(world.server);
    agent.kill('SIGUSR2');
    expect(pointsOf(await world.service.post(2))).toMatchObject({ north: { '2026-01': '1.75' } });
  });

  test('that cuts connections in the middle of passes: they are tried again in a moment, and not in a minute', async () => {
    await using world = await machines({ count: 1 });
    const [one] = world.places as [Place];
    const agent = await one.daemon();
    await world.service.post(1);
    await acknowledged(one);
    const why = 'terminating connection due to administrator command';
    await refuseWrites(world.server, ['push', 'snapshot'], why, 'admin_shutdown');
    await one.write('sales.csv', changed);
    await agent.says(/terminating connection.*"inMs":1000,"msg":"the pass broke and is tried again"/);
    await agent.says(/terminating connection.*"inMs":2000,"msg":"the pass broke and is tried again"/);
    await makeRoom(world.server);
    expect(pointsOf(await world.service.post(2))).toMatchObject({ north: { '2026-01': '1.75' } });
  });

  test('whose disk is full when the agent starts, so that nobody can lead: it reads, and leads once there is room', async () => {
    await using world = await machines({ count: 1 });
    const [one] = world.places as [Place];
    expect((await one.command('sync')).code).toBe(0);
    await fill(world.server, ['lead', 'agent']);
    const sync = await one.command('sync');
    expect(sync.code).toBe(75);
    expect(sync.stderr).toContain('its disk is full');
    await one.write('sales.csv', changed);
    const agent = await one.daemon();
    expect(agent.stderr).toMatch(/its disk is full.*free some space; nothing is pushed/);
    await makeRoom(world.server);
    expect(pointsOf(await world.service.post(2))).toMatchObject({ north: { '2026-01': '1.75' } });
  });

  test.each([
    ['a password that was changed', `ALTER ROLE agent PASSWORD 'another'`, `ALTER ROLE agent PASSWORD 'agent'`],
    [
      'a password that has expired',
      `ALTER ROLE agent VALID UNTIL '2020-01-01'`,
      `ALTER ROLE agent VALID UNTIL 'infinity'`,
    ],
  ])('%s while the agent runs', async (_name, end, mend) => {
    await using server = await postgresServer();
    await server.run(`CREATE ROLE agent LOGIN PASSWORD 'agent'; GRANT CREATE ON DATABASE postgres TO agent`);
    const url = server.url({ user: 'agent', password: 'agent' });
    await using world = await machines({ count: 1, server, url });
    const [one] = world.places as [Place];
    const agent = await one.daemon();
    await world.service.post(1);
    // In one transaction with that, the agent could connect again before the change counts.
    await server.run(end);
    await server.run(`SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE usename = 'agent'`);
    await agent.says(/password authentication failed.*"hint":"[^"]*password.*nothing is pushed/);
    await one.write('sales.csv', changed);
    const status = await one.command('status');
    expect(status.code).toBe(78);
    expect(status.stderr).toContain('password authentication failed');
    expect(world.service.posts).toHaveLength(1);
    await server.run(mend);
    expect(pointsOf(await world.service.post(2))).toMatchObject({ north: { '2026-01': '1.75' } });
  });

  test('that a newer version took over while the agent runs', async () => {
    await using world = await machines({ count: 1 });
    const [one] = world.places as [Place];
    const agent = await one.daemon();
    await world.service.post(1);
    await world.server.run(`UPDATE ${schema}.version SET version = 99`);
    await agent.says(
      /was written by a newer driver-sync \(version 99, .*install that version here too.*nothing is pushed/,
    );
    await one.write('sales.csv', changed);
    const status = await one.command('status');
    expect(status.code).toBe(78);
    expect(status.stderr).toContain('install that version here too');
    expect(world.service.posts).toHaveLength(1);
  });

  test('of agents that push to another address, which a variable hides in the same config', async () => {
    await using world = await machines({ count: 0 });
    await using elsewhere = await openReceiver();
    await using one = await placeFor(world, world.service.url);
    await using two = await placeFor(world, elsewhere.url);
    const first = await one.daemon();
    await world.service.post(1);
    const second = await two.daemon();
    await expect.poll(() => second.stderr).toContain('it does not take over before they are equal');
    await expect
      .poll(async () => (await one.command('status')).stdout)
      .toContain('has another config than the agent that leads');
    expect(elsewhere.posts).toHaveLength(0);
    first.kill('SIGTERM');
    await first.exit;
    // The last agent with that address is gone: the other one is all there is.
    await second.says(/this agent leads now/);
  });

  test('that is another cluster by mistake: without tables nothing is pushed, and the next push waits', async () => {
    await using server = await postgresServer();
    await using other = await postgresServer({ isOwnCluster: true });
    await using address = await movablePort(server.port);
    const url = urlOf('postgres', {
      user: server.user,
      password: server.password,
      port: address.port,
      database: 'postgres',
    });
    await using world = await machines({ count: 1, server, url });
    const [one] = world.places as [Place];
    const agent = await one.daemon();
    await world.service.post(1);
    await acknowledged(one);
    address.moveTo(other.port);
    await agent.says(/has no tables of a ledger/);
    await one.write('sales.csv', changed);
    agent.kill('SIGTERM');
    await agent.exit;
    // It makes the tables there, as at any first start. That there were others it has seen.
    const again = await one.daemon();
    await again.says(/in another database cluster than before|has lost records/);
    await expect
      .poll(async () => (await one.command('status', '--json')).json<Status>().blocked?.reason)
      .toMatch(
        /^the next push to \S+ waits for approval, as a first one does: the ledger (is in another database cluster|has lost records)/,
      );
    expect(world.service.posts).toHaveLength(1);
    again.kill('SIGTERM');
    await again.exit;
    address.moveTo(server.port);
    await one.daemon();
    expect((await one.command('status', '--json')).json<Status>().blocked?.reason ?? '').not.toContain('lost');
  });
});

/** The push that the service has is written down too. */
async function acknowledged(at: Place): Promise<void> {
  await expect.poll(async () => (await at.command('status', '--json')).json<Status>().lastAcknowledged).toBeDefined();
}

/** As a disk without room: nothing more can be added to these tables. */
async function fill(server: TestServer, tables: readonly string[]): Promise<void> {
  await refuseWrites(server, tables, 'could not extend file "base/5/16412": No space left on device', 'disk_full');
}

async function refuseWrites(server: TestServer, tables: readonly string[], why: string, code: string): Promise<void> {
  const refuse = `RAISE EXCEPTION '${why}' USING ERRCODE = '${code}'`;
  await server.run(
    [
      `CREATE FUNCTION ${schema}.no_room() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN ${refuse}; END $$`,
      ...tables.map(
        (table) =>
          `CREATE TRIGGER no_room BEFORE INSERT OR UPDATE ON ${schema}.${table} EXECUTE FUNCTION ${schema}.no_room()`,
      ),
    ].join(';\n'),
  );
}

async function makeRoom(server: TestServer): Promise<void> {
  await server.run(`DROP FUNCTION ${schema}.no_room CASCADE`);
}

/** The address is what a variable says. */
function placeFor({ server }: Machines, url: string): Promise<Place> {
  const config = {
    destination: { url: '${SERVICE}', timeout: '1s' },
    ledger: { url: '${LEDGER_URL}', takeOver: '3s' },
    sources: { sales: csv('sales.csv', { poll: '1s' }) },
  };
  const files = { 'sales.csv': rowsOf({ north: '1.50', south: '2' }) };
  return place(config, files, { LEDGER_URL: server.url(), SERVICE: url });
}
