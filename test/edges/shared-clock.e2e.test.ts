/** The election at a database whose clock goes back, as after a failover to a server whose clock is behind. */
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { SharedDatabase } from '../../src/edges/shared/database.ts';
import { claim, leadRows, look, renew, resign, view } from '../../src/edges/shared/lead-rows.ts';
import { ledgerSchema } from '../../src/edges/shared/schema.ts';
import { by } from '../support/claims.ts';
import { placeOn } from '../support/ledger-stores.ts';
import { type TestServer, cannotPostgres, postgresName, postgresServer } from '../support/servers.ts';

describe(`in ${postgresName}`, () => {
  let server: TestServer;
  let schemas = 0;

  beforeAll(async () => {
    if (!cannotPostgres) server = await postgresServer();
  });
  afterAll(async () => server?.[Symbol.asyncDispose]());

  async function open(): Promise<SharedDatabase & AsyncDisposable> {
    const database = new SharedDatabase(placeOn(server.url(), `ledger_${++schemas}`));
    await ledgerSchema(database).ensure();
    return Object.assign(database, { [Symbol.asyncDispose]: () => database.close() });
  }

  test.skipIf(cannotPostgres)(
    'a deadline that has stood for a whole lease is taken over, though the clock of the database went back',
    async () => {
      await using database = await open();
      const rows = leadRows(database);
      await rows.claim(by('a'));
      await rows.tell(
        { id: 'a', host: 'finance-1', pid: 1, config: 'c', said: '{"sources":[],"leaseMs":60000}' },
        undefined,
      );
      expect((await look(database)).row).toMatchObject({ holder: 'a', leaseMs: 60_000 });
      expect((await view(database)).leader?.id).toBe('a');
      await database.run(`UPDATE ~lead SET deadline = deadline + interval '1 hour'`);
      await database.run(`UPDATE ~agent SET seen = seen + interval '1 hour'`);
      const { row } = await look(database);
      const { leader, agents } = await view(database);
      expect(leader).toBeUndefined();
      expect(agents).toMatchObject([{ isSilent: true }]);
      expect((await claim(database, by('b'))).term).toBeUndefined();
      const overdue = { term: row.term, deadline: row.deadline };
      // The agent that leads is there after all.
      await renew(database, { ...by('a'), term: 1, head: undefined });
      expect((await claim(database, by('b', { overdue }))).term).toBeUndefined();
      await database.run(`UPDATE ~lead SET deadline = deadline + interval '1 hour'`);
      const { deadline } = (await look(database)).row;
      expect((await claim(database, by('b', { overdue: { term: 1, deadline } }))).term).toBe(2);
      expect((await renew(database, { ...by('a'), term: 1, head: undefined })).isHeld).toBe(false);
    },
  );

  test.skipIf(cannotPostgres)('what was given back is free, though the clock of the database went back', async () => {
    await using database = await open();
    await claim(database, by('a'));
    await resign(database, 'a', { holder: 'a', term: 1 });
    await database.run(`UPDATE ~lead SET deadline = deadline + interval '1 hour'`);
    expect((await claim(database, by('b'))).term).toBe(2);
  });
});
