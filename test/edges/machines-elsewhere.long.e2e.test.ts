/** A part is the same one on every machine, wherever it is mounted there: what another agent has pushed of it is replaced, and not carried. */
import { describe, expect, test } from 'vitest';
import { type Machines, type MachinesOptions, bothRun, machines, rowsOf } from '../support/machines-world.ts';
import type { Place } from '../support/process.ts';
import { pointsOf } from '../support/receiver.ts';
import { cannotPostgres, postgresName } from '../support/servers.ts';

interface Status {
  readonly sources: readonly { readonly name: string; readonly state: string; readonly carried: readonly string[] }[];
}

const folders = ['mnt', 'srv/books'];

describe.skipIf(cannotPostgres)(
  `agents that share a ledger in ${postgresName}, and have their exports elsewhere`,
  () => {
    test.each(['last', 'sum'])(
      'one that takes over pushes what a file has by now, and nothing it had: %s',
      async (collapse) => {
        await using world = await twoWith(collapse);
        await write(world, '1.csv', drivers(30, '1', 'd'));
        await write(world, '2.csv', drivers(5, '7', 'e'));
        const { one, two, first, second } = await bothRun(world);
        first.kill('SIGKILL');
        await write(world, '1.csv', drivers(29, '3', 'd'));
        await second.says(/this agent leads now/);
        const points = pointsOf(await world.service.post(2));
        expect(Object.keys(points)).toHaveLength(34);
        expect(points).toMatchObject({ d0: { '2026-01': '3' }, e0: { '2026-01': '7' } });
        expect(await salesOf(two)).toMatchObject({ carried: [] });
        await one.daemon();
        await write(world, '1.csv', drivers(28, '4', 'd'));
        expect(pointsOf(await world.service.post(3))).toMatchObject({ d0: { '2026-01': '4' } });
        // What is gone is gone on all of them, and any of them may forget it.
        for (const [at, place] of world.places.entries()) await place.remove(`${folders[at]}/2.csv`);
        await expect.poll(async () => (await salesOf(one)).carried).toEqual(['${EXPORTS}/2.csv']);
        expect((await one.command('forget', 'sales', '${EXPORTS}/2.csv', '--yes')).code).toBe(0);
        expect(Object.keys(pointsOf(await world.service.post(4)))).toHaveLength(28);
        expect(await salesOf(two)).toMatchObject({ carried: [] });
      },
    );

    test.each([
      ['on the machine that had it', 0],
      ['on another one', 1],
    ])(
      'a ledger of one agent that is shared from now on has the files under the names that they had: %s',
      async (_, at) => {
        await using world = await twoWith('sum', { takeOver: '20s' });
        const one = world.places[0]!;
        const { ledger: _shared, ...alone } = world.config as { readonly ledger: object };
        await one.configure(alone);
        await write(world, '1.csv', drivers(30, '1', 'd'));
        expect((await one.command('sync')).code).toBe(0);
        await one.configure(world.config);
        expect((await one.command('ledger', 'take-over')).code).toBe(0);
        await write(world, '1.csv', drivers(29, '3', 'd'));
        expect((await world.places[at]!.command('sync')).code).toBe(0);
        const points = pointsOf(await world.service.post(2));
        expect(Object.keys(points)).toHaveLength(29);
        expect(points).toMatchObject({ d0: { '2026-01': '3' } });
        if (at > 0) return;
        expect((await one.command('ledger', 'give-back')).code).toBe(0);
        await one.configure(alone);
        await write(world, '1.csv', drivers(28, '5', 'd'));
        expect((await one.command('sync')).code).toBe(0);
        const last = pointsOf(await world.service.post(3));
        expect(Object.keys(last)).toHaveLength(28);
        expect(last).toMatchObject({ d0: { '2026-01': '5' } });
      },
    );
  },
);

function drivers(count: number, value: string, name: string): string {
  return rowsOf(Object.fromEntries(Array.from({ length: count }, (_, at) => [`${name}${at}`, value])));
}

async function twoWith(collapse: string, options: MachinesOptions = {}): Promise<Machines> {
  const entry = { id: '{id}', path: ['{id}'], time: '{time}', value: '{value}', collapse };
  const sales = { type: 'csv', files: ['${EXPORTS}/*.csv'], settle: '0s', poll: '1s', drivers: [entry] };
  const more = { sources: { sales }, guard: { values: 'off' } };
  return await machines({ ...options, count: 2, more, env: (at) => ({ EXPORTS: folders[at] }) });
}

/** All machines see the same. */
async function write({ places }: Machines, name: string, text: string): Promise<void> {
  for (const [at, place] of places.entries()) await place.write(`${folders[at]}/${name}`, text);
}

async function salesOf(place: Place): Promise<Status['sources'][number]> {
  const { sources } = (await place.command('status', '--json')).json<Status>();
  return sources.find(({ name }) => name === 'sales')!;
}
