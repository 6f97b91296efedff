/** Agents on machines whose clocks are minutes apart, and are set while they run: all go by the clock of the database. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { type Machines, type MachinesOptions, machines, rowsOf } from '../support/machines-world.ts';
import { type OtherClock, cannotSetClocks, otherClock } from '../support/other-clock.ts';
import type { Place, Running } from '../support/process.ts';
import { pointsOf } from '../support/receiver.ts';
import { cannotPostgres, postgresName } from '../support/servers.ts';

const minute = 60;
const cannot = cannotPostgres || cannotSetClocks;
const clocksName = cannotSetClocks ? 'clocks that nobody can set, since faketime is not installed' : 'other clocks';

interface Status {
  readonly nextPush?: string;
  readonly nextPushWhy?: string;
  readonly shared: {
    readonly leader: { readonly pid: number } | null;
    readonly agents: readonly { readonly pid: number; readonly text: string }[];
  };
}

test.skipIf(cannot)(
  `a ledger in ${postgresName} and ${clocksName}: one leads, and each change is pushed once`,
  async () => {
    await using world = await apart([0, 7 * minute, -11 * minute]);
    let living = await allRun(world);
    const pushed = ['1'];
    const change = async (): Promise<void> => {
      pushed.push(String(pushed.length + 1));
      await writeAll(living, pushed.at(-1)!);
      await expect.poll(() => valuesPushed(world).at(-1)).toBe(pushed.at(-1));
      // At rest again, so that whatever follows is seen by the next change at the latest.
      await expect.poll(() => wordsOfAll(living)).toEqual(living.map(() => 'would push the same'));
      expect(valuesPushed(world)).toEqual(pushed);
    };
    await change();
    for (const [signal, jumps] of [
      ['SIGTERM', [7, -20]],
      ['SIGKILL', [-3, 15]],
    ] as const) {
      for (const minutes of jumps) {
        (await leaderOf(living)).clock.set(minutes * minute);
        await change();
      }
      const { agent } = await leaderOf(living);
      agent.kill(signal);
      await agent.exit;
      living = living.filter((one) => one.agent !== agent);
      await leaderOf(living);
      await change();
    }
    expect((await living[0]!.place.command('verify')).code).toBe(0);
  },
);

test.skipIf(cannot)(
  `a ledger in ${postgresName} and ${clocksName}: status says of the next push, and of their age, what the agents go by`,
  async () => {
    await using world = await apart([0, 40 * minute, -40 * minute], { more: { pushOnChange: '30m' } });
    const [one, ...others] = world.places as [Place, Place, Place];
    const agent = await one.daemon();
    await world.service.post(1);
    await one.write('sales.csv', rowsOf({ north: '2', south: '2' }));
    await agent.says(/source accepted/);
    // What was accepted first says so too.
    await expect.poll(async () => (await statusOf(one)).nextPushWhy).toBe('pushOnChange');
    const { nextPush, nextPushWhy } = await statusOf(one);
    for (const other of others) {
      await other.write('sales.csv', rowsOf({ north: '2', south: '2' }));
      await other.daemon();
      expect(await statusOf(other)).toMatchObject({ nextPush, nextPushWhy });
      const { stdout } = await other.command('status');
      expect(stdout).toMatch(/data that was accepted since \S+ today, now is not pushed/);
      expect(stdout).toMatch(/^agent +running, pid \d+, since \S+ \w+, now$/m);
    }
  },
);

interface Apart extends Machines {
  readonly clocks: readonly OtherClock[];
}

/** A machine for each of these clocks: by so many seconds they are ahead. */
async function apart(aheadSeconds: readonly number[], options: MachinesOptions = {}): Promise<Apart> {
  const folder = mkdtempSync(path.join(tmpdir(), 'driver-sync-clocks-'));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  const clocks = aheadSeconds.map((seconds, at) => otherClock(path.join(folder, `clock-${at}`), seconds));
  const world = await machines({ count: clocks.length, env: (at) => clocks[at]!.env, ...options });
  return Object.assign(world, { clocks });
}

interface Living {
  readonly place: Place;
  readonly agent: Running;
  readonly clock: OtherClock;
}

/** The first one leads, and has pushed 1. */
async function allRun({ places, clocks, service }: Apart): Promise<readonly Living[]> {
  for (const place of places) await place.write('sales.csv', rowsOf({ north: '1', south: '2' }));
  const living: Living[] = [];
  for (const [at, place] of places.entries()) {
    living.push({ place, agent: await place.daemon(), clock: clocks[at]! });
    await service.post(1);
  }
  await expect.poll(() => wordsOfAll(living)).toEqual(living.map(() => 'would push the same'));
  return living;
}

async function writeAll(living: readonly Living[], north: string): Promise<void> {
  for (const { place } of living) await place.write('sales.csv', rowsOf({ north, south: '2' }));
}

async function wordsOfAll(living: readonly Living[]): Promise<readonly (string | undefined)[]> {
  const { agents } = (await statusOf(living[0]!.place)).shared;
  return living.map(({ agent }) => agents.find(({ pid }) => pid === agent.pid)?.text);
}

async function leaderOf(living: readonly Living[]): Promise<Living> {
  let leading: Living | undefined;
  await expect
    .poll(async () => {
      const { leader } = (await statusOf(living[0]!.place)).shared;
      return (leading = living.find(({ agent }) => agent.pid === leader?.pid));
    })
    .toBeDefined();
  return leading!;
}

/** What the service was sent, oldest first. */
function valuesPushed({ service }: Machines): readonly (string | undefined)[] {
  return service.posts.map((post) => pointsOf(post)['north']?.['2026-01']);
}

async function statusOf(place: Place): Promise<Status> {
  return (await place.command('status', '--json')).json<Status>();
}
