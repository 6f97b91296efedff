/** TLS on the way to a shared ledger: whom the agent trusts, and what it says of a server that it does not trust. */
import { readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { canCertify, certify } from '../support/certificate.ts';
import { type Machines, machines, rowsOf } from '../support/machines-world.ts';
import type { Place } from '../support/process.ts';
import { pointsOf } from '../support/receiver.ts';
import { type TestServer, cannotPostgres, postgresName, postgresServer } from '../support/servers.ts';

describe.skipIf(cannotPostgres || !canCertify)(`a ledger in ${postgresName} with TLS`, () => {
  let server: TestServer;
  beforeEach(async () => {
    // Nobody is let in without it, but for the tests themselves.
    server = await postgresServer({ tls: true, access: ['hostnossl all all all reject'] });
  });
  afterEach(() => server[Symbol.asyncDispose]());

  /** Two machines with a ledger at `localhost`, which the certificate names. */
  async function secure(ledger: object, { host = 'localhost', parameters = '' } = {}): Promise<Machines> {
    const url = server.url({ host, parameters });
    const more = { ledger: { url: '${LEDGER_URL}', takeOver: '3s', ...ledger } };
    return machines({ count: 2, server, url, more });
  }

  test.each([
    ['by the authority of caFile', ''],
    ['by its name too', 'sslmode=verify-full'],
    ['by its authority, whatever its name', 'sslmode=verify-ca'],
  ])('is trusted %s, and agents take over from each other', async (_name, parameters) => {
    const host = parameters === 'sslmode=verify-ca' ? '127.0.0.1' : 'localhost';
    await using world = await secure({ caFile: server.caFile }, { host, parameters });
    const [one, two] = world.places as [Place, Place];
    const first = await one.daemon();
    await world.service.post(1);
    const second = await two.daemon();
    const plain = `SELECT 1 FROM pg_stat_activity JOIN pg_stat_ssl USING (pid) WHERE client_port > 0 AND NOT ssl`;
    expect(await server.run(plain)).toEqual([]);
    first.kill('SIGTERM');
    await second.says(/this agent leads now/);
    await two.write('sales.csv', rowsOf({ north: '1.75', south: '2' }));
    expect(pointsOf(await world.service.post(2))).toMatchObject({ north: { '2026-01': '1.75' } });
    expect((await two.command('verify')).code).toBe(0);
  });

  test.each([
    {
      name: 'without caFile',
      at: { parameters: 'sslmode=verify-full' },
      says: [/no authority that is known here/, /caFile/],
    },
    {
      name: 'with the caFile of another authority',
      caFile: 'other.pem',
      says: [/no authority that is known here/, /caFile/],
    },
    { name: 'with a caFile that is not there', caFile: 'none.pem', says: [/none\.pem/, /./] },
    {
      name: 'under another name',
      caFile: 'authority.pem',
      at: { host: '127.0.0.1' },
      says: [/for another host.*localhost/, /the host as the certificate does/],
    },
  ])(
    'is not trusted $name: sync ends, and the daemon reads and says so, and pushes nothing',
    async ({ caFile, at, says: [message, hint] }) => {
      await using world = await secure(caFile === undefined ? {} : { caFile }, at);
      const [one] = world.places as [Place];
      await one.write('other.pem', certify('authority').cert);
      if (caFile === 'authority.pem') await one.write('authority.pem', readAuthority(server));
      const sync = await one.command('sync', '--json');
      expect(sync.json()).toMatchObject({
        exit: 75,
        error: {
          code: 'ledger.unreachable',
          message: expect.stringMatching(message!),
          hint: expect.stringMatching(hint!),
        },
      });
      expect(sync.stdout + sync.stderr).not.toContain(server.password);
      const agent = await one.daemon();
      expect(agent.stderr).toMatch(/nothing is pushed, and sources are read meanwhile/);
      expect(world.service.posts).toHaveLength(0);
    },
  );

  test('gets a certificate of another authority while agents run: nothing is pushed until caFile has that one too', async () => {
    await using world = await secure({ caFile: 'authority.pem' });
    const [one] = world.places as [Place];
    await one.write('authority.pem', readAuthority(server));
    const agent = await one.daemon();
    await world.service.post(1);
    // A push whose answer is not recorded yet would be sent again.
    await agent.says(/"msg":"pushed"/);
    const { cert, key } = certify('localhost');
    for (const [name, text] of Object.entries({ 'server.pem': cert, 'server.key': key }))
      writeFileSync(path.join(path.dirname(server.caFile), name), text);
    await server.run('SELECT pg_reload_conf()');
    await server.run(`SELECT pg_terminate_backend(pid) FROM pg_stat_activity
      WHERE pid <> pg_backend_pid() AND backend_type = 'client backend'`);
    await agent.says(/certificate.*nothing is pushed/);
    await one.write('sales.csv', rowsOf({ north: '1.75', south: '2' }));
    const status = await one.command('status');
    expect(status.code).toBe(75);
    expect(status.stderr).toMatch(/certificate[^]*caFile/);
    expect(world.service.posts).toHaveLength(1);
    await one.write('authority.pem', cert);
    expect(pointsOf(await world.service.post(2))).toMatchObject({ north: { '2026-01': '1.75' } });
  });
});

function readAuthority({ caFile }: TestServer): string {
  return readFileSync(caFile, 'utf8');
}
