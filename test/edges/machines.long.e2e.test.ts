/** Agents on several machines, as processes: one pushes, the others read along and take over. */
import { readdirSync } from 'node:fs';
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest';
import { commandAt } from '../support/command-line.ts';
import { type Machines, type MachinesOptions, machines, rowsOf } from '../support/machines-world.ts';
import { type Place, csv } from '../support/process.ts';
import { pointsOf } from '../support/receiver.ts';
import { type TestServer, cannotPostgres, postgresName, postgresServer } from '../support/servers.ts';

interface Status {
  readonly shared: {
    readonly term: number;
    readonly leader: { readonly pid: number; readonly isThis: boolean } | null;
    readonly doubt?: { readonly why: string };
    readonly agents: readonly { readonly pid: number; readonly leads: boolean; readonly text: string }[];
  };
  readonly lastAcknowledged: { readonly id: number };
}

describe.skipIf(cannotPostgres)(`agents that share a ledger in ${postgresName}`, () => {
  let server: TestServer;
  let databases = 0;

  beforeAll(async () => {
    server = await postgresServer();
  });
  afterAll(async () => server?.[Symbol.asyncDispose]());

  /** With a database of its own, whose url the commands in this process are given as well. */
  async function inDatabase(options: MachinesOptions): Promise<Machines & { readonly database: string }> {
    const database = `ledger_${++databases}`;
    await server.run(`CREATE DATABASE ${database}`);
    const url = server.url({ database });
    vi.stubEnv('LEDGER_URL', url);
    return Object.assign(await machines({ ...options, server, url }), { database });
  }

  test('one pushes, and the next one has the lead at once when it is stopped', async () => {
    // Nobody waits that long here: whoever is stopped gives the lead back.
    await using world = await inDatabase({ takeOver: '10m' });
    const [one, two, three] = world.places as [Place, Place, Place];
    const first = await one.daemon();
    await world.service.post(1);
    const [second, third] = [await two.daemon(), await three.daemon()];
    const status = (await commandAt(three, 'status', '--json')).json<Status>();
    expect(status.shared.leader).toMatchObject({ pid: first.pid, isThis: false });
    // Beside its own daemon, too, a command is told who leads, and what has that one make a pass.
    const beside = await commandAt(two, 'sync');
    expect(beside.code).toBe(75);
    expect(beside.stderr).toMatch(new RegExp(`pid ${first.pid}, leads since .*\n.*sync --wake`));
    await expect
      .poll(async () => (await commandAt(one, 'status', '--json')).json<Status>().shared.agents.map(({ text }) => text))
      .toEqual(Array.from({ length: 3 }, () => 'would push the same'));
    first.kill('SIGTERM');
    await Promise.race([second, third].map((agent) => agent.says(/this agent leads now/)));
    expect(world.service.posts).toHaveLength(1);
    for (const place of [one, two, three]) await place.write('sales.csv', rowsOf({ north: '1.75', south: '2' }));
    expect(pointsOf(await world.service.post(2))).toMatchObject({ north: { '2026-01': '1.75' } });
    expect((await commandAt(two, 'verify')).code).toBe(0);
  });

  test('what somebody asks for on any machine reaches the one that leads', async () => {
    await using world = await inDatabase({ count: 2, more: { guard: { firstPush: 'approve' } } });
    const [one, two] = world.places as [Place, Place];
    const first = await one.daemon();
    await first.says(/blocked/);
    const { stdout } = await commandAt(two, 'status');
    expect(stdout).toMatch(/^agent +not running\nleads +the agent on .*, pid \d+/);
    expect(stdout).toMatch(/\nnext push +when the agent that leads decides/);
    expect(stdout).not.toContain('no agent runs');
    const { digest } = (await commandAt(two, 'plan', '--json')).json<{ digest: string }>();
    expect((await commandAt(two, 'approve', digest.slice(0, 12), '--reason', 'seen')).code).toBe(0);
    await world.service.post(1);
    await one.write('sales.csv', rowsOf({ north: '9', south: '2' }));
    await world.service.post(2);
    expect((await commandAt(two, 'sync')).code).toBe(75);
    // Waking the leader, as `sync` is advised to, would not let the ledger be given back.
    const givenBack = await commandAt(two, 'ledger', 'give-back');
    expect(givenBack.code).toBe(75);
    expect(givenBack.stderr).toMatch(/pid \d+, leads since .*\n.*stop the agents of this ledger first/);
    const woken = await commandAt(two, 'sync', '--wake', '--json');
    expect(woken.json()).toMatchObject({ outcome: 'unchanged', exit: 0 });
    expect((await commandAt(two, 'sync', '--wake', '--force')).code).toBe(64);
    expect((await commandAt(two, 'rollback', '1', '--json')).json()).toMatchObject({ outcome: 'acknowledged' });
    expect(pointsOf(await world.service.post(3))).toMatchObject({ north: { '2026-01': '1.50' } });
  });

  test('what is carried is forgotten from a machine that has nothing but the config and the url', async () => {
    await using world = await inDatabase({ count: 2, more: { sources: { sales: csv('sales*.csv') } } });
    const [one, two] = world.places as [Place, Place];
    await one.write('sales-more.csv', rowsOf({ east: '4' }));
    expect((await commandAt(one, 'sync')).code).toBe(0);
    await one.remove('sales-more.csv');
    expect((await commandAt(one, 'sync')).code).toBe(3);
    expect((await commandAt(two, 'status')).stdout).toContain('driver-sync forget sales sales-more.csv drops it');
    // What it fetched stays; what it took for that does not.
    expect(readdirSync(two.state)).toEqual(['archive']);
    const absurd = await commandAt(two, 'forget', 'sales', 'none.csv', '--yes');
    expect(absurd.code).toBe(64);
    expect(absurd.stderr).toContain('carried for it are sales-more.csv');
    const asked = await commandAt(two, 'forget', 'sales', 'sales-more.csv', '--yes');
    expect(asked.code).toBe(0);
    expect(asked.stdout).toContain(
      'forgetting this deletes 1 driver and 3 points once its source was read and that is accepted without it',
    );
    expect((await commandAt(one, 'sync', '--json')).json()).toMatchObject({ outcome: 'acknowledged', exit: 0 });
    expect(Object.keys(pointsOf(await world.service.post(2)))).toEqual(['north', 'south']);
  });

  test('a pass that was asked of an agent that is gone is made by the next one that leads', async () => {
    await using world = await inDatabase({ count: 2, takeOver: '10m' });
    const [one, two] = world.places as [Place, Place];
    const first = await one.daemon();
    await world.service.post(1);
    first.kill('SIGKILL');
    await first.exit;
    const asked = two.start('sync', '--wake', '--json');
    await asked.says(/woke the agent on/);
    // Its time is over.
    await server.run('UPDATE driver_sync.lead SET deadline = clock_timestamp()', world.database);
    const second = await two.daemon();
    await asked.says(new RegExp(`pid ${second.pid} leads now`));
    expect(await asked.exit).toMatchObject({ code: 0 });
    expect(JSON.parse(asked.stdout)).toMatchObject({ exit: 0 });
  });

  test('keepMax drops snapshots from the database, and what needs one of them says so on any machine', async () => {
    await using world = await inDatabase({ count: 2, takeOver: '10m', more: { keepMax: '1B' } });
    const [one, two] = world.places as [Place, Place];
    for (const north of ['1.50', '1.75']) {
      await one.write('sales.csv', rowsOf({ north, south: '2' }));
      expect((await commandAt(one, 'sync')).code).toBe(0);
    }
    const files = 'SELECT DISTINCT file_sha256 FROM driver_sync.piece';
    expect(await server.run(files, world.database)).toHaveLength(1);
    for (const place of [one, two]) {
      const back = await commandAt(place, 'diff', '1', '2');
      expect(back.code).toBe(64);
      expect(back.stderr).toMatch(/snapshot of push 1 is not kept any more[^]*keepMax/);
      expect((await commandAt(place, 'verify')).code).toBe(0);
    }
    expect((await commandAt(two, 'rollback', '1')).code).toBe(64);
    expect(world.service.posts).toHaveLength(2);
  });

  test('a ledger moves from the state directory to the database and back, and its chain goes on', async () => {
    await using world = await inDatabase({ count: 2 });
    const [one, two] = world.places as [Place, Place];
    const alone = { ...world.config, ledger: undefined };
    await one.configure(alone);
    expect((await commandAt(one, 'sync')).code).toBe(0);
    const before = (await commandAt(one, 'verify')).stdout.trim().split('\n').at(-1) ?? '';
    await one.configure(world.config);
    // Its own pushes must not be forgotten.
    const refused = await commandAt(one, 'sync');
    expect(refused).toMatchObject({ code: 78 });
    expect(refused.stderr).toContain('driver-sync ledger take-over');
    // An agent at work has to be stopped; waking it would not help.
    await one.configure(alone);
    const daemon = await one.daemon();
    await one.configure(world.config);
    const beside = await commandAt(one, 'ledger', 'take-over');
    expect(beside.code).toBe(75);
    expect(beside.stderr).toContain(`another agent (pid ${daemon.pid}, driver-sync run) holds`);
    expect(beside.stderr).toContain('stop the agents of this ledger first');
    expect(beside.stderr).not.toContain('kill -USR2');
    daemon.kill('SIGTERM');
    await daemon.exit;
    // Two at once: one holds the state directory, or both do the same.
    const both = await Promise.all([one.command('ledger', 'take-over'), one.command('ledger', 'take-over')]);
    expect(both.map(({ code }) => code)).toContain(0);
    expect([0, 75]).toEqual(expect.arrayContaining(both.map(({ code }) => code)));
    expect((await commandAt(two, 'verify', '--head', before)).code).toBe(0);
    await two.write('sales.csv', rowsOf({ north: '1.75', south: '2' }));
    expect((await commandAt(two, 'sync', '--json')).json()).toMatchObject({ push: { id: 2 } });
    const shared = (await commandAt(two, 'verify', '--json')).json<{ head: string; snapshots: number }>();
    expect(shared.snapshots).toBe(2);
    // An agent that shared a ledger does not go on with an old one of its own.
    await one.configure(alone);
    for (const [command, ...args] of [['sync'], ['status'], ['approve', 'abcdef0123']] as const) {
      const forgotten = await commandAt(one, command, ...args);
      expect(forgotten.code, command).toBe(78);
      expect(forgotten.stderr).toContain('shared a ledger, and the config names none');
    }
    await one.configure(world.config);
    expect((await commandAt(one, 'ledger', 'give-back', '--json')).json()).toMatchObject({
      head: shared.head,
      pushes: 2,
    });
    expect((await commandAt(two, 'sync')).code).toBe(78);
    // As a service that starts again before its config is changed: it leaves no trace.
    expect((await commandAt(one, 'sync')).code).toBe(78);
    await one.configure(alone);
    const own = await commandAt(one, 'verify', '--head', shared.head, '--json');
    expect(own.json()).toMatchObject({ ok: true, snapshots: 2 });
    expect((await commandAt(one, 'sync', '--json')).json()).toMatchObject({ push: { id: 3 } });
    expect((await commandAt(one, 'diff', '1', '2')).code).toBe(0);
  });

  test('a take-over that is refused leaves the agent as it was', async () => {
    await using world = await inDatabase({ count: 2 });
    const [one, two] = world.places as [Place, Place];
    const alone = { ...world.config, ledger: undefined };
    await two.configure(alone);
    expect((await commandAt(two, 'sync')).code).toBe(0);
    expect((await commandAt(one, 'sync')).code).toBe(0);
    await two.configure(world.config);
    const refused = await commandAt(two, 'ledger', 'take-over');
    expect(refused.code).toBe(78);
    expect(refused.stderr).toContain("push that is not this agent's");
    await two.configure(alone);
    expect(await commandAt(two, 'sync')).toMatchObject({ code: 0 });
  });

  test('a machine that sees other data says so before it leads, and is ready to', async () => {
    await using world = await inDatabase({ count: 2, more: { status: '127.0.0.1:0' } });
    const [one, two] = world.places as [Place, Place];
    await one.daemon();
    await world.service.post(1);
    await two.write('sales.csv', rowsOf({ north: '1.50', south: '3' }));
    const second = two.start('run');
    const [, page] = await second.says(/"address":"(http:[^"]+)"/);
    await expect
      .poll(async () => (await commandAt(one, 'status')).stdout)
      .toContain('would push other data than push 1: 1 driver, 3 points');
    await expect.poll(async () => (await fetch(`${page}readyz`)).status).toBe(200);
    const metrics = await (await fetch(`${page}metrics`)).text();
    expect(metrics).toContain('\ndriver_sync_leader 0\n');
    expect(metrics).toContain('\ndriver_sync_differs 1\n');
    expect(await (await fetch(`${page}`)).text()).toContain('would push other data');
    expect(world.service.posts).toHaveLength(1);
  });

  test('a machine with another config does not lead, and says so', async () => {
    await using world = await inDatabase({ count: 2 });
    const [one, two] = world.places as [Place, Place];
    const first = await one.daemon();
    await world.service.post(1);
    await two.configure({ ...world.config, timezone: 'Europe/Berlin' });
    await two.daemon();
    await expect
      .poll(async () => (await commandAt(one, 'status')).stdout)
      .toContain('has another config than the agent that leads');
    const sync = await commandAt(two, 'status', '--json');
    expect(sync.json<Status>().shared.leader?.pid).toBe(first.pid);
  });
});
