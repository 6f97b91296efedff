/** An agent that ends, is killed, or is stopped in the middle of a push and wakes after another one has taken over. */
import { readFileSync } from 'node:fs';
import path from 'node:path';
import { describe, expect, test } from 'vitest';
import { openBuffer } from '../../src/edges/state/buffer.ts';
import { type Machines, type MachinesOptions, bothRun, machines, rowsOf } from '../support/machines-world.ts';
import { type Place, csv } from '../support/process.ts';
import { pointsOf } from '../support/receiver.ts';
import { cannotPostgres, postgresName } from '../support/servers.ts';
import { manyRows, openSlowReceiver } from '../support/slow-receiver.ts';

describe.skipIf(cannotPostgres)(`agents that share a ledger in ${postgresName}`, () => {
  test('one that is killed is followed by another, which reads what has changed and nothing else', async () => {
    await using world = await countedReads();
    const { two, first, second } = await bothRun(world);
    const before = readsOf(two);
    first.kill('SIGKILL');
    for (const place of world.places) await place.write('sales-1.csv', rowsOf({ north: '1.75' }));
    await second.says(/this agent leads now/);
    expect(pointsOf(await world.service.post(2))).toMatchObject({
      north: { '2026-01': '1.75' },
      south: { '2026-01': '2' },
      office: { '2026-01': '300' },
    });
    const after = readsOf(two);
    expect(after['sales-2.csv']).toBe(before['sales-2.csv']);
    expect(after['sales-1.csv']).not.toBe(before['sales-1.csv']);
    expect(runsAt(two)).toBe(1);
  });

  test('one that takes over without having seen the last push looks at every source again', async () => {
    await using world = await countedReads();
    const { one, two, first, second } = await bothRun(world);
    second.kill('SIGSTOP');
    for (const place of world.places) await place.write('rents.csv', rowsOf({ office: '310' }));
    first.kill('SIGUSR2');
    await world.service.post(2);
    await expect.poll(() => pushesOf(one)).toEqual(['acknowledged', 'acknowledged']);
    first.kill('SIGKILL');
    second.kill('SIGCONT');
    await second.says(/this agent leads now/);
    await two.write('sales-1.csv', rowsOf({ north: '2.25' }));
    const points = pointsOf(await world.service.post(3));
    expect(points).toMatchObject({ north: { '2026-01': '2.25' }, office: { '2026-01': '310' } });
    expect(runsAt(two)).toBe(2);
  });

  test('one that is told to end is followed before its term would have been over', async () => {
    await using world = await countedReads({ takeOver: '10m' });
    const { first, second, two } = await bothRun(world);
    const { deadline } = await leadOf(world);
    first.kill('SIGTERM');
    await second.says(/this agent leads now/);
    expect(await leadOf(world, `since < '${deadline}'`)).toMatchObject({ term: 2, pid: second.pid, isSo: true });
    expect((await first.exit).code).toBe(0);
    expect(runsAt(two)).toBe(1);
  });

  test('one that is killed is followed once its term is over, and not before', async () => {
    await using world = await countedReads();
    const { first, second } = await bothRun(world);
    first.kill('SIGKILL');
    await first.exit;
    const { deadline } = await leadOf(world);
    await second.says(/this agent leads now/);
    expect(await leadOf(world, `since >= '${deadline}'`)).toMatchObject({ term: 2, pid: second.pid, isSo: true });
  });

  test('one that sleeps in the middle of a body never completes it', async () => {
    await using service = await openSlowReceiver();
    const destination = { url: service.url, timeout: '2s' };
    await using world = await machines({ count: 2, takeOver: '3s', more: { destination } });
    const [one, two] = world.places as [Place, Place];
    await one.write('sales.csv', manyRows('1'));
    await two.write('sales.csv', manyRows('2'));
    const first = await one.daemon();
    await service.came;
    first.kill('SIGSTOP');
    const second = await two.daemon();
    await second.says(/this agent leads now/);
    await expect.poll(() => service.whole).toEqual(['2']);
    first.kill('SIGCONT');
    service.goOn();
    await service.broken;
    await first.says(/does not lead any more/);
    expect(service.whole).toEqual(['2']);
    // What the one that slept had begun counts as no more than tried, which the other one has waited for.
    const [last, ...earlier] = await pushesOf(two);
    expect(last).toBe('acknowledged');
    expect(earlier).toContain('unknown');
    expect(earlier).not.toContain('acknowledged');
  });
});

/** Two agents with a folder of two files, and a program that writes a line for each of its runs. */
async function countedReads(options: MachinesOptions = {}): Promise<Machines> {
  const { drivers } = csv('') as { readonly drivers: object };
  const sources = {
    sales: csv('sales-*.csv', { poll: '1s' }),
    rents: { type: 'command', command: ['sh', 'rents.sh'], format: 'csv', poll: '1h', drivers },
  };
  const world = await machines({ count: 2, more: { sources }, ...options });
  for (const place of world.places) {
    await place.write('sales-1.csv', rowsOf({ north: '1.50' }));
    await place.write('sales-2.csv', rowsOf({ south: '2' }));
    await place.write('rents.csv', rowsOf({ office: '300' }));
    await place.write('rents.sh', 'echo run >> runs\ncat rents.csv\n');
  }
  return world;
}

/** What became of each, newest first. */
async function pushesOf(at: Place): Promise<readonly string[]> {
  const { pushes } = (await at.command('history', '--json')).json<{ pushes: { outcome: string }[] }>();
  return pushes.map(({ outcome }) => outcome);
}

function runsAt({ dir }: Place): number {
  return readFileSync(path.join(dir, 'runs'), 'utf8').trim().split('\n').length;
}

/** The read that each file's data is of: one that is read anew has another. */
function readsOf({ state }: Place): Readonly<Record<string, number>> {
  const buffer = openBuffer(path.join(state, 'buffer.db'), 'read');
  try {
    const parts = buffer.reads.parts('sales', 'accepted') ?? [];
    return Object.fromEntries(parts.map(({ name, id }) => [name, id]));
  } finally {
    buffer.close();
  }
}

interface LeadRow {
  readonly term: number;
  readonly pid: number;
  readonly deadline: string;
  readonly isSo: boolean;
}

/** What the row of the lead says, all by the clock of the database. @param condition of its moments */
async function leadOf({ server }: Machines, condition = 'true'): Promise<LeadRow> {
  const sql = `SELECT term::int, pid::int, deadline::text, ${condition} AS "isSo" FROM driver_sync.lead`;
  return (await server.run(sql))[0] as unknown as LeadRow;
}
