/** Agents whose ledger loses its primary: a standby that had not received the last commits takes its place. */
import { describe, expect, test } from 'vitest';
import { machines, rowsOf } from '../support/machines-world.ts';
import { movablePort } from '../support/movable-port.ts';
import { pointsOf } from '../support/receiver.ts';
import { urlOf } from '../support/servers.ts';
import { type Pair, cannotStandBy, primaryAndStandby, standbyName } from '../support/standby.ts';

interface Status {
  readonly shared: {
    readonly doubt?: { readonly why: string };
    readonly agents: readonly { readonly pid: number; readonly text: string }[];
  };
  readonly blocked?: { readonly reason: string; readonly hint: string };
  readonly lastAcknowledged: { readonly id: number };
  readonly held: readonly { readonly source: string; readonly digest: string }[];
}

const changed = rowsOf({ north: '1.75', south: '2' });
const branches = Object.fromEntries(Array.from({ length: 30 }, (_, n) => [`branch-${n}`, '7']));
const more = rowsOf({ north: '1.50', south: '2', ...branches });

describe.skipIf(cannotStandBy)(`agents whose ledger has a standby in ${standbyName}`, () => {
  test('a promotion that lost a push: the next one waits as a first push does, and nothing of the lost one comes back', async () => {
    await using pair = await primaryAndStandby();
    await using world = await machines({ count: 2, server: pair.primary, url: urlOfBoth(pair) });
    const [one, two] = world.places as [Place, Place];
    const first = await one.daemon();
    await world.service.post(1);
    const second = await two.daemon();
    await expect.poll(async () => (await textsOf(one)).length).toBe(2);
    await pair.caughtUp();
    await pair.cutOff();
    for (const place of [one, two]) await place.write('sales.csv', more);
    await one.command('sync', '--wake');
    // The service has it, and the primary; the standby does not.
    expect((await world.service.post(2)).body).toContain('branch-29');
    await expect.poll(() => textsOf(one)).toEqual(['would push the same', 'would push the same']);
    expect((await one.command('history', '--json')).json<{ pushes: object[] }>().pushes).toHaveLength(2);
    second.kill('SIGKILL');

    await pair.losePrimary();
    await first.says(/nothing is pushed/);
    await pair.promote();
    await first.says(/was promoted \(timeline 00000001 became 00000002\), and may have lost the last pushes/);
    const status = await statusOf(one, ({ blocked }) => blocked !== undefined);
    expect(status.shared.doubt?.why).toContain('was promoted');
    expect(status.lastAcknowledged.id).toBe(1);
    expect(status.blocked?.reason).toMatch(
      /^the next push to http:\S+ waits for approval, as a first one does: the database of the ledger was promoted .* it deletes every driver that is not among its 32$/,
    );
    expect(status.blocked?.hint).toMatch(/^driver-sync approve [0-9a-f]{12}$/);
    expect((await one.command('plan')).stdout).toContain('waits for approval');
    expect(world.service.posts).toHaveLength(2);

    // Somebody looks, and wants the old data after all. Its push has the number of the one that was lost.
    await one.write('sales.csv', changed);
    const { held } = await statusOf(one, (now) => now.held.some(({ source }) => source === 'sales'));
    const sales = held.find(({ source }) => source === 'sales');
    expect((await one.command('approve', sales!.digest)).code).toBe(0);
    const { blocked } = await statusOf(one, (now) => now.blocked?.reason.endsWith('among its 2') === true);
    expect((await one.command(...blocked!.hint.split(' ').slice(1))).code).toBe(0);
    expect(pointsOf(await world.service.post(3))).toMatchObject({ north: { '2026-01': '1.75' } });
    expect((await statusOf(one, ({ shared }) => shared.doubt === undefined)).lastAcknowledged.id).toBe(2);

    // Whoever knew only the lost push goes on from the one that has its number now.
    await two.write('sales.csv', changed);
    const third = await two.daemon();
    const said = async (): Promise<string | undefined> =>
      (await statusOf(two, () => true)).shared.agents.find(({ pid }) => pid === third.pid)?.text;
    await expect.poll(said).toBe('would push the same');

    // It takes over. A person has settled what that promotion lost, so it does not ask again.
    first.kill('SIGTERM');
    for (const place of [one, two]) await place.write('sales.csv', rowsOf({ north: '1.80', south: '2' }));
    expect(pointsOf(await world.service.post(4))).toMatchObject({ north: { '2026-01': '1.80' } });
    expect((await statusOf(two, ({ lastAcknowledged }) => lastAcknowledged.id === 3)).shared.doubt).toBeUndefined();
  });

  test('an address that leads to a standby: nothing is pushed, at the start or later, and reading goes on', async () => {
    await using pair = await primaryAndStandby();
    await using address = await movablePort(pair.standby.port);
    await using world = await machines({ count: 1, server: pair.primary, url: urlAt(pair, address.port) });
    const [one] = world.places as [Place];
    const refused = await one.command('sync');
    expect(refused.code).toBe(75);
    expect(refused.stderr).toMatch(/is a standby/);
    expect(refused.stderr).toContain('name the primary in ledger.url');
    const agent = await one.daemon();
    expect(agent.stderr).toContain('is a standby');
    address.moveTo(pair.primary.port);
    await world.service.post(1);
    await pair.caughtUp();

    address.moveTo(pair.standby.port);
    await agent.says(/"why":"[^"]*is read-only: a standby, or set so|"error":"[^"]*(is read-only|is a standby)/);
    await one.write('sales.csv', changed);
    expect((await one.command('sync')).code).toBe(75);
    expect(world.service.posts).toHaveLength(1);
    // Once it is the primary, what was read meanwhile waits for a person.
    await pair.losePrimary();
    await pair.promote();
    const { blocked } = await statusOf(one, (status) => status.blocked !== undefined);
    expect(blocked?.reason).toContain('was promoted');
    expect((await one.command(...blocked!.hint.split(' ').slice(1))).code).toBe(0);
    expect(pointsOf(await world.service.post(2))).toMatchObject({ north: { '2026-01': '1.75' } });
  });
});

function urlAt({ primary }: Pair, port: number): string {
  return urlOf('postgres', { user: primary.user, password: primary.password, port, database: 'postgres' });
}

/** The standby stands first: it is passed over. */
function urlOfBoth({ primary, standby }: Pair): string {
  return urlAt({ primary } as Pair, primary.port).replace('@', `@127.0.0.1:${standby.port},`);
}

async function statusOf(place: Place, until: (status: Status) => boolean): Promise<Status> {
  let status: Status | undefined;
  await expect
    .poll(async () => {
      const done = await place.command('status', '--json');
      status = done.code === 0 ? done.json<Status>() : undefined;
      return status !== undefined && until(status) ? 'as awaited' : done.stdout + done.stderr;
    })
    .toBe('as awaited');
  return status!;
}

async function textsOf(place: Place): Promise<readonly string[]> {
  return (await statusOf(place, () => true)).shared.agents.map(({ text }) => text);
}

type Place = Awaited<ReturnType<typeof machines>>['places'][number];
