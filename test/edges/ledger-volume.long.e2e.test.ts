/** A ledger whose server has a volume that is really full: of its tables, and of its write-ahead log. */
import { execFileSync } from 'node:child_process';
import { symlinkSync } from 'node:fs';
import path from 'node:path';
import { describe, expect, test } from 'vitest';
import { machines, rowsOf } from '../support/machines-world.ts';
import type { Place } from '../support/process.ts';
import { pointsOf } from '../support/receiver.ts';
import { cannotPostgres, postgresName, postgresServer } from '../support/servers.ts';
import { cannotMount, mountVolume, volumeName } from '../support/volume.ts';

interface Status {
  readonly lastPass: { readonly outcome: string; readonly reason: string; readonly hint: string };
  readonly sources: readonly { readonly drivers: number }[];
}

/** More than fits in the pages that the tables have. */
const many = Object.fromEntries(Array.from({ length: 3000 }, (_, n) => [`branch-${n}`, `${(n * 7919) % 100_003}.25`]));

describe.skipIf(cannotPostgres || cannotMount)(`a ledger in ${postgresName} on ${volumeName}`, () => {
  test('that its tables have filled: the agent says so, reads on and pushes nothing, and pushes once there is room', async () => {
    await using server = await postgresServer();
    await using volume = mountVolume(12, server.socket);
    await server.run(`CREATE TABLESPACE small LOCATION '${volume.dir}'`);
    await server.run('ALTER DATABASE postgres SET default_tablespace = small');
    await using world = await machines({ count: 1, server });
    const [one] = world.places as [Place];
    const agent = await one.daemon();
    await world.service.post(1);
    volume.fill();
    await one.write('sales.csv', rowsOf({ north: '1.50', south: '2', ...many }));
    await agent.says(
      /its disk is full \(could not extend file.*No space left on device.*free some space.*"inMs":60000/,
    );
    for (const _look of [1, 2, 3]) {
      const { lastPass, sources } = (await one.command('status', '--json')).json<Status>();
      expect(lastPass).toMatchObject({ outcome: 'broken', hint: expect.stringContaining('free some space') as string });
      expect(sources).toMatchObject([{ drivers: 3002 }]);
    }
    // It waits for a minute, as it says.
    expect(agent.log().filter(({ msg }) => msg === 'the pass broke and is tried again').length).toBeLessThan(3);
    expect(world.service.posts).toHaveLength(1);
    volume.makeRoom();
    agent.kill('SIGUSR2');
    await agent.says(/"msg":"pushed"/);
    expect(Object.keys(pointsOf(await world.service.post(2)))).toHaveLength(3002);
  });

  test('that its write-ahead log has filled, so that the server ends: the agent says so, and pushes once it is back', async () => {
    await using server = await postgresServer();
    await using volume = mountVolume(80, server.socket);
    await server.stop();
    const log = path.join(server.socket, 'data', 'pg_wal');
    execFileSync('cp', ['-a', `${log}/.`, volume.dir]);
    execFileSync('rm', ['-r', log]);
    symlinkSync(volume.dir, log);
    await server.start();
    await using world = await machines({ count: 1, server });
    const [one] = world.places as [Place];
    const agent = await one.daemon();
    await world.service.post(1);
    volume.fill();
    const more = 'CREATE TABLE more AS SELECT md5(n::text) AS text FROM generate_series(1, 2000000) AS n';
    await expect(server.run(more)).rejects.toThrow(/connection|No space left/i);
    await agent.says(/"msg":"the ledger cannot be used: nothing is pushed, and sources are read meanwhile"/);
    volume.makeRoom();
    // At once, wherever it is with its own end: told to end in order at the begin of its recovery, it can wait for ever.
    await server.stop('SIGQUIT');
    await one.write('sales.csv', rowsOf({ north: '1.75', south: '2' }));
    expect((await one.command('sync')).code).toBe(75);
    expect(world.service.posts).toHaveLength(1);
    await server.start();
    expect(pointsOf(await world.service.post(2))).toMatchObject({ north: { '2026-01': '1.75' } });
  });
});
