/** What an agent that follows has accepted by itself counts for nothing when it begins to lead: it judges its reads against what was pushed. */
import { describe, expect, test } from 'vitest';
import { type Machines, type MachinesOptions, bothRun, machines, rowsOf, wordsOf } from '../support/machines-world.ts';
import { type Place, type Running, csv } from '../support/process.ts';
import { pointsOf } from '../support/receiver.ts';
import { cannotPostgres, postgresName } from '../support/servers.ts';

interface Status {
  readonly sources: readonly {
    readonly name: string;
    readonly state: string;
    readonly reason?: string;
    readonly digest?: string;
    readonly carried: readonly string[];
  }[];
}

interface History {
  readonly pushes: readonly { readonly outcome: string }[];
  readonly decisions: readonly { readonly state?: string }[];
}

/** So many drivers, the first of them with a value of its own. */
function drivers(count: number, first = '1'): string {
  return rowsOf(Object.fromEntries(Array.from({ length: count }, (_, at) => [`d${at}`, at === 0 ? first : '1'])));
}

describe.skipIf(cannotPostgres)(`agents that share a ledger in ${postgresName}`, () => {
  test('one that has not looked since an older export does not take it for newer than what was pushed', async () => {
    const sales = { ...mapping, type: 'command', command: ['cat', 'sales.csv'], format: 'csv', poll: '1h' };
    // Has it look at the ledger, too.
    const quick = { ...csv('quick.csv'), poll: '1s' };
    const files = { 'quick.csv': rowsOf({ quick: '1' }) };
    await using world = await twoWith(drivers(82, '1111'), { more: { sources: { sales, quick } } }, files);
    const { one, two, first, second } = await bothRun(world);
    await one.write('sales.csv', drivers(75, '2222'));
    await two.write('sales.csv', drivers(75, '2222'));
    first.kill('SIGUSR2');
    await second.says(/goes on from what another agent has pushed/);
    await expect.poll(() => wordsOf(two, second)).toBe('would push the same');
    first.kill('SIGTERM');
    await second.says(/this agent leads now/);
    await two.write('sales.csv', drivers(76, '3333'));
    second.kill('SIGUSR2');
    expect(pointsOf(await world.service.post(3))).toMatchObject({ d0: { '2026-01': '3333' } });
  });

  test('deletes that were held where an agent leads are held where another one takes over, however small its steps were', async () => {
    await using world = await twoWith(drivers(100), { takeOver: '10m' });
    const { one, two, first, second } = await bothRun(world);
    first.kill('SIGSTOP');
    await two.write('sales.csv', drivers(91));
    await expect.poll(() => wordsOf(two, second)).toMatch(/would push other data than push 1: 9 drivers/);
    for (const place of [one, two]) await place.write('sales.csv', drivers(82));
    await expect.poll(() => wordsOf(two, second)).toMatch(/holds sales/);
    first.kill('SIGCONT');
    await expect.poll(() => wordsOf(one, first)).toMatch(/holds sales/);
    first.kill('SIGTERM');
    await second.says(/this agent leads now/);
    await second.says(/source held/);
    expect(world.service.posts).toHaveLength(1);
    expect(await salesOf(two)).toMatchObject({ state: 'held', reason: expect.stringContaining('18 of 100') as string });
  });

  test('an approval that the agent before could not use any more is used', async () => {
    await using world = await twoWith(drivers(100), { takeOver: '3s' });
    const { one, two, first, second } = await bothRun(world);
    for (const place of [one, two]) await place.write('sales.csv', drivers(20));
    await expect.poll(async () => (await salesOf(one)).state).toBe('held');
    await expect.poll(() => wordsOf(two, second)).toMatch(/holds sales/);
    first.kill('SIGSTOP');
    const { digest } = await salesOf(two);
    expect((await two.command('approve', digest!)).code).toBe(0);
    first.kill('SIGKILL');
    expect(Object.keys(pointsOf(await world.service.post(2)))).toHaveLength(20);
    await expect
      .poll(async () => (await two.command('history', '--json')).json<History>())
      .toMatchObject({ pushes: [{ outcome: 'acknowledged' }, {}], decisions: [{ state: 'used' }] });
  });

  test('an approval that was used is not asked for again where its push did not arrive', async () => {
    await using world = await twoWith(drivers(100), { takeOver: '3s' });
    const { one, two, first, second } = await bothRun(world);
    for (const place of [one, two]) await place.write('sales.csv', drivers(20));
    await expect.poll(async () => (await salesOf(one)).state).toBe('held');
    world.service.answer(...Array.from({ length: 50 }, () => 503 as const));
    const { digest } = await salesOf(one);
    expect((await one.command('approve', digest!)).code).toBe(0);
    await first.says(/"outcome":"(?:refused|unreachable|unknown)"/);
    first.kill('SIGKILL');
    await second.says(/this agent leads now/);
    world.service.calm();
    await expect.poll(() => Object.keys(pointsOf(world.service.holds()!))).toHaveLength(20);
  });

  test.each(['SIGKILL', 'SIGTERM'] as const)(
    'an approval that was used while a push waited is used again by the agent that takes over after a %s',
    async (signal) => {
      await using world = await twoWith(drivers(100), { takeOver: '3s', timeout: '12s' });
      const { one, two, first, second } = await bothRun(world);
      await anUnknownPush(world, first);
      for (const place of world.places) await place.write('sales.csv', drivers(20, '2'));
      await expect.poll(async () => (await salesOf(one)).state).toBe('held');
      await expect.poll(() => wordsOf(two, second)).toMatch(/holds sales/);
      const { digest } = await salesOf(two);
      expect((await two.command('approve', digest!)).code).toBe(0);
      await first.says(/a different snapshot waits for it/);
      expect(await historyOf(two)).toMatchObject({ decisions: [{ state: 'used' }] });
      first.kill(signal);
      await second.says(/this agent leads now/);
      world.service.calm();
      await expect.poll(() => Object.keys(pointsOf(world.service.holds()!))).toHaveLength(20);
      await expect.poll(() => historyOf(two)).toMatchObject({ decisions: [{ state: 'used' }] });
      expect((await two.command('verify')).code).toBe(0);
    },
  );

  test('what was forgotten while a push waited is forgotten again by the agent that takes over', async () => {
    const sales = { ...csv('*.csv'), settle: '0s', poll: '1s' };
    const files = { 'gone.csv': rowsOf({ gone: '1' }) };
    await using world = await twoWith(
      drivers(20),
      { takeOver: '3s', timeout: '12s', more: { sources: { sales } } },
      files,
    );
    const { two, first, second } = await bothRun(world);
    for (const place of world.places) await place.remove('gone.csv');
    await expect.poll(async () => (await salesOf(two)).carried).toEqual(['gone.csv']);
    await anUnknownPush(world, first, 20);
    expect((await two.command('forget', 'sales', 'gone.csv', '--yes')).code).toBe(0);
    await first.says(/a different snapshot waits for it/);
    first.kill('SIGKILL');
    await second.says(/this agent leads now/);
    world.service.calm();
    await expect.poll(() => Object.keys(pointsOf(world.service.holds()!))).toHaveLength(20);
    expect(pointsOf(world.service.holds()!)).not.toHaveProperty('gone');
    await expect.poll(async () => (await salesOf(two)).carried).toEqual([]);
  });

  test('deletes that were accepted and not pushed yet are not counted twice', async () => {
    const onlyIfAsked = { pushOnChange: 'off', schedule: '0 0 29 2 *' };
    await using world = await twoWith(drivers(82, '1111'), { more: onlyIfAsked });
    const { one, two, first, second } = await bothRun(world);
    await one.write('sales.csv', drivers(75, '2222'));
    await first.says(/7 deleted.*source accepted/);
    await two.write('sales.csv', drivers(75, '2222'));
    await expect.poll(() => wordsOf(two, second)).toMatch(/would push other data than push 1: 8 drivers/);
    first.kill('SIGTERM');
    await second.says(/this agent leads now/);
    second.kill('SIGUSR2');
    const points = pointsOf(await world.service.post(2));
    expect(Object.keys(points)).toHaveLength(75);
    expect(points).toMatchObject({ d0: { '2026-01': '2222' } });
  });
});

const mapping = { drivers: [{ id: '{id}', path: ['{id}'], time: '{time}', value: '{value}' }] };

async function twoWith(
  rows: string,
  options: MachinesOptions,
  files: Readonly<Record<string, string>> = {},
): Promise<Machines> {
  const world = await machines({ ...options, count: 2 });
  for (const place of world.places) {
    for (const [name, text] of Object.entries({ ...files, 'sales.csv': rows })) await place.write(name, text);
  }
  return world;
}

/** The first one pushes other values, and cannot know whether they arrive, now or at any later try. */
async function anUnknownPush({ service, places }: Machines, first: Running, count = 100): Promise<void> {
  service.answer(...Array.from({ length: 50 }, () => 'drop' as const));
  for (const place of places) await place.write('sales.csv', drivers(count, '2'));
  await first.says(/"outcome":"unknown"/);
}

async function historyOf(place: Place): Promise<History> {
  return (await place.command('history', '--json')).json<History>();
}

async function salesOf(place: Place): Promise<Status['sources'][number]> {
  const { sources } = (await place.command('status', '--json')).json<Status>();
  return sources.find(({ name }) => name === 'sales')!;
}
