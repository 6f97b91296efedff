/** A leader whose passes break, on a machine with a full disk for example, gives the lead to an agent that can push. */
import { expect, test } from 'vitest';
import { type Machines, machines, rowsOf, wordsOf } from '../support/machines-world.ts';
import type { Place } from '../support/process.ts';
import { pointsOf } from '../support/receiver.ts';
import { cannotPostgres, postgresName } from '../support/servers.ts';

const rows = (north: string): string => rowsOf({ north, south: '2' });

test.skipIf(cannotPostgres)(`the agent beside it takes over a ledger in ${postgresName}, and pushes`, async () => {
  await using world = await machines({ count: 2, takeOver: '2s' });
  const [one, two] = world.places as [Place, Place];
  const first = await one.daemon();
  await world.service.post(1);
  const second = await two.daemon();
  for (const agent of [first, second]) await expect.poll(() => wordsOf(two, agent)).toBe('would push the same');
  await breakPassesOf(world, first.pid);
  for (const place of world.places) await place.write('sales.csv', rows('1.75'));
  await first.says(/the pass broke and is tried again/);
  await first.says(/its passes break, and another agent is there that can lead/);
  await second.says(/this agent leads now/);
  expect(pointsOf(await world.service.post(2))).toMatchObject({ north: { '2026-01': '1.75' } });
  // It reads on, and takes over where nobody else can.
  second.kill('SIGTERM');
  await second.exit;
  await first.says(/this agent leads now/);
  await world.server.run('DROP FUNCTION driver_sync.breaks CASCADE');
  await one.write('sales.csv', rows('2.25'));
  expect(pointsOf(await world.service.post(3))).toMatchObject({ north: { '2026-01': '2.25' } });
});

/** What it would write of a push fails for this agent alone. */
async function breakPassesOf({ server }: Machines, pid: number): Promise<void> {
  await server.run(`
    CREATE FUNCTION driver_sync.breaks() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
      IF (SELECT pid FROM driver_sync.lead) = ${pid} THEN
        RAISE EXCEPTION 'No space left on device' USING ERRCODE = 'disk_full';
      END IF;
      RETURN NEW;
    END $$;
    CREATE TRIGGER breaks BEFORE INSERT OR UPDATE ON driver_sync.push FOR EACH ROW EXECUTE FUNCTION driver_sync.breaks();
    CREATE TRIGGER breaks BEFORE INSERT ON driver_sync.snapshot FOR EACH ROW EXECUTE FUNCTION driver_sync.breaks()`);
}
