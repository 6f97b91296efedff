/** A shared ledger that goes in the middle of a push: what becomes of it, what is said meanwhile, and what comes after. */
import pg from 'pg';
import { describe, expect, test } from 'vitest';
import { type Machines, machines } from '../support/machines-world.ts';
import type { Place, Running } from '../support/process.ts';
import { type TestServer, cannotPostgres, postgresName, postgresServer } from '../support/servers.ts';
import { type SlowReceiver, manyRows, openSlowReceiver } from '../support/slow-receiver.ts';

interface History {
  readonly pushes: readonly { readonly outcome: string; readonly detail?: string }[];
}

describe.skipIf(cannotPostgres)(`a ledger in ${postgresName}, and a push under way`, () => {
  test.each([
    ['while the agent still trusts in its term', '10m'],
    ['until the agent does not lead any more', '2s'],
  ])(
    'a server that stops before the last bytes, %s: the push ends without them, and comes whole later',
    async (_name, takeOver) => {
      await using service = await openSlowReceiver();
      await using world = await inPush(service, { takeOver });
      const { one, agent } = world;
      await world.server.stop('SIGQUIT');
      await agent.says(/nothing is pushed, and sources are read meanwhile/);
      if (takeOver === '2s') await agent.says(/does not lead any more/);
      service.goOn();
      await service.broken;
      const asked = await one.command('status');
      expect(asked.code).toBe(75);
      expect(asked.stderr).toMatch(/the ledger at .*: the connection was refused/);
      expect(service.whole).toEqual([]);
      await world.server.start();
      await expect.poll(() => service.whole).toEqual(['1']);
      // That the first try was not taken could not be written down: it counts as one that may have been.
      await expect.poll(() => outcomesOf(one)).toEqual(['acknowledged', 'unknown']);
      expect((await one.command('verify')).code).toBe(0);
    },
  );

  test('connections that are cut before the last bytes: others are opened, and the push goes on', async () => {
    await using service = await openSlowReceiver();
    await using world = await inPush(service);
    await cutConnections(world.server);
    service.goOn();
    await expect.poll(() => service.whole).toEqual(['1']);
    await expect.poll(async () => (await outcomesOf(world.one))[0]).toBe('acknowledged');
    // A statement that was under way when they were cut breaks the first try off, and the next one goes.
    expect(['acknowledged', 'acknowledged,unreachable']).toContain(String(await outcomesOf(world.one)));
  });

  test('a connection that is cut while the last bytes are confirmed: they are not sent, which is written down, and the push is tried again', async () => {
    await using service = await openSlowReceiver();
    await using world = await inPush(service);
    await using lead = await lockedLead(world.server);
    service.goOn();
    await lead.cutWhoWaits();
    await service.broken;
    expect(service.whole).toEqual([]);
    await lead.release();
    await expect.poll(() => outcomesOf(world.one)).toContain('unreachable');
    const { pushes } = (await world.one.command('history', '--json')).json<History>();
    expect(pushes.at(-1)?.detail).toMatch(
      /^broken off before its last bytes: the ledger at .*\(terminating connection/,
    );
    await expect.poll(() => service.whole).toEqual(['1']);
    await expect.poll(() => outcomesOf(world.one)).toEqual(['acknowledged', 'unreachable']);
  });

  test('a password that ends before the last bytes: they are not sent until it is right again', async () => {
    await using server = await postgresServer();
    await server.run(`CREATE ROLE agent LOGIN PASSWORD 'agent'; GRANT CREATE ON DATABASE postgres TO agent`);
    await using service = await openSlowReceiver();
    await using world = await inPush(service, { server, url: server.url({ user: 'agent', password: 'agent' }) });
    const { one, agent } = world;
    await server.run(`ALTER ROLE agent PASSWORD 'another'`);
    await cutConnections(server);
    service.goOn();
    await service.broken;
    await agent.says(/password authentication failed.*"hint":"[^"]*password/);
    const asked = await one.command('status');
    expect(asked.code).toBe(78);
    expect(asked.stderr).toContain('password authentication failed');
    expect(service.whole).toEqual([]);
    await server.run(`ALTER ROLE agent PASSWORD 'agent'`);
    await expect.poll(() => service.whole).toEqual(['1']);
    await expect.poll(() => outcomesOf(one)).toEqual(['acknowledged', 'unknown']);
  });

  test('a server that stops before the answer is written down: the same bytes go once more', async () => {
    await using world = await machines({ count: 1, takeOver: '10m', timeout: '60s' });
    const [one] = world.places as [Place];
    world.service.answer('hold');
    const agent = await one.daemon();
    const { digest } = await world.service.post(1);
    await world.server.stop('SIGQUIT');
    world.service.release(200);
    await agent.says(/nothing is pushed, and sources are read meanwhile/);
    await world.server.start();
    expect((await world.service.post(2)).digest).toBe(digest);
    await expect.poll(() => outcomesOf(one)).toEqual(['acknowledged', 'unknown']);
    expect(world.service.posts).toHaveLength(2);
  });
});

/** An agent whose first push has begun, and waits for a service that reads nothing. */
async function inPush(
  service: SlowReceiver,
  options: Parameters<typeof machines>[0] = {},
): Promise<Machines & { readonly one: Place; readonly agent: Running }> {
  const destination = { url: service.url, timeout: '60s' };
  const world = await machines({ count: 1, takeOver: '10m', more: { destination }, ...options });
  const [one] = world.places as [Place];
  await one.write('sales.csv', manyRows('1'));
  const agent = await one.daemon();
  await service.came;
  return Object.assign(world, { one, agent });
}

async function outcomesOf(at: Place): Promise<readonly string[]> {
  const { code, ...said } = await at.command('history', '--json');
  return code === 0 ? said.json<History>().pushes.map(({ outcome }) => outcome) : [];
}

async function cutConnections(server: TestServer): Promise<void> {
  await server.run(`SELECT pg_terminate_backend(pid) FROM pg_stat_activity
    WHERE pid <> pg_backend_pid() AND backend_type = 'client backend'`);
}

/** The row that says who leads, locked: whoever would renew a term waits. */
async function lockedLead(server: TestServer) {
  const client = new pg.Client({ connectionString: server.url({ parameters: 'sslmode=disable' }) });
  client.on('error', () => undefined);
  await client.connect();
  await client.query('BEGIN; SELECT 1 FROM driver_sync.lead FOR UPDATE');
  return {
    async cutWhoWaits() {
      const waits = `FROM pg_stat_activity WHERE wait_event_type = 'Lock' AND query LIKE 'UPDATE%lead%'`;
      await expect.poll(() => server.run(`SELECT pg_terminate_backend(pid) ${waits}`)).toHaveLength(1);
    },
    release: async () => void (await client.query('ROLLBACK')),
    [Symbol.asyncDispose]: () => client.end(),
  };
}
