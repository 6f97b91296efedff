/** The election at a real database: terms, parked transactions, and what a promotion leaves in doubt. */
import { mkdir, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { Clock } from '../../src/core/ports.ts';
import { systemClock } from '../../src/edges/clock.ts';
import { SharedDatabase } from '../../src/edges/shared/database.ts';
import { SharedLead } from '../../src/edges/shared/lead.ts';
import { claim, leadRows, look, renew, resign, view } from '../../src/edges/shared/lead-rows.ts';
import { sharedLedger } from '../../src/edges/shared/ledger.ts';
import { ledgerSchema, migrations } from '../../src/edges/shared/schema.ts';
import { noteSeen } from '../../src/edges/shared/note-seen.ts';
import { SeenFile } from '../../src/edges/shared/seen.ts';
import { isCampaign } from '../support/campaign.ts';
import { memoryLog } from '../support/memory-log.ts';
import { by } from '../support/claims.ts';
import { placeOn } from '../support/ledger-stores.ts';
import { type TestServer, cannotPostgres, postgresName, postgresReleases, postgresServer } from '../support/servers.ts';

describe.each(postgresReleases)('on $name', ({ isMissing, programs }) => {
  let server: TestServer;
  let schemas = 0;

  beforeAll(async () => {
    if (isMissing) return;
    server = await postgresServer({ programs });
    await server.run(`CREATE ROLE plain LOGIN PASSWORD 'plain'`);
    await server.run('CREATE DATABASE shared OWNER plain');
  });
  afterAll(async () => server?.[Symbol.asyncDispose]());

  /** As a user who may do nothing else. */
  async function open(schema = `ledger_${++schemas}`): Promise<SharedDatabase & AsyncDisposable> {
    const place = placeOn(server.url({ user: 'plain', password: 'plain', database: 'shared' }), schema);
    const database = new SharedDatabase(place);
    await ledgerSchema(database).ensure();
    return Object.assign(database, { [Symbol.asyncDispose]: () => database.close() });
  }

  /** As if its time were over. */
  async function expire(database: SharedDatabase): Promise<void> {
    await database.run(`UPDATE ~lead SET deadline = clock_timestamp() - interval '1 second'`);
  }

  test.skipIf(isMissing)('one of two has the lead, and the next one once it was given back', async () => {
    await using database = await open();
    const claims = await Promise.all(['a', 'b', 'c'].map((holder) => claim(database, by(holder))));
    expect(claims.map(({ term }) => term ?? 0).sort((a, b) => a - b)).toEqual([0, 0, 1]);
    const { leader } = await view(database);
    expect((await claim(database, by('d'))).term).toBeUndefined();
    await resign(database, leader!.id, { holder: leader!.id, term: 1 });
    expect(await claim(database, by('d'))).toMatchObject({ term: 2, doubt: undefined });
  });

  test.skipIf(isMissing)('a term that was taken over is not renewed, and none of its writes counts', async () => {
    await using database = await open();
    const a = { holder: 'a', term: 1 };
    await claim(database, by('a'));
    const ledger = sharedLedger(database, () => a);
    await ledger.setState({ rolledBack: { push: 1, sinceMs: 1, isRestored: true } });
    await expire(database);
    // Its time is over, and nobody came: it still leads.
    expect((await renew(database, { ...a, ...by('a'), head: undefined })).isHeld).toBe(true);
    await expire(database);
    await claim(database, by('b'));
    expect((await renew(database, { ...a, ...by('a'), head: undefined })).isHeld).toBe(false);
    await expect(ledger.setState({ rolledBack: undefined })).rejects.toMatchObject({ code: 'ledger.led' });
    await expect(ledger.pushes.endOrphans(1)).rejects.toMatchObject({ code: 'ledger.led' });
    expect((await ledger.state()).rolledBack).toBeDefined();
    // What somebody asks for is taken from everybody.
    expect(await ledger.requests.add({ kind: 'forget', source: 's', part: undefined }, 1)).toBe(1);
  });

  test.runIf(isCampaign && !isMissing)(
    'an agent that sleeps within a transaction is cut off, and its write never lands',
    async () => {
      await using database = await open();
      await using other = await open(database.schema);
      await claim(database, by('a'));
      await expire(database);
      const locked = Promise.withResolvers<void>();
      const parked = Promise.withResolvers<void>();
      const write = database.transaction(async (statements) => {
        await statements.all('SELECT 1 FROM ~lead WHERE term = 1 FOR UPDATE');
        await statements.run(`UPDATE ~state SET record = '{"rolledBack":{"push":9}}'`);
        locked.resolve();
        await parked.promise;
      });
      const seen = write.catch((error: unknown) => error);
      await locked.promise;
      expect(await claim(other, by('b'))).toMatchObject({ term: 2 });
      parked.resolve();
      expect(await seen).toMatchObject({ code: 'ledger.unreachable' });
      expect(await sharedLedger(other, () => undefined).state()).toEqual({});
    },
  );

  test.skipIf(isMissing)('the term never falls, whatever the database has lost', async () => {
    await using database = await open();
    await claim(database, by('a'));
    await expire(database);
    const claimed = await claim(database, by('b', { seenTerm: 41 }));
    expect(claimed.term).toBe(42);
    expect(claimed.doubt).toContain('term 41 was there');
  });

  test.skipIf(isMissing)('a promotion, another cluster and records that are gone leave a doubt', async () => {
    await using database = await open();
    const { cluster } = await claim(database, by('a'));
    expect(cluster).toMatch(/^\d*\/[0-9A-F]{8}$/);
    const [system = ''] = cluster.split('/');
    await expire(database);
    await database.run('UPDATE ~lead SET cluster = $1', `${system}/000000FF`);
    expect((await claim(database, by('b'))).doubt).toContain('was promoted (timeline 000000FF became');
    const ledger = sharedLedger(database, () => ({ holder: 'b', term: 2 }));
    expect((await ledger.state()).doubt?.why).toContain('was promoted');
    await expire(database);
    // Whoever led on the new timeline has said so already.
    const seen = { term: 2, cluster: `${system}/000000FE` };
    expect((await claim(database, by('c', { seen }))).doubt).toBeUndefined();
    await expire(database);
    const lost = by('d', { seen: { term: 3, cluster, lost: '17:aa' } });
    expect((await claim(database, lost)).doubt).toContain('record 17 was there');
    if (system === '') return;
    await expire(database);
    const elsewhere = by('e', { seen: { term: 3, cluster: `1${system}/00000001` } });
    expect((await claim(database, elsewhere)).doubt).toContain('another database cluster');
  });

  describe('agents that saw records which the database lost', () => {
    /** Agents at one ledger, each with what it saw. */
    async function agents() {
      const database = await open();
      const home = await mkdtemp(path.join(tmpdir(), 'driver-sync-seen-'));
      const ledger = sharedLedger(database, () => undefined);
      const seenBy = (name: string) => new SeenFile(path.join(home, name));
      for (const name of ['a', 'b', 'c']) await mkdir(path.join(home, name));
      const looks = async (name: string): Promise<void> =>
        noteSeen(seenBy(name), await look(database), leadRows(database));
      return {
        looks,
        state: () => ledger.state(),
        /** Takes over, and gives why something may be lost. */
        async leads(name: string): Promise<string | undefined> {
          await looks(name);
          await expire(database);
          const seen = seenBy(name).get()!;
          const { doubt, cluster, term } = await claim(database, by(name, { seen, seenTerm: seen.term }));
          seenBy(name).set({ cluster, term: term!, lost: undefined, lostBeside: undefined });
          return doubt;
        },
        async records(): Promise<void> {
          await ledger.requests.add({ kind: 'forget', source: 's', part: undefined }, Date.now());
        },
        async losesNewest(): Promise<void> {
          await database.run('DELETE FROM ~chain WHERE n = (SELECT max(n) FROM ~chain)');
          await database.run('DELETE FROM ~request WHERE id = (SELECT max(id) FROM ~request)');
        },
        /** As if it had been on another timeline before. */
        async isPromoted(): Promise<void> {
          await database.run(`UPDATE ~lead SET cluster = split_part(cluster, '/', 1) || '/000000FF'`);
        },
        isApproved: () => database.run(`UPDATE ~state SET record = (record::jsonb - 'doubt')::text`),
        async [Symbol.asyncDispose]() {
          await database[Symbol.asyncDispose]();
          await rm(home, { recursive: true });
        },
      };
    }

    async function afterPromotion() {
      const world = await agents();
      await world.leads('a');
      await world.records();
      for (const name of ['a', 'b', 'c']) await world.looks(name);
      await world.losesNewest();
      await world.isPromoted();
      expect(await world.leads('a')).toContain('was promoted');
      return world;
    }

    test.skipIf(isMissing)('one approval is for all of them', async () => {
      await using world = await afterPromotion();
      const { doubt: asked } = await world.state();
      // Nobody has answered yet: the question stays as it is.
      expect(await world.leads('b')).toBeUndefined();
      expect(await world.leads('a')).toBeUndefined();
      expect((await world.state()).doubt).toEqual(asked);
      await world.isApproved();
      await world.records();
      expect(await world.leads('c')).toBeUndefined();
      expect(await world.leads('b')).toBeUndefined();
      expect((await world.state()).doubt).toBeUndefined();
    });

    test.skipIf(isMissing)('what is lost after that is asked about, once', async () => {
      await using world = await afterPromotion();
      await world.isApproved();
      await world.records();
      for (const name of ['b', 'c']) await world.looks(name);
      await world.losesNewest();
      expect(await world.leads('a')).toBeUndefined();
      expect(await world.leads('b')).toContain('has lost records: record');
      await world.isApproved();
      expect(await world.leads('c')).toBeUndefined();
    });
  });

  test.skipIf(isMissing)('a look tells who leads, for how long, and what was asked for', async () => {
    await using database = await open();
    const before = await look(database);
    expect(before.row).toMatchObject({ term: 0, holder: undefined });
    expect(before.row.leftMs).toBeLessThanOrEqual(0);
    await claim(database, by('a'));
    await sharedLedger(database, () => undefined).holds.approve('digest', 'sales', 1);
    const after = await look(database);
    expect(after.row).toMatchObject({ term: 1, holder: 'a', config: 'c' });
    expect(after.row.leftMs).toBeGreaterThan(0);
    expect(after.asked).not.toBe(before.asked);
    expect(Math.abs(after.nowMs - Date.now())).toBeLessThan(60_000);
  });

  test.skipIf(isMissing)('says what is wrong with a database that cannot be written', async () => {
    await using database = await open();
    await server.run('ALTER ROLE plain SET default_transaction_read_only = on');
    const place = placeOn(server.url({ user: 'plain', password: 'plain', database: 'shared' }), database.schema);
    const readOnly = new SharedDatabase(place);
    await expect(ledgerSchema(readOnly).ensure()).rejects.toMatchObject({ code: 'ledger.unreachable', exit: 75 });
    await expect(claim(readOnly, by('a'))).rejects.toMatchObject({ code: 'ledger.unreachable' });
    await readOnly.close();
    await server.run('ALTER ROLE plain RESET default_transaction_read_only');
    await database.run('UPDATE ~version SET version = 99');
    await expect(ledgerSchema(database).ensure()).rejects.toMatchObject({ code: 'state.newer', exit: 78 });
    const wrong = new SharedDatabase(
      placeOn(server.url({ user: 'plain', password: 'wrong', database: 'shared' }), 'x'),
    );
    await expect(ledgerSchema(wrong).ensure()).rejects.toMatchObject({ code: 'ledger.refused', exit: 78 });
    const stranger = new SharedDatabase(placeOn(server.url({ user: 'plain', password: 'plain' }), 'x'));
    await expect(ledgerSchema(stranger).ensure()).rejects.toMatchObject({ code: 'ledger.refused', exit: 78 });
  });
});

describe.skipIf(cannotPostgres)(`agents of two versions at ${postgresName}`, () => {
  const next = [...migrations, 'ALTER TABLE ~push ADD COLUMN note TEXT'];
  const mended = /brings the ledger up to date/;

  test('whoever leads first of the newer ones brings the tables up to date, and all others wait and say so', async () => {
    await using server = await postgresServer();
    const columns = async (): Promise<number> =>
      (await server.run(`SELECT 1 FROM information_schema.columns WHERE column_name = 'note'`)).length;
    await using old = await agentAt(server, 'old', migrations);
    await old.lead.begin();
    expect(old.lead.isLeading()).toBe(true);
    await using waiting = await agentAt(server, 'waiting', migrations);
    await waiting.lead.begin();
    await using early = await agentAt(server, 'early', next);
    await expect(early.lead.begin()).rejects.toMatchObject({
      code: 'state.older',
      hint: expect.stringMatching(mended),
    });
    early.lead.go();
    await using late = await agentAt(server, 'late', next);
    late.lead.go();
    await expect.poll(() => late.lead.whyNot()).toContain('version 1, and an agent of that version leads');
    expect(await columns()).toBe(0);

    // One of the older ones may be faster once more.
    await old.lead[Symbol.asyncDispose]();
    await waiting.lead[Symbol.asyncDispose]();
    const newer = [early.lead, late.lead];
    await expect.poll(() => newer.filter((lead) => lead.isLeading()).length).toBe(1);
    expect(await columns()).toBe(1);
    await expect.poll(() => newer.map((lead) => lead.whyNot())).toEqual([undefined, undefined]);
    await using behind = await agentAt(server, 'behind', migrations);
    await expect(behind.lead.begin()).rejects.toMatchObject({ code: 'state.newer', exit: 78 });
  });

  test('one that follows when the tables become newer says so, and does not lead', async () => {
    await using server = await postgresServer();
    await using old = await agentAt(server, 'old', migrations);
    await old.lead.begin();
    const database = new SharedDatabase(placeOn(server.url(), 'driver_sync'));
    await ledgerSchema(database, next).migrate(1, old.lead.term()!);
    await expect.poll(() => old.lead.whyNot()).toContain('was written by a newer driver-sync (version 2');
    expect(old.lead.isLeading()).toBe(false);
    await database.close();
  });
});

test.skipIf(cannotPostgres)(
  'one that lost its lead has it again only once nothing of its earlier term is under way',
  async () => {
    await using server = await postgresServer();
    let turns = 0;
    // Its looks follow one another at once. What it trusts in its term for is a minute, as it is.
    const sleep: Clock['sleep'] = (ms, signal) => systemClock.sleep(ms > 1000 ? ms : Math.min(++turns, 10, ms), signal);
    await using agent = await agentAt(server, 'one', migrations, { ...systemClock, sleep });
    const { lead } = agent;
    await lead.begin();
    const first = lead.signal;
    await server.run(`UPDATE driver_sync.lead SET term = 7, holder = 'another', deadline = clock_timestamp()`);
    await expect.poll(() => first.aborted).toBe(true);
    const lostAt = turns;
    await expect.poll(() => turns).toBeGreaterThan(lostAt + 20);
    expect(lead.isLeading()).toBe(false);
    lead.follow();
    await expect.poll(() => lead.isLeading()).toBe(true);
    expect(lead.term()?.term).toBe(8);
  },
);

describe.skipIf(cannotPostgres)('one that leads, and whose own row of the lead stands in what was restored', () => {
  async function leading() {
    const server = await postgresServer();
    const database = new SharedDatabase(placeOn(server.url(), 'driver_sync'));
    await ledgerSchema(database).ensure();
    await sharedLedger(database, () => undefined).requests.add({ kind: 'forget', source: 's', part: undefined }, 1);
    // Turns by hand: only what it asks before a push, or what it sees at a look.
    const turns: (() => void)[] = [];
    const sleep: Clock['sleep'] = (ms, signal) => {
      // The end of its trust is by the clock.
      if (ms > 1000) return systemClock.sleep(ms, signal);
      const { promise, resolve, reject } = Promise.withResolvers<void>();
      signal?.addEventListener('abort', () => reject(signal.reason as Error));
      turns.push(resolve);
      return promise;
    };
    const agent = await agentAt(server, 'one', migrations, { ...systemClock, sleep });
    await agent.lead.begin();
    const { lead } = agent;
    expect(lead.isLeading()).toBe(true);
    return {
      lead,
      looks: () => turns.shift()?.(),
      losesNewest: () => database.run('DELETE FROM ~chain WHERE n = (SELECT max(n) FROM ~chain)'),
      doubt: async () => (await sharedLedger(database, () => undefined).state()).doubt?.why,
      async [Symbol.asyncDispose]() {
        await agent[Symbol.asyncDispose]();
        await database.close();
        await server[Symbol.asyncDispose]();
      },
    };
  }

  test.each(['before a push', 'at a look'])('finds %s what is gone, and asks when it leads again', async (when) => {
    await using world = await leading();
    const { lead } = world;
    await lead.confirm();
    await world.losesNewest();
    if (when === 'before a push') await lead.confirm().catch(() => undefined);
    else world.looks();
    await expect.poll(() => lead.signal.aborted).toBe(true);
    lead.follow();
    await expect.poll(() => (world.looks(), lead.isLeading())).toBe(true);
    expect(await world.doubt()).toMatch(/^the ledger has lost records: record \d+ was there/);
  });
});

async function agentAt(server: TestServer, host: string, steps: readonly string[], clock: Clock = systemClock) {
  const state = await mkdtemp(path.join(tmpdir(), 'driver-sync-lead-'));
  const database = new SharedDatabase(placeOn(server.url(), 'driver_sync'));
  const lead = new SharedLead(leadRows(database), {
    host,
    pid: 1,
    config: 'one',
    address: 'https://drivers.example.com',
    leaseMs: 60_000,
    clock,
    log: memoryLog(),
    seen: new SeenFile(state),
    schema: ledgerSchema(database, steps),
    prepare: async () => undefined,
    changed: () => undefined,
  });
  return {
    lead,
    async [Symbol.asyncDispose]() {
      await lead[Symbol.asyncDispose]();
      await database.close();
      await rm(state, { recursive: true });
    },
  };
}

test.skipIf(cannotPostgres)('a password is in no message', async () => {
  const place = placeOn('postgres://agent:s3cret-word@127.0.0.1:1/ledger', 'driver_sync');
  const failure: unknown = await ledgerSchema(new SharedDatabase(place))
    .ensure()
    .catch((error: unknown) => error);
  expect(failure).toMatchObject({ code: 'ledger.unreachable' });
  expect(JSON.stringify([String(failure), failure])).not.toContain('s3cret');
});
