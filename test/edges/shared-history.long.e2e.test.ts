/** Agents at a real database, with statements that are held up, connections that are cut, and agents that fall asleep. */
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { isCampaign, isExhaustive } from '../support/campaign.ts';
import { randomOf } from '../support/election-world.ts';
import { placeOn } from '../support/ledger-stores.ts';
import { cannotPool, poolerName, poolerOf } from '../support/pooler.ts';
import { cannotPostgres, postgresName, postgresServer, type TestServer } from '../support/servers.ts';
import { type SharedHistory, playShared } from '../support/shared-history.ts';

const histories = isExhaustive ? 2000 : isCampaign ? 100 : 12;
/** At once: they wait most of the time. */
const besides = isExhaustive ? 20 : isCampaign ? 10 : 4;

describe.skipIf(cannotPostgres)(`three agents at ${postgresName}`, () => {
  let server: TestServer;
  beforeAll(async () => {
    server = await postgresServer({ settings: ['max_connections=800'] });
  });
  afterAll(async () => server[Symbol.asyncDispose]());

  test(
    `send nothing while another one leads, and nothing older after newer: ${histories} histories`,
    { timeout: 3_600_000 },
    async () => {
      const sum: Record<keyof SharedHistory, number> = { terms: 0, sent: 0, held: 0, cut: 0, asleep: 0, refused: 0 };
      let next = 0;
      const play = async (): Promise<void> => {
        while (next < histories) {
          const seed = ++next;
          const played = await playShared(placeOn(server.url(), `history_${seed}`), randomOf(seed));
          for (const key of Object.keys(sum) as (keyof SharedHistory)[]) sum[key] += played[key];
          await server.run(`DROP SCHEMA history_${seed} CASCADE`);
        }
      };
      await Promise.all(Array.from({ length: besides }, play));
      // Each of these happened: else the histories show nothing.
      for (const [what, count] of Object.entries(sum)) expect(count, what).toBeGreaterThan(0);
    },
  );
});

describe.skipIf(cannotPostgres || cannotPool)(`three agents at ${postgresName} behind ${poolerName}`, () => {
  test('do the same where each transaction may get another connection', async () => {
    await using server = await postgresServer({ access: ['host all all 127.0.0.1/32 trust'] });
    await using pooler = await poolerOf(server);
    let sent = 0;
    // On a busy machine a history may be over before anything was sent.
    for (let seed = 1; seed <= 3 || (sent === 0 && seed < 30); seed++) {
      sent += (await playShared(placeOn(pooler.url, `h_${seed}`), randomOf(seed))).sent;
    }
    expect(sent).toBeGreaterThan(0);
  });
});
